//===- EvolveCommand.cpp - cupilot evolve -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choice.h"
#include "CompilerCommand.h"
#include "EvolveAgents.h"
#include "KeepVariant.h"
#include "NvccBuilds.h"
#include "SearchProgress.h"
#include "SharedFolder.h"
#include "SharedOptions.h"
#include "UnitIdentities.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/Seeds.h"
#include "cupilot/Store/GateCounts.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace cupilot;

static cl::SubCommand Sub("evolve", "Search for faster kernels and prove them");
static cl::opt<std::string>
    Input(cl::Positional, cl::Required, cl::sub(Sub),
          cl::value_desc("F.cu|K.mlir"),
          cl::desc("The CUDA source, or what cupilot extract -o wrote"));
static cl::opt<std::string>
    Workloads("workloads", cl::sub(Sub), cl::Required, cl::value_desc("W.mlir"),
              cl::desc("What cupilot capture recorded"));
static StoreOption StoreDir(Sub);
static OnlyOption Only(Sub);
static cl::opt<std::string>
    Translator("translator", cl::sub(Sub), cl::init("rules"),
               cl::value_desc("rules|llm"),
               cl::desc("What turns strategies into code (default rules)"));
static AgentFlags Agents(Sub);
static cl::opt<std::string>
    DeviceName("device", cl::sub(Sub), cl::init("cpu"),
               cl::value_desc("cpu|cuda|spool:DIR|ssh:HOST"),
               cl::desc("Where variants are timed (default cpu: modelled)"));
static cl::opt<bool>
    NoWait("no-wait", cl::sub(Sub),
           cl::desc("With a GPU elsewhere: end with status 3 where results are "
                    "not there yet, instead of waiting for them"));
static cl::opt<std::string>
    GpuName("gpu", cl::sub(Sub), cl::init("H200"), cl::value_desc("NAME"),
            cl::desc("The GPU whose time is modelled (default H200)"));
static cl::opt<uint64_t> Seed("seed", cl::sub(Sub), cl::init(1),
                              cl::value_desc("N"),
                              cl::desc("Seed of the search (default 1)"));
static cl::opt<unsigned> Population(
    "population", cl::sub(Sub), cl::init(12), cl::value_desc("N"),
    cl::desc("Variants of a generation (default 12; with llm that of "
             "the preset)"));
static cl::opt<unsigned> Generations("generations", cl::sub(Sub), cl::init(3),
                                     cl::value_desc("N"),
                                     cl::desc("Generations, the start included "
                                              "(default 3)"));
static ContractOption Contract(Sub);
static cl::opt<bool>
    Steady("steady", cl::sub(Sub),
           cl::desc("As many candidates, but two at a time: each may be a "
                    "parent at once"));
static cl::opt<bool>
    Resume("resume", cl::sub(Sub),
           cl::desc("Go on with a search that was interrupted"));
static cl::opt<bool> Verbose("v", cl::sub(Sub),
                             cl::desc("Say why each candidate was dropped"));
static cl::opt<std::string>
    Strategies("strategies", cl::sub(Sub), cl::value_desc("DIR"),
               cl::desc("Folder of the strategy library"));

static cl::list<std::string>
    Like("like", cl::sub(Sub), cl::value_desc("DIR|examples"),
         cl::desc("Begin with what helped similar kernels of this store, or of "
                  "the one that cuPilot comes with; may be repeated"));

static cl::opt<std::string>
    BuildFolder("p", cl::sub(Sub), cl::value_desc("DIR"),
                cl::desc("Take the source's command from "
                         "DIR/compile_commands.json"));
static cl::list<std::string> Compilers(
    "compiler", cl::sub(Sub), cl::value_desc("CMD"),
    cl::desc("A compiler that builds use, with its flags: 'nvcc "
             "--use_fast_math'; may be repeated. Default: the toolkit's nvcc "
             "with what FLAGS mean to it; 'clang' for none but clang"));

static const char Examples[] =
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --store .cupilot "
    "-- -O2\n"
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --resume -- "
    "-O2\n"
    "  cupilot evolve heat.mlir --workloads heat.workloads.mlir -- -O2\n"
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --device "
    "spool:gpu -- -O2\n\n"
    "FLAGS are those of the build, for clang, or a command of clang or nvcc. "
    "On the cpu device\ntimes are modelled, never measured. With a GPU, what "
    "passes the cpu device's checks is\ncompared and timed on the GPU, a "
    "generation at a time; 'spool:DIR' writes batches that\n'cupilot-runner' "
    "works through anywhere, and waits for their results. Whatever ends it "
    "while\nit waits, --resume goes on from there. Exit status 1: no variant "
    "was accepted; 3: a GPU, or\nits results, cannot be had.\n";

