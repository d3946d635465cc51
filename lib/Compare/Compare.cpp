//===- Compare.cpp - A program with originals and with variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compare/Compare.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Driver/CpuProgram.h"
#include "cupilot/Driver/RecordedWorkloads.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace cupilot {

namespace {
/// What one run left.
struct RunOutcome {
  std::vector<std::optional<std::string>> Outputs; ///< Standard output first.
  ModeEnding Ending;
};

class Comparer {
public:
  using ProgressFunction =
      function_ref<void(unsigned, unsigned, const Twine &)>;
  Comparer(const CompareRequest &Request, StringRef Folder,
           ProgressFunction Progress)
      : Request(Request), Folder(Folder), Progress(Progress) {}

  Expected<CompareResult> run();

private:
  std::string file(const Twine &Name) const {
    return (Folder + "/" + Name).str();
  }
  Error removeOutputs() const;
  Error interrupted(const Twine &What) const;
  Expected<RunOutcome> runOnce(LaunchMode Mode, const Twine &What,
                               const std::vector<std::string> &Extra = {});
  /// Runs it, and holds how it ended and what it left against earlier runs.
  Error runAndCompare(LaunchMode Mode, const Twine &What,
                      const std::vector<std::string> &Extra = {});
  void add(LaunchMode Mode, RunOutcome Outcome);
  std::vector<std::string> recordInto(const std::string &Name) const;
  Error readCounts(const std::string &Path, const capture::Ending &End);
  void readKernels();
  bool readKernelsOf(LaunchMode Mode, const std::string &Name);
  Error compareResults();
  Error measure();

  const CompareRequest &Request;
  const std::string Folder;
  ProgressFunction Progress;
  CompareResult R;
  std::optional<capture::Ending> First; ///< How the first run ended.
  std::string RecordErrors;             ///< The last lines of a recorded run.
  unsigned Done = 0;
};
} // namespace

static const char *wordOf(LaunchMode Mode) {
  return Mode == LaunchMode::Originals ? "originals" : "variants";
}

/// A file that an earlier run left must not pass for one of the next.
Error Comparer::removeOutputs() const {
  for (const std::string &Output : Request.Outputs) {
    if (sys::fs::is_directory(Output))
      return usageError("--output names the folder '" + Output + "'",
                        "name each file that is to be compared");
    if (std::error_code EC = sys::fs::remove(Output))
      return resourceError("cannot remove '" + Output +
                           "' before a run: " + EC.message());
  }
  return Error::success();
}

Error Comparer::interrupted(const Twine &What) const {
  return resourceError("interrupted in run " + Twine(Done) + " (" + What +
                           "); nothing is reported",
                       "--runs=N makes fewer runs");
}

/// The last lines of a program's messages.
static std::string lastLines(StringRef Text) {
  constexpr unsigned Most = 5;
  Text = Text.rtrim();
  size_t Begin = Text.size();
  for (unsigned I = 0; I < Most && Begin != StringRef::npos && Begin > 0; ++I)
    Begin = Text.take_front(Begin).rfind('\n');
  return Text.drop_front(Begin == StringRef::npos ? 0 : Begin)
      .ltrim('\n')
      .str();
}

Expected<RunOutcome> Comparer::runOnce(LaunchMode Mode, const Twine &What,
                                       const std::vector<std::string> &Extra) {
  Progress(Done, 3 + 2 * (Request.Warmup + Request.Pairs), What);
  if (capture::SignalRelay::interrupted()) // Between two runs.
    return interrupted(What);
  if (Error E = removeOutputs())
    return E;
  std::vector<std::string> Settings = {Mode == LaunchMode::Originals
                                           ? "CUPILOT_RUNTIME=off"
                                           : "CUPILOT_RUNTIME="};
  // What is named later replaces what is named before.
  for (const std::string &Each : Extra) {
    StringRef Name = StringRef(Each).split('=').first;
    erase_if(Settings,
             [&](StringRef Old) { return Old.split('=').first == Name; });
    Settings.push_back(Each);
  }
  append_range(Settings, capture::cudaSettings(Request.CudaFolder));
  RunOutcome Outcome;
  capture::Ending &End = Outcome.Ending.End;
  if (auto F = capture::runProgram(
          Request.Program, Settings,
          {Request.Input, file("stdout"), file("stderr")}, End))
    return asError(*F);
  ++Done;
  if (capture::SignalRelay::interrupted())
    return interrupted(What);
  if (Request.OnCpu && End.Status == 127)
    if (Error E = checkLibrariesOf(Request.Program.front(),
                                   "compare it on a machine with a GPU"))
      return E;
  for (const std::string &Name : {file("stdout"), file("stderr")}) {
    Expected<std::string> Text = readFile(Name);
    if (!Text)
      return Text.takeError();
    if (Outcome.Outputs.empty())
      Outcome.Outputs.push_back(std::move(*Text));
    else
      Outcome.Ending.Errors = lastLines(*Text);
  }
  for (const std::string &Name : Request.Outputs) {
    Outcome.Outputs.emplace_back();
    if (!sys::fs::exists(Name))
      continue;
    Expected<std::string> Text = readFile(Name);
    if (!Text)
      return Text.takeError();
    Outcome.Outputs.back() = std::move(*Text);
  }
  return Outcome;
}

