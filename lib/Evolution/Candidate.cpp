//===- Candidate.cpp - From genome to verdict -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/CpuDevice/Unsupported.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/LaunchShapes.h"
#include "cupilot/Evolution/NvccCode.h"
#include "cupilot/Evolution/PlanCost.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/GpuJudge/GpuBatch.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Roofline/Residuals.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

CandidateEvaluator::~CandidateEvaluator() = default;
KernelLanguage::~KernelLanguage() = default;

namespace {
/// Of a workload; nothing where the guard keeps it out.
using PlanLaunches = std::optional<std::vector<CountedLaunch>>;

class Evaluator : public CandidateEvaluator {
public:
  explicit Evaluator(const SearchProblem &Problem)
      : P(Problem), Compiler(Problem.Compilation) {}
  Error initialise();
  StringRef originalDigest() const override { return Digest; }
  double originalTime() const override { return Time; }
  Expected<Translation> translate(const Genome &G) const override;
  std::vector<std::string>
  favoured(ArrayRef<StrategyInfo> Strategies) const override {
    return Shapes->favoured(Strategies);
  }
  Expected<Candidate> prepare(const Genome &G) const override;
  Expected<Candidate> prepare(const Genome &G, Translation T) const override;
  Error judge(Candidate &C) override { return judge(C, GateDepth::Search); }
  Error judgeQuickly(Candidate &C) override {
    return judge(C, GateDepth::Quick);
  }
  Error runOriginalQuickly(double Seconds) override {
    return TheGate ? TheGate->runOriginalQuickly(Seconds) : Error::success();
  }
  Error judgeToKeep(Candidate &C, bool EvenSlower) override;
  Expected<bool> isAdmitted(const Translation &T) const override;
  Error estimate(Candidate &C) override;
  Expected<GateVerdict> verdict(const Candidate &C) override;
  Expected<std::optional<Domain>>
  domain(const Candidate &C, const GateVerdict &V,
         ArrayRef<std::string> Compared,
         ArrayRef<ComparedLaunch> Large) override;
  Expected<std::vector<LargeLaunch>> largeLaunches() override;
  StringRef originalBitcode() const override { return Bitcode; }
  StringRef originalPtx() const override { return Ptx; }
  ArrayRef<bool> gpuOnly() const override { return GpuOnly; }
  const ExecutionCounts *originalCounts(size_t Workload) const override {
    return GpuOnly[Workload] || P.Workloads[Workload].IsLarge
               ? nullptr
               : &TheGate->originalCounts()[inGate(Workload)];
  }
  Expected<ReferenceVerdict>
  judgeDeviceResults(size_t Workload, const DeviceResults &Original,
                     const DeviceResults &Variant) override {
    if (GpuOnly[Workload] || P.Workloads[Workload].IsLarge)
      return ReferenceVerdict();
    return TheGate->judgeDeviceResults(inGate(Workload), Original, Variant);
  }

private:
  Error judge(Candidate &C, GateDepth Depth);
  Expected<bool> judgeTimes(Candidate &C);
  Error model(Candidate &C, ArrayRef<PlanLaunches> Launches);
  Expected<Genome> changeOf(const Candidate &C) const;
  Error identify(Candidate &C, std::string &NoIdentity) const;
  std::vector<std::optional<ExecutionCounts>>
  workOf(const GateVerdict &V) const;
  Error compileByClang();
  Error compileByLanguage();
  Error makeGate();
  Error makeGate(ArrayRef<Workload> Some);
  /// The gate's index of a workload that it has.
  size_t inGate(size_t Workload) const {
    return count(ArrayRef(GpuOnly).take_front(Workload), false);
  }

