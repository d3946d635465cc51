//===- Verify.cpp - The gate over a whole store ---------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Verify.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/GpuJudge/JudgeOnGpu.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

namespace {
/// A build of one kernel, and who makes its code.
struct Compilation {
  std::string Arch;
  BuildCompiler By;
  BuildEntry Build;
  bool isOf(const Measurement &M) const {
    return Build.Compiler == M.Compiler && Build.Arch == M.Arch &&
           (M.Original.empty() || Build.Digest == M.Original);
  }
};

/// A variant that passed the gate, under one compilation.
struct PassedVariant {
  size_t Index = 0; ///< In the kernel.
  Candidate C;
  GateVerdict Verdict;
  std::vector<std::string> Compared = {}; ///< Workloads, by a GPU.
  std::vector<ComparedLaunch> Large = {}; ///< Beyond the gate's, by a GPU.
  std::optional<GpuRatio> Time = {};      ///< On a GPU ...
  std::string Gpu = {};                   ///< ... of this name.
  bool Wrong = false;                     ///< On a GPU.
};

/// What was found of all kernels.
struct Tally {
  unsigned Passed = 0, Left = 0; ///< Left: a GPU would have to judge them.
  std::vector<std::string> Failing, Unjudged; ///< "KERNEL: VARIANT".
};

/// One kernel of the store.
class KernelVerifier {
public:
  KernelVerifier(const VerifyRequest &R, ProjectStore &Store, StoredKernel &S,
                 const WorkloadSet &More, Tally &All, StringRef Position,
                 raw_ostream &Out, raw_ostream &Log)
      : R(R), Store(Store), S(S), More(More), All(All), Position(Position),
        Out(Out), Log(Log), Proved(S.Variants.size()) {}
  Error run();

private:
  Expected<BuildCompiler> nvccOf(const BuildEntry &B);
  Error place(const BuildEntry &B);
  Error judge(const Compilation &By);
  Expected<std::optional<PassedVariant>>
  judgeOne(size_t Index, const Compilation &By, CandidateEvaluator &On);
  Error judgeOnDevice(std::vector<PassedVariant> &Passed, const Compilation &By,
                      CandidateEvaluator &On);
  Error keep(PassedVariant &P, const Compilation &By, CandidateEvaluator &On);
  StoredKernel updated() const;

  /// "KERNEL: VARIANT".
  std::string nameOf(size_t Index) const {
    return S.K.Name + ": " + S.Variants[Index].Name;
  }
  /// "clang-22, nvcc-13.0, sm_90", of those that \p Index has evidence for.
  std::string buildsOf(size_t Index, const Compilation &By) const;
  void say(const Twine &Text) {
    Out << Text << "\n";
    Out.flush();
  }
  void fail(size_t Index, const Compilation &By, const Twine &Why);
  void leaveUnjudged(const Twine &Of, const Twine &Why);

  /// What is to be written of one measurement.
  struct Proof {
    Domain Where;
    unsigned Checks = 0;
    std::vector<std::string> Cases;
    std::optional<GpuRatio> Time;
    std::string Gpu;
    std::string Digest; ///< Of nvcc's code, all of whose flags are known; "".
  };

  const VerifyRequest &R;
  ProjectStore &Store;
  StoredKernel &S;
  const WorkloadSet &More;
  Tally &All;
  StringRef Position;
  raw_ostream &Out, &Log;
  std::vector<Compilation> Compilations;
  /// By variant and by the index of its evidence.
  std::vector<std::map<size_t, Proof>> Proved;
};
} // namespace

/// Passes on resource errors alone: what else is wrong is so with one kernel.
static Error absorbFault(Error E, function_ref<void(StringRef)> Use) {
  return handleErrors(std::move(E), [&](std::unique_ptr<ToolError> T) -> Error {
    if (T->code() == ExitCode::Resource)
      return Error(std::move(T));
    Use(T->text());
    return Error::success();
  });
}