/// The store's folder; of a dry run one that goes.
static std::string StoreFolder;

static std::string libraryFolder() {
  if (!Strategies.empty())
    return Strategies;
  return sharedFile("strategies", "strategies");
}

static bool fromModule() { return sys::path::extension(Input) == ".mlir"; }

/// Says why a kernel is left out; see absorbFinding.
static Error leaveOut(Error E, const Twine &Prefix) {
  return absorbFinding(std::move(E), [&](StringRef Why) {
    errs() << Prefix << "left out: " << Why << "\n";
  });
}

/// What the gate said in a search, by reason.
static GateCounts countsOf(const Kernel &K, const SearchResult &Result) {
  GateCounts C;
  C.Kernel = K.Name;
  C.Identity = K.Digest;
  C.Search = Result.Run;
  C.Gate = GateVersion;
  for (const CandidateRecord &R : Result.All) {
    std::string Word;
    if (R.Outcome == "inadmissible") {
      Word = R.Outcome;
    } else if (R.Outcome == "gate") {
      // "identity: ..." is no reason of the gate's: it passed.
      Word = StringRef(R.Reason)
                 .take_until([](char C) { return C == ':' || C == ' '; })
                 .str();
      if (!reasonOf(Word))
        Word.clear();
    } else if (R.Outcome != "accepted" && R.Outcome != "slower") {
      continue; // It never came so far.
    }
    ++C.Judged;
    if (Word.empty())
      ++C.Passed;
    else
      ++C.Reasons[Word];
  }
  return C;
}

/// What helped similar kernels, for --like.
static Expected<std::vector<SeedGenome>>
beginLike(const Kernel &K, StringRef Arch, ArrayRef<std::string> Flags) {
  if (Like.empty() || !Agents.retrieval())
    return std::vector<SeedGenome>();
  Expected<KernelEmbedder> Embedder = KernelEmbedder::load(
      sharedFile("retrieval/vocabulary.json", "lib/Retrieval/vocabulary.json"));
  if (!Embedder)
    return Embedder.takeError();
  std::vector<std::string> Roots;
  for (const std::string &Each : Like)
    Roots.push_back(storeNamed(Each));
  Expected<std::vector<SeedGenome>> Seeds =
      seedGenomes(K, Roots, *Embedder, Arch, Flags, /*Count=*/3);
  if (!Seeds)
    return Seeds.takeError();
  for (const SeedGenome &S : *Seeds)
    errs() << K.Name << ": begins with " << S.Genome
           << format(", %.2fx for ", S.Ratio) << S.Kernel
           << format(" (similarity %.2f)\n", S.Similarity);
  return Seeds;
}