  SearchProblem P;
  mutable TextCompiler Compiler; ///< Of candidates' texts.
  OriginalCode Original;
  std::string Bitcode, Built, Ptx; ///< Of the original; see Candidate.
  std::unique_ptr<Gate> TheGate;   ///< Null: the GPU alone judges.
  SmallVector<bool> GpuOnly;       ///< By workload.
  std::string Digest;
  KernelResources Resources;
  std::optional<LaunchShapes> Shapes;
  std::vector<double> Times;   ///< Of the original, per workload.
  std::vector<double> Weights; ///< timeWeights().
  double Time = 0;
};
} // namespace

Error Evaluator::makeGate(ArrayRef<Workload> Some) {
  GateSetup Setup{&P.K,         {Bitcode, Built}, Some.vec(),
                  P.DataFolder, P.Arch,           P.Seed};
  Setup.MayApproximate = P.Nvcc && P.Nvcc->approximates();
  Setup.OnGpu = P.OnGpu;
  Setup.Limits = P.Compilation;
  Expected<std::unique_ptr<Gate>> Made = Gate::create(std::move(Setup));
  if (!Made)
    return Made.takeError();
  TheGate = std::move(*Made);
  return Error::success();
}

/// The gate of all workloads; for a GPU, of those that the cpu device can run.
Error Evaluator::makeGate() {
  std::vector<Workload> Here;
  for (const Workload &W : P.Workloads) {
    GpuOnly.push_back(W.isForGpuAlone());
    if (!W.isForGpuAlone())
      Here.push_back(W);
  }
  Error E = makeGate(Here);
  if (!P.OnGpu || !E)
    return E;
  bool Unsupported = false;
  if (Error Other = handleErrors(
          std::move(E), [&](std::unique_ptr<UnsupportedError> U) -> Error {
            Unsupported = true;
            return Error::success();
          }))
    return Other;
  std::vector<Workload> Some;
  for (auto [I, W] : enumerate(P.Workloads)) {
    if (GpuOnly[I])
      continue;
    Error Each = handleErrors(
        makeGate(W), [&](std::unique_ptr<UnsupportedError> U) -> Error {
          GpuOnly[I] = true;
          return Error::success();
        });
    if (Each)
      return Each;
    if (!GpuOnly[I])
      Some.push_back(W);
  }
  TheGate.reset();
  return Some.empty() ? Error::success() : makeGate(Some);
}

/// What is wrong with a text that was not compiled.
static std::string failureOf(const CompiledText &Text) {
  return Text.Findings.empty() ? Text.Message : Text.Findings.front().Message;
}

/// The original by the language that it is written in.
Error Evaluator::compileByLanguage() {
  Expected<CompiledText> Text = P.Language->compile(P.K.Slice);
  if (!Text)
    return Text.takeError();
  if (Text->Fate != TextFate::Compiles)
    return findingError("the kernel's slice cannot be judged: " +
                        failureOf(*Text));
  Expected<NvccCode> Own = codeOfPtx(Text->Ptx, P.K.Symbol);
  if (!Own)
    return Own.takeError();
  Bitcode = std::move(Text->Bitcode);
  Built = std::move(Own->Bitcode);
  Ptx = std::move(Own->Ptx);
  return Error::success();
}

Error Evaluator::compileByClang() {
  Expected<std::string> Code = compileTextToBitcode(P.K.Slice, P.Arch, P.Flags);
  if (!Code)
    return Code.takeError();
  Bitcode = std::move(*Code);
  return Error::success();
}