std::string KernelVerifier::buildsOf(size_t Index,
                                     const Compilation &By) const {
  std::vector<std::string> Names;
  for (const Measurement &M : S.Variants[Index].Evidence)
    if (By.isOf(M) && !is_contained(Names, M.Compiler))
      Names.push_back(M.Compiler);
  Names.push_back(By.Arch);
  return join(Names, ", ");
}

void KernelVerifier::fail(size_t Index, const Compilation &By,
                          const Twine &Why) {
  say(nameOf(Index) + ": no longer passes (" + buildsOf(Index, By) +
      "): " + Why);
  if (std::string Name = nameOf(Index); !is_contained(All.Failing, Name))
    All.Failing.push_back(std::move(Name));
}

void KernelVerifier::leaveUnjudged(const Twine &Of, const Twine &Why) {
  say(Of + ": cannot be judged: " + Why);
  if (std::string Name = Of.str(); !is_contained(All.Unjudged, Name))
    All.Unjudged.push_back(std::move(Name));
}

/// The toolkit's nvcc with the flags that \p B names; a finding where it is not
/// the one that was judged.
Expected<BuildCompiler> KernelVerifier::nvccOf(const BuildEntry &B) {
  Expected<Toolchain> Tools = Toolchain::find(R.Flags);
  if (!Tools)
    return Tools.takeError();
  BuildCompiler By;
  if (Error E = flagsOfBuild(B).moveInto(By.Flags))
    return std::move(E);
  std::vector<std::string> Words = wordsOfBuild(B);
  Words.front() = Tools->CudaPath + "/bin/nvcc";
  if (Tools->CudaPath.empty() || !sys::fs::can_execute(Words.front()))
    return findingError("there is no nvcc here",
                        "name the toolkit with --cuda-path= after --");
  Expected<NvccUse> Use = readNvccUse(Words);
  if (!Use)
    return Use.takeError();
  if (Error E = Use->name().moveInto(By.Name))
    return std::move(E);
  if (By.Name != join(wordsOfBuild(B), " "))
    return findingError("the nvcc here is " + By.Name);
  // Names say nothing of the language.
  Expected<NvccUse> More = nvccUseFor(Words.front(), R.Flags);
  if (!More)
    return More.takeError();
  for (const std::string &Flag : More->Device.Flags)
    if (!is_contained(Use->Device.Flags, Flag))
      Use->Device.Flags.push_back(Flag);
  append_range(By.Flags, variantFlags(R.Flags));
  By.Name = B.Compiler;
  By.Nvcc = std::move(*Use);
  return By;
}

/// Finds how the kernel becomes what \p B names.
Error KernelVerifier::place(const BuildEntry &B) {
  const std::string Of = S.K.Name + " (" + B.Compiler + ", " + B.Arch + ")";
  std::vector<BuildCompiler> Choices;
  std::string Why;
  auto Note = [&](StringRef Text) { Why = Text.str(); };
  if (isMadeByNvcc(B.Compiler)) {
    Expected<BuildCompiler> By = nvccOf(B);
    if (By)
      Choices.push_back(std::move(*By));
    else if (Error E = absorbFault(By.takeError(), Note))
      return E;
  } else {
    // What is not optimised has no identity.
    BuildCompiler By{B.Compiler, {"-O2"}};
    std::vector<std::string> Recorded;
    if (Error E = absorbFault(flagsOfBuild(B).moveInto(Recorded), Note))
      return E;
    append_range(By.Flags, Recorded);
    if (Why.empty())
      Choices.push_back(By);
    if (Why.empty() && !R.Flags.empty()) {
      append_range(By.Flags, variantFlags(R.Flags)); // Of the slice.
      Choices.insert(Choices.begin(), std::move(By));
    }
  }
  bool Any = false;
  for (BuildCompiler &By : Choices) {
    Expected<std::string> Identity =
        BuildIdentities("").identityOf(S.K, B.Arch, By);
    if (!Identity) {
      if (Error E = absorbFault(Identity.takeError(), Note))
        return E;
      continue;
    }
    Any = true;
    if (*Identity != B.Digest)
      continue;
    Compilations.push_back({B.Arch, std::move(By), B});
    return Error::success();
  }
  if (!Any)
    leaveUnjudged(Of, Why);
  else
    leaveUnjudged(Of, "compiled with '" + join(Choices.front().Flags, " ") +
                          "' the kernel is not the one that was proved; give "
                          "the flags of that build after --");
  return Error::success();
}

