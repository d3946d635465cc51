//===- Evolve.cpp - The search of a unit's kernels ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Evolve.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/KeepVariant.h"
#include "cupilot/Driver/SearchProgress.h"
#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/GateCounts.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace cupilot {

bool EvolveRequest::isModule() const {
  return sys::path::extension(Input) == ".mlir";
}

Error SearchSize::check() const {
  for (auto &[Name, Value] : {std::pair("--population", Population),
                              std::pair("--generations", Generations)})
    if (Value && (*Value == 0 || *Value > 10000))
      return usageError(Twine(Name) + "=" + Twine(*Value) + " is out of range",
                        "give a number from 1 to 10000");
  return Error::success();
}

void SearchSize::applyTo(SearchOptions &Options) const {
  Options.Population = Population.value_or(Options.Population);
  Options.Generations = Generations.value_or(Options.Generations);
  if (Options.Agents)
    Options.Offspring = std::min(Options.Offspring, Options.Population);
  if (!Steady || Options.Generations <= 1)
    return;
  constexpr unsigned AtATime = 2;
  unsigned Offspring = (Options.Generations - 1) * Options.Offspring;
  Options.Generations = 1 + (Offspring + AtATime - 1) / AtATime;
  Options.Offspring = AtATime;
}

namespace {
/// The searches of a unit's kernels into one store.
class UnitSearch {
public:
  /// \p Root: the store's folder; of a dry run one that goes.
  UnitSearch(const EvolveRequest &R, StringRef Root, WorkloadSet Recorded,
             std::vector<BuildCompiler> Compilers, ProjectStore Store,
             Journal J, std::unique_ptr<EvolveAgents> Models, raw_ostream &Out,
             raw_ostream &Log)
      : R(R), Root(Root), Recorded(std::move(Recorded)),
        Compilers(std::move(Compilers)), Store(std::move(Store)),
        J(std::move(J)), Models(std::move(Models)),
        Identities(R.isModule() ? StringRef() : StringRef(R.Input)), Out(Out),
        Log(Log) {}
  Error evolveKernel(const Kernel &K);
  unsigned Accepted = 0;
  /// Another compiler could not be run for a kernel, which the first one's
  /// builds have.
  bool OtherFailed = false;

private:
  Expected<std::optional<SearchProblem>> problemOf(const Kernel &K);
  Expected<FileLock> lock(const Kernel &K) const;
  Expected<std::vector<SeedGenome>> seedsFor(const SearchProblem &P);
  SearchOptions optionsFor(ArrayRef<SeedGenome> Seeds);
  Expected<SearchResult> searchAloud(const SearchProblem &P,
                                     SearchOptions &Options);
  Error supersede(const SearchResult &Result, StoreUpdate &Update);
  /// A compiler's build of a kernel, and whose.
  struct Built {
    BuildCompiler By;
    std::string Identity;
  };
  Expected<std::vector<Built>> buildsOf(const Kernel &K,
                                        const std::string &Arch);
  Error store(const SearchProblem &P, ArrayRef<Built> Builds,
              SearchResult &Result);
  Error leaveOut(Error E, const Twine &Prefix);

  const EvolveRequest &R;
  std::string Root;
  WorkloadSet Recorded;
  const std::vector<BuildCompiler> Compilers; ///< Not empty.
  ProjectStore Store;
  Journal J;
  std::unique_ptr<EvolveAgents> Models; ///< Null: rules translate.
  BuildIdentities Identities;
  raw_ostream &Out, &Log;
};
} // namespace

/// Says why a kernel is left out; see absorbFinding.
Error UnitSearch::leaveOut(Error E, const Twine &Prefix) {
  return absorbFinding(std::move(E), [&](StringRef Why) {
    Log << Prefix << "left out: " << Why << "\n";
  });
}