void Comparer::add(LaunchMode Mode, RunOutcome Outcome) {
  const capture::Ending &End = Outcome.Ending.End;
  if (!First)
    First = End;
  const bool Other = !End.endsLike(*First);
  R.Stopped |= Other || End.Signal;
  R.OriginalsVary |= Other && Mode == LaunchMode::Originals;
  ModeEnding &Ending = Mode == LaunchMode::Originals ? R.Originals : R.Variants;
  // The run that shows the difference is the one to tell of.
  if (!Ending.Ran ||
      (!Ending.End.Signal && Ending.End.Status == First->Status)) {
    Ending = std::move(Outcome.Ending);
    Ending.Ran = true;
  }
  for (auto [Output, Text] : zip(R.Outputs, Outcome.Outputs)) {
    if (Mode == LaunchMode::Originals)
      Output.addOriginals(std::move(Text));
    else
      Output.addVariants(Text);
  }
}

Error Comparer::runAndCompare(LaunchMode Mode, const Twine &What,
                              const std::vector<std::string> &Extra) {
  Expected<RunOutcome> Outcome = runOnce(Mode, What, Extra);
  if (!Outcome)
    return Outcome.takeError();
  add(Mode, std::move(*Outcome));
  return Error::success();
}

/// The settings with which a run records its kernels; none where it cannot.
std::vector<std::string> Comparer::recordInto(const std::string &Name) const {
  if (!Request.OnCpu && Request.Recorder.empty())
    return {};
  capture::Options Options;
  Options.Timing = true;
  Options.ProgressMs = 0;
  Options.Cupti = Request.Cupti;
  if (capture::prepareFolder(file(Name)))
    return {};
  return capture::recordingSettings(
      file(Name), Request.OnCpu ? "" : Request.Recorder, Options);
}

Error Comparer::readCounts(const std::string &Path,
                           const capture::Ending &End) {
  std::string Text;
  if (sys::fs::exists(Path)) {
    Expected<std::string> Read = readFile(Path);
    if (!Read)
      return Read.takeError();
    Text = std::move(*Read);
  }
  bool Any = false;
  if (Error E =
          readLaunchCounts(Text, R.LaunchesComplete, Any).moveInto(R.Launches))
    return E;
  if (Any)
    return Error::success();
  std::string How =
      "'" + Request.Program.front() + "' launched no kernel that has variants";
  if (End.Status)
    How += ", and " + textOf(End);
  return usageError(
      How, "build it with -fplugin=cupilot or cupilot-launch and a store that "
           "has variants; cupilot explain says why a kernel has none");
}

bool Comparer::readKernelsOf(LaunchMode Mode, const std::string &Name) {
  capture::Record Record;
  if (auto F = capture::gatherRecord(file(Name), Record)) {
    R.Notes.push_back(std::string("no kernel times: ") + F->what());
    return false;
  }
  for (const std::string &Text : Record.Failures)
    R.Notes.push_back("no kernel times: " + Text);
  if (Record.Launches.empty() || !Record.Failures.empty()) {
    if (Record.Failures.empty())
      R.Notes.push_back("no kernel times: nothing was recorded" +
                        (RecordErrors.empty()
                             ? std::string()
                             : "; standard error ends with\n" + RecordErrors));
    return false;
  }
  R.KernelsMeasured = Record.Measured;
  for (const capture::KernelRow &Row : capture::makeRows(Record)) {
    // A variant's kernels count for its original.
    auto Of = find_if(R.Launches, [&](const LaunchCount &C) {
      return is_contained(C.VariantSymbols, Row.Kernel);
    });
    std::string Symbol = Of == R.Launches.end() ? Row.Kernel : Of->Symbol;
    auto Known = find_if(R.Kernels, [&](const KernelTimes &Each) {
      return Each.Symbol == Symbol;
    });
    if (Known == R.Kernels.end()) {
      R.Kernels.emplace_back().Symbol = Symbol;
      Known = std::prev(R.Kernels.end());
    }
    Known->HasVariants |= Of != R.Launches.end();
    const bool IsOriginals = Mode == LaunchMode::Originals;
    (IsOriginals ? Known->OriginalCalls : Known->VariantCalls) += Row.Calls;
    (IsOriginals ? Known->Originals : Known->Variants) += Row.Time;
  }
  return true;
}

