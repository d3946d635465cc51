//===- ModuleText.cpp - Modules of the dialect as text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

static constexpr llvm::StringLiteral FormatName = "cupilot.format";
/// For text that does not parse, though its format is known here.
static constexpr llvm::StringLiteral WayOut =
    "restore it if it was edited by hand, else use the cupilot that wrote it";

void loadDialect(MLIRContext &C) { C.getOrLoadDialect<CupilotDialect>(); }

OwningOpRef<ModuleOp> createModule(MLIRContext &C) {
  loadDialect(C);
  Builder B(&C);
  OwningOpRef<ModuleOp> M = ModuleOp::create(B.getUnknownLoc());
  (*M)->setAttr(FormatName, B.getI64IntegerAttr(PlainModuleFormat));
  return M;
}

int64_t formatOf(ModuleOp M) {
  auto Has = M->getAttrOfType<IntegerAttr>(FormatName);
  return Has ? Has.getInt() : 0;
}

std::string printModule(ModuleOp M) {
  bool HasDomain = false;
  M.walk([&](VariantOp V) { HasDomain |= V.getDomain().has_value(); });
  if (HasDomain)
    M->setAttr(FormatName,
               Builder(M.getContext()).getI64IntegerAttr(ModuleFormat));
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  M.print(OS);
  OS << "\n";
  return Text;
}

/// The format that \p Text says it has; 0 where it says nothing. Looked for in
/// the text, so that a newer module is named as such even when its operations
/// do not parse here.
static int64_t formatOf(StringRef Text) {
  static constexpr StringRef Key = "cupilot.format = ";
  StringRef Header = Text.take_until([](char C) { return C == '}'; });
  size_t At = Header.find(Key);
  int64_t Format = 0;
  if (At != StringRef::npos)
    Header.drop_front(At + Key.size()).consumeInteger(10, Format);
  return Format;
}

/// True for text that MLIR's parser, which goes down the stack for each bracket
/// and each operator of an affine expression, could not end well.
static bool nestsTooDeep(StringRef Text) {
  // Longer expressions than any launch needs; an operator takes two characters.
  static constexpr size_t MostAffine = 2 * MaxNesting;
  for (size_t At = Text.find("affine_"); At != StringRef::npos;
       At = Text.find("affine_", At + 1)) {
    StringRef Line =
        Text.substr(At).take_until([](char C) { return C == '>' || C == '"'; });
    // "->" and ">=" do not end it.
    for (size_t End = At + Line.size();
         End < Text.size() && Text[End] == '>' &&
         (Text[End - 1] == '-' || Text.substr(End).starts_with(">="));) {
      End += 1 + Text.substr(End + 1)
                     .take_until([](char C) { return C == '>' || C == '"'; })
                     .size();
      Line = Text.slice(At, End);
    }
    // A domain's map has many results, which stand side by side.
    for (StringRef Rest = Line; !Rest.empty();) {
      auto [Result, Behind] = Rest.split(',');
      if (Result.size() > MostAffine)
        return true;
      Rest = Behind;
    }
  }
  return nestingDepth(Text, /*Angles=*/true) > MaxNesting / 4;
}

/// Runs \p Work and returns what it diagnosed in \p C, a line each.
static std::string diagnosticsOf(MLIRContext &C,
                                 llvm::function_ref<void()> Work) {
  std::string Messages;
  ScopedDiagnosticHandler Handler(&C, [&](Diagnostic &D) {
    llvm::raw_string_ostream OS(Messages);
    OS << "\n  " << D.getLocation() << ": " << D.str();
    return success();
  });
  Work();
  return Messages;
}