/// Nothing where there is nothing to search, which is said.
Expected<std::optional<SearchProblem>> UnitSearch::problemOf(const Kernel &K) {
  SearchProblem P;
  P.K = K;
  P.Workloads = Recorded.of(K);
  if (P.Workloads.empty()) {
    Log << K.Name << ": left out: the workloads do not launch it\n";
    return std::nullopt;
  }
  if (K.Refusal) {
    Log << K.Name << ": left out: " << *K.Refusal << "\n";
    return std::nullopt;
  }
  Expected<GpuDescription> Gpu = describeGpu(R.Gpu);
  if (!Gpu)
    return Gpu.takeError();
  P.Gpu = *Gpu;
  Expected<std::string> Arch =
      architectureOn(*Gpu, R.Command.Flags, /*Loaded=*/R.Device == "cpu");
  if (!Arch)
    return Arch.takeError();
  P.Arch = std::move(*Arch);
  BuildCompiler First = compilerOf(K, Compilers.front());
  P.Flags = First.Flags;
  P.Nvcc = First.Nvcc;
  P.Compiler = First.Name;
  P.Seed = R.Seed;
  P.Compilation = R.Compilation;
  P.DataFolder = Recorded.Folder;
  P.OnGpu = R.Device != "cpu";
  P.LargeBytes = R.LargeBytes;
  return P;
}

/// Two searches of one kernel would forget and overwrite each other's steps.
Expected<FileLock> UnitSearch::lock(const Kernel &K) const {
  Expected<std::optional<FileLock>> Lock =
      FileLock::tryLock(Root + "/journal.sqlite.lock", xxh3_64bits(K.Digest));
  if (!Lock)
    return Lock.takeError();
  if (!*Lock)
    return resourceError(
        "another search of '" + K.Name + "' is running in the store '" +
            R.Store + "'",
        "wait until it has finished, or name another store with --store");
  return std::move(**Lock);
}

/// What helped similar kernels.
Expected<std::vector<SeedGenome>> UnitSearch::seedsFor(const SearchProblem &P) {
  if (R.Like.empty() || (R.Models && !R.Models->Retrieval))
    return std::vector<SeedGenome>();
  Expected<KernelEmbedder> Embedder = KernelEmbedder::load(
      sharedFile("retrieval/vocabulary.json", "lib/Retrieval/vocabulary.json"));
  if (!Embedder)
    return Embedder.takeError();
  std::vector<std::string> Roots;
  for (const std::string &Each : R.Like)
    Roots.push_back(storeNamed(Each));
  Expected<std::vector<SeedGenome>> Seeds =
      seedGenomes(P.K, Roots, *Embedder, P.Arch, P.Flags, /*Count=*/3);
  if (!Seeds)
    return Seeds.takeError();
  for (const SeedGenome &S : *Seeds)
    Log << P.K.Name << ": starts with " << S.Genome
        << format(", %.2fx for ", S.Ratio) << S.Kernel
        << format(" (similarity %.2f)\n", S.Similarity);
  return Seeds;
}

SearchOptions UnitSearch::optionsFor(ArrayRef<SeedGenome> Seeds) {
  SearchOptions Options;
  if (Models) {
    Models->setExamples(Seeds);
    Models->apply(Options);
  }
  R.Size.applyTo(Options);
  Options.Resume = R.Resume;
  Options.Strategies = R.Strategies.empty()
                           ? sharedFile("strategies", "strategies")
                           : R.Strategies;
  Options.Store = Root;
  Options.Device = R.Device;
  Options.Patience.Wait = R.Wait;
  Options.Patience.Tell = [this](const Twine &Text) {
    Log << "  " << Text << "\n";
  };
  Options.Tell = [this](StringRef Text) { Log << "  " << Text << "\n"; };
  for (const SeedGenome &S : Seeds)
    Options.Begin.push_back(S.Genome);
  return Options;
}