Error Evaluator::initialise() {
  if (Error E = P.Language ? compileByLanguage() : compileByClang())
    return E;
  Expected<OriginalCode> Known = OriginalCode::ofBitcode(Bitcode);
  if (!Known)
    return Known.takeError();
  Original = std::move(*Known);
  if (P.Nvcc) {
    append_range(P.Flags, P.Nvcc->ptxasFlags());
    Expected<NvccCode> Own =
        compileByNvcc(*P.Nvcc, P.K.Slice, P.Arch, Bitcode, P.K.Symbol);
    if (!Own)
      return Own.takeError();
    Built = std::move(Own->Bitcode);
    Ptx = std::move(Own->Ptx);
  } else if (!P.Language) {
    if (Error E = generatePtx(Bitcode, P.Arch).moveInto(Ptx))
      return E;
  }
  Digest = deviceCodeDigest(Ptx);
  Expected<KernelResources> R = planResources(Ptx, P.K.Symbol, P.Arch, P.Flags);
  if (R)
    Resources = *R;
  else if (!P.OnGpu)
    return R.takeError();
  else // The GPU times; without figures, registers bound no block.
    consumeError(R.takeError());
  Shapes.emplace(P, Resources, Bitcode);
  if (P.OnGpu) {
    if (Error E = makeGate())
      return E;
    for (auto [I, W] : enumerate(P.Workloads))
      W.IsLarge = TheGate && !GpuOnly[I] && TheGate->isLarge(inGate(I));
    return Error::success();
  }
  if (Error E = makeGate())
    return E;
  Weights = timeWeights(P.Workloads, TimeBasis::Modelled);
  for (auto [I, W] : enumerate(P.Workloads)) {
    if (GpuOnly[I]) {
      Times.push_back(0);
      continue;
    }
    const ExecutionCounts &Counts = *originalCounts(I);
    Times.push_back(modelTime(P.Gpu, Counts, Resources, W.Shape).Microseconds);
    if (!std::isfinite(Times.back()))
      return findingError(
          "the " + P.Gpu.Name + " cannot launch the original as workload '" +
              W.Name + "' does: its blocks take more threads, registers (" +
              Twine(Resources.Registers) +
              " per thread) or shared memory than there are",
          "record a launch that fits on the GPU");
    Time += Times.back() * Weights[I];
  }
  return Error::success();
}

Expected<std::unique_ptr<CandidateEvaluator>>
CandidateEvaluator::create(const SearchProblem &Problem) {
  auto E = std::make_unique<Evaluator>(Problem);
  if (Error Err = E->initialise())
    return std::move(Err);
  return std::move(E);
}

/// What a compiler says of the variant, without what differs from run to run
/// (its folder) and without warnings that are about the machine.
static std::string compilerText(StringRef Text) {
  std::string Result;
  for (StringRef Rest = Text; !Rest.empty();) {
    auto [Line, Behind] = Rest.split('\n');
    Rest = Behind;
    if (Line.starts_with("warning: CUDA version"))
      continue;
    size_t At = Line.find("/variant.cu:");
    // The path begins the line, or stands behind a space: "included from".
    size_t Begin = At == StringRef::npos ? 0 : Line.rfind(' ', At) + 1;
    Result += At == StringRef::npos
                  ? Line.str()
                  : (Line.take_front(Begin) + Line.drop_front(At + 1)).str();
    if (!Rest.empty())
      Result += '\n';
  }
  return StringRef(Result).rtrim().str();
}

/// Turns an error that is the candidate's own fault into an outcome.
static Error absorb(Error E, Candidate &C, CandidateOutcome Outcome) {
  return handleErrors(std::move(E), [&](std::unique_ptr<ToolError> T) -> Error {
    if (T->code() == ExitCode::Resource)
      return Error(std::move(T));
    C.Record.end(Outcome, compilerText(T->text()));
    return Error::success();
  });
}

/// May a recorded launch run it? Launches that do not count are no reason to
/// make a variant.
static Expected<bool> isEverAdmitted(const Translation &T, const Kernel &K,
                                     ArrayRef<Workload> Workloads) {
  for (const Workload &W : Workloads) {
    if (!W.isTimed())
      continue;
    const std::vector<std::vector<uint8_t>> Args = recordedArguments(W);
    Expected<Bindings> B = bindLaunch(W.Shape, K.Scalars, Args);
    if (!B)
      return B.takeError();
    if (admits(T.When, *B, Args) &&
        all_of(T.Plan.Launches,
               [&](const Launch &L) { return planShape(L, *B).has_value(); }))
      return true;
  }
  return Workloads.empty();
}

