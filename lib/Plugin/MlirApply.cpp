//===- MlirApply.cpp - Variants into MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is no host side here: nobody could change a launch or check a guard. So
// bodies are replaced in place, by variants that hold for every launch as it
// stands, for the architecture that the user names.
//
//===----------------------------------------------------------------------===//

#include "MlirVariants.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Plugin/MlirPasses.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// A finding for a variant that does not hold for every launch as it stands.
static llvm::Error checkNeedsNoHost(const BuildVariant &V, bool AssumeDomain,
                                    bool TakeModelled, StringRef Store) {
  auto Needed = [](StringRef Why) {
    return findingError(Why + ", and mlir-opt does not compile host code");
  };
  if (V.Basis == Basis::Modelled && !TakeModelled)
    return findingError("nobody measured its time; basis=modelled takes it");
  if (!V.Where && !AssumeDomain)
    return findingError("it has no domain, as in stores of format 6 and "
                        "before; " +
                        verifyCommand(Store) + " gives it one");
  // One box without conditions is everything.
  if (!AssumeDomain && llvm::none_of(V.Where->Boxes, [](const DomainBox &Box) {
        return Box.size() == 0;
      }))
    return Needed(
        "its domain must be checked at the launch (assume-domain=true "
        "takes it unchecked)");
  if (!V.When.Constraints.empty() || !V.When.Alignments.empty() ||
      !V.When.Disjoints.empty())
    return Needed("its guard must be checked at the launch");
  if (V.Plan.Launches.size() != 1 || V.Plan.isExtended())
    return Needed("its plan is more than one launch");
  const Launch &L = V.Plan.Launches.front();
  bool Same = L.Shared == Expr::dim(SharedBytes);
  for (unsigned I = 0; I < 3; ++I)
    Same &= L.Grid[I] == Expr::dim(GridX + I) &&
            L.Block[I] == Expr::dim(BlockX + I);
  if (!Same)
    return Needed("it needs another launch than the original");
  return llvm::Error::success();
}

namespace {
class ApplyPass : public PassWrapper<ApplyPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplyPass)
  ApplyPass() = default;
  ApplyPass(const ApplyPass &Other) : PassWrapper(Other) {}
  StringRef getArgument() const override { return "cupilot-apply"; }
  StringRef getDescription() const override {
    return "Put variants of the store in place of GPU kernels";
  }
  void getDependentDialects(DialectRegistry &R) const override {
    registerLlvmTranslations(R);
  }
  /// The files of variants are parsed while passes run, when no dialect may be
  /// loaded any more.
  LogicalResult initialize(MLIRContext *C) override {
    for (StringRef Name : {"affine", "amdgpu", "arith", "cf", "complex", "dlti",
                           "func", "gpu", "index", "llvm", "math", "memref",
                           "nvgpu", "nvvm", "scf", "ub", "vector"})
      if (llvm::is_contained(C->getAvailableDialects(), Name))
        C->getOrLoadDialect(Name);
    return success();
  }
  void runOnOperation() override;

private:
  /// One kernel; false when a finding is an error.
  llvm::Error apply(const BuildStore &Store, Operation *Kernel);
  llvm::Error applyVariant(Operation *Kernel, const BuildRecord &R,
                           const BuildVariant &V, StringRef Path);
  Expected<BuildRecord> recordFor(const BuildStore &Store, Operation *Kernel,
                                  StringRef Symbol);

  Option<std::string> Root{*this, "store",
                           llvm::cl::desc("The project store's folder")};
  Option<std::string> Arch{
      *this, "arch", llvm::cl::desc("The architecture, for example sm_90")};
  Option<std::string> Only{*this, "only",
                           llvm::cl::desc("Only kernels whose symbol matches")};
  ListOption<std::string> Flags{*this, "flags",
                                llvm::cl::desc("Clang's flags of the search")};
  Option<bool> AssumeDomain{
      *this, "assume-domain",
      llvm::cl::desc("All launches are known to lie in the domains of the "
                     "variants, which nothing checks")};
  Option<Basis> LeastBasis{
      *this, "basis", llvm::cl::desc("Evidence that a variant needs"),
      llvm::cl::init(Basis::Measured),
      llvm::cl::values(
          clEnumValN(Basis::Measured, "measured", "a measured time (default)"),
          clEnumValN(Basis::Modelled, "modelled",
                     "a modelled time is enough"))};
  Option<bool> Strict{
      *this, "strict",
      llvm::cl::desc("A variant that does not fit is an error")};
};
} // namespace

