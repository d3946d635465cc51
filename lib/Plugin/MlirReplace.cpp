//===- MlirReplace.cpp - A variant in place of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirVariants.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

Expected<VariantModule> readMlirVariant(MLIRContext &C, StringRef Path,
                                        StringRef Symbol) {
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
  Result.M->walk([&](Operation *Op) {
    if (isGpuKernel(Op) && SymbolTable::getSymbolName(Op).getValue() == Symbol)
      Result.Kernel = Op;
  });
  if (!Result.Kernel)
    return findingError("'" + Path + "' has no kernel '" + Symbol + "'");
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

llvm::Error replaceKernel(Operation *Kernel, Operation *Variant,
                          StringRef Name) {
  auto Old = cast<FunctionOpInterface>(Kernel);
  auto New = cast<FunctionOpInterface>(Variant);
  if (Kernel->getName() != Variant->getName())
    return findingError(
        "the variant is a " + Variant->getName().getStringRef() +
        " and the kernel a " + Kernel->getName().getStringRef());
  if (Old.getFunctionType() != New.getFunctionType())
    return findingError(
        "the parameters of the variant differ from those of the kernel");
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
      std::string Fresh = ("__cupilot_" + Name + "_" + Own).str();
      for (unsigned I = 1; Table.lookup(Fresh); ++I)
        Fresh = ("__cupilot_" + Name + "_" + Own + "_" + llvm::Twine(I)).str();
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
  Names[Variant] = SymbolTable::getSymbolName(Kernel);
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
  // Who may see and replace it is the module's matter.
  for (StringRef Kept :
       {"linkage", "sym_visibility", "visibility_", "dso_local", "comdat"}) {
    if (Attribute A = Kernel->getAttr(Kept))
      Result->setAttr(Kept, A);
    else
      Result->removeAttr(Kept);
  }
  At.insert(Result);
  Kernel->erase();
  return llvm::Error::success();
}

} // namespace cupilot
