//===- MutateCommand.cpp - cupilot mutate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "ScoreReport.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
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

static cl::SubCommand Sub("mutate",
                          "Make faulty kernels and see whether the gate minds");
static cl::list<std::string>
    Inputs(cl::Positional, cl::OneOrMore, cl::sub(Sub), cl::value_desc("F.cu"),
           cl::desc("CUDA sources with 'kernel:' comments, or with --kernel"));
static cl::opt<std::string> Only("kernel", cl::sub(Sub), cl::value_desc("NAME"),
                                 cl::desc("Mutants of this kernel alone"));
static cl::list<std::string>
    Texts("workload", cl::sub(Sub), cl::value_desc("TEXT"),
          cl::desc("A launch of --kernel in words, for a source without "
                   "comments; may be given again"));
static cl::opt<uint64_t> Seed("seed", cl::sub(Sub), cl::init(1),
                              cl::value_desc("N"),
                              cl::desc("Which mutants are taken (default 1)"));
static cl::opt<unsigned>
    Limit("limit", cl::sub(Sub), cl::init(0), cl::value_desc("N"),
          cl::desc("Mutants of each kernel that count (default: all)"));
static cl::opt<bool> List("list", cl::sub(Sub),
                          cl::desc("Only list what can be made"));
static cl::opt<int> Emit("emit", cl::sub(Sub), cl::init(-1),
                         cl::value_desc("N"),
                         cl::desc("Only write the mutant of that number"));
static cl::opt<std::string> Output("o", cl::sub(Sub), cl::init("-"),
                                   cl::value_desc("M.ll"),
                                   cl::desc("Where --emit writes (default: "
                                            "standard output)"));
static cl::opt<unsigned> Workers("workers", cl::sub(Sub), cl::init(2),
                                 cl::value_desc("N"),
                                 cl::desc("Processes (default 2)"));
static cl::opt<unsigned>
    Independent("independent", cl::sub(Sub), cl::init(0), cl::value_desc("N"),
                cl::desc("Run survivors on N inputs of another generator"));
static cl::opt<std::string>
    Equivalents("equivalent", cl::sub(Sub), cl::value_desc("F.md"),
                cl::desc("Survivors that are shown to be equivalent"));
static cl::opt<std::string>
    Results("results", cl::sub(Sub), cl::value_desc("R.jsonl"),
            cl::desc("Write each verdict there as it comes"));
static cl::opt<bool> Resume("resume", cl::sub(Sub),
                            cl::desc("Take the verdicts that are there"));
static cl::opt<bool> Json("json", cl::sub(Sub),
                          cl::desc("Print the result as JSON"));
static cl::opt<double>
    Minimum("minimum", cl::sub(Sub), cl::init(0), cl::value_desc("PERCENT"),
            cl::desc("Exit status 1 below this score (default 0)"));

static const char Examples[] =
    "  cupilot mutate rows.cu --limit=40 --seed=7 -- -O2\n"
    "  cupilot mutate rows.cu --kernel rows --list -- -O2\n"
    "  cupilot mutate rows.cu --kernel rows --emit=12 -o mutant.ll -- -O2\n"
    "  cupilot mutate *.cu --independent=1000 --results=r.jsonl --resume\n\n"
    "docs/Mutation.md describes the faults and the comments.\n";

static Expected<std::vector<SuiteEntry>> entriesOf(StringRef Path) {
  std::vector<SuiteEntry> Chosen;
  if (!Texts.empty()) {
    if (Only.empty())
      return usageError("--workload needs --kernel");
    SuiteEntry E;
    E.Kernel = Only;
    E.Workloads.assign(Texts.begin(), Texts.end());
    return std::vector<SuiteEntry>{E};
  }
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  // What needs no launch needs no comments.
  if (!Only.empty() && (List || Emit >= 0)) {
    SuiteEntry E;
    E.Kernel = Only;
    return std::vector<SuiteEntry>{E};
  }
  Expected<std::vector<SuiteEntry>> All = parseSuite(*Text, Path);
  if (!All)
    return All.takeError();
  for (SuiteEntry &E : *All)
    if (Only.empty() || E.Kernel == Only)
      Chosen.push_back(std::move(E));
  return Chosen;
}

static Error printList(const MutationSubject &S) {
  Expected<std::vector<Mutation>> All = listMutations(S.Bitcode, S.K->Symbol);
  if (!All)
    return All.takeError();
  for (const Mutation &M : *All)
    outs() << S.Name << " " << M.Index << " " << M.str() << "\n";
  return Error::success();
}

static Error emit(const MutationSubject &S) {
  Expected<std::string> Mutant =
      applyMutation(S.Bitcode, S.K->Symbol, unsigned(Emit));
  if (!Mutant)
    return Mutant.takeError();
  Expected<std::string> Text = printModule(*Mutant);
  if (!Text)
    return Text.takeError();
  if (Output == "-") {
    outs() << *Text;
    return Error::success();
  }
  return writeFileAtomic(Output, *Text);
}