/// The gate on one variant; nothing where it does not pass.
Expected<std::optional<PassedVariant>>
KernelVerifier::judgeOne(size_t Index, const Compilation &By,
                         CandidateEvaluator &On) {
  const Variant &V = S.Variants[Index];
  Expected<Candidate> C =
      On.prepare(V.Genes, {S.Sources[Index], *V.Plan, *V.When});
  if (!C)
    return C.takeError();
  if (C->Record.Outcome != CandidateOutcome::Unjudged) {
    fail(Index, By, wordOf(C->Record.Outcome) + ": " + reasonText(C->Record));
    return std::nullopt;
  }
  Expected<GateVerdict> Verdict = On.verdict(*C);
  if (!Verdict)
    return Verdict.takeError();
  if (!Verdict->Passed) {
    for (const GateFinding &F : Verdict->Findings)
      fail(Index, By,
           wordOf(F.Reason) +
               (F.Workload.empty() ? "" : " (" + F.Workload + ")") + ": " +
               F.Evidence);
    return std::nullopt;
  }
  std::string Own = C->Identity;
  if (!By.By.Nvcc) {
    Expected<std::vector<KernelIdentity>> Kernels =
        identifyKernels(C->Bitcode, buildContext(llvmArguments(By.By.Flags)));
    if (!Kernels)
      return Kernels.takeError();
    if (Error E =
            absorbFinding(digestOfPlan(*Kernels, C->Record.Code->Plan.symbols())
                              .moveInto(Own),
                          [&](StringRef Why) { fail(Index, By, Why); }))
      return std::move(E);
  }
  if (Own.empty())
    return std::nullopt;
  for (const Measurement &M : V.Evidence)
    if (By.isOf(M) && !By.By.Nvcc && M.Digest != Own) {
      fail(Index, By,
           "compiled with '" + join(By.By.Flags, " ") +
               "' its code is not the one that was proved, so builds leave it "
               "out; if other flags are meant, give them after --");
      return std::nullopt;
    }
  return PassedVariant{Index, std::move(*C), std::move(*Verdict)};
}

/// Those that passed the gate, on the GPU.
Error KernelVerifier::judgeOnDevice(std::vector<PassedVariant> &Passed,
                                    const Compilation &By,
                                    CandidateEvaluator &On) {
  std::vector<GpuVariant> Variants;
  for (const PassedVariant &P : Passed)
    Variants.push_back({utostr(P.Index), P.C.Ptx, P.C.Record.Code->Plan,
                        P.C.Record.Code->When, &P.Verdict});
  Expected<std::vector<LargeLaunch>> Large = On.largeLaunches();
  if (!Large)
    return Large.takeError();
  GpuOriginal From{&S.K,
                   On.originalBitcode().str(),
                   On.originalPtx().str(),
                   S.Workloads,
                   Store.root().str(),
                   By.Arch,
                   By.By.flagsWithPtxas(),
                   On.gpuOnly().vec(),
                   std::move(*Large)};
  Expected<GpuOutcomes> Outcomes = judgeOnGpu(
      R.Device, std::move(From), Variants,
      [&](size_t W, const DeviceResults &Own, const DeviceResults &Its) {
        return On.judgeDeviceResults(W, Own, Its);
      });
  if (!Outcomes)
    return Outcomes.takeError();
  for (auto [P, Said, Time] : zip(Passed, Outcomes->Large, Outcomes->Totals)) {
    P.Large = std::move(Said);
    P.Time = Time;
    P.Gpu = Outcomes->Device;
  }
  for (PassedVariant &P : Passed)
    for (const GpuOutcome &O : Outcomes->Launches) {
      if (O.Variant != utostr(P.Index))
        continue;
      if (O.Same) {
        P.Compared.push_back(O.Workload);
        continue;
      }
      P.Wrong = true;
      fail(P.Index, By,
           "on the GPU (" + O.Workload +
               "): " + (O.Text.empty() ? "the original fails there" : O.Text));
    }
  return Error::success();
}