/// The search, with its progress and its figures.
Expected<SearchResult> UnitSearch::searchAloud(const SearchProblem &P,
                                               SearchOptions &Options) {
  Log << P.K.Name << "\n  running the original on " << P.Workloads.size()
      << " workload(s)\n";
  std::function<double()> Spent;
  if (Models && Models->Models)
    Spent = [&] { return Models->Models->spent().Cost; };
  SearchProgress Progress(Options, P.OnGpu, R.Verbose, std::move(Spent), Log);
  Options.Progress = [&](unsigned Generation, const CandidateRecord &C,
                         double Best) {
    Progress.candidate(Generation, C, Best);
  };
  Expected<SearchResult> Result = search(P, Options, J);
  if (!Result)
    return Result.takeError();
  auto Count = [&](ArrayRef<CandidateOutcome> Of) {
    return unsigned(count_if(Result->All, [&](const CandidateRecord &C) {
      return is_contained(Of, C.Outcome);
    }));
  };
  Log << format(
             "  %u candidates: %u refused by rules, %u duplicates, %u "
             "rejected by the gate, %u not faster, ",
             unsigned(Result->All.size()), Count(CandidateOutcome::Refused),
             Count(CandidateOutcome::Duplicate),
             Count({CandidateOutcome::Rejected, CandidateOutcome::Unidentified,
                    CandidateOutcome::Inadmissible}),
             Count(CandidateOutcome::Slower))
      << Result->Kept << " kept\n";
  if (Result->Ended)
    Log << "  stopped early: " << Result->Ended->Text << "\n";
  if (Models)
    Log << "  " << Models->summary() << "\n";
  return Result;
}

/// What the gate said in a search, by reason.
static GateCounts countsOf(const Kernel &K, const SearchResult &Result) {
  GateCounts C;
  C.Kernel = K.Name;
  C.Identity = K.Digest;
  C.Search = Result.Run;
  C.Gate = GateVersion;
  for (const CandidateRecord &R : Result.All)
    switch (R.Outcome) {
    case CandidateOutcome::Inadmissible:
      ++C.Judged;
      ++C.Reasons[wordOf(GateReason::Inadmissible).str()];
      break;
    case CandidateOutcome::Rejected:
      ++C.Judged;
      ++C.Reasons[wordOf(*R.Reason.Found).str()];
      break;
    case CandidateOutcome::Unidentified: // Its identity is not the gate's.
    case CandidateOutcome::Slower:
    case CandidateOutcome::Accepted:
      ++C.Judged;
      ++C.Passed;
      break;
    case CandidateOutcome::Unjudged: // These never came so far.
    case CandidateOutcome::Refused:
    case CandidateOutcome::NoAnswer:
    case CandidateOutcome::CompileError:
    case CandidateOutcome::CompilerCrash:
    case CandidateOutcome::CompilerLimits:
    case CandidateOutcome::Duplicate:
    case CandidateOutcome::Passed:
      break;
    }
  return C;
}

/// What the search put into the store before a budget ended it makes way for
/// what it ends with.
Error UnitSearch::supersede(const SearchResult &Result, StoreUpdate &Update) {
  static constexpr char Step[] = "stored"; // No batch is called that.
  Expected<std::optional<BatchRecord>> Earlier = J.findBatch(Result.Run, Step);
  Expected<std::vector<StoredKernel>> There = Store.kernels();
  if (!Earlier || !There)
    return joinErrors(Earlier.takeError(), There.takeError());
  if (*Earlier)
    for (StringRef Digest : split((*Earlier)->Results, '\n'))
      Update.Superseded.push_back(Digest.str());
  if (!Result.isOverBudget())
    return Error::success();
  std::vector<std::string> Own;
  for (const Variant &V : Update.Kernel->Variants)
    if (is_contained(Update.Superseded, V.Digest) ||
        none_of(*There, [&](const StoredKernel &S) {
          return any_of(S.Variants, [&](const Variant &Other) {
            return Other.Digest == V.Digest;
          });
        }))
      Own.push_back(V.Digest);
  return J.saveBatch(Result.Run, Step, {"", join(Own, "\n")});
}

