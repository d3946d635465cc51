//===- MlirAdd.cpp - Variants of MLIR kernels into the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gate runs CUDA. For a kernel that is MLIR a person answers: whoever adds
// a variant says that it is right for every launch, and the evidence says so.
//
//===----------------------------------------------------------------------===//

#include "MlirVariants.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
class AddVariantPass
    : public PassWrapper<AddVariantPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AddVariantPass)
  AddVariantPass() = default;
  AddVariantPass(const AddVariantPass &Other) : PassWrapper(Other) {}
  StringRef getArgument() const override { return "cupilot-add-variant"; }
  StringRef getDescription() const override {
    return "Add a variant of a GPU kernel of this module to the store, without "
           "a proof";
  }
  void runOnOperation() override;

private:
  llvm::Error add();

  Option<std::string> Root{*this, "store",
                           llvm::cl::desc("The project store's folder")};
  Option<std::string> Arch{
      *this, "arch", llvm::cl::desc("The architecture, for example sm_90")};
  Option<std::string> Symbol{*this, "kernel", llvm::cl::desc("Its symbol")};
  Option<std::string> File{*this, "variant",
                           llvm::cl::desc("The .mlir file with the variant")};
};
} // namespace

llvm::Error AddVariantPass::add() {
  for (auto [Option, Value] : {std::pair("store=DIR", StringRef(Root)),
                               {"kernel=SYMBOL", Symbol},
                               {"variant=FILE.mlir", File},
                               {"arch=sm_90", Arch}})
    if (Value.empty())
      return usageError(llvm::Twine("cupilot-add-variant needs ") + Option);
  if (!Architecture::parse(Arch))
    return usageError("'" + Arch + "' is not an architecture",
                      "name one as arch=sm_90");
  Operation *Kernel = nullptr;
  getOperation()->walk([&](Operation *Op) {
    if (isGpuKernel(Op) && SymbolTable::getSymbolName(Op) == Symbol.getValue())
      Kernel = Op;
  });
  if (!Kernel)
    return usageError("the module has no kernel '" + Symbol + "'");
  Expected<VariantModule> New = readMlirVariant(getContext(), File, Symbol);
  if (!New)
    return New.takeError();
  Expected<std::string> Text = canonicalGpuText(Kernel),
                        Own = canonicalGpuText(New->Kernel),
                        Source = readFile(File);
  if (!Text || !Own || !Source)
    return joinErrors(Text.takeError(),
                      joinErrors(Own.takeError(), Source.takeError()));
  // What does not fit now never will: tried on a copy.
  {
    OwningOpRef<ModuleOp> Copy = cast<ModuleOp>(getOperation()->clone());
    Operation *There = nullptr;
    Copy->walk([&](Operation *Op) {
      if (isGpuKernel(Op) &&
          SymbolTable::getSymbolName(Op) == Symbol.getValue())
        There = Op;
    });
    if (llvm::Error E = replaceKernel(There, New->Kernel, "new"))
      return E;
  }
  StoredKernel S;
  S.K.Name = S.K.Symbol = Symbol;
  S.K.Digest = digest(*Text);
  llvm::raw_string_ostream(S.K.Slice) << *Kernel << "\n";
  std::string Identity = digest("arch " + Arch + "\n" + *Text);
  S.Builds = {{MlirCompiler.str(), Arch, Identity}};
  Variant V;
  V.Name = llvm::sys::path::stem(File).str();
  V.Source = V.Name + ".mlir";
  V.Digest = digest(*Source);
  Launch L;
  L.Symbol = Symbol;
  for (unsigned I = 0; I < 3; ++I) {
    L.Grid[I] = Expr::dim(GridX + I);
    L.Block[I] = Expr::dim(BlockX + I);
  }
  L.Shared = Expr::dim(SharedBytes);
  V.Plan = LaunchPlan();
  V.Plan->Launches = {L};
  V.When = Guard();
  V.When->Arch = Arch;
  V.Where = Domain::everything(); // Whoever adds it answers for it.
  Measurement M;
  M.Device = "none";
  M.Basis = Basis::Declared;
  M.Ratio = M.Low = M.High = 1;
  M.Compiler = MlirCompiler.str();
  M.Arch = Arch;
  M.Digest = digest(*Own);
  V.Evidence = {M};
  S.Variants = {V};
  S.Sources = {*Source};
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  Expected<std::vector<StoredKernel>> All = Store->kernels();
  if (!All)
    return All.takeError();
  // Behind those that are there; one of the same name is replaced.
  for (StoredKernel &Old : *All) {
    if (Old.Builds.empty() || Old.Builds.front().Digest != Identity)
      continue;
    if (llvm::Error E = Store->readTexts(Old))
      return E;
    for (size_t I = Old.Variants.size(); I-- > 0;)
      if (Old.Variants[I].Name != V.Name) {
        S.Variants.insert(S.Variants.begin(), Old.Variants[I]);
        S.Sources.insert(S.Sources.begin(), Old.Sources[I]);
      }
  }
  return Store->put(S);
}

void AddVariantPass::runOnOperation() {
  if (llvm::Error E = add()) {
    emitError(getOperation().getLoc()) << "cupilot: " << toString(std::move(E));
    signalPassFailure();
  }
}

void registerAddVariantPass() { PassRegistration<AddVariantPass>(); }

} // namespace cupilot