/// Notes where \p P may run from now on.
Error KernelVerifier::keep(PassedVariant &P, const Compilation &By,
                           CandidateEvaluator &On) {
  const Variant &V = S.Variants[P.Index];
  Expected<std::optional<Domain>> Found =
      On.domain(P.C, P.Verdict, P.Compared, P.Large);
  if (!Found)
    return Found.takeError();
  Domain Where = Found->value_or(Domain());
  // What a GPU saw before holds until one is asked again, or the gate sees
  // more.
  bool Lost = false;
  if (R.Device.empty() && V.Where)
    for (const DomainBox &Box : V.Where->Boxes) {
      if (Box.Seen != DomainBox::By::Gpu)
        continue;
      const bool Wrong = wasWrongIn(P.Verdict, Box);
      Lost |= Wrong;
      if (!Wrong)
        Where = unite(std::move(Where), Domain{{Box}});
    }
  if (Where.Boxes.empty()) {
    fail(P.Index, By, "no launch is left on which it may run");
    return Error::success();
  }
  Where = canonical(Where, S.K.Scalars.size());
  std::vector<Workload> Judged;
  for (auto [W, GpuOnly] : zip_equal(S.Workloads, On.gpuOnly()))
    if (!GpuOnly || is_contained(P.Compared, W.Name))
      Judged.push_back(W);
  const std::vector<std::string> Cases = casesOf(Judged, /*OnGpu=*/true);
  for (auto [I, M] : enumerate(V.Evidence))
    if (By.isOf(M))
      Proved[P.Index][I] = {Where, P.Verdict.Checks, Cases, P.Time,
                            P.Gpu, P.C.Identity};
  ++All.Passed;
  say(nameOf(P.Index) + ": passed (" + Twine(P.Verdict.Checks) + " checks, " +
      buildsOf(P.Index, By) +
      (P.Time ? formatv(", x{0:f3} ({1:f3} to {2:f3}) on the {3}",
                        P.Time->Ratio, P.Time->Low, P.Time->High, P.Gpu)
                    .str()
              : std::string()) +
      "): " + domainText(Where, launchNames(S.K), "\n    "));
  if (Lost)
    say("  note: on launches that a GPU was to vouch for it is wrong by this "
        "gate; the domain leaves them out until --device compares anew");
  for (const ComparedLaunch &L : P.Large)
    if (!L.Right)
      say("  note: on the GPU its results are not the original's on " + L.Case +
          ", which the domain leaves out: " + L.Evidence);
  for (const std::string &W : P.Verdict.Outside)
    if (!is_contained(P.Compared, W))
      say("  note: workload " + W +
          " lies outside of the domain: builds run the original on it");
  return Error::success();
}