Expected<OwningOpRef<ModuleOp>> parseModule(MLIRContext &C, StringRef Text,
                                            StringRef Name) {
  loadDialect(C);
  if (int64_t Format = formatOf(Text); Format > ModuleFormat)
    return usageError("'" + Name + "' has format " + llvm::Twine(Format) +
                          "; this cupilot supports formats up to " +
                          llvm::Twine(ModuleFormat),
                      "use the cupilot that wrote it");
  if (nestsTooDeep(Text))
    return usageError("'" + Name +
                          "' is no valid cupilot module: it nests too "
                          "deep",
                      WayOut);
  OwningOpRef<ModuleOp> M;
  // MLIR's lexer looks for the zero byte behind the text.
  std::string Ended = Text.str();
  std::string Messages = diagnosticsOf(
      C, [&] { M = parseSourceString<ModuleOp>(Ended, &C, Name); });
  if (!M)
    return usageError("'" + Name + "' is no valid cupilot module:" + Messages,
                      WayOut);
  return M;
}

llvm::Error verifyModule(Operation *Op, StringRef Name) {
  bool Valid = true;
  std::string Messages = diagnosticsOf(
      *Op->getContext(), [&] { Valid = succeeded(mlir::verify(Op)); });
  if (Valid)
    return llvm::Error::success();
  return usageError("'" + Name + "' is no valid cupilot module:" + Messages,
                    WayOut);
}

Expected<OwningOpRef<ModuleOp>> loadModule(MLIRContext &C, StringRef Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  return parseModule(C, *Text, Path);
}

Expected<std::vector<Kernel>> loadKernels(StringRef Path) {
  MLIRContext C;
  Expected<OwningOpRef<ModuleOp>> M = loadModule(C, Path);
  if (!M)
    return M.takeError();
  std::vector<Kernel> All;
  for (KernelOp Op : (*M)->getOps<KernelOp>()) {
    Kernel K = toKernel(Op);
    StringRef Source = Op.getSource().value_or("");
    llvm::SmallString<256> File(Source);
    if (!File.empty()) {
      if (llvm::sys::path::is_relative(File)) {
        File = llvm::sys::path::parent_path(Path);
        llvm::sys::path::append(File, Source);
      }
      Expected<std::string> Slice = readFile(File);
      if (!Slice)
        return Slice.takeError();
      K.Slice = std::move(*Slice);
    } else if (!K.Refusal) {
      K.Refusal = "the module does not name a slice for it; cupilot extract -o "
                  "writes both";
    }
    All.push_back(std::move(K));
  }
  if (All.empty())
    return usageError("'" + Path + "' contains no kernels",
                      "cupilot extract F.cu -o K.mlir writes such a file");
  return All;
}

Expected<std::vector<Workload>> loadWorkloads(StringRef Path) {
  MLIRContext C;
  Expected<OwningOpRef<ModuleOp>> M = loadModule(C, Path);
  if (!M)
    return M.takeError();
  std::vector<Workload> All;
  (*M)->walk([&](WorkloadOp Op) { All.push_back(toWorkload(Op)); });
  return All;
}

Expected<OwningOpRef<ModuleOp>> loadLibrary(MLIRContext &C, StringRef Folder) {
  std::set<std::string> Files;
  std::error_code EC;
  for (llvm::sys::fs::directory_iterator It(Folder, EC), End; !EC && It != End;
       It.increment(EC))
    if (llvm::sys::path::extension(It->path()) == ".mlir")
      Files.insert(It->path());
  if (EC)
    return usageError("cannot read the strategy library '" + Folder +
                          "': " + EC.message(),
                      "name the folder of the strategies with --strategies");
  if (Files.empty())
    return usageError("there is no strategy library in '" + Folder + "'",
                      "name the folder of the strategies with --strategies");
  OwningOpRef<ModuleOp> All = createModule(C);
  for (const std::string &File : Files) {
    Expected<OwningOpRef<ModuleOp>> M = loadModule(C, File);
    if (!M)
      return M.takeError();
    for (Operation &Op : llvm::make_early_inc_range(*(*M)->getBody())) {
      Op.remove();
      All->push_back(&Op);
    }
  }
  bool Valid = true;
  std::string Messages =
      diagnosticsOf(C, [&] { Valid = succeeded(mlir::verify(*All)); });
  if (!Valid)
    return usageError("the strategy library in '" + Folder +
                      "' does not verify:" + Messages);
  return All;
}

} // namespace cupilot