Expected<bool> Evaluator::isAdmitted(const Translation &T) const {
  return isEverAdmitted(T, P.K, P.Workloads);
}

Expected<Translation> Evaluator::translate(const Genome &G) const {
  Expected<Translation> T = P.Language
                                ? P.Language->translate(P.K, P.Workloads, G)
                                : translateByRules(P.K, G, P.Flags);
  if (!T)
    return T;
  Expected<bool> Admitted = isAdmitted(*T);
  if (!Admitted)
    return Admitted.takeError();
  if (!*Admitted)
    return findingError(
        genomeText(G) +
        ": its guard or its plan keeps out every recorded launch");
  if (Error E = Shapes->check(G))
    return std::move(E);
  return T;
}

Expected<Candidate> Evaluator::prepare(const Genome &G) const {
  Expected<Translation> T = translate(G);
  if (T) {
    Expected<Candidate> Made = prepare(G, std::move(*T));
    if (Made)
      Made->IsByRules = true;
    return Made;
  }
  Candidate C;
  C.Record.Genome = C.Record.Carried = genomeText(G);
  if (Error E = absorb(T.takeError(), C, CandidateOutcome::Refused))
    return std::move(E);
  return C;
}

/// By nvcc, what clang has admitted.
static Error buildByNvcc(const SearchProblem &P, Candidate &C) {
  const Translation &Code = *C.Record.Code;
  Expected<NvccCode> Mine =
      compileByNvcc(*P.Nvcc, Code.Source, P.Arch, C.Bitcode,
                    Code.Plan.symbols(), P.Compilation);
  if (!Mine)
    return Mine.takeError();
  C.Built = std::move(Mine->Bitcode);
  C.Ptx = std::move(Mine->Ptx);
  C.Identity = std::move(Mine->Identity);
  return Error::success();
}

/// Of the PTX that the kernel's language made.
static Error buildOfPtx(Candidate &C) {
  Expected<NvccCode> Mine = codeOfPtx(C.Ptx, C.Record.Code->Plan.symbols());
  if (!Mine)
    return Mine.takeError();
  C.Built = std::move(Mine->Bitcode);
  C.Identity = std::move(Mine->Identity);
  return Error::success();
}

Expected<Candidate> compileCandidate(const SearchProblem &P,
                                     const OriginalCode &Original,
                                     TextCompiler &Compiler, const Genome &G,
                                     Translation T) {
  Candidate C;
  C.Record.Genome = C.Record.Carried = genomeText(G);
  Translation &Code = C.Record.Code.emplace(std::move(T));
  Code.When.Arch = P.Arch;
  const bool IsCuda = Code.Language == SourceLanguage::Cuda;
  if (!IsCuda && (!P.Language || P.Language->kind() != Code.Language)) {
    C.Record.end(CandidateOutcome::CompileError,
                 "variants of this kernel are not written in " +
                     wordOf(Code.Language).str());
    return C;
  }
  Expected<CompiledText> Text =
      IsCuda ? Compiler.compile(
                   {Code.Source, P.Arch, "variant.cu", P.Flags, Original})
             : P.Language->compile(Code.Source);
  if (!Text)
    return Text.takeError();
  switch (Text->Fate) {
  case TextFate::Compiles:
    break;
  case TextFate::Inadmissible:
    C.Record.end(CandidateOutcome::Inadmissible,
                 Text->Findings.front().Rule + ": " +
                     Text->Findings.front().Message);
    return C;
  case TextFate::DoesNotCompile:
    C.Record.end(CandidateOutcome::CompileError,
                 compilerText("the variant does not parse:\n" + Text->Message));
    return C;
  case TextFate::Crashes:
    C.Record.end(CandidateOutcome::CompilerCrash, "the compiler crashes on it");
    return C;
  case TextFate::BeyondLimits:
    C.Record.end(CandidateOutcome::CompilerLimits, Text->Message);
    return C;
  }
  C.Bitcode = std::move(Text->Bitcode);
  C.Ptx = std::move(Text->Ptx);
  // Models name kernels as people do.
  Expected<std::vector<std::string>> Symbols = kernelsOf(C.Ptx);
  if (Error E =
          Symbols ? nameKernels(Code.Plan, *Symbols) : Symbols.takeError()) {
    if (Error Other = absorb(std::move(E), C, CandidateOutcome::CompileError))
      return std::move(Other);
    return C;
  }
  if (P.Nvcc || !IsCuda) {
    if (Error E = absorb(IsCuda ? buildByNvcc(P, C) : buildOfPtx(C), C,
                         CandidateOutcome::CompileError))
      return std::move(E);
    if (C.Record.Outcome != CandidateOutcome::Unjudged)
      return C;
  }
  C.Record.DeviceDigest = deviceCodeDigest(C.Ptx);
  return C;
}

