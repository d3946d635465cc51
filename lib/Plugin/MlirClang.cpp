//===- MlirClang.cpp - Clang's variants in mlir-opt -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-translate --import-llvm loses some of what clang's identities digest, so
// a kernel that came that way cannot be looked up. But the store has the
// original: where clang makes the proved code of it, and the import of that is
// the kernel at hand, the kernel is the one that was proved.
//
//===----------------------------------------------------------------------===//

#include "MlirVariants.h"
#include "TextErrors.h"
#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/Import.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

void registerLlvmTranslations(DialectRegistry &R) {
  registerAllToLLVMIRTranslations(R);
  registerAllFromLLVMIRTranslations(R);
}

namespace {
/// What clang makes of one text, as it is and as mlir-translate imports it.
struct Compiled {
  std::string Identity; ///< As the clang plugin has it: digestOfPlan.
  OriginalCode Code;    ///< What variants of it may have.
  OwningOpRef<ModuleOp> Imported;
};
} // namespace

/// The digest of \p Symbol in \p M as LLVM IR: what two imports have in common.
static Expected<std::string> exportedDigest(Operation *M, StringRef Symbol) {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> IR = translateModuleToLLVMIR(M, Context);
  if (!IR)
    return findingError("the module is not LLVM IR");
  foldReflect(*IR);
  llvm::Function *Kernel = IR->getFunction(Symbol);
  if (!Kernel)
    return findingError("'" + Symbol + "' is missing in the LLVM IR");
  KernelIdentity Id = identify(*Kernel);
  if (Id.Refusal)
    return llvm::make_error<BuildError>(*Id.Refusal);
  return Id.Digest;
}

static Expected<Compiled> compile(MLIRContext &C, StringRef Path,
                                  llvm::ArrayRef<std::string> Symbols,
                                  StringRef Arch,
                                  llvm::ArrayRef<std::string> Flags) {
  Expected<std::string> Bitcode =
      compileDevice(Path, Arch, Flags, bitcodeOutput());
  if (!Bitcode)
    return Bitcode.takeError();
  Compiled Result;
  {
    llvm::LLVMContext Context;
    auto M = parseBitcode(*Bitcode, Context);
    if (!M)
      return M.takeError();
    Result.Code = OriginalCode::of(**M);
    foldReflect(**M);
    Expected<std::string> Digest = digestOfPlan(
        identifyKernels(**M, buildContext(llvmArguments(Flags))), Symbols);
    if (!Digest)
      return Digest.takeError();
    Result.Identity = *Digest;
  }
  llvm::LLVMContext Context;
  auto M = parseBitcode(*Bitcode, Context);
  if (!M)
    return M.takeError();
  // What is lost is lost for the kernel at hand too.
  ScopedDiagnosticHandler Quiet(&C, [](Diagnostic &) { return success(); });
  Result.Imported = translateLLVMIRToModule(std::move(*M), &C,
                                            /*emitExpensiveWarnings=*/false);
  if (!Result.Imported)
    return findingError(
        "MLIR cannot import the code that clang generates for '" + Path + "'");
  return Result;
}

/// The module around \p Kernel with nothing in it but the LLVM dialect.
static OwningOpRef<ModuleOp> llvmPart(Operation *Kernel) {
  Operation *Home = Kernel->getParentOp();
  OwningOpRef<ModuleOp> Part = ModuleOp::create(Home->getLoc());
  for (NamedAttribute A : Home->getAttrs())
    if (A.getName() != SymbolTable::getSymbolAttrName())
      (*Part)->setAttr(A.getName(), A.getValue());
  for (Operation &Op : Home->getRegion(0).front())
    if (Op.getName().getStringRef().starts_with("llvm."))
      Part->push_back(Op.clone());
  return Part;
}

