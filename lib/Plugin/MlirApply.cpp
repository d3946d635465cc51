//===- MlirApply.cpp - Variants into MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a module launches a kernel, its launches choose among the variants.
// Else the kernel begins with the choice, between one variant of the original's
// launch and itself; a variant that holds for every launch takes its place.
//
//===----------------------------------------------------------------------===//

#include "MlirConditions.h"
#include "MlirDispatch.h"
#include "MlirVariants.h"
#include "cupilot/Dialect/GpuAdmission.h"
#include "cupilot/Dialect/GpuKernels.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Model/SourceLanguage.h"
#include "cupilot/Plugin/MlirPasses.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// A finding where \p Plan is not the original's launch: only the host could
/// carry it out.
static llvm::Error checkNeedsNoHost(const LaunchPlan &Plan) {
  auto Needed = [](StringRef Why) {
    return findingError(Why + ", and the module does not launch the kernel");
  };
  if (Plan.Launches.size() != 1 || Plan.isExtended())
    return Needed("its plan is more than one launch");
  Launch Same;
  Same.Symbol = Plan.Launches.front().Symbol;
  if (!(Plan.Launches.front() == Same))
    return Needed("it needs another launch than the original");
  return llvm::Error::success();
}

/// Whether \p V may run in every launch: there is nothing to test.
static bool holdsEverywhere(const BuildVariant &V) {
  // One box without conditions is everything.
  return V.When.Constraints.empty() && V.When.Alignments.empty() &&
         V.When.Disjoints.empty() &&
         (!V.Where || llvm::any_of(V.Where->Boxes, [](const DomainBox &Box) {
           return Box.size() == 0;
         }));
}

namespace {
class ApplyPass : public PassWrapper<ApplyPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplyPass)
  ApplyPass() = default;
  ApplyPass(const ApplyPass &Other) : PassWrapper(Other) {}
  StringRef getArgument() const override { return "cupilot-apply"; }
  StringRef getDescription() const override {
    return "Make GPU kernels and their launches choose variants of the store";
  }
  void getDependentDialects(DialectRegistry &R) const override {
    R.insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
             LLVM::LLVMDialect, memref::MemRefDialect, NVVM::NVVMDialect,
             scf::SCFDialect>();
  }
  LogicalResult initialize(MLIRContext *C) override;
  void runOnOperation() override;

private:
  /// A kernel of the module and what the store has for it.
  struct Work {
    Operation *Kernel = nullptr;
    BuildRecord Record;
    Location Where; ///< Of the kernel, which a variant may replace.
    std::vector<gpu::LaunchFuncOp> Launches{}; ///< But for dispatched ones.
    std::vector<std::string> Left{};           ///< Why variants are left out.
  };

  /// The kernels that the options choose, in the module's order.
  std::vector<Operation *> chosenKernels();
  Expected<std::string> archOf(Operation *Kernel) const;
  Expected<BuildRecord> recordFor(const BuildStore &Store, Operation *Kernel,
                                  StringRef Arch);
  llvm::Error applyToLaunches(const BuildStore &Store, Work &W);
  llvm::Error applyToKernel(const BuildStore &Store, Work &W);
  /// The variants of the record that evidence and options let in.
  std::vector<BuildVariant> admitted(Work &W);
  Expected<VariantModule> read(Operation *Kernel, const BuildRecord &R,
                               const BuildVariant &V, StringRef Path);
  llvm::Error checkBeforeReading(const BuildVariant &V);
  void tellApplied(const Work &W, const BuildVariant &V);
  llvm::Error leaveOut(Work &W, const BuildVariant &V, llvm::Error Why);

  Option<std::string> Root{*this, "store",
                           llvm::cl::desc("The project store's folder")};
  Option<std::string> Arch{
      *this, "arch",
      llvm::cl::desc("The architecture, for example sm_90; by default that of "
                     "the gpu.module's target")};
  Option<std::string> Only{*this, "only",
                           llvm::cl::desc("Only kernels whose symbol matches")};
  Option<std::string> Skip{*this, "skip",
                           llvm::cl::desc("No kernels whose symbol matches")};
  Option<unsigned> Limit{*this, "limit",
                         llvm::cl::desc("Variants at most, for bisection"),
                         llvm::cl::init(~0u)};
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
      llvm::cl::desc("A variant that does not fit is an error, and only where "
                     "variants were proved do they run")};
  Option<bool> Explain{
      *this, "explain",
      llvm::cl::desc("Say what would be done, and when variants would run; "
                     "change nothing")};
  unsigned Taken = 0; ///< Variants, in the order of the module.
};
} // namespace

