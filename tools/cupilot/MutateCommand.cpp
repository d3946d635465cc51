//===- MutateCommand.cpp - cupilot mutate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Driver/MlirUnit.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Mutation/ScoreReport.h"
#include "cupilot/Mutation/SuiteUnit.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace mutate_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::list<std::string> Inputs{
      cl::Positional, cl::OneOrMore, In, cl::value_desc("F.cu|M.mlir|F.ptx"),
      cl::desc("Sources with 'kernel:' comments, or with --kernel")};
  cl::opt<std::string> Only{"kernel", In, cl::value_desc("NAME"),
                            cl::desc("Only mutants of this kernel")};
  cl::list<std::string> Texts{
      "workload", In, cl::value_desc("TEXT"),
      cl::desc("Description of a launch of --kernel, for a source without "
               "comments; may be repeated")};
  cl::opt<std::string> Pipeline{
      "pipeline", In, cl::value_desc("P"),
      cl::desc("Of MLIR: the passes that lower it, as for judge")};
  cl::opt<uint64_t> Seed{"seed", In, cl::init(1), cl::value_desc("N"),
                         cl::desc("Seed of the choice of mutants (default 1)")};
  cl::opt<unsigned> Limit{
      "limit", In, cl::init(0), cl::value_desc("N"),
      cl::desc("Number of mutants to judge for each kernel (default: all)")};
  cl::opt<bool> Text{
      "text", In,
      cl::desc("Make mutants of the source's text, not of clang's bitcode; "
               "with a command of nvcc, they always are")};
  cl::opt<bool> List{"list", In, cl::desc("Only list the possible mutants")};
  cl::opt<int> Emit{"emit", In, cl::init(-1), cl::value_desc("N"),
                    cl::desc("Only write the mutant with this number")};
  cl::opt<std::string> Output{
      "o", In, cl::init("-"), cl::value_desc("FILE"),
      cl::desc("Output file of --emit: LLVM IR, or a source of --text "
               "(default: standard output)")};
  cl::opt<unsigned> Workers{"workers", In, cl::init(2), cl::value_desc("N"),
                            cl::desc("Number of processes (default 2)")};
  cl::opt<std::string> Part{
      "part", In, cl::value_desc("I/N"),
      cl::desc("Judge only part I (from 0) of N, for N processes that share "
               "--results; another run with --resume prints the score")};
  cl::opt<unsigned> Independent{
      "independent", In, cl::init(0), cl::value_desc("N"),
      cl::desc("Also run survivors on N inputs of an independent generator")};
  cl::opt<std::string> Equivalents{
      "equivalent", In, cl::value_desc("F.md"),
      cl::desc("List of survivors that are equivalent to the original")};
  cl::opt<std::string> Results{
      "results", In, cl::value_desc("R.jsonl"),
      cl::desc("Write each verdict to this file at once")};
  cl::opt<bool> Resume{"resume", In,
                       cl::desc("Continue with the verdicts in --results")};
  cl::opt<bool> Json{"json", In, cl::desc("Print the result as JSON")};
  cl::opt<double> Minimum{
      "minimum", In, cl::init(0), cl::value_desc("PERCENT"),
      cl::desc("Exit with status 1 if the score is lower (default 0)")};
};
} // namespace

static const char Examples[] =
    "  cupilot mutate rows.cu --limit=40 --seed=7 -- -O2\n"
    "  cupilot mutate rows.cu --kernel rows --list -- -O2\n"
    "  cupilot mutate rows.cu --kernel rows --emit=12 -o mutant.ll -- -O2\n"
    "  cupilot mutate rows.cu --limit=40 -- nvcc -arch=sm_90a "
    "--use_fast_math\n"
    "  cupilot mutate *.cu --independent=1000 --results=r.jsonl --resume\n\n"
    "docs/Mutation.md describes the faults and the comments.\n";

static Expected<std::vector<SuiteEntry>> entriesOf(const Options &O,
                                                   StringRef Path) {
  std::vector<SuiteEntry> Chosen;
  if (!O.Texts.empty()) {
    if (O.Only.empty())
      return usageError("--workload needs --kernel");
    SuiteEntry E;
    E.Kernel = O.Only;
    E.Workloads.assign(O.Texts.begin(), O.Texts.end());
    return std::vector<SuiteEntry>{E};
  }
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<std::vector<SuiteEntry>> All = parseSuite(*Text, Path);
  // What needs no launch needs no comments.
  bool OneByName = !O.Only.empty() && (O.List || O.Emit >= 0);
  if (OneByName && (!All || none_of(*All, [&](const SuiteEntry &E) {
        return E.Kernel == O.Only;
      }))) {
    consumeError(All.takeError());
    SuiteEntry E;
    E.Kernel = O.Only;
    return std::vector<SuiteEntry>{E};
  }
  if (!All)
    return All.takeError();
  for (SuiteEntry &E : *All)
    if (O.Only.empty() || E.Kernel == O.Only)
      Chosen.push_back(std::move(E));
  return Chosen;
}

