//===- SuiteCommand.cpp - cupilot suite -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evolution/NvccCode.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Mutation/DomainChecks.h"
#include "cupilot/Mutation/SuiteUnit.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "cupilot/Support/Workers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace suite_command {

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
  cl::opt<unsigned> Launches{
      "launches", In, cl::init(50), cl::value_desc("N"),
      cl::desc("Number of random launches inside the domain of a bounded "
               "variant (default 50)")};
  cl::opt<bool> Deep{
      "deep", In,
      cl::desc("Also try launches of up to 2^24 elements, as for variants that "
               "are about to be kept")};
  cl::opt<bool> Quiet{"q", In,
                      cl::desc("Print only wrong verdicts and the summary")};
};
} // namespace

static const char Examples[] =
    "  cupilot suite rows.cu -- -O2\n"
    "  cupilot suite *.cu -q --workers=4\n"
    "  cupilot suite rows.cu -- nvcc --use_fast_math\n\n"
    "docs/Mutation.md describes the comments. Exit status 1: a verdict is not\n"
    "the expected one.\n";

namespace {
/// How the entry of one original went.
struct EntryResult {
  std::string Text;
  unsigned Passed = 0, Rejected = 0, Wrong = 0;
};
} // namespace

namespace {
/// A file, and what nvcc makes of it if nvcc builds.
struct LoadedFile {
  SuiteUnit U;
  std::optional<NvccUse> Use;
  std::optional<NvccPtx> Ptx;
  /// What runs of the kernel \p Symbol, which clang's \p Source alone has.
  Expected<GateCode> codeOf(const std::string &Source,
                            const std::string &Symbol) const {
    if (!Use)
      return GateCode(Source);
    Expected<NvccCode> Code = nvccCodeOf(*Ptx, *Use, Source, Symbol);
    if (!Code)
      return Code.takeError();
    return GateCode(Source, std::move(Code->Bitcode));
  }
};

/// An original and what its entry says, ready to judge.
class EntryJudge {
public:
  EntryJudge(const Options &O, const LoadedFile &File, const SuiteEntry &E,
             StringRef Arch)
      : O(O), File(File), U(File.U), E(E), Arch(Arch) {}
  Expected<EntryResult> run();

private:
  Error prepare();
  Expected<std::vector<Workload>> launches(ArrayRef<std::string> Texts,
                                           StringRef Prefix) const;
  Expected<SideVariant> load(const SuiteVariant &V) const;
  Expected<std::optional<std::string>> faultOf(const SuiteVariant &V,
                                               const SideVariant &Code,
                                               const GateVerdict &Got);
  Expected<GateVerdict> verdictOnOriginal(StringRef Guard);
  Expected<std::optional<std::string>> faultOfHonest(const SuiteVariant &V,
                                                     const SideVariant &Code,
                                                     const GateVerdict &Got);
  Error judge(const SuiteVariant &V, EntryResult &R);

  GateDepth depth() const {
    return O.Deep ? GateDepth::Keep : GateDepth::Search;
  }
  Expected<GateVerdict> verdictOf(const SideVariant &V, GateDepth Depth) {
    return TheGate->judge(V.Code, V.Plan, V.When, Depth);
  }

  const Options &O;
  const LoadedFile &File;
  const SuiteUnit &U;
  const SuiteEntry &E;
  StringRef Arch;
  Kernel Original;
  GateCode OriginalCode; ///< Of this kernel alone.
  std::vector<Workload> Recorded, Inside;
  std::unique_ptr<Gate> TheGate;
  std::optional<GateVerdict> Own; ///< On the original, once known.
};
} // namespace

Expected<std::vector<Workload>>
EntryJudge::launches(ArrayRef<std::string> Texts, StringRef Prefix) const {
  std::vector<Workload> Found;
  Found.reserve(Texts.size());
  for (const std::string &Text : Texts) {
    Expected<Workload> W =
        parseWorkload(Text, Original, (Prefix + Twine(Found.size())).str());
    if (!W)
      return W.takeError();
    Found.push_back(std::move(*W));
  }
  return Found;
}

Expected<SideVariant> EntryJudge::load(const SuiteVariant &V) const {
  Expected<const Kernel *> Variant = U.kernel(V.Name);
  if (!Variant)
    return Variant.takeError();
  SideVariant Loaded;
  Expected<LaunchPlan> Plan = parsePlan(V.Plan, Original);
  if (!Plan)
    return Plan.takeError();
  Loaded.Plan = std::move(*Plan);
  for (Launch &L : Loaded.Plan.Launches)
    L.Symbol = (*Variant)->Symbol;
  Expected<Guard> When = parseGuard(V.Guard, Original, Arch);
  if (!When)
    return When.takeError();
  Loaded.When = std::move(*When);
  Expected<std::string> Alone = onlyKernel(U.Bitcode, (*Variant)->Symbol);
  if (!Alone)
    return Alone.takeError();
  if (Error Failure =
          File.codeOf(*Alone, (*Variant)->Symbol).moveInto(Loaded.Code))
    return std::move(Failure);
  return Loaded;
}

