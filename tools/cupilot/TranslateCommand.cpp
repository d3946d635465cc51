//===- TranslateCommand.cpp - cupilot translate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "SharedOptions.h"
#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace translate_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  SourceOption Input{Sub};
  cl::opt<std::string> GenomeText{
      "genome", In, cl::Required, cl::value_desc("GENES"),
      cl::desc("The strategies, as evolve prints them: "
               "'block_size{x=128}, read_only_loads{}'")};
  OnlyOption Only{Sub};
  cl::opt<std::string> Workloads{
      "workloads", In, cl::value_desc("W.mlir"),
      cl::desc("Also judge the variants: gate and modelled time")};
  ContractOption Contract{Sub};
};
} // namespace

static const char Examples[] =
    "  cupilot translate heat.cu --genome='block_size{x=128}' -- -O2\n"
    "  cupilot translate heat.cu --genome='unroll{factor=4}' "
    "--workloads=W.mlir -- -O2\n"
    "  cupilot translate heat.cu --genome='unroll{factor=4}' -- nvcc -O3\n\n"
    "Prints the variant's source, its launch and its guard, or why a strategy "
    "does not fit.\n"
    "Exit status 1: no kernel could be translated.\n";

static std::string name(const Kernel &K, PointerRef P) {
  std::string Name = K.Params[P.Param].Name;
  return P.Offset ? Name + "+" + std::to_string(P.Offset) : Name;
}

static void print(const Kernel &K, const Translation &T) {
  for (const Launch &L : T.Plan.Launches) {
    outs() << "grid:";
    for (const Expr &E : L.Grid)
      outs() << " [" << E.str() << "]";
    outs() << "\nblock:";
    for (const Expr &E : L.Block)
      outs() << " [" << E.str() << "]";
    outs() << "\nshared: [" << L.Shared.str() << "]\n";
  }
  for (const Constraint &C : T.When.Constraints)
    outs() << "guard: " << C.E.str() << (C.IsEq ? " == 0\n" : " >= 0\n");
  for (const Alignment &A : T.When.Alignments)
    outs() << "align: " << name(K, A.Pointer) << " " << A.Bytes << "\n";
  for (const Disjoint &D : T.When.Disjoints)
    outs() << "disjoint: " << name(K, D.A) << " [" << D.ExtentA.str() << "], "
           << name(K, D.B) << " [" << D.ExtentB.str() << "]\n";
  outs() << "source:\n" << T.Source << "end of source\n";
}

static Error judge(const Kernel &K, const Genome &G,
                   const WorkloadSet &Recorded, const BuildCompiler &By) {
  SearchProblem P;
  P.K = K;
  P.Workloads = Recorded.of(K);
  if (P.Workloads.empty()) {
    outs() << "verdict: not launched in the workloads\n";
    return Error::success();
  }
  P.Gpu = defaultGpu();
  if (Error E =
          architectureOn(P.Gpu, By.Flags, /*Loaded=*/true).moveInto(P.Arch))
    return E;
  P.Flags = By.Flags;
  P.Nvcc = By.Nvcc;
  P.Compiler = By.Name;
  P.DataFolder = Recorded.Folder;
  Expected<std::unique_ptr<CandidateEvaluator>> E =
      CandidateEvaluator::create(P);
  if (!E)
    return E.takeError();
  Expected<Candidate> C = (*E)->prepare(G);
  if (!C)
    return C.takeError();
  if (C->Record.Outcome == CandidateOutcome::Unjudged)
    if (Error Err = (*E)->judge(*C))
      return Err;
  outs() << "verdict: " << wordOf(C->Record.Outcome);
  if (C->Record.Ratio > 0)
    outs() << format(" %.2fx", C->Record.Ratio);
  if (C->Record.Evidence && C->Record.Evidence->High > 0)
    outs() << format(" (%.2f to %.2f)", C->Record.Evidence->Low,
                     C->Record.Evidence->High);
  outs() << " " << reasonText(C->Record) << "\nevidence: "
         << (C->Record.Evidence ? evidenceText(*C->Record.Evidence) : "")
         << "\n";
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &Flags) {
  std::optional<Genome> G = parseGenome(O.GenomeText);
  if (!G || G->empty())
    return usageError("'" + O.GenomeText + "' is not a list of strategies",
                      "--genome='block_size{x=128}, read_only_loads{}'");
  Expected<std::optional<PrecisionContract>> Granted = O.Contract.granted();
  if (!Granted)
    return Granted.takeError();
  std::optional<WorkloadSet> Recorded;
  if (!O.Workloads.empty()) {
    Expected<WorkloadSet> Loaded = WorkloadSet::load(O.Workloads);
    if (!Loaded)
      return Loaded.takeError();
    Recorded = std::move(*Loaded);
  }
  Expected<UnitCommand> Command = unitCommandFor(O.Input, Flags.Args, "");
  if (!Command)
    return Command.takeError();
  Expected<std::vector<BuildCompiler>> By =
      buildCompilers(*Command, {CUPILOT_CLANG}, errs());
  if (!By)
    return By.takeError();
  Expected<std::vector<Kernel>> Kernels =
      extractChosen(O.Input, Command->Flags, O.Only);
  if (!Kernels)
    return Kernels.takeError();
  unsigned Done = 0;
  for (Kernel &K : *Kernels) {
    if (*Granted)
      K = withContract(std::move(K), **Granted);
    outs() << "kernel: " << K.Name << "\n";
    Expected<Translation> T = translateByRules(K, *G, Command->Flags);
    if (!T) {
      if (Error E = absorbFinding(T.takeError(), [](StringRef Why) {
            outs() << "refused: " << Why << "\n";
          }))
        return E;
      continue;
    }
    ++Done;
    print(K, *T);
    if (Recorded)
      if (Error E = judge(K, *G, *Recorded, compilerOf(K, By->front())))
        return E;
  }
  return Done ? Error::success()
              : findingError("no kernel could be translated");
}

static const Command Registered(
    "translate",
    "Apply strategies to the kernels of a unit, and print the result", "FLAGS",
    Examples, run);

} // namespace translate_command