/// All that a search leaves in the store: its statistics, what a GPU said,
/// and the variants that were accepted.
/// The first compiler's build, and those of others that have one.
Expected<std::vector<UnitSearch::Built>>
UnitSearch::buildsOf(const Kernel &K, const std::string &Arch) {
  std::vector<Built> Builds;
  for (const BuildCompiler &Each : Compilers) {
    Built B{compilerOf(K, Each), ""};
    Expected<std::string> Identity = B.By.Name.empty()
                                         ? B.By.Nvcc->name()
                                         : Identities.identityOf(K, Arch, B.By);
    if (!Identity && Builds.empty())
      return Identity.takeError();
    if (!Identity) {
      // What the first compiler's code proves stays, whatever becomes of it.
      if (Error E = handleErrors(Identity.takeError(), [&](const ToolError &T) {
            OtherFailed |= T.code() == ExitCode::Resource;
            Log << "  " << (B.By.Name.empty() ? "nvcc" : B.By.Name)
                << " left out: " << T.text() << "\n";
          }))
        return std::move(E);
      continue;
    }
    B.Identity = std::move(*Identity);
    // Two commands may mean the same.
    if (none_of(Builds, [&](const Built &Known) {
          return Known.Identity == B.Identity;
        }))
      Builds.push_back(std::move(B));
  }
  return Builds;
}

Error UnitSearch::store(const SearchProblem &P, ArrayRef<Built> Builds,
                        SearchResult &Result) {
  StoreUpdate Update;
  Update.Files.push_back(gateCountsFile(countsOf(P.K, Result)));
  if (!Result.Strategies.Tallies.empty())
    Update.Files.push_back(strategyFile(Result.Strategies));
  // The names of a capture mean another launch in the next one.
  for (MeasuredFile::Entry &E : Result.Measured.Entries)
    for (const Workload &W : P.Workloads)
      if (W.Name == E.Workload) {
        E.Workload = caseName(W);
        break;
      }
  if (P.OnGpu && !Result.Measured.Entries.empty())
    Update.Files.emplace_back("measured/" + shortDigest(Result.Run) + ".json",
                              measuredText(Result.Measured));
  if (Result.Variants.empty())
    return Store.commit(Update);
  StoredKernel &S = Update.Kernel.emplace();
  S.K = P.K;
  S.Variants = std::move(Result.Variants);
  S.Sources = std::move(Result.Sources);
  const std::vector<std::string> Cases = casesOf(P.Workloads, P.OnGpu);
  for (Variant &V : S.Variants)
    for (Measurement &M : V.Evidence)
      M.Cases = Cases;
  for (const Built &B : Builds)
    if (any_of(S.Variants, [&](const Variant &V) {
          return any_of(V.Evidence, [&](const Measurement &M) {
            return M.Compiler == B.By.Name;
          });
        }))
      S.Builds.push_back({B.By.Name, P.Arch, B.Identity});
  if (Error E = Store.keepWorkloads(S, P.Workloads, P.DataFolder))
    return E;
  if (Error E = supersede(Result, Update))
    return E;
  return putIntoStore(Store, std::move(Update), Log);
}

Error UnitSearch::evolveKernel(const Kernel &K) {
  Expected<std::optional<SearchProblem>> P = problemOf(K);
  if (!P)
    return P.takeError();
  if (!*P)
    return Error::success();
  Expected<std::vector<Built>> Builds = buildsOf(K, (*P)->Arch);
  if (!Builds)
    return leaveOut(Builds.takeError(), K.Name + ": ");
  Expected<FileLock> Lock = lock(K);
  if (!Lock)
    return Lock.takeError();
  Expected<std::vector<SeedGenome>> Seeds = seedsFor(**P);
  if (!Seeds)
    return Seeds.takeError();
  SearchOptions Options = optionsFor(*Seeds);
  for (const Built &B : drop_begin(*Builds))
    Options.Others.push_back(B.By);
  Expected<SearchResult> Result = searchAloud(**P, Options);
  if (!Result && R.isDryRun())
    return Models->printPrompts(Result.takeError(), Out);
  if (!Result)
    return leaveOut(Result.takeError(), "  ");
  Accepted += Result->Kept;
  OtherFailed |= Result->OtherFailed;
  if (Error E = store(**P, *Builds, *Result))
    return E;
  // What it found so far is kept.
  if (Result->isOverBudget())
    return resourceError(Result->Ended->Text,
                         "continue with a larger limit and --resume; recorded "
                         "answers are not asked for again");
  return Error::success();
}