void Comparer::readKernels() {
  if (!Request.OnCpu && Request.Recorder.empty()) {
    R.Notes.push_back("no kernel times: this cuPilot was built without "
                      "cupilot-capture");
    return;
  }
  if (!readKernelsOf(LaunchMode::Originals, "originals") ||
      !readKernelsOf(LaunchMode::Variants, "variants"))
    R.Kernels.clear();
  llvm::sort(R.Kernels, [](const KernelTimes &A, const KernelTimes &B) {
    return std::pair(-A.Originals, A.Symbol) <
           std::pair(-B.Originals, B.Symbol);
  });
}

/// Runs it once with variants and twice with originals.
Error Comparer::compareResults() {
  // With variants first: a program without any is found at once.
  std::vector<std::string> Extra = recordInto("variants");
  Extra.push_back("CUPILOT_RUNTIME=stats");
  Extra.push_back("CUPILOT_STATS_FILE=" + file("stats.jsonl"));
  Expected<RunOutcome> Variants =
      runOnce(LaunchMode::Variants, "counting launches of variants", Extra);
  if (!Variants)
    return Variants.takeError();
  if (Error E = readCounts(file("stats.jsonl"), Variants->Ending.End))
    return E;
  if (Error E = runAndCompare(LaunchMode::Originals, "originals, recorded",
                              recordInto("originals")))
    return E;
  RecordErrors = R.Originals.Errors;
  // Nothing is gained by a second time where it comes to no end of its own.
  if (!R.Stopped)
    if (Error E = runAndCompare(LaunchMode::Originals,
                                "originals once more, for what varies"))
      return E;
  add(LaunchMode::Variants, std::move(*Variants));
  if (R.Stopped)
    return Error::success();
  for (const OutputComparison &Output : R.Outputs)
    if (Output.isMissing() && Output.differing() == 0)
      return usageError("'" + Request.Program.front() + "' leaves no file '" +
                            Output.name() + "'",
                        "name in --output what the program writes, as seen "
                        "from this folder");
  readKernels();
  // Perhaps the originals just happened to agree twice.
  if (!R.isSame())
    return runAndCompare(LaunchMode::Originals,
                         "originals a third time: results differ");
  return Error::success();
}

/// Pairs of runs, of which each begins with the other mode.
Error Comparer::measure() {
  for (unsigned I = 0; I < Request.Warmup + Request.Pairs; ++I) {
    const bool Counts = I >= Request.Warmup;
    for (unsigned Half = 0; Half < 2; ++Half) {
      LaunchMode Mode =
          (I + Half) % 2 == 0 ? LaunchMode::Originals : LaunchMode::Variants;
      Expected<RunOutcome> Outcome =
          runOnce(Mode, Twine(Counts ? "pair " : "warm-up ") +
                            Twine(Counts ? I - Request.Warmup + 1 : I + 1) +
                            ", " + wordOf(Mode));
      if (!Outcome)
        return Outcome.takeError();
      double Seconds = Outcome->Ending.End.Seconds;
      add(Mode, std::move(*Outcome));
      if (R.Stopped)
        return Error::success();
      if (Counts)
        (Mode == LaunchMode::Originals ? R.OriginalSeconds : R.VariantSeconds)
            .push_back(Seconds);
    }
  }
  std::vector<double> Logs;
  for (auto [Original, Variant] : zip(R.OriginalSeconds, R.VariantSeconds))
    Logs.push_back(std::log(Original / Variant));
  if (!Logs.empty())
    R.LogRatio = runner::medianInterval(Logs, 0.05);
  return Error::success();
}

Expected<CompareResult> Comparer::run() {
  R.Outputs.emplace_back("standard output", Request.Rules);
  for (const std::string &Name : Request.Outputs)
    R.Outputs.emplace_back(Name, Request.Rules);
  if (Error E = compareResults())
    return E;
  // Times of other results say nothing.
  if (R.isSame())
    if (Error E = measure())
      return E;
  if (R.Stopped) {
    R.OriginalSeconds.clear();
    R.VariantSeconds.clear();
  }
  return std::move(R);
}

bool CompareResult::isSame() const {
  return !Stopped && all_of(Outputs, [](const OutputComparison &Each) {
    return Each.differing() == 0;
  });
}

std::string textOf(const capture::Ending &End) {
  if (!End.Signal)
    return "ends with status " + std::to_string(End.Status);
  return "is ended by signal " + std::to_string(End.Signal) + " (" +
         strsignal(End.Signal) + ")";
}

Expected<CompareResult>
compareProgram(const CompareRequest &Request,
               function_ref<void(unsigned, unsigned, const Twine &)> Progress) {
  // Also between runs: what is made for them is removed.
  capture::SignalRelay Relay;
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-compare");
  if (!Dir)
    return Dir.takeError();
  return Comparer(Request, Dir->path(), Progress).run();
}

} // namespace cupilot
