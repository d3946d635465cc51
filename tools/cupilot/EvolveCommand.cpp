//===- EvolveCommand.cpp - cupilot evolve -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgentFlags.h"
#include "SharedOptions.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/Evolve.h"
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Driver/MlirLanguage.h"
#include "cupilot/Driver/MlirUnit.h"
#include "cupilot/Evolution/ClusterGate.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include <thread>

using namespace llvm;
using namespace cupilot;

namespace evolve_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{
      cl::Positional, cl::Optional, In, cl::value_desc("[F.cu|M.mlir|K.mlir]"),
      cl::desc("The CUDA source, a module of MLIR, or a file written by "
               "cupilot extract -o; without it, the sources of the project "
               "that -p names")};

  cl::OptionCategory Kernels{"Kernels and builds"};
  cl::opt<std::string> Workloads{
      "workloads",
      In,
      cl::cat(Kernels),
      cl::Required,
      cl::value_desc("W.mlir"),
      cl::desc("Workloads recorded by cupilot capture")};
  OnlyOption Only{Sub, Kernels};
  cl::opt<std::string> Pipeline{
      "pipeline", In, cl::cat(Kernels), cl::value_desc("P"),
      cl::desc("Of MLIR: the passes that make PTX of it, as cupilot-opt "
               "--pass-pipeline takes them (default: "
               "gpu-lower-to-nvvm-pipeline for the GPU)")};
  ContractOption Contract{Sub, Kernels};
  cl::opt<std::string> BuildFolder{
      "p", In, cl::cat(Kernels), cl::value_desc("DIR"),
      cl::desc("Take the source's command, or the sources themselves, from "
               "DIR/compile_commands.json")};
  cl::opt<unsigned> Top{
      "top", In, cl::cat(Kernels), cl::value_desc("N"),
      cl::desc("Only the N kernels with the largest share of the kernel time")};
  cl::opt<double> Share{
      "share", In, cl::cat(Kernels), cl::value_desc("PERCENT"),
      cl::desc("Only kernels with at least this share of the kernel time")};
  cl::opt<unsigned> Budget{
      "budget", In, cl::cat(Kernels), cl::value_desc("N"),
      cl::desc("At most N candidates of all kernels together (with "
               "--translator=llm: N calls), split by the kernels' shares of "
               "the kernel time")};
  cl::list<std::string> Compilers{
      "compiler", In, cl::cat(Kernels), cl::value_desc("CMD"),
      cl::desc(
          "Also judge variants as this command builds them, for example "
          "'nvcc --use_fast_math'; may be repeated. Default: with clang's "
          "FLAGS, the toolkit's nvcc, with FLAGS translated; with a command "
          "of nvcc, none. 'clang': clang")};

  cl::OptionCategory Search{"Search"};
  cl::opt<uint64_t> Seed{"seed",
                         In,
                         cl::cat(Search),
                         cl::init(1),
                         cl::value_desc("N"),
                         cl::desc("Seed of the search (default 1)")};
  CompileTimeoutOption Timeout{Sub, Search};
  cl::opt<unsigned> Population{
      "population", In, cl::cat(Search), cl::value_desc("N"),
      cl::desc("Number of variants in a generation (default 12; with "
               "--translator=llm: that of the preset)")};
  cl::opt<unsigned> Generations{
      "generations", In, cl::cat(Search), cl::value_desc("N"),
      cl::desc("Number of generations, including the first (default 3)")};
  cl::opt<unsigned> Tune{
      "tune", In, cl::cat(Search), cl::value_desc("N"),
      cl::desc("After each generation, try at most N settings of the numbers "
               "that the best code leaves open; 0: none (default 32 with "
               "--translator=llm, else 0)")};
  cl::opt<unsigned> MaxSeconds{
      "max-seconds", In, cl::cat(Search), cl::value_desc("N"),
      cl::desc("Judge nothing new after N seconds, split by the kernels' "
               "shares of the kernel time, and keep what was accepted; "
               "--resume continues")};
  cl::opt<unsigned> Jobs{
      "jobs", In, cl::cat(Search), cl::value_desc("N"),
      cl::desc("Judge N candidates at a time, with the same verdicts (default: "
               "as many as there are cores)")};
  cl::opt<unsigned> AtOnce{
      "at-once",
      In,
      cl::cat(Search),
      cl::init(1),
      cl::value_desc("N"),
      cl::desc("Search N kernels at the same time, with the same store: they "
               "share models, cores and GPUs (default 1)")};
  cl::opt<std::string> Judge{
      "judge",
      In,
      cl::cat(Search),
      cl::init("here"),
      cl::value_desc("here|slurm[:OPTIONS]"),
      cl::desc("Where candidates are judged: on this machine (the default), or "
               "on the nodes of a cluster (docs/Cluster.md)")};
  cl::opt<bool> Steady{
      "steady", In, cl::cat(Search),
      cl::desc("Evaluate two candidates at a time; results can become parents "
               "immediately")};
  cl::opt<std::string> Strategies{
      "strategies", In, cl::cat(Search), cl::value_desc("DIR"),
      cl::desc("Folder of the strategy library (default: cuPilot's)")};
  cl::list<std::string> Like{
      "like", In, cl::cat(Search), cl::value_desc("DIR|examples"),
      cl::desc(
          "Begin with the strategies that helped similar kernels in this "
          "store, or in the one that comes with cuPilot; may be repeated")};
  cl::opt<bool> FromStore{
      "from-store", In, cl::cat(Search),
      cl::desc("Begin with the variants that the store has of a kernel: they "
               "are judged again, improved and crossed")};
  cl::opt<std::string> Translator{
      "translator",
      In,
      cl::cat(Search),
      cl::init("rules"),
      cl::value_desc("rules|llm"),
      cl::desc("What turns strategies into code (default rules)")};

  AgentFlags Agents{Sub};

  cl::OptionCategory Device{"GPU"};
  cl::opt<std::string> DeviceName{
      "device",
      In,
      cl::cat(Device),
      cl::init("cpu"),
      cl::value_desc("cpu|cuda|spool:DIR|ssh:HOST|slurm[:OPTIONS]"),
      cl::desc("Where variants are timed (default cpu: modelled)")};
  cl::opt<bool> NoWait{
      "no-wait", In, cl::cat(Device),
      cl::desc("With a GPU on another machine: exit with status 3 if results "
               "are missing, instead of waiting for them")};
  LargeLaunchOption Large{Sub, Device};
  cl::opt<std::string> GpuName{
      "gpu",
      In,
      cl::cat(Device),
      cl::init("H200"),
      cl::value_desc("NAME"),
      cl::desc("The GPU whose time is modelled: a name that cupilot doctor "
               "lists, or a file that describes one (default H200)")};
  cl::opt<bool> AcceptEstimates{
      "accept-estimates", In, cl::cat(Device),
      cl::desc("Without a GPU: keep what the modelled time calls faster, also "
               "where a GPU may well measure the contrary")};

  cl::OptionCategory Output{"Store and output"};
  StoreOption StoreDir{Sub, Output};
  cl::opt<bool> Resume{"resume", In, cl::cat(Output),
                       cl::desc("Continue a search that was interrupted")};
  cl::opt<bool> Verbose{"v", In, cl::cat(Output),
                        cl::desc("Say why each candidate was dropped")};
  cl::opt<bool> Json{"json", In, cl::cat(Output),
                     cl::desc("Print the table at the end as JSON; "
                              "docs/Evolution.md describes the format")};
};
} // namespace