/// All variants that were proved \p By one compilation.
Error KernelVerifier::judge(const Compilation &By) {
  std::vector<size_t> Chosen;
  for (auto [I, V] : enumerate(S.Variants))
    if (V.Plan && V.When && V.When->Arch == By.Arch &&
        any_of(V.Evidence, [&](const Measurement &M) { return By.isOf(M); }))
      Chosen.push_back(I);
  if (Chosen.empty())
    return Error::success();
  SearchProblem P =
      storedProblem(S, Store.root(), By.Arch, By.By.Flags, R.Seed);
  P.Nvcc = By.By.Nvcc;
  P.Compiler = By.By.Name;
  P.LargeBytes = R.LargeBytes;
  P.OnGpu = true; // No time counts here, and a GPU may run what this cannot.
  std::unique_ptr<CandidateEvaluator> On;
  if (Error E = absorbFault(CandidateEvaluator::create(P).moveInto(On),
                            [&](StringRef Why) {
                              for (size_t I : Chosen)
                                leaveUnjudged(nameOf(I), Why);
                            });
      E || !On)
    return E;
  const size_t NotHere = count(On->gpuOnly(), true);
  if (R.Device.empty() && NotHere == S.Workloads.size()) {
    for (size_t I : Chosen)
      say(nameOf(I) + ": left as it is: only a GPU can run its workloads; name "
                      "one with --device");
    All.Left += Chosen.size();
    return Error::success();
  }
  if (R.Device.empty() && NotHere)
    say(S.K.Name + ": note: only a GPU can run " + Twine(NotHere) + " of " +
        Twine(S.Workloads.size()) +
        " workload(s); --device compares them, too");
  std::vector<PassedVariant> Passed;
  for (size_t I : Chosen) {
    Log << Position << " " << nameOf(I) << " (" << buildsOf(I, By) << ")\n";
    Expected<std::optional<PassedVariant>> Each = judgeOne(I, By, *On);
    if (!Each)
      return Each.takeError();
    if (*Each)
      Passed.push_back(std::move(**Each));
  }
  if (!R.Device.empty() && !Passed.empty()) {
    Log << Position << " " << S.K.Name << ": " << R.Device << "\n";
    if (Error E = judgeOnDevice(Passed, By, *On))
      return E;
  }
  for (PassedVariant &Each : Passed)
    if (!Each.Wrong)
      if (Error E = keep(Each, By, *On))
        return E;
  return Error::success();
}

/// The kernel with what was proved. Evidence for builds that were not judged,
/// or not passed, keeps the domain that it had.
StoredKernel KernelVerifier::updated() const {
  StoredKernel New = S;
  New.Variants.clear();
  New.Sources.clear();
  for (auto [V, Source, Found] : zip_equal(S.Variants, S.Sources, Proved)) {
    if (V.Evidence.empty())
      entryOf(New, V, Source, V.Where);
    for (auto [I, M] : enumerate(V.Evidence)) {
      auto It = Found.find(I);
      Variant &To = entryOf(
          New, V, Source,
          It == Found.end() ? V.Where : std::optional(It->second.Where));
      auto Add = [&To](const Measurement &Each) {
        if (!is_contained(To.Evidence, Each))
          To.Evidence.push_back(Each);
      };
      Measurement Again = M;
      if (It != Found.end()) {
        Again.Gate = unsigned(GateVersion);
        Again.Checks = It->second.Checks;
        if (!It->second.Digest.empty())
          Again.Digest = It->second.Digest;
        append_range(Again.Cases, It->second.Cases);
        llvm::sort(Again.Cases);
        Again.Cases.erase(llvm::unique(Again.Cases), Again.Cases.end());
        if (const std::optional<GpuRatio> &Time = It->second.Time) {
          // What another GPU measured of this code holds for that one.
          if (M.Basis == Basis::Measured && M.Device != It->second.Gpu)
            Add(Again);
          Again.Device = It->second.Gpu;
          Again.Basis = Basis::Measured;
          Again.Ratio = Time->Ratio;
          Again.Low = Time->Low;
          Again.High = Time->High;
        }
      }
      Add(Again);
    }
  }
  return New;
}

