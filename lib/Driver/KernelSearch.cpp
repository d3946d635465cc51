//===- KernelSearch.cpp - The search of one kernel into a store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSearch.h"
#include "cupilot/Driver/KeepVariant.h"
#include "cupilot/Driver/SearchProgress.h"
#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Driver/StoredBuild.h"
#include "cupilot/Evolution/StoredStart.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/GateCounts.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace cupilot {

/// Says why a kernel is left out; see absorbFinding.
Error KernelSearches::leaveOut(Error E, const Twine &Prefix, SearchRow &Row) {
  return absorbFinding(std::move(E), [&](StringRef Why) {
    Row.leaveOut(Why);
    Log << Prefix << "left out: " << Why << "\n";
  });
}

/// Nothing where there is nothing to search, which is said.
Expected<std::optional<SearchProblem>>
KernelSearches::problemOf(const SearchedUnit &Unit, const Kernel &K,
                          SearchRow &Row) {
  if (K.Refusal) {
    Row.leaveOut(*K.Refusal);
    Log << K.Name << ": left out: " << *K.Refusal << "\n";
    return std::nullopt;
  }
  Expected<SearchProblem> Posed = searchProblem(R, Recorded, Unit, K);
  if (!Posed)
    return Posed.takeError();
  return std::move(*Posed);
}

/// Two searches of one kernel would forget and overwrite each other's steps.
Expected<FileLock> KernelSearches::lock(const Kernel &K) const {
  const std::string Path = Root + "/journal.sqlite.lock";
  const uint64_t Place = xxh3_64bits(K.Digest);
  Expected<std::optional<FileLock>> Lock = FileLock::tryLock(Path, Place);
  if (Lock && !*Lock && R.LockWait.count() > 0) {
    Log << K.Name << ": waiting for another search of it in this store\n";
    Expected<std::optional<FileLock>> Later =
        FileLock::lockWithin(Path, Place, R.LockWait);
    if (!Later)
      return Later.takeError();
    if (*Later)
      return std::move(**Later);
  }
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
Expected<std::vector<SeedGenome>>
KernelSearches::seedsFor(const SearchProblem &P) {
  if (R.Models ? !R.Models->Retrieval : R.Like.empty())
    return std::vector<SeedGenome>();
  if (P.Language && R.Like.empty()) // The shipped examples are CUDA.
    return std::vector<SeedGenome>();
  Expected<KernelEmbedder> Embedder = KernelEmbedder::load(
      sharedFile("retrieval/vocabulary.json", "lib/Retrieval/vocabulary.json"));
  if (!Embedder)
    return Embedder.takeError();
  // Models begin with examples, too: code that was proved teaches them most.
  std::vector<std::string> Roots;
  for (const std::string &Each :
       R.Like.empty() ? std::vector<std::string>{"examples"} : R.Like)
    append_range(Roots, storesNamed(Each));
  return seedGenomes(P.K, Roots, *Embedder, P.Arch, P.Flags,
                     /*Count=*/R.Like.empty() ? 2 : 3);
}

SearchOptions KernelSearches::optionsFor(StringRef Name,
                                         ArrayRef<SeedGenome> Seeds,
                                         std::optional<unsigned> Most) {
  SearchOptions Options;
  if (Models) {
    Models->setExamples(Seeds);
    Models->setMostCalls(Most);
    Models->apply(Options);
  }
  R.Size.applyTo(Options);
  if (Most && !Models)
    SearchSize::limit(Options, *Most);
  Options.Submitted = R.Submitted;
  Options.Resume = R.Resume;
  Options.Until = Until;
  Options.Jobs = R.Jobs;
  Options.Cluster = R.Cluster;
  Options.Turns = Turns;
  Options.Strategies = R.Strategies.empty()
                           ? sharedFile("strategies", "strategies")
                           : R.Strategies;
  Options.Store = Experience.empty() ? Root : Experience;
  Options.Device = R.Device;
  Options.Patience.Wait = R.Wait;
  Options.Patience.Tell = [this](const Twine &Text) {
    Log << "  " << Text << "\n";
  };
  Options.Tell = [this](StringRef Text) { Log << "  " << Text << "\n"; };
  if (R.Verbose)
    Options.TellRefused = [this](StringRef Why) {
      Log << "  not drawn: " << Why << "\n";
    };
  // Examples that nobody named leave half of the start to the models.
  for (const SeedGenome &S : Seeds.take_front(
           R.Like.empty() ? Options.Population / 2 : Seeds.size())) {
    Log << Name << ": starts with " << S.Genome
        << format(", %.2fx for ", S.Ratio) << S.Kernel
        << format(" (similarity %.2f, ", S.Similarity) << S.Provenance << ")\n";
    Options.Begin.push_back(S.Genome);
  }
  return Options;
}

/// The search, with its progress and its figures.
Expected<SearchResult> KernelSearches::searchAloud(const SearchProblem &P,
                                                   SearchOptions &Options,
                                                   SearchRow &Row) {
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
  std::string Figures;
  raw_string_ostream(Figures) << format(
      "%u candidates: %u refused by rules, %u duplicates, %u "
      "rejected by the gate, %u not faster",
      unsigned(Result->All.size()), Count(CandidateOutcome::Refused),
      Count(CandidateOutcome::Duplicate),
      Count({CandidateOutcome::Rejected, CandidateOutcome::Unidentified,
             CandidateOutcome::Inadmissible}),
      Count(CandidateOutcome::Slower));
  if (unsigned Unchanged = Count(CandidateOutcome::Unchanged))
    raw_string_ostream(Figures)
        << format(", %u unchanged by improvement", Unchanged);
  if (unsigned Outpaced = Count(CandidateOutcome::Outpaced))
    raw_string_ostream(Figures)
        << format(", %u outpaced by other numbers", Outpaced);
  Log << "  " << Figures << ", " << Result->Kept << " kept\n";
  if (Result->Kept) {
    const Variant &Best = Result->Variants.front();
    Row.Ratio = Best.Fitness.value_or(0);
    Row.Low = Best.Evidence.front().Low;
    Row.High = Best.Evidence.front().High;
    if (const auto &Others = Best.Evidence.front().Others)
      Log << "  the launch that counts most, on " << Others->Kind
          << " inputs: " << format("%.2fx", Others->Ratio)
          << format(" (%.2f to %.2f)\n", Others->Low, Others->High);
  } else
    Row.Why = Figures;
  Row.RatioBasis = P.OnGpu ? Basis::Measured : Basis::Modelled;
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
      // What a GPU called slower before the gate has no evidence.
      C.Judged += R.Evidence.has_value();
      C.Passed += R.Evidence.has_value();
      break;
    case CandidateOutcome::Unjudged: // These never came so far.
    case CandidateOutcome::Refused:
    case CandidateOutcome::NoAnswer:
    case CandidateOutcome::CompileError:
    case CandidateOutcome::CompilerCrash:
    case CandidateOutcome::CompilerLimits:
    case CandidateOutcome::Duplicate:
    case CandidateOutcome::Unchanged:
    case CandidateOutcome::Outpaced:
    case CandidateOutcome::Passed:
      break;
    }
  return C;
}

