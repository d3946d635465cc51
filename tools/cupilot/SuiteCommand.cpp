//===- SuiteCommand.cpp - cupilot suite -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Mutation/SuiteUnit.h"
#include "cupilot/Mutation/Workers.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::list<std::string> Inputs{
      cl::Positional, cl::OneOrMore, In, cl::value_desc("F.cu"),
      cl::desc("CUDA sources with 'kernel:' comments")};
  cl::opt<std::string> Only{"kernel", In, cl::value_desc("NAME"),
                            cl::desc("Only the entry of this original kernel")};
  cl::opt<std::string> OnlyVariant{"variant", In, cl::value_desc("NAME"),
                                   cl::desc("Only this variant")};
  cl::opt<unsigned> Workers{"workers", In, cl::init(2), cl::value_desc("N"),
                            cl::desc("Number of processes (default 2)")};
  cl::opt<uint64_t> Seed{"seed", In, cl::init(1), cl::value_desc("N"),
                         cl::desc("Seed of the inputs (default 1)")};
  cl::opt<bool> Quiet{"q", In,
                      cl::desc("Print only wrong verdicts and the summary")};
};
} // namespace

static const char Examples[] =
    "  cupilot suite rows.cu -- -O2\n"
    "  cupilot suite *.cu -q --workers=4\n\n"
    "docs/Mutation.md describes the comments. Exit status 1: a verdict is not\n"
    "the expected one.\n";

namespace {
/// How the entry of one original went.
struct EntryResult {
  std::string Text;
  unsigned Passed = 0, Rejected = 0, Wrong = 0;
};
} // namespace

static Expected<GateVerdict> judgeOne(Gate &G, const SuiteUnit &U,
                                      const Kernel &Original,
                                      const SuiteVariant &V, StringRef Arch) {
  Expected<const Kernel *> Variant = U.kernel(V.Name);
  if (!Variant)
    return Variant.takeError();
  Expected<LaunchPlan> Plan = parsePlan(V.Plan, Original);
  if (!Plan)
    return Plan.takeError();
  for (Launch &L : Plan->Launches)
    L.Symbol = (*Variant)->Symbol;
  Expected<Guard> When = parseGuard(V.Guard, Original, Arch);
  if (!When)
    return When.takeError();
  Expected<std::string> Alone = onlyKernel(U.Bitcode, (*Variant)->Symbol);
  if (!Alone)
    return Alone.takeError();
  return G.judge(*Alone, *Plan, *When, GateDepth::Search);
}

static bool isDue(const SuiteVariant &V, const GateVerdict &Got) {
  if (V.Reasons.empty())
    return Got.Passed;
  return !Got.Passed &&
         is_contained(V.Reasons, wordOf(Got.Findings.front().Reason));
}

static Expected<EntryResult> judgeEntry(const Options &O, const SuiteUnit &U,
                                        const SuiteEntry &E, StringRef Arch) {
  Expected<const Kernel *> Found = U.kernel(E.Kernel);
  if (!Found)
    return Found.takeError();
  Kernel Original = **Found;
  Original.Contract = E.Contract;
  GateSetup Setup;
  Setup.Original = &Original;
  Setup.DataFolder = ".";
  Setup.Arch = Arch.str();
  Setup.Seed = O.Seed;
  for (const std::string &Text : E.Workloads) {
    Expected<Workload> W =
        parseWorkload(Text, Original, "w" + utostr(Setup.Workloads.size()));
    if (!W)
      return W.takeError();
    Setup.Workloads.push_back(std::move(*W));
  }
  Expected<std::string> Alone = onlyKernel(U.Bitcode, Original.Symbol);
  if (!Alone)
    return Alone.takeError();
  Setup.OriginalBitcode = std::move(*Alone);
  Expected<std::unique_ptr<Gate>> G = Gate::create(std::move(Setup));
  if (!G)
    return G.takeError();
  EntryResult R;
  raw_string_ostream OS(R.Text);
  for (const SuiteVariant &V : E.Variants) {
    if (!O.OnlyVariant.empty() && V.Name != O.OnlyVariant)
      continue;
    Expected<GateVerdict> Got = judgeOne(**G, U, Original, V, Arch);
    if (!Got)
      return Got.takeError();
    bool Due = isDue(V, *Got);
    R.Wrong += !Due;
    (Got->Passed ? R.Passed : R.Rejected) += 1;
    if (Due && O.Quiet)
      continue;
    OS << (Due ? "" : "WRONG ") << sys::path::filename(U.Path) << ":" << V.Line
       << ": " << E.Kernel << " / " << V.Name << ": ";
    if (Got->Passed) {
      OS << "passed (" << Got->Checks << " checks)";
    } else {
      const GateFinding &F = Got->Findings.front();
      OS << "rejected: " << wordOf(F.Reason)
         << (F.Workload.empty() ? "" : " (" + F.Workload + ")") << ": "
         << F.Evidence;
    }
    if (!Due)
      OS << "; expected "
         << (V.Reasons.empty() ? "a pass" : join(V.Reasons, " or "));
    OS << "\n";
  }
  return R;
}

