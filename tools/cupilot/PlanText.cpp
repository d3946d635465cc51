//===- PlanText.cpp - Plans and guards on the command line -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The short forms are written out as the attributes that they stand for, so
// that MLIR's parser and the dialect's verifiers judge both.
//
//===----------------------------------------------------------------------===//

#include "PlanText.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef Sample = "cupilot.sample";

/// "(gx, ..., shared)[n, s1]", with the names of the integer arguments.
static std::string spaceOf(const Kernel &K) {
  StringSet<> Taken{"gx", "gy",     "gz",  "bx",       "by",
                    "bz", "shared", "mod", "floordiv", "ceildiv"};
  std::string Text = "(gx, gy, gz, bx, by, bz, shared)[";
  for (auto [I, S] : enumerate(K.Scalars)) {
    const KernelParam &P = K.Params[S.Param];
    bool Whole = S.Offset == 0 && P.Size == S.Bits / 8 && !P.Name.empty();
    std::string Name =
        Whole && Taken.insert(P.Name).second ? P.Name : "s" + utostr(I);
    Text += (I ? ", " : "") + Name;
  }
  return Text + "]";
}

/// The attribute that \p Text ends with; what stands before are its aliases.
template <typename AttrT>
static Expected<AttrT> parseAttr(mlir::MLIRContext &C, StringRef Aliases,
                                 StringRef Text, StringRef Option) {
  loadDialect(C);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> M = parseModule(
      C,
      (Aliases + "\nmodule attributes {" + Sample + " = " + Text + "} {}\n")
          .str(),
      Option);
  if (!M)
    return M.takeError();
  if (auto Attr = (**M)->getAttrOfType<AttrT>(Sample))
    return Attr;
  return usageError("'" + Text + "' is not what " + Option + " takes");
}

/// "(a, b, c)"; a list of fewer dimensions is filled up with what the original
/// launch has.
static std::string threeOf(StringRef Text, StringRef Prefix) {
  Text = Text.trim();
  if (Text.starts_with("(") && Text.ends_with(")"))
    Text = Text.drop_front().drop_back();
  std::string Result = "(" + Text.str();
  for (size_t Have = Text.count(',') + 1; Have < 3; ++Have)
    Result += (", " + Prefix + Twine("xyz"[Have])).str();
  return Result + ")";
}

Expected<LaunchPlan> parsePlan(StringRef Text, const Kernel &K) {
  Text = Text.trim();
  mlir::MLIRContext C;
  if (size_t At = Text.rfind("#cupilot.plan<"); At != StringRef::npos) {
    Expected<PlanAttr> Plan =
        parseAttr<PlanAttr>(C, Text.substr(0, At), Text.substr(At), "--plan");
    if (!Plan)
      return Plan.takeError();
    return fromAttr(*Plan);
  }
  std::string Grid = "(gx, gy, gz)", Block = "(bx, by, bz)",
              Shared = "(shared)";
  SmallVector<StringRef> Parts;
  Text.split(Parts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts) {
    auto [Name, Value] = Part.trim().split('=');
    Name = Name.trim();
    if (Name == "grid")
      Grid = threeOf(Value, "g");
    else if (Name == "block")
      Block = threeOf(Value, "b");
    else if (Name == "shared")
      Shared = ("(" + Value + ")").str();
    else
      return usageError("'" + Part + "' is no part of a plan",
                        "--plan='grid=(n ceildiv 1024, 1, 1); block=(128, 1, "
                        "1); shared=0'");
  }
  std::string Space = spaceOf(K), Maps;
  for (auto [Name, Map] :
       {std::pair("grid", &Grid), {"block", &Block}, {"shared", &Shared}})
    Maps +=
        (Twine(", ") + Name + " = affine_map<" + Space + " -> " + *Map + ">")
            .str();
  Expected<PlanAttr> Plan = parseAttr<PlanAttr>(
      C, "", "#cupilot.plan<[<symbol = \"" + K.Symbol + "\"" + Maps + ">]>",
      "--plan");
  if (!Plan)
    return Plan.takeError();
  return fromAttr(*Plan);
}

static Expected<unsigned> pointerOf(StringRef Name, const Kernel &K) {
  for (auto [I, P] : enumerate(K.Params))
    if (P.Name == Name && P.IsPointer)
      return I;
  return usageError("'" + Name + "' is no pointer that '" + K.Name + "' takes");
}

Expected<Guard> parseGuard(StringRef Text, const Kernel &K, StringRef Arch) {
  Text = Text.trim();
  mlir::MLIRContext C;
  if (size_t At = Text.rfind("#cupilot.guard<"); At != StringRef::npos) {
    Expected<GuardAttr> When =
        parseAttr<GuardAttr>(C, Text.substr(0, At), Text.substr(At), "--guard");
    if (!When)
      return When.takeError();
    return fromAttr(*When);
  }
  std::string Space = spaceOf(K), Set, Align, Disjoints;
  SmallVector<StringRef> Clauses;
  Text.split(Clauses, ';', -1, /*KeepEmpty=*/false);
  auto Pointer = [&](StringRef Name) -> Expected<std::string> {
    Expected<unsigned> Param = pointerOf(Name.trim(), K);
    if (!Param)
      return Param.takeError();
    return "<param = " + utostr(*Param) + ">";
  };
  for (StringRef Clause : Clauses) {
    Clause = Clause.trim();
    if (Clause.consume_front("align ")) {
      auto [Name, Bytes] = Clause.trim().split(' ');
      Expected<std::string> P = Pointer(Name);
      if (!P)
        return P.takeError();
      Align += (Twine(Align.empty() ? "" : ", ") + "<pointer = " + *P +
                ", bytes = " + Bytes.trim() + ">")
                   .str();
    } else if (Clause.consume_front("disjoint ")) {
      auto [A, B] = Clause.split(',');
      auto [NameA, ExtentA] = A.trim().split(' ');
      auto [NameB, ExtentB] = B.trim().split(' ');
      Expected<std::string> PA = Pointer(NameA), PB = Pointer(NameB);
      if (!PA || !PB)
        return joinErrors(PA ? Error::success() : PA.takeError(),
                          PB ? Error::success() : PB.takeError());
      Disjoints += (Twine(Disjoints.empty() ? "" : ", ") + "<a = " + *PA +
                    ", b = " + *PB + ", extent_a = affine_map<" + Space +
                    " -> (" + ExtentA + ")>, extent_b = affine_map<" + Space +
                    " -> (" + ExtentB + ")>>")
                       .str();
    } else {
      Set += (Set.empty() ? "" : ", ") + Clause.str();
    }
  }
  std::string Aliases = "#set = affine_set<" + Space + " : (" +
                        (Set.empty() ? "0 == 0" : Set) + ")>";
  std::string Attr = "#cupilot.guard<\"" + Arch.str() + "\", #set";
  if (!Align.empty())
    Attr += " align [" + Align + "]";
  if (!Disjoints.empty())
    Attr += " disjoint [" + Disjoints + "]";
  Expected<GuardAttr> When =
      parseAttr<GuardAttr>(C, Aliases, Attr + ">", "--guard");
  if (!When)
    return When.takeError();
  return fromAttr(*When);
}

} // namespace cupilot
