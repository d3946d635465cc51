//===- CompareCommand.cpp - cupilot compare ---------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Compare/Compare.h"
#include "cupilot/Driver/CpuProgram.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace cupilot;

namespace compare_command {

namespace {
/// Pairs by default: with a GPU, and without one, where wall times say nothing.
constexpr unsigned GpuPairs = 10, CpuPairs = 2;

struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<unsigned> Runs{
      "runs", In, cl::value_desc("N"),
      cl::desc("Timed runs with originals, and as many with variants, in turns "
               "(default 10; without a GPU 2). 0: compare results only")};
  cl::opt<unsigned> Warmup{
      "warmup", In, cl::value_desc("N"), cl::init(0),
      cl::desc("Pairs of runs before them that do not count (default 0; the "
               "runs that compare results come first in any case)")};
  cl::list<std::string> Outputs{
      "output", In, cl::value_desc("FILE"),
      cl::desc("Also compare FILE, which the program writes; it is REMOVED "
               "before each run. May be repeated")};
  cl::opt<std::string> Input{
      "input", In, cl::value_desc("FILE"), cl::init("/dev/null"),
      cl::desc("Standard input of each run (default /dev/null)")};
  cl::opt<double> Tolerance{
      "tolerance", In, cl::value_desc("X"),
      cl::desc("Compare number by number: two differ by at most X times the "
               "larger magnitude, as 1e-5 (default: byte by byte)")};
  cl::list<std::string> Ignore{
      "ignore", In, cl::value_desc("REGEX"),
      cl::desc("Leave out lines in which REGEX (POSIX, extended) matches. May "
               "be repeated")};
  cl::opt<bool> Json{
      "json", In, cl::desc("Print JSON; docs/Compare.md describes the format")};
  cl::opt<std::string> Cupti{
      "cupti", In, cl::value_desc("FILE"),
      cl::desc("Path of libcupti.so, if it is not found")};
};

/// A line on standard error: at a terminal in place of the last one, elsewhere
/// where half a minute has passed since.
class ProgressLine {
public:
  void operator()(unsigned Run, unsigned Of, const Twine &What) {
    auto Now = std::chrono::steady_clock::now();
    const bool Terminal = sys::Process::StandardErrIsDisplayed();
    double Spent = std::chrono::duration<double>(Now - Begin).count();
    if (!Terminal && Now - Last < std::chrono::seconds(30))
      return;
    Last = Now;
    errs() << (Terminal ? "\r\033[K" : "")
           << formatv("cupilot compare: run {0} of {1} ({2})", Run + 1,
                      std::max(Of, Run + 1), What.str());
    if (Run && Of > Run && Spent > 5)
      errs() << formatv(", about {0:F0} s left", Spent / Run * (Of - Run));
    if (!Terminal)
      errs() << "\n";
    Shown = Terminal;
  }
  ~ProgressLine() {
    if (Shown)
      errs() << "\r\033[K";
  }

private:
  const std::chrono::steady_clock::time_point Begin =
      std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point Last = Begin;
  bool Shown = false;
};
} // namespace

static const char Examples[] =
    "  cupilot compare -- ./heat 512 20\n"
    "  cupilot compare --runs=30 --ignore='^time:' -- ./heat 512 20\n"
    "  cupilot compare --output=field.txt --tolerance=1e-5 -- ./heat 512 20\n\n"
    "The program is one that was built with variants (-fplugin=cupilot, "
    "cupilot-launch).\n"
    "CUPILOT_RUNTIME=off makes it launch its originals. Exit status 1: results "
    "or how runs\n"
    "end differ. Without a GPU it runs on the cpu device, if cupilot-cpucc or "
    "nvcc "
    "-cudart\n"
    "shared built it. docs/Compare.md says what is compared, and how.\n";