Expected<Candidate> Evaluator::prepare(const Genome &G, Translation T) const {
  return compileCandidate(P, Original, Compiler, G, std::move(T));
}

/// Fills in Canonical, or why there is no identity.
Error Evaluator::identify(Candidate &C, std::string &NoIdentity) const {
  CandidateEvidence &Evidence = *C.Record.Evidence;
  if (!C.Identity.empty()) {
    Evidence.Canonical = C.Identity;
    return Error::success();
  }
  Expected<std::vector<KernelIdentity>> All =
      identifyKernels(C.Bitcode, buildContext(llvmArguments(P.Flags)));
  if (!All)
    return All.takeError();
  return absorbFinding(digestOfPlan(*All, C.Record.Code->Plan.symbols())
                           .moveInto(Evidence.Canonical),
                       [&](StringRef Why) { NoIdentity = Why.str(); });
}

/// The counts of each workload; nothing where there are none.
std::vector<std::optional<ExecutionCounts>>
Evaluator::workOf(const GateVerdict &V) const {
  std::vector<std::optional<ExecutionCounts>> All;
  for (size_t I = 0; I < P.Workloads.size(); ++I) {
    const std::vector<CountedLaunch> *Launches = nullptr;
    if (!GpuOnly[I] && inGate(I) < V.VariantLaunches.size())
      if (const auto &L = V.VariantLaunches[inGate(I)])
        Launches = &*L;
    if (!Launches) {
      All.emplace_back();
      continue;
    }
    ExecutionCounts Sum;
    for (const CountedLaunch &L : *Launches)
      Sum += L.Counts;
    All.push_back(Sum);
  }
  return All;
}

Expected<GateVerdict> Evaluator::verdict(const Candidate &C) {
  const Translation &Code = *C.Record.Code;
  if (!TheGate) {
    GateVerdict V;
    V.Passed = true;
    V.VariantLaunches.resize(P.Workloads.size());
    return V;
  }
  Expected<GateVerdict> V =
      TheGate->judge(C.code(), Code.Plan, Code.When, GateDepth::Keep);
  if (!V)
    return V;
  std::vector<std::optional<std::vector<CountedLaunch>>> Launches;
  for (size_t I = 0; I < P.Workloads.size(); ++I)
    if (!GpuOnly[I] && inGate(I) < V->VariantLaunches.size())
      Launches.push_back(std::move(V->VariantLaunches[inGate(I)]));
    else
      Launches.emplace_back();
  V->VariantLaunches = std::move(Launches);
  return V;
}

