//===- JudgeCommand.cpp - cupilot judge -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Driver/Judge.h"
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Driver/MlirUnit.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace judge_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{cl::Positional, cl::Required, In,
                             cl::value_desc("F.cu|F.ptx|M.mlir"),
                             cl::desc("The CUDA source of the original, its "
                                      "PTX, or its MLIR")};

  cl::OptionCategory Judged{"What is judged"};
  cl::opt<std::string> Original{
      "kernel",
      In,
      cl::cat(Judged),
      cl::Required,
      cl::value_desc("NAME"),
      cl::desc("Name of the original kernel, complete or up to '('")};
  cl::list<std::string> Variants{
      "variant", In, cl::cat(Judged), cl::value_desc("NAME"),
      cl::desc(
          "Name of a variant with the original's parameters; may be repeated")};
  cl::list<std::string> VariantFiles{
      "variant-file", In, cl::cat(Judged), cl::value_desc("V.cu|V.mlir"),
      cl::desc("Source of the variants, if not F.cu; without --variant, its "
               "kernel with the original's name is judged. May be repeated")};
  cl::opt<std::string> Pipeline{
      "pipeline", In, cl::cat(Judged), cl::value_desc("P"),
      cl::desc("Of MLIR: the passes that make PTX of it, as cupilot-opt "
               "--pass-pipeline takes them (default: "
               "gpu-lower-to-nvvm-pipeline for --arch)")};
  cl::opt<std::string> Plan{
      "plan", In, cl::cat(Judged), cl::value_desc("PLAN"),
      cl::desc("How the variants are launched (default: like the original)")};
  cl::opt<std::string> Guard{
      "guard", In, cl::cat(Judged), cl::value_desc("GUARD"),
      cl::desc("When the variants may run (default: always)")};
  ContractOption Contract{Sub, Judged};

  cl::OptionCategory Launches{"Launches and devices"};
  cl::opt<std::string> Workloads{
      "workloads", In, cl::cat(Launches), cl::value_desc("W.mlir"),
      cl::desc("Workloads recorded by cupilot capture")};
  cl::list<std::string> Descriptions{
      "workload", In, cl::cat(Launches), cl::value_desc("TEXT"),
      cl::desc("Description of a launch; may be repeated")};
  cl::opt<std::string> Arch{
      "arch", In, cl::cat(Launches), cl::value_desc("sm_NN"),
      cl::desc("Architecture to compile for (default: that of FLAGS)")};
  cl::opt<uint64_t> Seed{"seed",
                         In,
                         cl::cat(Launches),
                         cl::init(1),
                         cl::value_desc("N"),
                         cl::desc("Seed of the inputs (default 1)")};
  cl::opt<bool> Deep{
      "deep", In, cl::cat(Launches),
      cl::desc("Also try launches of up to 2^24 elements, which make the "
               "domain wider. --store implies it")};
  CompileTimeoutOption Timeout{Sub, Launches};
  cl::opt<std::string> Device{
      "device", In, cl::cat(Launches),
      cl::value_desc("cuda|spool:DIR|ssh:HOST|slurm[:OPTIONS]"),
      cl::desc("Compare and time variants that pass on a GPU, too")};
  LargeLaunchOption Large{Sub, Launches};

  cl::OptionCategory Output{"Output"};
  cl::opt<std::string> StoreDir{
      "store", In, cl::cat(Output), cl::value_desc("DIR"),
      cl::desc("Add the variants of --variant-file that pass to this store, "
               "for builds")};
  cl::list<std::string> Compilers{
      "compiler", In, cl::cat(Output), cl::value_desc("CMD"),
      cl::desc(
          "With --store: also judge these variants as this command builds "
          "them, for example 'nvcc --use_fast_math'; may be repeated. Default: "
          "with clang's FLAGS, the toolkit's nvcc, with FLAGS translated; with "
          "a command of nvcc, none. 'clang': clang")};
  cl::opt<bool> Json{"json", In, cl::cat(Output),
                     cl::desc("Print the verdicts as JSON")};
};
} // namespace