static Expected<LineRules> rulesOf(const Options &O) {
  LineRules Rules;
  for (const std::string &Text : O.Ignore) {
    Regex Each(Text);
    std::string Why;
    if (!Each.isValid(Why))
      return usageError("--ignore '" + Text +
                            "' is no regular expression: " + Why,
                        "write '\\' before characters that stand for "
                        "themselves");
    Rules.Ignore.push_back(std::move(Each));
  }
  if (O.Tolerance.getNumOccurrences()) {
    if (!(O.Tolerance > 0 && O.Tolerance < 1))
      return usageError("--tolerance must be above 0 and below 1",
                        "--tolerance=1e-5; without it, lines are compared "
                        "byte by byte");
    Rules.Tolerance = O.Tolerance;
  }
  return Rules;
}

static Error endingError(const Twine &Program, const CompareResult &R) {
  const capture::Ending &Originals = R.Originals.End,
                        &Variants = R.Variants.End;
  if (Originals.endsLike(Variants))
    return findingError("'" + Program + "' " + textOf(Originals) +
                            ", with originals and with variants",
                        "compare a run that comes to its end");
  return findingError(
      "'" + Program + "' " + textOf(Originals) + " with originals, and " +
          textOf(Variants) + " with variants",
      R.OriginalsVary ? "two runs with originals ended in different ways, "
                        "too"
                      : "cupilot bisect finds the variant");
}

static Error run(const Options &O, const TrailingArgs &Program) {
  if (Program.Args.empty())
    return usageError("no program was given",
                      "cupilot compare [OPTIONS] -- ./program ARGS");
  if (O.Runs > 100000 || O.Warmup > 100000)
    return usageError("--runs and --warmup must not be above 100000");
  if (!sys::fs::exists(O.Input))
    return usageError("there is no file '" + O.Input + "' for --input");
  for (const std::string &Output : O.Outputs)
    for (StringRef Kept : {StringRef(Program.Args.front()), StringRef(O.Input)})
      if (sys::fs::equivalent(Output, Kept))
        return usageError("--output names '" + Kept + "', which runs need",
                          "--output is for files that the program writes; they "
                          "are removed before each run");
  CompareRequest Request;
  if (Error E = rulesOf(O).moveInto(Request.Rules))
    return E;
  Request.Program = Program.Args;
  Request.Input = O.Input;
  Request.Outputs.assign(O.Outputs.begin(), O.Outputs.end());
  Request.OnCpu = !hasGpu();
  Request.Pairs = O.Runs.getNumOccurrences() ? O.Runs.getValue()
                  : Request.OnCpu            ? CpuPairs
                                             : GpuPairs;
  Request.Warmup = O.Warmup;
  Request.Cupti = O.Cupti;
  if (Error E =
          cudaFolderFor(Program.Args.front()).moveInto(Request.CudaFolder))
    return E;
  std::string Recorder = installedPath("lib/libcupilot-capture.so");
  if (sys::fs::exists(Recorder))
    Request.Recorder = Recorder;
  Expected<CompareResult> R = [&] {
    ProgressLine Progress;
    return compareProgram(Request, Progress);
  }();
  if (!R)
    return R.takeError();
  if (O.Json)
    outs() << formatv("{0:2}\n", toJSON(Request, *R));
  else
    outs() << printResult(Request, *R);
  outs().flush();
  if (R->Stopped)
    return endingError(Program.Args.front(), *R);
  if (!R->isSame())
    return findingError("results differ between originals and variants",
                        "--tolerance compares numbers, --ignore leaves lines "
                        "out; cupilot bisect finds the variant");
  if (R->LaunchesComplete && R->launchesOf(LaunchCountKind::Variant) == 0)
    errs() << "cupilot compare: warning: no launch took a variant; the same "
              "code ran in both modes\n";
  if (all_of(R->Outputs,
             [](const OutputComparison &Each) { return Each.compared() == 0; }))
    errs() << "cupilot compare: warning: no output was compared; name the "
              "files that the program writes with --output\n";
  return Error::success();
}

static const Command
    Registered("compare", "Run a rebuilt program with originals and variants",
               "PROGRAM ARGS", Examples, run);

} // namespace compare_command