/// The record that speaks of \p Kernel: by its identity here, else one of
/// clang's for this name, which is checked later.
Expected<BuildRecord> ApplyPass::recordFor(const BuildStore &Store,
                                           Operation *Kernel,
                                           StringRef Symbol) {
  Expected<std::string> Text = canonicalGpuText(Kernel);
  if (!Text)
    return Text.takeError();
  std::string Identity = digest("arch " + Arch + "\n" + *Text);
  Expected<std::optional<BuildRecord>> Known = Store.lookup(Identity, Symbol);
  if (!Known)
    return Known.takeError();
  if (*Known)
    return std::move(**Known);
  Expected<std::vector<BuildRecord>> All = Store.recordsFor(Symbol);
  if (!All)
    return All.takeError();
  bool IsLlvm = Kernel->getName().getStringRef() == "llvm.func";
  std::string Others;
  bool Stale = false;
  for (BuildRecord &R : *All) {
    bool Clang = compilerKind(R.Compiler) == CompilerKind::Clang && IsLlvm;
    if (R.Variants.empty() || (!Clang && R.Compiler != MlirCompiler))
      continue;
    if (R.Arch != Arch)
      Others += (Others.empty() ? "" : ", ") + R.Arch;
    else if (Clang)
      return std::move(R);
    else
      Stale = true;
  }
  if (Stale)
    return findingError(
        "stale: the kernel has changed since the store's variants were added");
  if (!Others.empty())
    return findingError("the store has variants for " + Others + ", not for " +
                        Arch);
  return findingError("the store has no variant for it");
}

llvm::Error ApplyPass::applyVariant(Operation *Kernel, const BuildRecord &R,
                                    const BuildVariant &V, StringRef Path) {
  if (llvm::Error E = checkNeedsNoHost(V, AssumeDomain,
                                       LeastBasis == Basis::Modelled, Root))
    return E;
  Expected<VariantModule> New = VariantModule();
  if (R.Compiler == MlirCompiler) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    if (digest(*Text) != V.SourceDigest)
      return findingError("stale: '" + Path +
                          "' has changed since it was added");
    New = readMlirVariant(getContext(), Path, V.Plan.Launches.front().Symbol);
    if (!New)
      return New.takeError();
    Expected<std::string> Canonical = canonicalGpuText(New->Kernel);
    if (!Canonical)
      return Canonical.takeError();
    if (digest(*Canonical) != V.Canonical)
      return findingError(
          "stale: '" + Path +
          "' is parsed to different code than when it was added");
  } else {
    New = clangVariant(Kernel, R, V, Path, Flags);
    if (!New)
      return New.takeError();
  }
  return replaceKernel(Kernel, New->Kernel, V.Name);
}

llvm::Error ApplyPass::apply(const BuildStore &Store, Operation *Kernel) {
  std::string Symbol = SymbolTable::getSymbolName(Kernel).str();
  Location Where = Kernel->getLoc();
  Expected<BuildRecord> R = recordFor(Store, Kernel, Symbol);
  if (!R)
    return R.takeError();
  std::string Left;
  for (const BuildVariant &V : R->Variants) {
    llvm::Error E = applyVariant(Kernel, *R, V, Store.sourcePath(V));
    if (!E) {
      emitRemark(Where) << "cupilot: " << Symbol << ": variant " << V.Name
                        << ": " << V.Genome;
      return llvm::Error::success();
    }
    // Of several the first that fits.
    if (llvm::Error Other = absorbFinding(std::move(E), [&](StringRef Why) {
          Left += (Left.empty() ? "" : "; ") + ("variant " + V.Name) +
                  " left out: " + Why.str();
        }))
      return Other;
  }
  return findingError(Left);
}

void ApplyPass::runOnOperation() {
  auto Fail = [&](const llvm::Twine &Text) {
    emitError(getOperation().getLoc()) << "cupilot: " << Text.str();
    signalPassFailure();
  };
  if (Root.empty())
    return Fail("cupilot-apply needs a store: store=DIR");
  if (Arch.empty())
    return Fail("cupilot-apply needs an architecture, because the module does "
                "not state one: arch=sm_90");
  if (!Architecture::parse(Arch))
    return Fail("'" + Arch +
                "' is not an architecture; name one as arch=sm_90");
  std::string Why;
  if (!Only.empty() && !llvm::Regex(Only).isValid(Why))
    return Fail("'" + Only + "' is not a regular expression: " + Why);
  Expected<BuildStore> Store = BuildStore::open(Root);
  if (!Store)
    return Fail(toString(Store.takeError()));
  llvm::SmallVector<Operation *> Kernels;
  getOperation()->walk([&](Operation *Op) {
    if (isGpuKernel(Op) &&
        (Only.empty() ||
         llvm::Regex(Only).match(SymbolTable::getSymbolName(Op))))
      Kernels.push_back(Op);
  });
  for (Operation *Kernel : Kernels) {
    StringRef Symbol = SymbolTable::getSymbolName(Kernel).getValue();
    Location Where = Kernel->getLoc();
    llvm::Error Failed =
        absorbFinding(apply(*Store, Kernel), [&](StringRef Text) {
          if (Strict) {
            emitError(Where) << "cupilot: " << Symbol << ": " << Text;
            signalPassFailure();
          } else {
            emitRemark(Where)
                << "cupilot: " << Symbol << ": the original stays: " << Text;
          }
        });
    if (Failed)
      return Fail(toString(std::move(Failed)));
  }
}

void registerMlirVariantPasses() {
  PassRegistration<ApplyPass>();
  registerAddVariantPass();
}

} // namespace cupilot