static const char Examples[] =
    "  cupilot judge rows.cu --kernel rows --variant rowsTiled \\\n"
    "      --workload 'grid=16, block=256, args=[buffer f32 n=4096 uniform, "
    "\\\n"
    "      buffer f32 n=4096 output, 4096]' -- -O2\n"
    "  cupilot judge rows.cu --kernel rows --variant-file tiled.cu \\\n"
    "      --workloads rows.mlir --plan='grid=(n ceildiv 1024, 1, 1)' -- "
    "-O2\n\n"
    "Exit status 1: a variant was rejected.\n";

/// Where it may run, and what is beyond.
static void printDomain(const JudgedVariant &J) {
  const GateVerdict &V = J.Verdict;
  if (!V.Where)
    return;
  outs() << J.Name << ": domain: "
         << domainText(*V.Where, J.Names,
                       "\n  " + std::string(J.Name.size(), ' '))
         << "\n";
  for (const DomainEnd &E : V.Ends)
    outs() << J.Name << ": beyond the domain: " << wordOf(E.Reason) << " ("
           << E.Case << "): " << E.Evidence << "\n";
  for (const std::string &W : V.Outside)
    outs() << J.Name << ": note: workload " << W
           << " lies outside of the domain: builds run the original on it\n";
}

static void print(const JudgedVariant &J) {
  const GateVerdict &V = J.Verdict;
  if (V.Passed)
    outs() << J.Name << ": passed (" << V.Checks << " checks, " << V.GuardMisses
           << " kept out by the guard, " << V.Skipped
           << " skipped: the original kernel itself fails on these inputs)\n";
  else
    for (const GateFinding &F : V.Findings)
      outs() << J.Name << ": rejected: " << wordOf(F.Reason)
             << (F.Workload.empty() ? "" : " (" + F.Workload + ")") << ": "
             << F.Evidence << "\n";
  printDomain(J);
  outs().flush();
}

static void printOnGpu(const Judgement &J) {
  for (const JudgedVariant &V : J.Variants)
    for (const GpuOutcome &O : V.OnGpu)
      outs() << V.Name << " on the GPU (" << O.Workload
             << "): " << (O.Same ? "" : "rejected: ") << O.Text << "\n";
  for (const JudgedVariant &V : J.Variants) {
    for (const ComparedLaunch &L : V.Large)
      outs() << V.Name << " on the GPU (" << L.Case
             << "): " << (L.Right ? "as the original" : "wrong: " + L.Evidence)
             << "\n";
    if (V.Compared && V.Compared != V.Verdict.Where)
      outs() << V.Name << " domain with the GPU: "
             << domainText(*V.Compared, V.Names, "\n  ") << "\n";
  }
}

static void printJson(const Judgement &J) {
  json::Array Verdicts;
  for (const JudgedVariant &V : J.Variants) {
    json::Object O = toJSON(V.Verdict);
    O["variant"] = V.Name;
    json::Array OnGpu;
    for (const GpuOutcome &G : V.OnGpu)
      OnGpu.push_back(json::Object{{"workload", G.Workload},
                                   {"same", G.Same},
                                   {"compare", json::Object(G.Compare)},
                                   {"time", json::Object(G.Time)},
                                   {"float64", json::Object(G.Float64)}});
    if (!OnGpu.empty())
      O["gpu"] = std::move(OnGpu);
    json::Array Large;
    for (const ComparedLaunch &L : V.Large)
      Large.push_back(json::Object{
          {"case", L.Case}, {"same", L.Right}, {"evidence", L.Evidence}});
    if (!Large.empty())
      O["gpu_large"] = std::move(Large);
    if (V.Compared)
      O["gpu_domain"] = toJSON(*V.Compared);
    Verdicts.push_back(std::move(O));
  }
  outs() << formatv(
      "{0:2}\n", json::Value(json::Object{{"kernel", J.Kernel},
                                          {"gate", GateVersion},
                                          {"arch", J.Arch},
                                          {"verdicts", std::move(Verdicts)}}));
}