/// The chosen kernels of the input, under the contract that was granted.
static Expected<std::vector<Kernel>> kernelsOf(const EvolveRequest &R) {
  // Identities are compared for each kernel, so slices need no other proof.
  Expected<std::vector<Kernel>> Kernels =
      chooseKernels(R.isModule() ? loadKernels(R.Input)
                                 : extractKernels(R.Input, R.Command.Flags,
                                                  {.VerifySlices = false}),
                    R.Input, R.Only);
  if (Kernels && R.Contract)
    for (Kernel &K : *Kernels)
      K = withContract(std::move(K), *R.Contract);
  return Kernels;
}

/// Searches one kernel after the other. Those that wait for a GPU hold up no
/// others: the batches of all are written before it ends.
static Error evolveAll(ArrayRef<Kernel> Kernels, UnitSearch &Search,
                       raw_ostream &Log) {
  Error Awaited = Error::success();
  unsigned Open = 0;
  for (const Kernel &K : Kernels) {
    Error E = handleErrors(Search.evolveKernel(K),
                           [&](std::unique_ptr<ResultsAwaited> Wait) -> Error {
                             Log << "  " << Wait->text() << "\n";
                             if (Open++ == 0)
                               Awaited = joinErrors(std::move(Awaited),
                                                    Error(std::move(Wait)));
                             return Error::success();
                           });
    if (E)
      return joinErrors(std::move(E), std::move(Awaited));
  }
  if (Open > 1)
    Log << "  " << Open << " kernels are waiting for results\n";
  return Awaited;
}

Error evolve(const EvolveRequest &R, raw_ostream &Out, raw_ostream &Log) {
  if (R.Device != "cpu" && !GpuDevice::isOne(R.Device))
    return usageError("unknown device '" + R.Device + "'",
                      "--device=cpu, cuda, spool:DIR or ssh:HOST");
  if (Error E = R.Size.check())
    return E;
  if (R.Models)
    if (Error E = R.Models->check())
      return E;
  Expected<std::vector<BuildCompiler>> Compilers =
      buildCompilers(R.Command, R.Compilers, Log);
  if (!Compilers)
    return Compilers.takeError();
  std::string Root = R.Store;
  std::optional<TemporaryDirectory> Passing;
  if (R.isDryRun()) {
    Expected<TemporaryDirectory> Made =
        TemporaryDirectory::create("cupilot-dry-run");
    if (!Made)
      return Made.takeError();
    Passing.emplace(std::move(*Made));
    Root = Passing->file("store");
  }
  Expected<WorkloadSet> Recorded = WorkloadSet::load(R.Workloads);
  if (!Recorded)
    return Recorded.takeError();
  Expected<std::vector<Kernel>> Kernels = kernelsOf(R);
  if (!Kernels)
    return Kernels.takeError();
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(Root);
  if (!Store)
    return Store.takeError();
  Expected<Journal> J = Journal::open(Root + "/journal.sqlite");
  if (!J)
    return J.takeError();
  if (none_of(*Kernels, [&](const Kernel &K) { return Recorded->launches(K); }))
    return findingError("none of the " + Twine(Kernels->size()) +
                            " kernel(s) of '" + R.Input + "' is launched in '" +
                            R.Workloads + "'",
                        "record a run that launches them: cupilot capture");
  std::unique_ptr<EvolveAgents> Models;
  if (R.Models) {
    Expected<std::unique_ptr<EvolveAgents>> Opened =
        EvolveAgents::open(*R.Models, Root, R.Resume);
    if (!Opened)
      return Opened.takeError();
    Models = std::move(*Opened);
  }
  const std::string First = Compilers->front().Name;
  UnitSearch Search(R, Root, std::move(*Recorded), std::move(*Compilers),
                    std::move(*Store), std::move(*J), std::move(Models), Out,
                    Log);
  if (Error E = evolveAll(*Kernels, Search, Log))
    return E;
  if (Search.OtherFailed)
    return resourceError(Twine("another compiler could not be run, so the "
                               "store has variants for builds by ") +
                             First + " only",
                         "correct that, and add the others' with cupilot "
                         "refresh");
  if (Search.Accepted == 0 && !R.isDryRun())
    return findingError("no variant was accepted",
                        "-v says why each candidate was dropped");
  return Error::success();
}

} // namespace cupilot