/// Earlier verdicts, by key. A line that was cut off by a kill is passed over.
static Expected<std::map<std::string, MutantRecord>> earlier() {
  std::map<std::string, MutantRecord> Known;
  if (!Resume || !sys::fs::exists(Results))
    return Known;
  Expected<std::string> Text = readFile(Results);
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

static Error scoreOne(const MutationSubject &S, Run &R) {
  bool Terminal = errs().is_displayed();
  unsigned Counted = 0, Survived = 0;
  R.Options.Progress = [&](const MutantRecord &M, bool New) {
    Counted += M.counts();
    Survived += M.Outcome == "survived";
    if (New && R.Journal) {
      *R.Journal << formatv("{0}", toJSON(M)) << "\n";
      R.Journal->flush();
    }
    if (Terminal)
      errs() << "\r" << S.Name << ": " << Counted
             << (Limit ? " of " + utostr(Limit) : "") << " mutants, "
             << Survived << " survive   ";
  };
  Expected<std::vector<MutantRecord>> Records = scoreKernel(S, R.Options);
  if (Terminal)
    errs() << "\r" << std::string(70, ' ') << "\r";
  if (!Records)
    return Records.takeError();
  if (!Json) {
    outs() << left_justify(S.Name, 24)
           << formatv(" {0,4} mutants, {1,3} survive\n", Counted, Survived);
    outs().flush();
  }
  for (MutantRecord &One : *Records)
    R.Records.push_back(std::move(One));
  ++R.Kernels;
  return Error::success();
}

static Error oneFile(StringRef Path, ArrayRef<std::string> Flags, Run &R,
                     bool &Found) {
  Expected<std::vector<SuiteEntry>> Entries = entriesOf(Path);
  if (!Entries)
    return Entries.takeError();
  if (Entries->empty())
    return Error::success();
  std::string Arch = gpuArchitectures(Flags).front();
  Expected<SuiteUnit> U = SuiteUnit::load(Path, Arch, Flags);
  if (!U)
    return U.takeError();
  for (const SuiteEntry &E : *Entries) {
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
    Expected<std::string> Alone = onlyKernel(U->Bitcode, K.Symbol);
    if (!Alone)
      return Alone.takeError();
    S.Bitcode = std::move(*Alone);
    if (List || Emit >= 0) {
      if (Error Failure = List ? printList(S) : emit(S))
        return Failure;
      continue;
    }
    for (const std::string &Text : E.Workloads) {
      Expected<Workload> W =
          parseWorkload(Text, K, "w" + utostr(S.Workloads.size()));
      if (!W)
        return W.takeError();
      S.Workloads.push_back(std::move(*W));
    }
    if (Error Failure = scoreOne(S, R))
      return Failure;
  }
  return Error::success();
}

static Error run(const TrailingArgs &Flags) {
  if (Resume && Results.empty())
    return usageError("--resume needs --results");
  if (Emit >= 0 && Only.empty())
    return usageError("--emit needs --kernel");
  Run R;
  R.Options.Seed = Seed;
  R.Options.Limit = Limit;
  R.Options.Workers = Workers;
  R.Options.Independent = Independent;
  std::map<std::string, std::string> Arguments;
  if (!Equivalents.empty()) {
    Expected<std::string> Text = readFile(Equivalents);
    if (!Text)
      return Text.takeError();
    auto Parsed = parseEquivalents(*Text, Equivalents);
    if (!Parsed)
      return Parsed.takeError();
    Arguments = std::move(*Parsed);
  }
  Expected<std::map<std::string, MutantRecord>> Known = earlier();
  if (!Known)
    return Known.takeError();
  R.Options.Known = std::move(*Known);
  if (!Results.empty()) {
    std::error_code EC;
    R.Journal = std::make_unique<raw_fd_ostream>(
        Results, EC, Resume ? sys::fs::OF_Append : sys::fs::OF_None);
    if (EC)
      return resourceError("cannot write '" + Results + "': " + EC.message());
  }
  bool Found = false;
  for (const std::string &Path : Inputs)
    if (Error E = oneFile(Path, Flags.Args, R, Found))
      return E;
  if (!Found)
    return usageError("no source has a kernel '" + Only + "'");
  if (List || Emit >= 0)
    return Error::success();
  ScoreReport Report(R.Records, Arguments);
  if (Json)
    Report.printJson(outs());
  else
    Report.print(outs(), R.Kernels);
  if (Report.score() < Minimum)
    return findingError(formatv("the score is {0:f1} %, below {1:f1} %",
                                Report.score(), Minimum.getValue())
                            .str());
  return Error::success();
}

static Command Registered(Sub, Examples, run);
