//===- ProposedStrategies.cpp - Strategies that models propose ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/ProposedStrategies.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Passes.h"
#include "cupilot/Evolution/Journal.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

// Each value is something to try, and later prompts show them all.
static constexpr size_t MostStrategies = 6, MostParams = 3, MostValues = 8,
                        MostName = 40, MostSummary = 400;

/// A domain of integers, if all are, or of words; nothing where it is neither.
static std::optional<StrategyInfo::Param> domainOf(const json::Object &P) {
  StrategyInfo::Param Domain{P.getString("name")->str(), {}, {}};
  const json::Array &Values = *P.getArray("values");
  if (Values.size() > MostValues)
    return std::nullopt;
  for (const json::Value &V : Values) {
    const StringRef Text = *V.getAsString();
    int64_t Number;
    if (!Text.getAsInteger(10, Number)) {
      if (!is_contained(Domain.Values, Number))
        Domain.Values.push_back(Number);
    } else if (!Text.empty() && Text.size() <= MostName &&
               all_of(Text, [](char C) { return isAlnum(C) || C == '_'; })) {
      if (!is_contained(Domain.Words, Text))
        Domain.Words.push_back(Text.str());
    } else {
      return std::nullopt;
    }
  }
  if (Domain.Values.empty() == Domain.Words.empty())
    return std::nullopt;
  llvm::sort(Domain.Values);
  return Domain;
}

static std::optional<LibraryStrategy>
strategyOf(const json::Object &O, ArrayRef<LibraryStrategy> Known,
           unsigned Arch) {
  LibraryStrategy S;
  S.Info.Name = O.getString("name")->str();
  S.Summary = O.getString("summary")->trim(" .").str();
  S.Bottleneck = O.getString("bottleneck")->str();
  S.MinArch = *O.getInteger("min_arch");
  auto IsKnown = [&](StringRef Name) {
    return any_of(Known, [&](const LibraryStrategy &Each) {
      return Each.Info.Name == Name;
    });
  };
  // A sentence that later prompts quote as it is.
  if (S.Info.Name.size() > MostName || IsKnown(S.Info.Name) ||
      S.Summary.empty() || S.Summary.size() > MostSummary ||
      !all_of(S.Summary, isPrint) || S.MinArch > int64_t(Arch))
    return std::nullopt;
  for (const json::Value &V : *O.getArray("params")) {
    std::optional<StrategyInfo::Param> Domain = domainOf(*V.getAsObject());
    if (!Domain || S.Info.Params.size() == MostParams ||
        any_of(S.Info.Params, [&](const StrategyInfo::Param &P) {
          return P.Name == Domain->Name;
        }))
      return std::nullopt;
    S.Info.Params.push_back(std::move(*Domain));
  }
  auto Read = [&](StringRef Key, std::vector<std::string> &Names) {
    for (const json::Value &V : *O.getArray(Key)) {
      const StringRef Name = V.getAsString()->trim(" `@");
      if (!IsKnown(Name))
        return Key == "conflicts"; // With what nobody has there is none.
      if (!is_contained(Names, Name))
        Names.push_back(Name.str());
    }
    return true;
  };
  if (!Read("requires", S.Info.Requires) ||
      !Read("conflicts", S.Info.Conflicts))
    return std::nullopt;
  return S;
}

std::vector<LibraryStrategy> proposedStrategies(const json::Array &Listed,
                                                ArrayRef<LibraryStrategy> Known,
                                                unsigned Arch) {
  std::vector<LibraryStrategy> All;
  for (const json::Value &V : Listed) {
    std::optional<LibraryStrategy> S =
        strategyOf(*V.getAsObject(), Known, Arch);
    if (S && All.size() < MostStrategies &&
        none_of(All, [&](const LibraryStrategy &Each) {
          return Each.Info.Name == S->Info.Name;
        }))
      All.push_back(std::move(*S));
  }
  return All;
}