static Error evolveKernel(const Kernel &K, const WorkloadSet &Recorded,
                          ProjectStore &Store, Journal &J,
                          ArrayRef<std::string> Flags,
                          UnitIdentities &Identities, EvolveAgents *Models,
                          unsigned &Accepted) {
  SearchProblem P;
  P.K = K;
  P.Workloads = Recorded.of(K);
  if (P.Workloads.empty()) {
    errs() << K.Name << ": not launched in the workloads, left out\n";
    return Error::success();
  }
  if (!K.Refusal.empty()) {
    errs() << K.Name << ": left out: " << K.Refusal << "\n";
    return Error::success();
  }
  Expected<GpuDescription> Gpu = describeGpu(GpuName);
  if (!Gpu)
    return Gpu.takeError();
  P.Gpu = *Gpu;
  P.Arch = architectureFor(Gpu->Arch, Flags);
  P.Flags = Flags.vec();
  P.Seed = Seed;
  P.DataFolder = Recorded.Folder;
  P.OnGpu = DeviceName != "cpu";
  Expected<std::string> Identity = Identities.identityOf(K, P.Arch);
  if (!Identity)
    return leaveOut(Identity.takeError(), K.Name + ": ");
  SearchOptions Options;
  Options.Population = Population;
  Options.Generations = Generations;
  if (Models) {
    Models->apply(Options);
    if (Population.getNumOccurrences()) {
      Options.Population = Population;
      Options.Offspring = std::min(Options.Offspring, Options.Population);
    }
    if (Generations.getNumOccurrences())
      Options.Generations = Generations;
  }
  if (Steady && Options.Generations > 1) {
    constexpr unsigned AtATime = 2;
    unsigned Offspring = (Options.Generations - 1) * Options.Offspring;
    Options.Generations = 1 + (Offspring + AtATime - 1) / AtATime;
    Options.Offspring = AtATime;
  }
  Options.Resume = Resume;
  Options.Strategies = libraryFolder();
  Options.Store = StoreFolder;
  Options.Device = DeviceName;
  Options.Patience.Wait = !NoWait;
  Options.Patience.Tell = [](const Twine &Text) {
    errs() << "  " << Text << "\n";
  };
  // Two searches of one kernel would forget and overwrite each other's steps.
  Expected<std::optional<FileLock>> Lock = FileLock::tryLock(
      StoreFolder + "/journal.sqlite.lock", xxh3_64bits(K.Digest));
  if (!Lock)
    return Lock.takeError();
  if (!*Lock)
    return resourceError(
        "another search of '" + K.Name + "' is under way in the store '" +
            StoreDir + "'",
        "wait until it has ended, or name another store with --store");
  Options.Tell = [](StringRef Text) { errs() << "  " << Text << "\n"; };
  Expected<std::vector<SeedGenome>> Begin = beginLike(K, P.Arch, Flags);
  if (!Begin)
    return Begin.takeError();
  for (const SeedGenome &S : *Begin)
    Options.Begin.push_back(S.Genome);
  if (Models)
    Models->setExamples(*Begin);
  errs() << K.Name << "\n  running the original on " << P.Workloads.size()
         << " workload(s)\n";
  std::function<double()> Spent;
  if (Models && Models->Models)
    Spent = [&] { return Models->Models->spent().Cost; };
  SearchProgress Progress(Options, P.OnGpu, Verbose, std::move(Spent));
  Options.Progress = [&](unsigned Generation, const CandidateRecord &R,
                         double Best) {
    Progress.candidate(Generation, R, Best);
  };
  Expected<SearchResult> Result = cupilot::search(P, Options, J);
  if (!Result && Agents.dryRun())
    return Models->printPrompts(Result.takeError());
  if (!Result)
    return leaveOut(Result.takeError(), "  ");
  auto Slower =
      static_cast<unsigned>(count_if(Result->All, [](const CandidateRecord &R) {
        return R.Outcome == "slower";
      }));
  errs() << format("  %u candidates: %u refused by rules, %u duplicates, %u "
                   "rejected by the gate, %u not faster, ",
                   Result->Evaluated, Result->Refused, Result->Duplicates,
                   Result->Rejected, Slower)
         << Result->Variants.size() << " kept\n";
  if (!Result->Stopped.empty())
    errs() << "  ended early: " << Result->Stopped << "\n";
  if (Models)
    errs() << "  " << Models->summary() << "\n";
  if (Error E = putGateCounts(StoreFolder, countsOf(K, *Result)))
    return E;
  if (Error E = putStrategyRecord(StoreFolder, Result->Strategies))
    return E;
  if (P.OnGpu)
    if (Error E = addMeasured(StoreFolder + "/measured.json", Result->Measured))
      return E;
  // A run that ends here has told what it found so far.
  auto End = [&, Over = Result->OverBudget, Why = Result->Stopped]() -> Error {
    if (!Over)
      return Error::success();
    return resourceError(Why, "go on with a larger limit and --resume: what "
                              "was answered is not asked again");
  };
  if (Result->Variants.empty())
    return End();
  Accepted += Result->Variants.size();
  StoredKernel S;
  S.K = K;
  S.Builds.push_back({"clang-22", P.Arch, *Identity});
  S.Variants = std::move(Result->Variants);
  S.Sources = std::move(Result->Sources);
  if (Error E = Store.keepWorkloads(S, P.Workloads, P.DataFolder))
    return E;
  if (Error E = recordNvcc(S, fromModule() ? StringRef() : StringRef(Input),
                           P.Arch, Flags, Compilers))
    return E;
  if (Error E = putIntoStore(Store, S))
    return E;
  return End();
}