Expected<std::optional<Domain>>
Evaluator::domain(const Candidate &C, const GateVerdict &V,
                  ArrayRef<std::string> Compared,
                  ArrayRef<ComparedLaunch> Large) {
  Domain All = V.Where.value_or(Domain());
  if (!Large.empty()) {
    Expected<std::vector<LargeLaunch>> Asked = largeLaunches();
    if (!Asked)
      return Asked.takeError();
    Expected<std::optional<Domain>> Wider = withCompared(V, *Asked, Large);
    if (!Wider)
      return Wider.takeError();
    All = Wider->value_or(Domain());
  }
  // What a GPU compared counts as far as it goes: that one launch.
  for (auto [I, W] : enumerate(P.Workloads)) {
    if (!is_contained(Compared, W.Name) ||
        (!GpuOnly[I] && !is_contained(V.Outside, W.Name)))
      continue;
    Expected<DomainBox> Box =
        comparedBox(P.K, Bitcode, C.Bitcode, C.Record.Code->Plan, W);
    if (!Box)
      return Box.takeError();
    All = unite(std::move(All), Domain{{std::move(*Box)}});
  }
  if (All.Boxes.empty())
    return std::nullopt;
  return All;
}

Expected<std::vector<LargeLaunch>> Evaluator::largeLaunches() {
  if (!TheGate || P.LargeBytes == 0)
    return std::vector<LargeLaunch>();
  std::vector<Workload> Beyond;
  for (auto [W, IsBeyond] : zip_equal(P.Workloads, GpuOnly))
    if (IsBeyond)
      Beyond.push_back(W);
  return TheGate->largeLaunches(Beyond, P.LargeBytes);
}

Expected<std::optional<Domain>>
CandidateEvaluator::prove(const Genome &G, const CandidateRecord &R) {
  Expected<Candidate> C = prepare(G, *R.Code);
  if (!C)
    return C.takeError();
  Expected<GateVerdict> V = verdict(*C);
  if (!V)
    return V.takeError();
  if (!V->Passed)
    return std::nullopt;
  std::vector<std::string> Compared;
  ArrayRef<ComparedLaunch> Large;
  if (R.Evidence && R.Evidence->Gpu) {
    for (const GpuWorkload &Run : R.Evidence->Gpu->Workloads)
      Compared.push_back(Run.Workload);
    if (R.Evidence->Gpu->LastChecks)
      Large = R.Evidence->Gpu->LastChecks->Large;
  }
  return domain(*C, *V, Compared, Large);
}

Error Evaluator::judge(Candidate &C, GateDepth Depth) {
  CandidateRecord &R = C.Record;
  Expected<GateVerdict> V =
      TheGate ? TheGate->judge(C.code(), R.Code->Plan, R.Code->When, Depth)
              : Expected<GateVerdict>(GateVerdict());
  if (!V)
    return V.takeError();
  V->Passed |= !TheGate;
  CandidateEvidence &Evidence = R.Evidence.emplace();
  std::string NoIdentity;
  if (Error E = identify(C, NoIdentity))
    return E;
  Evidence.Work = workOf(*V);
  const auto Launches = std::exchange(V->VariantLaunches, {});
  Evidence.Gate = std::move(*V);
  if (!Evidence.Gate.Passed) {
    R.reject(FoundBy::Gate, Evidence.Gate.Findings.front());
    return Error::success();
  }
  if (Evidence.Canonical.empty()) {
    R.end(CandidateOutcome::Unidentified, "identity: " + NoIdentity);
    return Error::success();
  }
  if (!C.IsByRules)
    Evidence.Resources = resourcesOf(P, C);
  if (P.OnGpu) {
    R.Outcome = CandidateOutcome::Passed;
    return Error::success();
  }
  return model(C, Launches);
}

std::map<std::string, KernelResources> resourcesOf(const SearchProblem &P,
                                                   const Candidate &C) {
  std::map<std::string, KernelResources> All;
  for (const std::string &Symbol : C.Record.Code->Plan.symbols()) {
    Expected<KernelResources> R =
        kernelResources(C.Ptx, Symbol, P.Arch, P.Flags);
    if (R)
      All[Symbol] = *R;
    else // It is found where it counts.
      consumeError(R.takeError());
  }
  return All;
}