static const char Examples[] =
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --store .cupilot "
    "-- -O2\n"
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir --resume -- -O2\n"
    "  cupilot evolve -p build --workloads app.mlir --top 5\n"
    "  cupilot evolve -p build --workloads app.mlir --device cuda \\\n"
    "      --max-seconds 600\n"
    "  cupilot evolve heat.kernels.mlir --workloads heat.workloads.mlir "
    "-- -O2\n"
    "  cupilot evolve heat.mlir --workloads heat.workloads.mlir \\\n"
    "      --pipeline 'builtin.module(gpu-lower-to-nvvm-pipeline{...})'\n"
    "  cupilot evolve heat.cu --workloads heat.workloads.mlir \\\n"
    "      --device spool:gpu -- -O2\n\n"
    "Without a source, the kernels of the workloads are looked for in the CUDA "
    "sources that\n"
    "DIR/compile_commands.json names: in the objects that were built, or else "
    "in the text. Kernels with\n"
    "the largest share of the kernel time are searched first. The table at the "
    "end says what each one\n"
    "won, or why it did not, and what that means for all of them together.\n\n"
    "FLAGS are the flags of the build for clang, or a whole command of clang "
    "or nvcc, whose code is\n"
    "judged. On the cpu device, times are modelled, never measured. With a "
    "GPU, variants that pass the\n"
    "cpu device's checks are compared and timed on the GPU, a generation at a "
    "time; where the GPU\n"
    "answers by itself, rules' candidates are timed before these checks, too, "
    "and slower ones end\n"
    "there. 'spool:DIR' writes\n"
    "batches that 'cupilot-runner' runs on any machine, and waits for their "
    "results; 'slurm' sends\n"
    "them to a cluster (docs/Cluster.md). If the search is\n"
    "interrupted while it waits, --resume continues it. Exit status 1: no "
    "variant was accepted;\n"
    "3: a GPU or its results are not available.\n";

static std::optional<unsigned> given(const cl::opt<unsigned> &O) {
  return O.getNumOccurrences() ? std::optional(O.getValue()) : std::nullopt;
}

