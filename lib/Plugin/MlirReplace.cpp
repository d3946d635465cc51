//===- MlirReplace.cpp - A variant in place of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirConditions.h"
#include "MlirVariants.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

Expected<VariantModule> readMlirVariant(MLIRContext &C, StringRef Path,
                                        ArrayRef<std::string> Symbols) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  std::string Messages;
  ScopedDiagnosticHandler Handler(&C, [&](Diagnostic &D) {
    llvm::raw_string_ostream(Messages) << "; " << D.str();
    return success();
  });
  VariantModule Result;
  Result.M = parseSourceString<ModuleOp>(*Text, &C, Path);
  if (!Result.M)
    return findingError("'" + Path + "' does not parse" + Messages);
  std::vector<KernelIdentity> Own;
  for (StringRef Symbol : Symbols) {
    Operation *Found = nullptr;
    Result.M->walk([&](Operation *Op) {
      if (isGpuKernel(Op) &&
          SymbolTable::getSymbolName(Op).getValue() == Symbol)
        Found = Op;
    });
    if (!Found)
      return findingError("'" + Path + "' has no kernel '" + Symbol + "'");
    Expected<std::string> Canonical = canonicalGpuText(Found);
    if (!Canonical)
      return Canonical.takeError();
    Result.Kernels.push_back(Found);
    Own.emplace_back();
    Own.back().Digest = digest(*Canonical);
  }
  Result.Canonical = digestOfPlan(Own);
  return Result;
}

/// Whether two symbols that are not copied are the same thing.
static bool areEqual(Operation *A, Operation *B) {
  if (A->getName() != B->getName())
    return false;
  for (StringRef Name : {"function_type", "global_type", "type", "addr_space"})
    if (A->getAttr(Name) != B->getAttr(Name))
      return false;
  return true;
}

static bool isDeclaration(Operation *Op) {
  auto Function = dyn_cast<FunctionOpInterface>(Op);
  return Function && Function.isExternal();
}

/// What is the variant's own is nobody else's.
static void makeInternal(Operation *Op) {
  StringRef Name = Op->getName().getStringRef();
  if (Name == "func.func")
    Op->setAttr("sym_visibility", StringAttr::get(Op->getContext(), "private"));
  if (Name != "llvm.func" && Name != "llvm.mlir.global")
    return;
  Op->removeAttr("comdat");
  Op->setAttr("visibility_", Builder(Op->getContext()).getI64IntegerAttr(0));
  if (Attribute Internal =
          parseAttribute("#llvm.linkage<internal>", Op->getContext()))
    Op->setAttr("linkage", Internal);
}

/// Whether \p New takes what launches pass for \p Old, and \p Extra pointers
/// behind it. A function that is lowered already takes the parts of memrefs.
static llvm::Error checkParameters(FunctionOpInterface Old,
                                   FunctionOpInterface New, unsigned Extra) {
  ArrayRef<Type> Has = New.getArgumentTypes();
  auto Differ = [] {
    return findingError(
        "the parameters of the variant differ from those of the kernel");
  };
  if (Has.size() < Extra)
    return Differ();
  for (Type T : Has.take_back(Extra))
    if (!isa<LLVM::LLVMPointerType>(T))
      return findingError("the plan gives each kernel of the variant " +
                          llvm::Twine(Extra) +
                          " pointer(s) to scratch memory as last parameters: "
                          "!llvm.ptr");
  Has = Has.drop_back(Extra);
  if (Old->getName() == New->getName())
    return Has == Old.getArgumentTypes() ? llvm::Error::success() : Differ();
  if (!isa<LLVM::LLVMFuncOp>(New.getOperation()))
    return findingError("the variant is a " + New->getName().getStringRef() +
                        " and the kernel a " + Old->getName().getStringRef());
  std::vector<LaunchArgument> Lowered = launchArguments(Old.getArgumentTypes());
  if (Has.size() != Lowered.size())
    return Differ();
  for (auto [T, A] : llvm::zip_equal(Has, Lowered)) {
    Type Of = Old.getArgumentTypes()[A.Operand];
    bool Same = T == Of;
    if (A.Of == LaunchArgument::Part::Allocated ||
        A.Of == LaunchArgument::Part::Aligned)
      Same = isa<LLVM::LLVMPointerType>(T);
    else if (A.Of != LaunchArgument::Part::Whole || Of.isIndex())
      Same = T.isInteger(64);
    if (!Same)
      return Differ();
  }
  return llvm::Error::success();
}