/// The genes of \p C if the rules make its text; else nothing is known of the
/// kind of change.
Expected<Genome> Evaluator::changeOf(const Candidate &C) const {
  std::optional<Genome> Genes = parseGenome(C.Record.Genome);
  if (Genes && isName(*Genes))
    return Genome();
  if (!Genes || C.IsByRules)
    return Genes.value_or(Genome());
  Expected<Translation> T = translate(*Genes);
  bool IsSame = T && T->Source == C.Record.Code->Source;
  if (Error Other = absorbFinding(T.takeError(), [](StringRef) {}))
    return std::move(Other);
  return IsSame ? *Genes : Genome();
}

/// Fills in the modelled times, and ends \p C by them.
Error Evaluator::model(Candidate &C, ArrayRef<PlanLaunches> Launches) {
  CandidateRecord &R = C.Record;
  PlanCost Cost(P.Gpu, C.Ptx, P.Arch, P.Flags);
  Speedup Sum;
  bool Regressed = false;
  std::vector<LaunchTimes> Modelled;
  for (size_t I = 0; I < P.Workloads.size(); ++I) {
    double Mine = Times[I];
    if (Weights[I] == 0)
      continue;
    if (const auto &Of = Launches[inGate(I)]) {
      Expected<double> Microseconds = Cost.microseconds(*Of);
      if (!Microseconds)
        return absorb(Microseconds.takeError(), C,
                      CandidateOutcome::CompileError);
      Mine = *Microseconds;
    }
    Regressed |= Mine > Times[I] * P.Margin;
    Sum.add(Times[I] * Weights[I], Mine * Weights[I]);
    Modelled.push_back({P.Workloads[I].Name, Times[I], Mine});
  }
  R.Evidence->Modelled = std::move(Modelled);
  R.Ratio = Sum.ratio();
  Expected<Genome> Change = changeOf(C);
  if (!Change)
    return Change.takeError();
  const ModelledSpeedup By = withInterval(R.Ratio, *Change);
  R.Evidence->Low = By.Low;
  R.Evidence->High = By.High;
  if (Regressed)
    R.end(CandidateOutcome::Slower,
          "slower (modelled) on at least one workload");
  else if (R.Ratio < P.Margin)
    R.end(CandidateOutcome::Slower,
          "not faster (modelled) than the original by the margin");
  else if (By.Low < P.Margin && !P.AcceptEstimates)
    R.end(CandidateOutcome::Slower,
          "not surely faster than the original by the margin: " +
              speedupText(By.Ratio, By.Low, By.High, Basis::Modelled));
  else
    R.end(CandidateOutcome::Accepted);
  return Error::success();
}

/// Ends \p C by its modelled times alone; false where it cannot run.
Expected<bool> Evaluator::judgeTimes(Candidate &C) {
  const Translation &Code = *C.Record.Code;
  Expected<GateVerdict> Counted =
      TheGate->count(C.code(), Code.Plan, Code.When);
  if (!Counted)
    return Counted.takeError();
  if (!Counted->Findings.empty())
    return false;
  C.Record.Evidence.emplace();
  if (Error E = model(C, Counted->VariantLaunches))
    return std::move(E);
  return true;
}

Error Evaluator::estimate(Candidate &C) {
  const CandidateRecord Before = C.Record;
  Expected<bool> Timed = judgeTimes(C);
  if (!Timed)
    return Timed.takeError();
  const double Ratio =
      *Timed && std::isfinite(C.Record.Ratio) ? C.Record.Ratio : 0;
  C.Record = Before;
  C.Record.Ratio = Ratio;
  return Error::success();
}

Error Evaluator::judgeToKeep(Candidate &C, bool EvenSlower) {
  if (!TheGate || P.OnGpu || EvenSlower)
    return judge(C, GateDepth::Keep);
  const CandidateRecord Before = C.Record;
  Expected<bool> Timed = judgeTimes(C);
  if (!Timed)
    return Timed.takeError();
  // What cannot run, the gate finds, too, and says more of it.
  if (*Timed && C.Record.Outcome != CandidateOutcome::Accepted)
    return Error::success();
  C.Record = Before;
  return judge(C, GateDepth::Keep);
}

} // namespace cupilot