static Error printList(const MutationSubject &S) {
  Expected<std::vector<Mutation>> All = S.Mutants->list();
  if (!All)
    return All.takeError();
  for (const Mutation &M : *All)
    if (!M.Unseen)
      outs() << S.Name << " " << M.Index << " " << M.str() << "\n";
  return Error::success();
}

static Error emit(const Options &O, const MutationSubject &S) {
  Expected<std::string> Text = S.Mutants->text(unsigned(O.Emit));
  if (!Text)
    return Text.takeError();
  if (O.Output == "-") {
    outs() << *Text;
    return Error::success();
  }
  return writeFileAtomic(O.Output, *Text);
}

/// Earlier verdicts, by key. A line that was cut off by a kill is passed over.
static Expected<std::map<std::string, MutantRecord>> earlier(const Options &O) {
  std::map<std::string, MutantRecord> Known;
  if (!O.Resume || !sys::fs::exists(O.Results))
    return Known;
  Expected<std::string> Text = readFile(O.Results);
  if (!Text)
    return Text.takeError();
  SmallVector<StringRef> Lines;
  StringRef(*Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    Expected<MutantRecord> R = json::parse<MutantRecord>(Line);
    if (!R) {
      consumeError(R.takeError());
      continue;
    }
    std::string Key = R->key() + " " + utostr(R->M.Index);
    Known[Key] = std::move(*R);
  }
  return Known;
}

namespace {
/// What a run of the command holds.
struct Run {
  std::vector<MutantRecord> Records;
  ScoreOptions Options;
  std::unique_ptr<raw_fd_ostream> Journal;
  unsigned Kernels = 0;
};
} // namespace

static Error scoreOne(const Options &O, const MutationSubject &S, Run &R) {
  bool Terminal = errs().is_displayed();
  unsigned Counted = 0, Survived = 0;
  R.Options.Progress = [&](const MutantRecord &M, bool New) {
    Counted += M.counts();
    Survived += M.Outcome == MutantOutcome::Survived;
    if (New && R.Journal) {
      *R.Journal << formatv("{0}", toJSON(M)) << "\n";
      R.Journal->flush();
    }
    if (Terminal)
      errs() << "\r" << S.Name << ": " << Counted
             << (O.Limit ? " of " + utostr(O.Limit) : "") << " mutants, "
             << Survived << " survive   ";
  };
  Expected<std::vector<MutantRecord>> Records = scoreKernel(S, R.Options);
  if (Terminal)
    errs() << "\r" << std::string(70, ' ') << "\r";
  if (!Records)
    return Records.takeError();
  if (!O.Json) {
    outs() << left_justify(S.Name, 24)
           << formatv(" {0,4} mutants, {1,3} survive\n", Counted, Survived);
    outs().flush();
  }
  for (MutantRecord &One : *Records)
    R.Records.push_back(std::move(One));
  ++R.Kernels;
  return Error::success();
}

/// nvcc does not compile bitcode.
static bool ofText(const Options &O, const UnitCommand &Command) {
  return O.Text || Command.Nvcc;
}

static Expected<std::shared_ptr<MutantMaker>>
makerOf(const Options &O, const SuiteUnit &U, const UnitCommand &Command,
        const MutationSubject &S) {
  if (!ofText(O, Command)) {
    Expected<std::string> Alone = onlyKernel(U.Bitcode, S.K->Symbol);
    if (!Alone)
      return Alone.takeError();
    return bitcodeMutants(std::move(*Alone), S.K->Symbol, S.Workloads, S.Arch);
  }
  Expected<std::string> Text = readFile(U.Path);
  if (!Text)
    return Text.takeError();
  MutatedSource Source{U.Path, std::move(*Text), S.Arch, Command.Flags,
                       Command.Nvcc};
  return textMutants(std::move(Source), S.K->Symbol, S.Workloads);
}

static bool isLowered(StringRef Path) {
  return isPtxFile(Path) || isMlirFile(Path);
}

/// The kernel \p Name of a file of PTX or MLIR, whose code says what it means.
static Expected<SuiteUnit> loweredUnit(const Options &O, StringRef Path,
                                       StringRef Name,
                                       const UnitCommand &Command) {
  if (ofText(O, Command))
    return usageError("'" + Path +
                          "' is no CUDA: its mutants are of code, and "
                          "not of text or of nvcc",
                      "leave out --text and a command of nvcc");
  const std::string Pipeline =
      O.Pipeline.empty() ? usualMlirPipeline("sm_90") : O.Pipeline.getValue();
  Expected<UnitToJudge> U = isPtxFile(Path)
                                ? UnitToJudge::loadPtx(Path, Name.str())
                                : loadMlirUnit(Path, Pipeline, Name);
  if (!U)
    return U.takeError();
  if (!U->NoFloat64.empty())
    return usageError("'" + Name +
                      "' has no float64 run, which is the measure "
                      "of mutants: " +
                      U->NoFloat64);
  return SuiteUnit{U->Path, std::move(U->Bitcode), std::move(U->Kernels)};
}