/// Copies \p Variant, as \p Symbol, and what it reaches to before \p Kernel.
/// What does not fit is a finding and changes nothing.
static Expected<Operation *> copyBefore(Operation *Kernel, Operation *Variant,
                                        StringRef Name, StringAttr Symbol,
                                        unsigned Extra) {
  if (llvm::Error E =
          checkParameters(cast<FunctionOpInterface>(Kernel),
                          cast<FunctionOpInterface>(Variant), Extra))
    return std::move(E);
  Expected<std::vector<Operation *>> Closure = gpuClosure(Variant);
  if (!Closure)
    return Closure.takeError();
  Operation *Home = Kernel->getParentOp();
  SymbolTable Table(Home);
  Builder B(Kernel->getContext());
  // What every symbol of the variant is called here, and what must be copied.
  llvm::DenseMap<Operation *, StringAttr> Names;
  std::vector<Operation *> Copied;
  for (Operation *Op : llvm::drop_begin(*Closure)) {
    StringRef Own = SymbolTable::getSymbolName(Op).getValue();
    if (!isGpuVariable(Op) && !isDeclaration(Op)) {
      std::string Fresh = (AddedPrefix + Name + "_" + Own).str();
      for (unsigned I = 1; Table.lookup(Fresh); ++I)
        Fresh = (AddedPrefix + Name + "_" + Own + "_" + llvm::Twine(I)).str();
      Names[Op] = B.getStringAttr(Fresh);
      Copied.push_back(Op);
      continue;
    }
    Names[Op] = B.getStringAttr(Own);
    Operation *There = Table.lookup(Own);
    if (There && !areEqual(There, Op))
      return findingError("'" + Own +
                          "' is already defined differently in this module");
    if (!There && isGpuVariable(Op))
      return findingError("it needs the device variable '" + Own +
                          "', which this module does not define");
    if (!There)
      Copied.push_back(Op);
  }
  Names[Variant] = Symbol;
  auto CopyOf = [&](Operation *Op) {
    Operation *Copy = Op->clone();
    AttrTypeReplacer Replacer;
    Replacer.addReplacement(
        [&](SymbolRefAttr Ref) -> std::pair<Attribute, WalkResult> {
          auto It = Names.find(SymbolTable::lookupNearestSymbolFrom(Op, Ref));
          if (It == Names.end())
            return {Ref, WalkResult::skip()};
          return {FlatSymbolRefAttr::get(It->second), WalkResult::skip()};
        });
    Copy->walk([&](Operation *At) {
      Replacer.replaceElementsIn(At, /*replaceAttrs=*/true);
    });
    Copy->setAttr(SymbolTable::getSymbolAttrName(), Names[Op]);
    return Copy;
  };
  OpBuilder At(Kernel);
  for (Operation *Op : Copied) {
    Operation *Copy = CopyOf(Op);
    if (!isDeclaration(Op))
      makeInternal(Copy);
    At.insert(Copy);
  }
  Operation *Result = CopyOf(Variant);
  At.insert(Result);
  return Result;
}

llvm::Error replaceKernel(Operation *Kernel, Operation *Variant,
                          StringRef Name) {
  if (Kernel->getName() != Variant->getName())
    return findingError(
        "the variant is a " + Variant->getName().getStringRef() +
        " and the kernel a " + Kernel->getName().getStringRef());
  Expected<Operation *> Result = copyBefore(
      Kernel, Variant, Name, SymbolTable::getSymbolName(Kernel), /*Extra=*/0);
  if (!Result)
    return Result.takeError();
  // Who may see and replace it is the module's matter.
  for (StringRef Kept :
       {"linkage", "sym_visibility", "visibility_", "dso_local", "comdat"}) {
    if (Attribute A = Kernel->getAttr(Kept))
      (*Result)->setAttr(Kept, A);
    else
      (*Result)->removeAttr(Kept);
  }
  Kernel->erase();
  return llvm::Error::success();
}

Expected<Operation *> addBeside(Operation *Kernel, Operation *Variant,
                                StringRef Name, unsigned Extra) {
  SymbolTable Table(Kernel->getParentOp());
  std::string Base = (AddedPrefix + Name + "_" +
                      SymbolTable::getSymbolName(Variant).getValue())
                         .str();
  std::string Fresh = Base;
  for (unsigned I = 1; Table.lookup(Fresh); ++I)
    Fresh = Base + "_" + std::to_string(I);
  Builder B(Kernel->getContext());
  Expected<Operation *> Result =
      copyBefore(Kernel, Variant, Name, B.getStringAttr(Fresh), Extra);
  if (!Result)
    return Result.takeError();
  for (StringRef Gone : {"sym_visibility", "comdat"})
    (*Result)->removeAttr(Gone);
  if (auto Function = dyn_cast<LLVM::LLVMFuncOp>(*Result)) {
    Function.setLinkage(LLVM::Linkage::External);
    Function.setVisibility_(LLVM::Visibility::Default);
    // A launch asks for it.
    Function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                      B.getUnitAttr());
  }
  return *Result;
}

} // namespace cupilot