Error EntryJudge::prepare() {
  Expected<const Kernel *> Found = U.kernel(E.Kernel);
  if (!Found)
    return Found.takeError();
  Original = **Found;
  Original.Contract = E.Contract;
  Expected<std::vector<Workload>> Known = launches(E.Workloads, "w");
  if (!Known)
    return Known.takeError();
  Recorded = std::move(*Known);
  Expected<std::vector<Workload>> More = launches(E.Inside, "inside");
  if (!More)
    return More.takeError();
  Inside = std::move(*More);
  Expected<std::string> Alone = onlyKernel(U.Bitcode, Original.Symbol);
  if (!Alone)
    return Alone.takeError();
  if (Error Failure =
          File.codeOf(*Alone, Original.Symbol).moveInto(OriginalCode))
    return Failure;
  GateSetup Setup;
  Setup.Original = &Original;
  Setup.Code = OriginalCode;
  Setup.MayApproximate = File.Use && File.Use->approximates();
  Setup.Workloads = Recorded;
  Setup.DataFolder = ".";
  Setup.Arch = Arch.str();
  Setup.Seed = O.Seed;
  Expected<std::unique_ptr<Gate>> Made = Gate::create(std::move(Setup));
  if (!Made)
    return Made.takeError();
  TheGate = std::move(*Made);
  return Error::success();
}

/// Why a pass is not what the file expects; nothing where it is.
Expected<std::optional<std::string>>
EntryJudge::faultOf(const SuiteVariant &V, const SideVariant &Code,
                    const GateVerdict &Got) {
  switch (V.Verdict) {
  case SuiteVariant::Due::Rejected:
    return "expected " + join(V.Reasons, " or ");
  case SuiteVariant::Due::Bounded: {
    Expected<std::vector<Workload>> Outside = launches(V.Outside, "outside");
    if (!Outside)
      return Outside.takeError();
    DomainQuestion Q;
    Q.K = &Original;
    Q.Original = OriginalCode;
    Q.Recorded = Recorded;
    Q.Inputs = O.Launches;
    Q.Seed = O.Seed;
    Q.Arch = Arch.str();
    return faultOfBounded(Q, Code, Got.Where, *Outside);
  }
  case SuiteVariant::Due::Pass:
    break;
  }
  return faultOfHonest(V, Code, Got);
}

/// An extent that its domain lacks must be one that the file names. How far the
/// gate gets with a right but slow variant is no fault.
static std::optional<std::string> faultOfLosses(const SuiteVariant &V,
                                                ArrayRef<DomainLoss> Losses) {
  std::vector<std::string> Faults;
  for (const DomainLoss &L : Losses)
    if (!L.NotRun && !is_contained(V.Narrower, L.Extent))
      Faults.push_back(L.Text + " (" +
                       (L.Named.empty() ? "no case is named for it" : L.Named) +
                       ")");
  if (!Faults.empty())
    return "its domain is narrower than the original's own: " +
           join(Faults, "; ");
  for (const std::string &Extent : V.Narrower)
    if (none_of(Losses,
                [&](const DomainLoss &L) { return L.Extent == Extent; }))
      Faults.push_back(Extent);
  if (!Faults.empty())
    return "its domain is as wide as the original's own in " +
           join(Faults, ", ") + ", which the file calls narrower";
  return std::nullopt;
}

/// The original as its own variant, under a guard in words.
Expected<GateVerdict> EntryJudge::verdictOnOriginal(StringRef Guard) {
  SuiteVariant Itself;
  Itself.Name = E.Kernel;
  Itself.Guard = Guard.str();
  Expected<SideVariant> Same = load(Itself);
  if (!Same)
    return Same.takeError();
  return verdictOf(*Same, depth());
}