static StrategyOp buildStrategy(mlir::OpBuilder &B, const LibraryStrategy &S,
                                StringRef Origin) {
  auto Names = [&](ArrayRef<std::string> All) {
    SmallVector<mlir::Attribute> Refs;
    for (StringRef Name : All)
      Refs.push_back(mlir::FlatSymbolRefAttr::get(B.getContext(), Name));
    return B.getArrayAttr(Refs);
  };
  SmallVector<mlir::NamedAttribute> Params;
  for (const StrategyInfo::Param &P : S.Info.Params) {
    SmallVector<StringRef> Words(P.Words.begin(), P.Words.end());
    Params.push_back(B.getNamedAttr(P.Name, P.Words.empty()
                                                ? B.getI64ArrayAttr(P.Values)
                                                : B.getStrArrayAttr(Words)));
  }
  return StrategyOp::create(
      B, B.getUnknownLoc(), S.Info.Name,
      symbolizeBottleneckKind(S.Bottleneck).value_or(BottleneckKind::Latency),
      uint64_t(S.MinArch), B.getDictionaryAttr(Params), Names(S.Info.Requires),
      Names(S.Info.Conflicts), /*resources=*/nullptr, B.getArrayAttr({}),
      /*evident=*/false, B.getArrayAttr({}), B.getStringAttr(Origin),
      S.Summary);
}

bool addStrategy(mlir::ModuleOp Library, const LibraryStrategy &S,
                 StringRef Origin) {
  // Before the kernel and its variants, as all of them.
  mlir::OpBuilder B = mlir::OpBuilder::atBlockBegin(Library.getBody());
  for (StrategyOp Each : Library.getOps<StrategyOp>())
    B.setInsertionPointAfter(Each);
  StrategyOp Op = buildStrategy(B, S, Origin);
  // Whoever proposed it is told by what it lacks, not by an error.
  mlir::ScopedDiagnosticHandler Quiet(
      Library.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::PassManager Passes(Library.getContext());
  Passes.addPass(createVerifyLibraryPass());
  if (mlir::succeeded(mlir::verify(Op)) && mlir::succeeded(Passes.run(Library)))
    return true;
  Op.erase();
  return false;
}

/// The strategies in the store \p Root, in one module's text; "" where there
/// are none.
static Expected<std::string> storedText(mlir::MLIRContext &C, StringRef Root) {
  Expected<std::vector<std::string>> Paths =
      filesIn((Root + "/strategies").str(), ".mlir");
  if (!Paths)
    return Paths.takeError();
  if (Paths->empty())
    return "";
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> All =
      loadLibrary(C, (Root + "/strategies").str());
  if (!All)
    return All.takeError();
  return printModule(**All);
}

Error addStoredStrategies(mlir::ModuleOp Library, StringRef Root, Journal *J,
                          StringRef Run) {
  static constexpr char Step[] = "library"; // No batch is called that.
  std::optional<BatchRecord> Known;
  if (J)
    if (Error E = J->findBatch(Run, Step).moveInto(Known))
      return E;
  std::string Text = Known ? Known->Results : "";
  if (!Known && !Root.empty())
    if (Error E = storedText(*Library.getContext(), Root).moveInto(Text))
      return E;
  if (J && !Known)
    if (Error E = J->saveBatch(Run, Step, {"", Text}))
      return E;
  if (Text.empty())
    return Error::success();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> Stored =
      parseModule(*Library.getContext(), Text, "the store's strategies");
  if (!Stored)
    return Stored.takeError();
  auto IsThere = [&](StringRef Name) {
    return mlir::SymbolTable::lookupSymbolIn(Library, Name) != nullptr;
  };
  // Those that name a strategy which is not there have no meaning: its file was
  // taken away.
  for (bool Added = true; Added;) {
    Added = false;
    for (StrategyOp Op :
         make_early_inc_range((*Stored)->getOps<StrategyOp>())) {
      if (IsThere(Op.getSymName()) ||
          !all_of(Op.getRequired().getAsRange<mlir::FlatSymbolRefAttr>(),
                  [&](auto Name) { return IsThere(Name.getValue()); }) ||
          !all_of(Op.getConflicts().getAsRange<mlir::FlatSymbolRefAttr>(),
                  [&](auto Name) { return IsThere(Name.getValue()); }))
        continue;
      Op->remove();
      Library.push_back(Op);
      Added = true;
    }
  }
  return Error::success();
}

std::pair<std::string, std::string> proposedFile(mlir::ModuleOp Library,
                                                 StringRef Name) {
  mlir::OwningOpRef<mlir::ModuleOp> Alone = createModule(*Library.getContext());
  for (StrategyOp Op : Library.getOps<StrategyOp>())
    if (Op.getSymName() == Name)
      Alone->push_back(Op->clone());
  return {("strategies/" + Name + ".mlir").str(), printModule(*Alone)};
}

} // namespace cupilot