Error KernelVerifier::run() {
  if (S.Variants.empty() || (!R.Workloads.empty() && !More.launches(S.K)))
    return Error::success();
  if (any_of(S.Builds, [](const BuildEntry &B) {
        return compilerKind(B.Compiler) == CompilerKind::Mlir;
      })) {
    say(S.K.Name + ": left as it is: it is MLIR, and the store does not have "
                   "the pipeline that makes code of it; cupilot evolve "
                   "--from-store judges its variants again");
    return Error::success();
  }
  bool Readable = true;
  if (Error E = Store.addWorkloads(S, More.of(S.K), More.Folder))
    return E;
  if (Error E = absorbFault(Store.readTexts(S),
                            [&](StringRef Why) {
                              leaveUnjudged(S.K.Name, Why);
                              Readable = false;
                            });
      E || !Readable)
    return E;
  if (S.Workloads.empty()) {
    leaveUnjudged(S.K.Name, "the store has no workload of it; cupilot evolve "
                            "and judge --store record them");
    return Error::success();
  }
  for (const BuildEntry &B : S.Builds)
    if (Error E = place(B))
      return E;
  for (const Compilation &By : Compilations)
    if (Error E = judge(By))
      return E;
  std::vector<std::string> Texts;
  for (auto [V, Found] : zip_equal(S.Variants, Proved))
    if (!Found.empty())
      Texts.push_back(V.Digest);
  if (R.Check || Texts.empty())
    return Error::success();
  StoreUpdate U;
  U.Kernel = updated();
  U.Superseded = std::move(Texts);
  return Store.commit(U);
}

/// What does not pass, as an error that names it.
static Error finding(const Tally &All) {
  std::vector<std::string> Parts;
  if (!All.Failing.empty())
    Parts.push_back(utostr(All.Failing.size()) +
                    " variant(s) no longer pass: " + join(All.Failing, "; "));
  if (!All.Unjudged.empty())
    Parts.push_back("cannot be judged: " + join(All.Unjudged, "; "));
  if (Parts.empty())
    return Error::success();
  return findingError(join(Parts, "; "),
                      "'cupilot store prune' removes a variant, 'cupilot "
                      "evolve' searches for others");
}

Error verify(const VerifyRequest &R, raw_ostream &Out, raw_ostream &Log) {
  if (!R.Device.empty() && !GpuDevice::isOne(R.Device))
    return usageError("unknown device '" + R.Device + "'", GpuDevice::Known);
  Expected<ProjectStore> Store = ProjectStore::open(R.Store);
  if (!Store)
    return Store.takeError();
  if (Error E = Store->checkWritable())
    return E;
  Expected<std::vector<StoredKernel>> Kernels = Store->kernels();
  if (!Kernels)
    return Kernels.takeError();
  erase_if(*Kernels, [&](const StoredKernel &S) {
    return !StringRef(S.K.Name).contains(R.Only);
  });
  if (Kernels->empty() && !R.Only.empty())
    return usageError("no kernel of the store is named '" + R.Only + "'",
                      "'cupilot store list' lists them");
  WorkloadSet More;
  if (!R.Workloads.empty()) {
    if (Error E = WorkloadSet::load(R.Workloads).moveInto(More))
      return E;
    if (none_of(*Kernels,
                [&](const StoredKernel &S) { return More.launches(S.K); }))
      return usageError("'" + R.Workloads +
                            "' has no launch of a kernel of the store",
                        "'cupilot store list' lists them");
  }
  Tally All;
  Error Awaited = Error::success();
  for (auto [I, S] : enumerate(*Kernels)) {
    const std::string Position =
        "[" + utostr(I + 1) + "/" + utostr(Kernels->size()) + "]";
    // The batches of all kernels are written before it ends.
    Error E = handleErrors(
        KernelVerifier(R, *Store, S, More, All, Position, Out, Log).run(),
        [&](std::unique_ptr<ResultsAwaited> Wait) -> Error {
          Log << "  " << Wait->text() << "\n";
          if (!Awaited)
            Awaited = Error(std::move(Wait));
          return Error::success();
        });
    if (E)
      return joinErrors(std::move(E), std::move(Awaited));
  }
  if (Awaited)
    return Awaited;
  Out << All.Passed << " passed, " << All.Failing.size() << " no longer pass, "
      << All.Unjudged.size() << " cannot be judged";
  if (All.Left)
    Out << ", " << All.Left << " left for a GPU";
  Out << "\n";
  return finding(All);
}

} // namespace cupilot