/// As other builds, this one takes only texts that the admission takes.
static llvm::Error admit(StringRef Path, StringRef Text, StringRef Arch,
                         llvm::ArrayRef<std::string> Flags,
                         const OriginalCode &Original) {
  TextRequest Request;
  Request.Source = Text.str();
  Request.Arch = Arch.str();
  Request.Name = llvm::sys::path::filename(Path).str();
  Request.Flags = Flags.vec();
  Request.Original = Original;
  Expected<CompiledText> Answer = TextCompiler().compile(Request);
  if (!Answer)
    return Answer.takeError();
  return errorOf(*Answer);
}

/// The kernels \p Symbols of what clang made.
static Expected<VariantModule> variantIn(Compiled From,
                                         llvm::ArrayRef<std::string> Symbols) {
  VariantModule Result;
  Result.M = std::move(From.Imported);
  Result.Canonical = std::move(From.Identity);
  for (StringRef Symbol : Symbols) {
    Operation *Kernel = SymbolTable::lookupSymbolIn(*Result.M, Symbol);
    if (!Kernel)
      return findingError("the imported module has no kernel '" + Symbol + "'");
    Result.Kernels.push_back(Kernel);
  }
  return Result;
}

Expected<VariantModule> clangVariant(Operation *Kernel, const BuildRecord &R,
                                     const BuildVariant &V, StringRef Source,
                                     llvm::ArrayRef<std::string> Flags) {
  MLIRContext &C = *Kernel->getContext();
  StringRef Symbol = SymbolTable::getSymbolName(Kernel).getValue();
  // Variants lie in a folder of the kernel's; in older stores beside it.
  StringRef Folder = llvm::sys::path::parent_path(Source);
  if (llvm::sys::path::filename(Folder) == "variants")
    Folder = llvm::sys::path::parent_path(Folder);
  llvm::SmallString<256> Original(Folder);
  llvm::sys::path::append(Original, "original.cu");
  Expected<Compiled> Proved = compile(C, Original, {R.Symbol}, R.Arch, Flags);
  if (!Proved)
    return Proved.takeError();
  if (Proved->Identity != R.Identity)
    return findingError("stale: with these flags, clang generates different "
                        "code for the store's original than the code that was "
                        "proved; pass the flags of the search with flags=");
  Expected<std::string> Ours = exportedDigest(*llvmPart(Kernel), Symbol),
                        Theirs = exportedDigest(*Proved->Imported, R.Symbol);
  if (!Ours || !Theirs)
    return joinErrors(Ours.takeError(), Theirs.takeError());
  if (*Ours != *Theirs)
    return findingError(
        "stale: the kernel differs from the code that clang generates for the "
        "store's original before optimisation");
  Expected<std::string> Text = readFile(Source);
  if (!Text)
    return Text.takeError();
  if (digest(*Text) != V.SourceDigest)
    return findingError("stale: '" + Source +
                        "' has changed since it was proved");
  if (llvm::Error E = admit(Source, *Text, R.Arch, Flags, Proved->Code))
    return std::move(E);
  const std::vector<std::string> Symbols = V.Plan.symbols();
  Expected<Compiled> New = compile(C, Source, Symbols, R.Arch, Flags);
  if (!New)
    return New.takeError();
  if (New->Identity != V.Canonical)
    return findingError("stale: clang generates different code for the variant "
                        "than the code that was proved");
  return variantIn(std::move(*New), Symbols);
}

Expected<VariantModule> readCudaVariant(MLIRContext &C, StringRef Path,
                                        llvm::ArrayRef<std::string> Symbols,
                                        StringRef Arch,
                                        llvm::ArrayRef<std::string> Flags) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  // The original is no CUDA: nothing of it is the text's.
  if (llvm::Error E = admit(Path, *Text, Arch, Flags, OriginalCode()))
    return std::move(E);
  Expected<Compiled> New = compile(C, Path, Symbols, Arch, Flags);
  if (!New)
    return New.takeError();
  return variantIn(std::move(*New), Symbols);
}

} // namespace cupilot