Expected<std::optional<std::string>>
EntryJudge::faultOfHonest(const SuiteVariant &V, const SideVariant &Code,
                          const GateVerdict &Got) {
  if (!Got.Where)
    return std::nullopt;
  if (!Own) {
    Expected<GateVerdict> Verdict = verdictOnOriginal("");
    if (!Verdict)
      return Verdict.takeError();
    if (!Verdict->Passed)
      return "the original is rejected as its own variant: " +
             Verdict->Findings.front().Evidence;
    Own = std::move(*Verdict);
  }
  std::vector<Workload> All = Recorded;
  All.insert(All.end(), Inside.begin(), Inside.end());
  Expected<std::optional<std::string>> Fault =
      cupilot::faultOfHonest(Original, Code.When, Got.Where, Own->Where, All);
  if (!Fault || *Fault)
    return Fault;
  Expected<std::vector<DomainLoss>> Losses =
      lossesOf(Original, Got, Code.Plan, Code.When, *Own);
  if (!Losses)
    return Losses.takeError();
  // Where nothing is named, the guard may be what ends it: the original is
  // judged under the same.
  if (!V.Guard.empty() &&
      any_of(*Losses, [](const DomainLoss &L) { return L.Named.empty(); })) {
    Expected<GateVerdict> Guarded = verdictOnOriginal(V.Guard);
    if (!Guarded)
      return Guarded.takeError();
    if (Guarded->Passed)
      Losses = lossesOf(Original, Got, Code.Plan, Code.When, *Guarded);
    if (!Losses)
      return Losses.takeError();
  }
  return faultOfLosses(V, *Losses);
}

Error EntryJudge::judge(const SuiteVariant &V, EntryResult &R) {
  Expected<SideVariant> Code = load(V);
  if (!Code)
    return Code.takeError();
  Expected<GateVerdict> Got = verdictOf(*Code, depth());
  if (!Got)
    return Got.takeError();
  std::optional<std::string> Fault;
  if (Got->Passed) {
    Expected<std::optional<std::string>> F = faultOf(V, *Code, *Got);
    if (!F)
      return F.takeError();
    Fault = std::move(*F);
  } else if (V.Verdict == SuiteVariant::Due::Pass) {
    Fault = "expected a pass";
  } else if (V.Verdict == SuiteVariant::Due::Rejected &&
             !is_contained(V.Reasons, wordOf(Got->Findings.front().Reason))) {
    Fault = "expected " + join(V.Reasons, " or ");
  }
  R.Wrong += Fault.has_value();
  (Got->Passed ? R.Passed : R.Rejected) += 1;
  if (!Fault && O.Quiet)
    return Error::success();
  raw_string_ostream OS(R.Text);
  OS << (Fault ? "WRONG " : "") << sys::path::filename(U.Path) << ":" << V.Line
     << ": " << E.Kernel << " / " << V.Name << ": ";
  if (Got->Passed) {
    OS << "passed (" << Got->Checks << " checks)";
  } else {
    const GateFinding &F = Got->Findings.front();
    OS << "rejected: " << wordOf(F.Reason)
       << (F.Workload.empty() ? "" : " (" + F.Workload + ")") << ": "
       << F.Evidence;
  }
  if (Fault)
    OS << "; " << *Fault;
  OS << "\n";
  return Error::success();
}

Expected<EntryResult> EntryJudge::run() {
  if (Error Failure = prepare())
    return std::move(Failure);
  EntryResult R;
  for (const SuiteVariant &V : E.Variants)
    if (O.OnlyVariant.empty() || V.Name == O.OnlyVariant)
      if (Error Failure = judge(V, R))
        return std::move(Failure);
  return R;
}

static Expected<LoadedFile> loadFile(StringRef Path, StringRef Arch,
                                     const UnitCommand &Command) {
  Expected<SuiteUnit> U = SuiteUnit::load(Path, Arch, Command.Flags);
  if (!U)
    return U.takeError();
  LoadedFile File{std::move(*U), Command.Nvcc, std::nullopt};
  if (!Command.Nvcc)
    return File;
  if (Error E = compileNvccPtx(Command.Nvcc->Nvcc, Path, Arch,
                               withLineInfo(Command.Nvcc->UnitFlags))
                    .moveInto(File.Ptx))
    return findingError("'" + Path + "' by nvcc: " + toString(std::move(E)));
  return File;
}

static Error oneFile(const Options &O, StringRef Path,
                     const UnitCommand &Command, EntryResult &Sum) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<std::vector<SuiteEntry>> Entries = parseSuite(*Text, Path);
  if (!Entries)
    return Entries.takeError();
  std::string Arch = gpuArchitectures(Command.Flags).front();
  Expected<LoadedFile> File = loadFile(Path, Arch, Command);
  if (!File)
    return File.takeError();
  std::vector<unsigned> Tasks;
  for (unsigned I = 0; I < Entries->size(); ++I)
    if (O.Only.empty() || (*Entries)[I].Kernel == O.Only)
      Tasks.push_back(I);
  Error Failure = Error::success();
  // An answer is three numbers and the text, or "error: ".
  auto Job = [&](unsigned I) -> std::string {
    Expected<EntryResult> R = EntryJudge(O, *File, (*Entries)[I], Arch).run();
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
  Expected<UnitCommand> Command = unitCommandFor("", Flags.Args, "");
  if (!Command)
    return Command.takeError();
  Error Failure = Error::success();
  for (const std::string &Path : O.Inputs)
    Failure = joinErrors(std::move(Failure), oneFile(O, Path, *Command, Sum));
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

} // namespace suite_command