/// The files of variants are parsed while passes run, when no dialect may be
/// loaded any more. Only what they hold is loaded: upstream's passes take the
/// patterns of all dialects that are there, for each gpu.module anew.
LogicalResult ApplyPass::initialize(MLIRContext *C) {
  DialectRegistry Translations;
  registerLlvmTranslations(Translations);
  C->appendDialectRegistry(Translations);
  std::string Texts = "dlti.";
  // What is wrong with the store is told when the pass runs.
  auto Read = [&]() -> llvm::Error {
    Expected<BuildStore> Store = BuildStore::open(Root);
    if (!Store)
      return Store.takeError();
    Expected<std::vector<BuildRecord>> All = Store->recordsNaming(MlirCompiler);
    if (!All)
      return All.takeError();
    for (const BuildRecord &R : *All)
      for (const BuildVariant &V : R.Variants)
        if (Expected<std::string> Text = readFile(Store->sourcePath(V)))
          Texts += *Text;
        else
          consumeError(Text.takeError());
    return llvm::Error::success();
  };
  if (!Root.empty())
    consumeError(Read());
  for (StringRef Name : {"affine", "complex", "dlti", "func", "index", "math",
                         "nvgpu", "ub", "vector"})
    if (StringRef(Texts).contains((Name + ".").str()) &&
        llvm::is_contained(C->getAvailableDialects(), Name))
      C->getOrLoadDialect(Name);
  return success();
}

std::vector<Operation *> ApplyPass::chosenKernels() {
  std::vector<Operation *> Kernels;
  KernelFilter Filter{Only, Skip};
  getOperation()->walk([&](Operation *Op) {
    if (!isGpuKernel(Op))
      return;
    StringRef Symbol = SymbolTable::getSymbolName(Op).getValue();
    // Not what an earlier run of the pass put in.
    if (!Symbol.starts_with(AddedPrefix) && Filter.takes(Symbol))
      Kernels.push_back(Op);
  });
  return Kernels;
}

/// The architecture that \p Kernel is compiled for. What the option and the
/// module say must be the same.
Expected<std::string> ApplyPass::archOf(Operation *Kernel) const {
  auto Module = Kernel->getParentOfType<gpu::GPUModuleOp>();
  for (Attribute Target : Module &&Module.getTargetsAttr()
                              ? Module.getTargetsAttr().getValue()
                              : llvm::ArrayRef<Attribute>()) {
    auto Nvvm = dyn_cast<NVVM::NVVMTargetAttr>(Target);
    if (!Nvvm)
      continue;
    if (Arch.empty() || Nvvm.getChip() == Arch)
      return Nvvm.getChip().str();
    return usageError("the target of the gpu.module is " + Nvvm.getChip() +
                      ", and cupilot-apply was asked for " + Arch +
                      "; give both the same, or leave out arch=");
  }
  if (Arch.empty())
    return usageError("cupilot-apply needs an architecture, because the module "
                      "does not state one: arch=sm_90");
  return Arch.getValue();
}