static Error oneFile(const Options &O, StringRef Path,
                     const UnitCommand &Command, Run &R, bool &Found) {
  Expected<std::vector<SuiteEntry>> Entries = entriesOf(O, Path);
  if (!Entries)
    return Entries.takeError();
  if (Entries->empty())
    return Error::success();
  std::string Arch = gpuArchitectures(Command.Flags).front();
  Expected<SuiteUnit> U = SuiteUnit();
  if (!isLowered(Path))
    U = SuiteUnit::load(Path, Arch, Command.Flags,
                        /*WithCode=*/!ofText(O, Command));
  if (!U)
    return U.takeError();
  for (const SuiteEntry &E : *Entries) {
    if (isLowered(Path))
      if (Error Failure = loweredUnit(O, Path, E.Kernel, Command).moveInto(*U))
        return Failure;
    Expected<const Kernel *> Chosen = U->kernel(E.Kernel);
    if (!Chosen)
      return Chosen.takeError();
    Found = true;
    Kernel K = **Chosen;
    K.Contract = E.Contract;
    MutationSubject S;
    S.K = &K;
    S.Name = E.Kernel;
    S.Arch = Arch;
    S.MayApproximate = Command.Nvcc && Command.Nvcc->approximates();
    for (const std::string &Text : E.Workloads) {
      Expected<Workload> W =
          parseWorkload(Text, K, "w" + utostr(S.Workloads.size()));
      if (!W)
        return W.takeError();
      S.Workloads.push_back(std::move(*W));
    }
    if (Error Failure = makerOf(O, *U, Command, S).moveInto(S.Mutants))
      return Failure;
    if (O.List || O.Emit >= 0) {
      if (Error Failure = O.List ? printList(S) : emit(O, S))
        return Failure;
      continue;
    }
    if (Error Failure = scoreOne(O, S, R))
      return Failure;
  }
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &Flags) {
  if (O.Resume && O.Results.empty())
    return usageError("--resume needs --results");
  if (O.Emit >= 0 && O.Only.empty())
    return usageError("--emit needs --kernel");
  Expected<UnitCommand> Command = unitCommandFor("", Flags.Args, "");
  if (!Command)
    return Command.takeError();
  Run R;
  R.Options.Seed = O.Seed;
  R.Options.Limit = O.Limit;
  R.Options.Workers = O.Workers;
  R.Options.Independent = O.Independent;
  if (!O.Part.empty()) {
    auto [I, N] = StringRef(O.Part).split('/');
    if (I.getAsInteger(10, R.Options.Part) ||
        N.getAsInteger(10, R.Options.Parts) ||
        R.Options.Part >= R.Options.Parts)
      return usageError("--part=" + O.Part + " is not a part of a whole",
                        "write --part=I/N with I from 0 to N - 1");
    if (O.Results.empty())
      return usageError("--part needs --results",
                        "parts meet in the file of results");
  }
  std::map<std::string, std::string> Arguments;
  if (!O.Equivalents.empty()) {
    Expected<std::string> Text = readFile(O.Equivalents);
    if (!Text)
      return Text.takeError();
    auto Parsed = parseEquivalents(*Text, O.Equivalents);
    if (!Parsed)
      return Parsed.takeError();
    Arguments = std::move(*Parsed);
  }
  Expected<std::map<std::string, MutantRecord>> Known = earlier(O);
  if (!Known)
    return Known.takeError();
  R.Options.Known = std::move(*Known);
  if (!O.Results.empty()) {
    std::error_code EC;
    R.Journal = std::make_unique<raw_fd_ostream>(
        O.Results, EC, O.Resume ? sys::fs::OF_Append : sys::fs::OF_None);
    if (EC)
      return resourceError("cannot write '" + O.Results + "': " + EC.message());
    // Each line is one write, so that those of several processes do not mix.
    constexpr size_t LongestLine = 1 << 16;
    R.Journal->SetBufferSize(LongestLine);
  }
  bool Found = false;
  for (const std::string &Path : O.Inputs)
    if (Error E = oneFile(O, Path, *Command, R, Found))
      return E;
  if (!Found)
    return usageError("no source defines a kernel '" + O.Only + "'");
  if (O.List || O.Emit >= 0)
    return Error::success();
  ScoreReport Report(R.Records, Arguments);
  if (O.Json)
    Report.printJson(outs());
  else
    Report.print(outs(), R.Kernels);
  if (Report.score() < O.Minimum)
    return findingError(formatv("the score is {0:f1} %, below {1:f1} %",
                                Report.score(), O.Minimum.getValue())
                            .str());
  return Error::success();
}

static const Command
    Registered("mutate",
               "Make faulty kernels and check that the gate rejects them",
               "FLAGS", Examples, run);

} // namespace mutate_command