/// What the search put into the store before a budget ended it makes way for
/// what it ends with.
Error KernelSearches::supersede(const SearchResult &Result,
                                StoreUpdate &Update) {
  static constexpr char Step[] = "stored"; // No batch is called that.
  Expected<std::optional<BatchRecord>> Earlier = J.findBatch(Result.Run, Step);
  Expected<std::vector<StoredKernel>> There = Store.kernels();
  if (!Earlier || !There)
    return joinErrors(Earlier.takeError(), There.takeError());
  if (*Earlier)
    for (StringRef Digest : split((*Earlier)->Results, '\n'))
      Update.Superseded.push_back(Digest.str());
  if (!Result.isCutShort())
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

/// The first compiler's build, and those of others that have one.
Expected<std::vector<KernelSearches::Built>>
KernelSearches::buildsOf(SearchedUnit &Unit, const Kernel &K,
                         const std::string &Arch) {
  std::vector<Built> Builds;
  if (Unit.Other) {
    for (auto [Known, Identity] :
         zip_equal(Unit.Other->Kernels, Unit.Other->Identities))
      if (Known.Name == K.Name)
        Builds.push_back({Unit.Compilers.front(), Identity});
    Builds.front().By.Arch = Arch;
    return Builds;
  }
  for (const BuildCompiler &Each : Unit.Compilers) {
    Built B{compilerOf(K, Each), ""};
    B.By.Arch = Arch;
    Expected<std::string> Identity =
        B.By.Name.empty() ? B.By.Nvcc->name()
                          : Unit.Identities.identityOf(K, Arch, B.By);
    if (!Identity && Builds.empty())
      return Identity.takeError();
    if (!Identity) {
      // What the first compiler's code proves stays, whatever becomes of it.
      if (Error E = handleErrors(Identity.takeError(), [&](const ToolError &T) {
            if (T.code() == ExitCode::Resource)
              OthersFailed = Unit.Compilers.front().Name;
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

/// Adds builds of another unit with the same kernel: their flags or their
/// architecture may be others. What is wrong with it takes nothing from the
/// first unit's.
Error KernelSearches::addBuilds(SearchedUnit &Other, const Kernel &K,
                                const GpuDescription &Gpu,
                                std::vector<Built> &Builds) {
  Expected<std::string> Arch =
      architectureOn(Gpu, Other.Command.Flags, /*Loaded=*/R.Device == "cpu");
  std::vector<Built> More;
  Error E = Arch ? buildsOf(Other, K, *Arch).moveInto(More) : Arch.takeError();
  if (E)
    return absorbFinding(std::move(E), [&](StringRef Why) {
      Log << "  another unit's build left out: " << Why << "\n";
    });
  for (Built &B : More) {
    auto IsAlike = [&](const Built &Known) {
      return Known.By.Arch == B.By.Arch &&
             (Known.Identity == B.Identity || Known.By.Name == B.By.Name);
    };
    // Evidence goes by the compiler's name and the architecture.
    if (!B.By.Nvcc && any_of(Builds, IsAlike))
      B.By.Name = clangName(B.By.Flags);
    if (none_of(Builds, IsAlike))
      Builds.push_back(std::move(B));
  }
  return Error::success();
}

/// Builds may read the kernel's own text, before code is made of it: they know
/// kernel and variants by that, and the evidence is the same.
static Error addSourceBuilds(const SearchProblem &P, StoredKernel &S) {
  if (!P.Language)
    return Error::success();
  Expected<BuildEntry> Own =
      P.Language->sourceBuild(S.K.Slice, S.K.Symbol, P.Arch);
  if (!Own)
    return Own.takeError();
  for (auto [V, Source] : zip_equal(S.Variants, S.Sources)) {
    if (languageOfFile(V.Source) != P.Language->kind() || !V.Plan)
      continue;
    Expected<std::string> Mine =
        P.Language->sourceIdentity(Source, V.Plan->Launches.front().Symbol);
    if (!Mine)
      return Mine.takeError();
    Measurement M = V.Evidence.front();
    M.Compiler = Own->Compiler;
    M.Digest = std::move(*Mine);
    M.Original.clear();
    V.Evidence.push_back(std::move(M));
  }
  S.Builds.push_back(std::move(*Own));
  return Error::success();
}

/// All that a search leaves in the store: its statistics, what a GPU said,
/// and the variants that were accepted.
Error KernelSearches::store(const SearchProblem &P, ArrayRef<Built> Builds,
                            SearchResult &Result) {
  StoreUpdate Update;
  Update.Files.push_back(gateCountsFile(countsOf(P.K, Result)));
  if (!Result.Strategies.Tallies.empty())
    Update.Files.push_back(strategyFile(Result.Strategies));
  append_range(Update.Files, Result.Proposed);
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
            return M.Compiler == B.By.Name && M.Arch == B.By.Arch;
          });
        }))
      S.Builds.push_back({B.By.Name, B.By.Arch, B.Identity});
  if (Error E = addSourceBuilds(P, S))
    return E;
  if (Error E = Store.keepWorkloads(S, P.Workloads, P.DataFolder))
    return E;
  if (Error E = supersede(Result, Update))
    return E;
  return putIntoStore(Store, std::move(Update), Log);
}

/// By all searches of this run.
uint64_t KernelSearches::callsMade() const {
  return Models && Models->Models ? Models->Models->spent().Calls : 0;
}

Error KernelSearches::evolveKernel(SearchedUnit &Unit,
                                   ArrayRef<SearchedUnit *> Others,
                                   const Kernel &K, SearchRow &Row,
                                   std::optional<unsigned> Most) {
  Spent = 0;
  const uint64_t Before = callsMade();
  llvm::scope_exit Count([&] {
    if (Models)
      Spent = unsigned(callsMade() - Before);
  });
  Expected<std::optional<SearchProblem>> P = problemOf(Unit, K, Row);
  if (!P)
    return P.takeError();
  if (!*P)
    return Error::success();
  Expected<std::vector<Built>> Builds = buildsOf(Unit, K, (*P)->Arch);
  if (!Builds)
    return leaveOut(Builds.takeError(), K.Name + ": ", Row);
  for (SearchedUnit *Other : Others)
    if (Error E = addBuilds(*Other, K, (*P)->Gpu, *Builds))
      return E;
  Expected<FileLock> Lock = lock(K);
  if (!Lock)
    return Lock.takeError();
  Expected<std::vector<SeedGenome>> Seeds = seedsFor(**P);
  if (!Seeds)
    return Seeds.takeError();
  SearchOptions Options = optionsFor((*P)->K.Name, *Seeds, Most);
  if (R.FromStore) {
    Expected<std::vector<SubmittedVariant>> There =
        storedVariants((*P)->K, Store, (*P)->Arch);
    if (!There)
      return There.takeError();
    Log << (*P)->K.Name << ": the store has " << There->size()
        << " variant(s) to begin with\n";
    Options.Stored = std::move(*There);
  }
  for (const Built &B : drop_begin(*Builds))
    Options.Others.push_back(B.By);
  Expected<SearchResult> Result = searchAloud(**P, Options, Row);
  if (!Result && R.isDryRun())
    return Models->printPrompts(Result.takeError(), Out);
  if (!Result)
    return leaveOut(Result.takeError(), "  ", Row);
  Accepted += Result->Kept;
  Judged = Result->All;
  Spent = unsigned(Result->All.size());
  if (Result->OtherFailed)
    OthersFailed = Unit.Compilers.front().Name;
  if (Error E = store(**P, *Builds, *Result))
    return E;
  OverBudget = Result->isOverBudget();
  // What it found so far is kept.
  if (OverBudget)
    return resourceError(Result->Ended->Text,
                         "continue with a larger limit and --resume; recorded "
                         "answers are not asked for again");
  return Error::success();
}

} // namespace cupilot