/// Loads kernels that are no CUDA.
static Error loadOther(const Options &O, EvolveRequest &R) {
  const bool IsMlir = isMlirFile(O.Input);
  if (!IsMlir && O.Pipeline.getNumOccurrences())
    return usageError("--pipeline is for MLIR modules, and '" + O.Input +
                          "' is none",
                      "leave it out, or name a .mlir file");
  if (!IsMlir)
    return Error::success();
  std::string Pipeline = O.Pipeline;
  if (Pipeline.empty()) {
    Expected<GpuDescription> Gpu = describeGpu(R.Gpu);
    if (!Gpu)
      return Gpu.takeError();
    Expected<std::string> Arch =
        architectureOn(*Gpu, R.Command.Flags, /*Loaded=*/R.Device == "cpu");
    if (!Arch)
      return Arch.takeError();
    Pipeline = usualMlirPipeline(*Arch);
  }
  if (Error E =
          loadMlirUnitToSearch(O.Input, Pipeline, errs()).moveInto(R.Other))
    return E;
  if (!R.Other && O.Pipeline.getNumOccurrences())
    return usageError("--pipeline is for MLIR modules, and '" + O.Input +
                          "' describes kernels",
                      "leave it out, or name the module");
  if (!R.Other)
    return Error::success();
  if (!R.Compilers.empty())
    return usageError("--compiler is for CUDA: '" + O.Input +
                          "' is MLIR, of which the pipeline makes code",
                      "leave it out");
  if (R.Cluster)
    return usageError("--judge=slurm is for CUDA: '" + O.Input + "' is MLIR",
                      "leave it out");
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &Trailing) {
  EvolveRequest R;
  R.Input = O.Input;
  R.Workloads = O.Workloads;
  R.Store = O.StoreDir;
  R.Only = O.Only;
  R.Compilers.assign(O.Compilers.begin(), O.Compilers.end());
  if (Error E =
          GpuDevice::besideStore(O.DeviceName, O.StoreDir).moveInto(R.Device))
    return E;
  R.LargeBytes = O.Large.bytes();
  R.Gpu = O.GpuName;
  R.AcceptEstimates = O.AcceptEstimates;
  R.Seed = O.Seed;
  if (Error E = O.Timeout.limits().moveInto(R.Compilation))
    return E;
  R.Size = {given(O.Population), given(O.Generations), O.Steady, given(O.Tune)};
  R.Jobs =
      given(O.Jobs).value_or(std::max(1u, std::thread::hardware_concurrency()));
  if (R.Jobs == 0 || R.Jobs > 1024)
    return usageError("--jobs must be between 1 and 1024");
  R.AtOnce = O.AtOnce;
  if (R.AtOnce == 0 || R.AtOnce > 256)
    return usageError("--at-once must be between 1 and 256");
  if (Error E = gatePlace(O.Judge, O.StoreDir).moveInto(R.Cluster))
    return E;
  R.Resume = O.Resume;
  R.Wait = !O.NoWait;
  R.Verbose = O.Verbose;
  R.Json = O.Json;
  R.Strategies = O.Strategies;
  R.Like.assign(O.Like.begin(), O.Like.end());
  R.FromStore = O.FromStore;
  if (O.Input.empty() && O.BuildFolder.empty())
    return usageError("no source and no project is given",
                      "name a source, or the folder of compile_commands.json "
                      "with -p");
  if (O.Input.empty()) {
    R.Project = O.BuildFolder;
    R.Trailing = Trailing.Args;
  } else if (Error E = unitCommandFor(O.Input, Trailing.Args, O.BuildFolder)
                           .moveInto(R.Command)) {
    return E;
  }
  R.Budget = given(O.Budget);
  if (R.Budget && *R.Budget == 0)
    return usageError("--budget=0 searches no kernel", "give 1 or more");
  R.MaxSeconds = given(O.MaxSeconds);
  if (R.MaxSeconds && *R.MaxSeconds == 0)
    return usageError("--max-seconds=0 searches no kernel", "give 1 or more");
  R.Choice.Top = given(O.Top);
  R.Choice.Least = O.Share / 100;
  Expected<std::optional<AgentSettings>> Models = O.Agents.read(O.Translator);
  if (!Models)
    return Models.takeError();
  R.Models = std::move(*Models);
  if (R.Models)
    R.Models->Tunables = R.Size.Tune != 0u;
  if (R.Json && R.isDryRun())
    return usageError("--dry-run prints prompts, not JSON",
                      "remove --json, or --dry-run");
  Expected<std::optional<PrecisionContract>> Granted = O.Contract.granted();
  if (!Granted)
    return Granted.takeError();
  R.Contract = *Granted;
  if (Error E = loadOther(O, R))
    return E;
  return evolve(R, outs(), errs());
}

static const Command Registered("evolve",
                                "Search for faster kernels and prove them",
                                "FLAGS", Examples, run);

} // namespace evolve_command