static Error oneFile(const Options &O, StringRef Path,
                     ArrayRef<std::string> Flags, EntryResult &Sum) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<std::vector<SuiteEntry>> Entries = parseSuite(*Text, Path);
  if (!Entries)
    return Entries.takeError();
  std::string Arch = gpuArchitectures(Flags).front();
  Expected<SuiteUnit> U = SuiteUnit::load(Path, Arch, Flags);
  if (!U)
    return U.takeError();
  std::vector<unsigned> Tasks;
  for (unsigned I = 0; I < Entries->size(); ++I)
    if (O.Only.empty() || (*Entries)[I].Kernel == O.Only)
      Tasks.push_back(I);
  Error Failure = Error::success();
  // An answer is three numbers and the text, or "error: ".
  auto Job = [&](unsigned I) -> std::string {
    Expected<EntryResult> R = judgeEntry(O, *U, (*Entries)[I], Arch);
    if (!R)
      return "error: " + toString(R.takeError());
    return utostr(R->Passed) + " " + utostr(R->Rejected) + " " +
           utostr(R->Wrong) + "\n" + R->Text;
  };
  auto Done = [&](size_t Task, const TaskResult &T) {
    const SuiteEntry &E = (*Entries)[Tasks[Task]];
    StringRef Answer = T.Answer;
    bool Broken = T.K != TaskResult::Kind::Done;
    if (Broken || Answer.consume_front("error: ")) {
      Failure = joinErrors(std::move(Failure),
                           findingError("'" + Path + "' line " + Twine(E.Line) +
                                        ", " + E.Kernel + ": " + Answer));
      return true;
    }
    auto [Numbers, Lines] = Answer.split('\n');
    unsigned Counts[3] = {};
    for (unsigned &Count : Counts) {
      Numbers = Numbers.ltrim();
      Numbers.consumeInteger(10, Count);
    }
    Sum.Passed += Counts[0];
    Sum.Rejected += Counts[1];
    Sum.Wrong += Counts[2];
    outs() << Lines;
    outs().flush();
    return true;
  };
  if (Error E = runTasks(Tasks, {O.Workers, 600, 1}, Job, Done))
    return joinErrors(std::move(Failure), std::move(E));
  return Failure;
}

static Error run(const Options &O, const TrailingArgs &Flags) {
  EntryResult Sum;
  Error Failure = Error::success();
  for (const std::string &Path : O.Inputs)
    Failure = joinErrors(std::move(Failure), oneFile(O, Path, Flags.Args, Sum));
  outs() << Sum.Passed << " passed, " << Sum.Rejected << " rejected, "
         << Sum.Wrong << " wrong\n";
  if (Failure)
    return Failure;
  if (Sum.Wrong)
    return findingError(Twine(Sum.Wrong) +
                        " verdict(s) are not the expected ones");
  return Error::success();
}

static const Command
    Registered("suite",
               "Compare the gate's verdicts with those that files expect",
               "FLAGS", Examples, run);