/// The record that speaks of \p Kernel: by its identity here, else one of
/// clang's for this name, which is checked later.
Expected<BuildRecord> ApplyPass::recordFor(const BuildStore &Store,
                                           Operation *Kernel, StringRef Arch) {
  Expected<std::string> Text = canonicalGpuText(Kernel);
  if (!Text)
    return Text.takeError();
  for (auto [I, T] :
       llvm::enumerate(cast<FunctionOpInterface>(Kernel).getArgumentTypes()))
    if (isa<UnrankedMemRefType>(T))
      return findingError("parameter " + llvm::Twine(I) +
                          " is a memref of dynamic rank; cast it to a ranked "
                          "one before the launch");
  const StringRef Symbol = SymbolTable::getSymbolName(Kernel).getValue();
  std::string Identity = digest(("arch " + Arch + "\n" + *Text).str());
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

/// The kernels of \p V, which is the text and the code that the evidence names.
Expected<VariantModule> ApplyPass::read(Operation *Kernel, const BuildRecord &R,
                                        const BuildVariant &V, StringRef Path) {
  if (R.Compiler != MlirCompiler)
    return clangVariant(Kernel, R, V, Path, Flags);
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  if (digest(*Text) != V.SourceDigest)
    return findingError("stale: '" + Path + "' has changed since it was added");
  const std::vector<std::string> Symbols = V.Plan.symbols();
  Expected<VariantModule> New =
      languageOfFile(Path) == SourceLanguage::Mlir
          ? readMlirVariant(getContext(), Path, Symbols)
          : readCudaVariant(getContext(), Path, Symbols, R.Arch, Flags);
  if (!New)
    return New;
  // As other builds, this one takes only texts that the admission takes. For
  // what a person declared, the person answers.
  if (languageOfFile(Path) == SourceLanguage::Mlir &&
      V.Basis != Basis::Declared)
    if (std::vector<Inadmissible> Findings = admitGpuText(*New->M);
        !Findings.empty())
      return findingError("'" + Path +
                          "' is not admitted: " + Findings.front().Why);
  if (New->Canonical != V.Canonical)
    return findingError("stale: '" + Path +
                        "' is parsed to different code than when it was added");
  return New;
}

llvm::Error ApplyPass::leaveOut(Work &W, const BuildVariant &V,
                                llvm::Error Why) {
  return absorbFinding(std::move(Why), [&](StringRef Text) {
    W.Left.push_back("variant " + V.Name + " left out: " + Text.str());
  });
}

std::vector<BuildVariant> ApplyPass::admitted(Work &W) {
  EvidencePolicy Policy;
  Policy.ProvedOnly = Strict;
  Policy.TakeLegacy = AssumeDomain;
  Policy.TakeModelled = LeastBasis == Basis::Modelled;
  std::vector<BuildVariant> All;
  for (BuildVariant V : W.Record.Variants) {
    if (std::optional<SubstitutionOutcome> Why =
            whyNotBuilt(W.Record.Symbol, V, Policy, Root)) {
      W.Left.push_back(Why->message());
      continue;
    }
    if (AssumeDomain)
      V.Where.reset();
    restrictDomain(V, Policy);
    All.push_back(std::move(V));
  }
  return All;
}

void ApplyPass::tellApplied(const Work &W, const BuildVariant &V) {
  // What a person added has no genome.
  const std::string About =
      V.Genome.empty() && V.Basis ? wordOf(*V.Basis).str() : V.Genome;
  std::string Text = noteOfApplied(V, About).text();
  // Not without a domain as in older stores: the user answers for it.
  if (AssumeDomain)
    Text = BuildNote(BuildReason::Applied, {V.Name, About}).text();
  InFlightDiagnostic Remark = emitRemark(W.Where);
  Remark << "cupilot: " << W.Record.Symbol << ": " << Text;
  if (std::string Conditions = conditionsOf(V, W.Record);
      Explain && !Conditions.empty())
    Remark.attachNote() << "it runs with " << Conditions;
}

/// Variants in their order, of which launches take the first that fits.
llvm::Error ApplyPass::applyToLaunches(const BuildStore &Store, Work &W) {
  std::vector<gpu::LaunchFuncOp> Sites;
  for (gpu::LaunchFuncOp Launch : W.Launches) {
    bool Fits = true;
    if (llvm::Error E =
            absorbFinding(checkDispatch(Launch), [&](StringRef Why) {
              emitRemark(Launch.getLoc())
                  << "cupilot: launch of " << W.Record.Symbol
                  << " not redirected: " << Why;
              Fits = false;
            }))
      return E;
    if (Fits)
      Sites.push_back(Launch);
  }
  if (Sites.empty())
    return findingError("none of its launches can choose");
  const std::vector<BuildVariant> All = admitted(W);
  std::vector<AppliedVariant> Applied;
  for (const BuildVariant &V : All)
    if (llvm::Error E = leaveOut(W, V, [&]() -> llvm::Error {
          if (llvm::Error E = checkBeforeReading(V))
            return E;
          for (gpu::LaunchFuncOp Launch : Sites)
            if (llvm::Error E = checkConditions(
                    V, W.Record.Scalars, Launch.getKernelOperands().getTypes()))
              return E;
          Expected<VariantModule> New =
              read(W.Kernel, W.Record, V, Store.sourcePath(V));
          if (!New)
            return New.takeError();
          AppliedVariant A{&V, {}};
          for (Operation *Each : New->Kernels) {
            Expected<Operation *> Copy =
                addBeside(W.Kernel, Each, V.Name, V.Plan.extraParams());
            if (!Copy)
              return Copy.takeError();
            A.Kernels.push_back(*Copy);
          }
          Applied.push_back(std::move(A));
          return llvm::Error::success();
        }()))
      return E;
  if (Applied.empty())
    return findingError(llvm::join(W.Left, "; "));
  for (const AppliedVariant &A : Applied)
    tellApplied(W, *A.V);
  for (gpu::LaunchFuncOp Launch : Sites) {
    emitRemark(Launch.getLoc()) << "cupilot: launch of " << W.Record.Symbol
                                << " redirected to its variants";
    dispatch(Launch, Applied, W.Record.Scalars);
  }
  return llvm::Error::success();
}

/// Of several variants the first that fits.
llvm::Error ApplyPass::applyToKernel(const BuildStore &Store, Work &W) {
  for (const BuildVariant &V : admitted(W)) {
    bool Done = false;
    if (llvm::Error E = leaveOut(W, V, [&]() -> llvm::Error {
          if (llvm::Error E = checkNeedsNoHost(V.Plan))
            return E;
          if (llvm::Error E = checkBeforeReading(V))
            return E;
          Expected<VariantModule> New =
              read(W.Kernel, W.Record, V, Store.sourcePath(V));
          if (!New)
            return New.takeError();
          Operation *Variant = New->Kernels.front();
          if (llvm::Error E =
                  holdsEverywhere(V)
                      ? replaceKernel(W.Kernel, Variant, V.Name)
                      : branchInKernel(W.Kernel, Variant, V, W.Record.Scalars))
            return E;
          Done = true;
          return llvm::Error::success();
        }()))
      return E;
    if (Done) {
      tellApplied(W, V);
      return llvm::Error::success();
    }
  }
  return findingError(llvm::join(W.Left, "; "));
}

/// What is known without the variant's text; counts it against the limit.
llvm::Error ApplyPass::checkBeforeReading(const BuildVariant &V) {
  if (!V.Plan.TensorMaps.empty())
    return findingError("its plan has tensor maps, which launches in MLIR do "
                        "not make");
  if (Taken >= Limit)
    return buildError(BuildReason::Limit, {V.Name, std::to_string(Limit)});
  ++Taken;
  return llvm::Error::success();
}

void ApplyPass::runOnOperation() {
  auto Fail = [&](Location At, const llvm::Twine &Text) {
    emitError(At) << "cupilot: " << Text.str();
    signalPassFailure();
  };
  const Location Here = getOperation().getLoc();
  if (Root.empty())
    return Fail(Here, "cupilot-apply needs a store: store=DIR");
  if (!Arch.empty() && !Architecture::parse(Arch))
    return Fail(Here, "'" + Arch +
                          "' is not an architecture; name one as arch=sm_90");
  for (StringRef Expression : {StringRef(Only), StringRef(Skip)})
    if (std::string Why;
        !Expression.empty() && !llvm::Regex(Expression).isValid(Why))
      return Fail(Here,
                  "'" + Expression + "' is not a regular expression: " + Why);
  Expected<BuildStore> Store = BuildStore::open(Root);
  if (!Store)
    return Fail(Here, toString(Store.takeError()));
  Taken = 0;
  bool Failed = false;
  auto Tell = [&](StringRef Symbol, Location At, StringRef Why) {
    if (Strict)
      emitError(At) << "cupilot: " << Symbol << ": " << Why;
    else
      emitRemark(At) << "cupilot: " << Symbol
                     << ": the original stays: " << Why;
    Failed |= Strict;
  };
  getOperation()->walk([&](Operation *Op) {
    if (isa<gpu::LaunchOp>(Op))
      Tell("gpu.launch", Op->getLoc(),
           "it is not outlined yet; run gpu-kernel-outlining before "
           "cupilot-apply");
    if (isa<gpu::BinaryOp>(Op))
      Tell("gpu.binary", Op->getLoc(),
           "it is compiled already; run cupilot-apply before "
           "gpu-module-to-binary");
  });
  // Without variants the module is only looked at.
  std::vector<Work> All;
  for (Operation *Kernel : chosenKernels()) {
    Expected<std::string> For = archOf(Kernel);
    if (!For)
      return Fail(Kernel->getLoc(), toString(For.takeError()));
    Expected<BuildRecord> R = recordFor(*Store, Kernel, *For);
    if (R)
      All.push_back({Kernel, std::move(*R), Kernel->getLoc(), {}, {}});
    else if (llvm::Error E = absorbFinding(R.takeError(), [&](StringRef Why) {
               Tell(SymbolTable::getSymbolName(Kernel).getValue(),
                    Kernel->getLoc(), Why);
             }))
      return Fail(Here, toString(std::move(E)));
  }
  if (Failed)
    return signalPassFailure();
  if (All.empty())
    return markAllAnalysesPreserved();
  // What fails, or only explains, leaves the module as it is.
  IRMapping Copies;
  OwningOpRef<ModuleOp> Copy = cast<ModuleOp>(getOperation()->clone(Copies));
  llvm::DenseMap<Operation *, std::vector<gpu::LaunchFuncOp>> Launches;
  llvm::DenseSet<Operation *> Dispatched;
  Copy->walk([&](gpu::LaunchFuncOp Launch) {
    Operation *Kernel =
        SymbolTable::lookupNearestSymbolFrom(Launch, Launch.getKernelAttr());
    if (Kernel && isDispatched(Launch))
      Dispatched.insert(Kernel);
    else if (Kernel)
      Launches[Kernel].push_back(Launch);
  });
  for (Work &W : All) {
    W.Kernel = Copies.lookup(W.Kernel);
    W.Launches = Launches.lookup(W.Kernel);
    // An earlier run of the pass has done it.
    if (W.Launches.empty() && Dispatched.contains(W.Kernel))
      continue;
    llvm::Error E = absorbFinding(
        W.Launches.empty() ? applyToKernel(*Store, W)
                           : applyToLaunches(*Store, W),
        [&](StringRef Why) { Tell(W.Record.Symbol, W.Where, Why); });
    if (E)
      return Fail(Here, toString(std::move(E)));
  }
  if (Failed)
    return signalPassFailure();
  if (!Explain)
    getOperation().getBodyRegion().takeBody(Copy->getBodyRegion());
}

void registerMlirVariantPasses() {
  PassRegistration<ApplyPass>();
  registerAddVariantPass();
}

} // namespace cupilot