/// Loads an original that is no CUDA.
static Error loadOther(const Options &O, JudgeRequest &R) {
  const bool IsMlir = isMlirFile(O.Input);
  if (!IsMlir && O.Pipeline.getNumOccurrences())
    return usageError("--pipeline is for MLIR modules, and '" + O.Input +
                          "' is none",
                      "leave it out, or name a .mlir file");
  if (!IsMlir && !isPtxFile(O.Input))
    return Error::success();
  if (O.VariantFiles.empty())
    return usageError("'" + O.Input +
                          "' is no CUDA: its variants are in files "
                          "of their own",
                      IsMlir ? "--variant-file=V.mlir, or V.cu"
                             : "--variant-file=V.cu");
  if (!IsMlir)
    return UnitToJudge::loadPtx(O.Input, O.Original.getValue())
        .moveInto(R.Unit);
  const std::string Pipeline =
      O.Pipeline.empty()
          ? usualMlirPipeline(O.Arch.empty() ? "sm_90" : O.Arch.getValue())
          : O.Pipeline.getValue();
  if (Error E = loadMlirUnit(O.Input, Pipeline, O.Original).moveInto(R.Unit))
    return E;
  R.LoadOther =
      [Pipeline](StringRef Path) -> Expected<std::optional<TextToJudge>> {
    if (!isMlirFile(Path))
      return std::nullopt;
    return loadMlirText(Path, Pipeline);
  };
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &Flags) {
  JudgeRequest R;
  R.Input = O.Input;
  R.Original = O.Original;
  R.Variants.assign(O.Variants.begin(), O.Variants.end());
  R.VariantFiles.assign(O.VariantFiles.begin(), O.VariantFiles.end());
  R.Workloads = O.Workloads;
  R.Descriptions.assign(O.Descriptions.begin(), O.Descriptions.end());
  R.Plan = O.Plan;
  R.Guard = O.Guard;
  R.Arch = O.Arch;
  R.Seed = O.Seed;
  R.Deep = O.Deep;
  if (Error E = O.Timeout.limits().moveInto(R.Compilation))
    return E;
  R.Store = O.StoreDir;
  R.Compilers.assign(O.Compilers.begin(), O.Compilers.end());
  if (!R.Compilers.empty() && R.Store.empty())
    return usageError("--compiler is for --store: it says for whose builds a "
                      "variant is kept",
                      "add --store=DIR, or judge by that compiler alone: "
                      "-- nvcc FLAGS");
  if (Error E = GpuDevice::besideStore(O.Device, O.StoreDir).moveInto(R.Device))
    return E;
  R.LargeBytes = O.Large.bytes();
  if (Error E = unitCommandFor(O.Input, Flags.Args, "").moveInto(R.Command))
    return E;
  if (Error E = loadOther(O, R))
    return E;
  Expected<std::optional<PrecisionContract>> Granted = O.Contract.granted();
  if (!Granted)
    return Granted.takeError();
  R.Contract = *Granted;
  Expected<Judgement> J = judgeVariants(
      R,
      [&](const JudgedVariant &V) {
        if (!O.Json)
          print(V);
      },
      errs());
  if (!J)
    return J.takeError();
  if (!J->NoFloat64.empty())
    errs() << "cupilot judge: note: the original in its own precision is the "
              "measure, not float64: "
           << J->NoFloat64 << "\n";
  if (O.Json)
    printJson(*J);
  else
    printOnGpu(*J);
  if (size_t Rejected = J->rejected())
    return findingError(Twine(Rejected) + " of " + Twine(J->Variants.size()) +
                        " variant(s) rejected");
  return Error::success();
}

static const Command Registered("judge",
                                "Run the gate on kernels written by hand",
                                "FLAGS", Examples, run);

} // namespace judge_command