static Error run(const TrailingArgs &Trailing) {
  TrailingArgs Flags = Trailing;
  Expected<std::vector<std::string>> Found =
      clangFlagsFor(Input, Trailing, BuildFolder);
  if (!Found)
    return Found.takeError();
  Flags.Args = std::move(*Found);
  if (Translator != "rules" && Translator != "llm")
    return usageError("there is no translator '" + Translator + "'",
                      "--translator=rules or --translator=llm");
  if (Error E = Agents.check(Translator == "llm"))
    return E;
  StoreFolder = StoreDir;
  std::optional<TemporaryDirectory> Passing;
  if (Agents.dryRun()) {
    Expected<TemporaryDirectory> Made =
        TemporaryDirectory::create("cupilot-dry-run");
    if (!Made)
      return Made.takeError();
    Passing.emplace(std::move(*Made));
    StoreFolder = Passing->file("store");
  }
  if (DeviceName != "cpu" && !GpuDevice::isOne(DeviceName))
    return usageError("there is no device '" + DeviceName + "'",
                      "--device=cpu, cuda, spool:DIR or ssh:HOST");
  for (auto &[Name, Value] : {std::pair("--population", Population.getValue()),
                              {"--generations", Generations.getValue()}})
    if (Value == 0 || Value > 10000)
      return usageError(Twine(Name) + "=" + Twine(Value) +
                            " is no number of a search",
                        "give a number from 1 to 10000");
  Expected<WorkloadSet> Recorded = WorkloadSet::load(Workloads);
  if (!Recorded)
    return Recorded.takeError();
  // Identities are compared below, so slices need no other proof.
  Expected<std::vector<Kernel>> Kernels =
      fromModule() ? loadKernels(Input)
                   : extractKernels(Input, Flags.Args, {.VerifySlices = false});
  if (!Kernels)
    return Kernels.takeError();
  Kernels = chooseKernels(std::move(*Kernels), Input, Only);
  if (!Kernels)
    return Kernels.takeError();
  Expected<std::optional<PrecisionContract>> Granted = Contract.granted();
  if (!Granted)
    return Granted.takeError();
  if (*Granted)
    for (Kernel &K : *Kernels)
      K = withContract(std::move(K), **Granted);
  Expected<ProjectStore> Store = ProjectStore::openOrCreate(StoreFolder);
  if (!Store)
    return Store.takeError();
  Expected<Journal> J = Journal::open(StoreFolder + "/journal.sqlite");
  if (!J)
    return J.takeError();
  if (none_of(*Kernels, [&](const Kernel &K) { return Recorded->launches(K); }))
    return findingError("none of the " + Twine(Kernels->size()) +
                            " kernel(s) of '" + Input + "' is launched in '" +
                            Workloads + "'",
                        "record a run that launches them: cupilot capture");
  std::unique_ptr<EvolveAgents> Models;
  if (Translator == "llm") {
    Expected<std::unique_ptr<EvolveAgents>> Opened =
        Agents.open(StoreFolder, Resume);
    if (!Opened)
      return Opened.takeError();
    Models = std::move(*Opened);
  }
  UnitIdentities Identities(fromModule() ? StringRef() : StringRef(Input),
                            Flags.Args);
  unsigned Accepted = 0;
  // Without waiting, the batches of all kernels are written before it ends.
  Error Awaited = Error::success();
  unsigned Open = 0;
  for (const Kernel &K : *Kernels) {
    Error E = evolveKernel(K, *Recorded, *Store, *J, Flags.Args, Identities,
                           Models.get(), Accepted);
    E = handleErrors(
        std::move(E), [&](std::unique_ptr<ResultsAwaited> R) -> Error {
          errs() << "  " << R->text() << "\n";
          if (Open++ == 0)
            Awaited = joinErrors(std::move(Awaited), Error(std::move(R)));
          return Error::success();
        });
    if (E)
      return joinErrors(std::move(E), std::move(Awaited));
  }
  if (Open > 1)
    errs() << "  " << Open << " kernels wait for results\n";
  if (Awaited)
    return Awaited;
  if (Agents.dryRun())
    return Error::success();
  if (Accepted == 0)
    return findingError("no variant was accepted",
                        "-v says why each candidate was dropped");
  return Error::success();
}

static Command Registered(Sub, Examples, run);
