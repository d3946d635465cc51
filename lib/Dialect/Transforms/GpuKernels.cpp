//===- GpuKernels.cpp - GPU kernels in MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

static std::string textOf(Attribute A) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (A)
    A.print(OS);
  return Text;
}

bool isGpuKernel(Operation *Op) {
  StringRef Name = Op->getName().getStringRef();
  if (Name == "gpu.func")
    return Op->hasAttr("gpu.kernel") || Op->hasAttr("kernel");
  if (Name != "llvm.func" || Op->getRegion(0).empty())
    return false;
  return Op->hasAttr("nvvm.kernel") || Op->hasAttr("gpu.kernel") ||
         StringRef(textOf(Op->getAttr("CConv"))).contains("ptx_kernel");
}

bool isGpuVariable(Operation *Op) {
  StringRef Name = Op->getName().getStringRef();
  if (Name == "memref.global")
    return !Op->hasAttr("constant");
  if (Name != "llvm.mlir.global")
    return false;
  // Shared memory is a launch's own.
  auto Space = Op->getAttrOfType<IntegerAttr>("addr_space");
  if (Space && Space.getInt() == 3)
    return false;
  std::string Linkage = textOf(Op->getAttr("linkage"));
  bool Own = StringRef(Linkage).contains("private") ||
             StringRef(Linkage).contains("internal");
  return !(Own && Op->hasAttr("constant"));
}

/// The symbol that \p Ref, used in \p User, stands for.
static Operation *resolve(Operation *User, SymbolRefAttr Ref) {
  return SymbolTable::lookupNearestSymbolFrom(User, Ref);
}

Expected<std::vector<Operation *>> gpuClosure(Operation *Kernel) {
  llvm::SetVector<Operation *> Reached;
  Reached.insert(Kernel);
  for (size_t I = 0; I < Reached.size(); ++I) {
    SymbolRefAttr Missing;
    Reached[I]->walk<WalkOrder::PreOrder>([&](Operation *Op) {
      AttrTypeWalker Walker;
      Walker.addWalk([&](SymbolRefAttr Ref) {
        Operation *Symbol = resolve(Op, Ref);
        // Which of several the linker takes is its matter.
        if (Symbol &&
            Symbol->getName().getStringRef() == "llvm.comdat_selector")
          return WalkResult::skip();
        if (Symbol)
          Reached.insert(Symbol);
        else if (!Missing)
          Missing = Ref;
        // Not the parts of a nested name.
        return WalkResult::skip();
      });
      Walker.walk(Op->getAttrDictionary());
    });
    if (Missing)
      return findingError("it uses " + textOf(Missing) +
                          ", which the module does not hold");
  }
  return std::vector<Operation *>(Reached.begin(), Reached.end());
}

/// What \p Module says of the target: everything but names and what we or
/// other tools noted.
static void printTarget(llvm::raw_ostream &OS, Operation *Module) {
  for (; Module; Module = Module->getParentOp())
    for (NamedAttribute A : Module->getAttrs())
      if (StringRef Name = A.getName().getValue();
          Name != "sym_name" && Name != "llvm.ident" &&
          Name != "llvm.commandline" && Name != "gpu.container_module" &&
          !Name.starts_with("cupilot."))
        OS << Name << " = " << A.getValue() << "\n";
}

Expected<std::string> canonicalGpuText(Operation *Kernel) {
  Expected<std::vector<Operation *>> Closure = gpuClosure(Kernel);
  if (!Closure)
    return Closure.takeError();
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printTarget(OS, Kernel->getParentOp());
  Builder B(Kernel->getContext());
  llvm::DenseMap<Operation *, StringAttr> Names;
  for (auto [I, Op] : llvm::enumerate(*Closure)) {
    bool External =
        Op->getNumRegions() && Op->getRegion(0).empty() && Op != Kernel;
    // Functions of the toolkit's libraries and intrinsics are what they are
    // called.
    bool Keep = isGpuVariable(Op) ||
                (External && Op->getName().getStringRef().ends_with("func"));
    Names[Op] = Keep ? SymbolTable::getSymbolName(Op)
                     : B.getStringAttr("s" + std::to_string(I));
  }
  for (Operation *Op : *Closure) {
    Operation *Copy = Op->clone();
    // The copy stands in no module: what a name means is asked of the original.
    auto Rename = [&](Operation *At) {
      AttrTypeReplacer Replacer;
      Replacer.addReplacement(
          [&](SymbolRefAttr Ref) -> std::pair<Attribute, WalkResult> {
            Operation *Symbol = resolve(Op, Ref);
            auto It = Names.find(Symbol);
            if (It == Names.end())
              return {Ref, WalkResult::skip()};
            return {FlatSymbolRefAttr::get(It->second), WalkResult::skip()};
          });
      Replacer.replaceElementsIn(At, /*replaceAttrs=*/true);
    };
    Copy->walk(Rename);
    Copy->setAttr(SymbolTable::getSymbolAttrName(), Names[Op]);
    for (StringRef Visibility :
         {"sym_visibility", "visibility_", "dso_local", "comdat"})
      Copy->removeAttr(Visibility);
    if (!isGpuVariable(Op))
      Copy->removeAttr("linkage");
    Copy->print(OS, OpPrintingFlags().useLocalScope().printGenericOpForm());
    OS << "\n";
    Copy->destroy();
  }
  return Text;
}

Expected<BuildEntry> mlirBuild(Operation *Kernel, StringRef Arch) {
  Expected<std::string> Text = canonicalGpuText(Kernel);
  if (!Text)
    return Text.takeError();
  return BuildEntry{MlirCompiler.str(), Arch.str(),
                    digest(("arch " + Arch + "\n" + *Text).str())};
}

} // namespace cupilot
