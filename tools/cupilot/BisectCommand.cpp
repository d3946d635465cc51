//===- BisectCommand.cpp - cupilot bisect -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Launcher/Child.h"
#include "cupilot/Store/Bisection.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Store/StoreRestriction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace cupilot;

namespace bisect_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> StoreDir{
      "store", In, cl::init(".cupilot"), cl::value_desc("DIR"),
      cl::desc("The project store that the command's build uses "
               "(default .cupilot)")};
  cl::opt<bool> Repair{
      "repair", In,
      cl::desc("Only restore the store after a bisection that was killed")};
};
} // namespace

static const char Examples[] =
    "  cupilot bisect --store .cupilot -- sh -c 'ninja -C build && "
    "build/test'\n"
    "  cupilot bisect --store .cupilot -- sh -c 'make || exit 125; ./test'\n"
    "  cupilot bisect --store .cupilot --repair\n\n"
    "The command must build and test: exit status 0 is good, 125 skips a set "
    "of variants,\n"
    "anything else is bad. Its build must use DIR itself: while it runs, DIR "
    "offers some of\n"
    "its variants only, and afterwards all of them again. Exit status 1: no "
    "variant is to blame.\n";

/// Runs the command once, with progress.
static Expected<BisectAnswer> ask(StoreRestriction &Store,
                                  const BitVector &Kept, unsigned StepsLeft,
                                  ArrayRef<std::string> Command,
                                  const SignalGuard &Signals, unsigned Number) {
  if (Error E = Store.offer(Kept))
    return std::move(E);
  errs() << "cupilot bisect: test " << Number << " with " << Kept.count()
         << " of " << Kept.size() << " variant(s)";
  if (StepsLeft)
    errs() << ", about " << StepsLeft << " more to come";
  errs() << "\n";
  auto Begin = std::chrono::steady_clock::now();
  outs().flush();
  Expected<ChildEnd> End = runChild(Command, {});
  if (!End)
    return End.takeError();
  if (Signals.caught())
    return findingError("interrupted");
  std::chrono::duration<double> Seconds =
      std::chrono::steady_clock::now() - Begin;
  BisectAnswer Answer = End->Signal          ? BisectAnswer::Bad
                        : End->Status == 0   ? BisectAnswer::Good
                        : End->Status == 125 ? BisectAnswer::Skip
                                             : BisectAnswer::Bad;
  errs() << "cupilot bisect: "
         << (Answer == BisectAnswer::Good  ? "good"
             : Answer == BisectAnswer::Bad ? "bad"
                                           : "skipped");
  if (End->Signal)
    errs() << ", ended by signal " << End->Signal;
  else if (Answer == BisectAnswer::Bad)
    errs() << ", exit status " << End->Status;
  errs() << format(", %.1f s\n", Seconds.count());
  return Answer;
}

static void print(const OfferedVariant &V, StringRef StoreDir) {
  outs() << "  " << V.Kernel << ": variant " << V.Name << ": " << V.Genome
         << "\n    take it out with: "
         << shellQuoted({"cupilot", "store", "prune", V.Name, "--kernel",
                         V.Kernel, "--store", StoreDir.str()})
         << "\n";
}

static Error tell(const BisectResult &R, const std::vector<OfferedVariant> &All,
                  StringRef StoreDir) {
  using Kind = BisectResult::Kind;
  auto PrintAll = [&] {
    for (unsigned I : R.Culprits.set_bits())
      print(All[I], StoreDir);
  };
  switch (R.K) {
  case Kind::NothingBad:
    return findingError("the command passed with all " + Twine(All.size()) +
                            " variant(s): none is to blame",
                        "check that its build uses the store '" + StoreDir +
                            "' and that it rebuilds");
  case Kind::AlwaysBad:
    return findingError(
        "the command failed without any variants: none is to blame",
        "make it pass without cuPilot first (CUPILOT_DISABLE=1)");
  case Kind::Unsteady:
    return findingError(
        "the command is not deterministic: it passed and failed "
        "with the same variants",
        "make it give the same result each time");
  case Kind::Undecidable:
    outs() << "one or more of these variants break the command; tests that "
              "would tell them apart were skipped:\n";
    PrintAll();
    outs().flush();
    return findingError("the result is undecided",
                        "let the command skip fewer tests (exit status 125)");
  case Kind::Found:
    if (R.Culprits.count() == 1)
      outs() << "this variant breaks the command:\n";
    else
      outs() << "these " << R.Culprits.count()
             << " variants break the command together; no smaller set of them "
                "does:\n";
    PrintAll();
    return Error::success();
  }
  llvm_unreachable("no other kinds");
}

static Error run(const Options &O, const TrailingArgs &Command) {
  Expected<BuildStore> Readable = BuildStore::open(O.StoreDir);
  if (!Readable)
    return Readable.takeError();
  std::string Root = Readable->root().str();
  if (O.Repair) {
    if (Command.Given)
      return usageError("'--repair' does not take a command");
    Expected<bool> Did = repairStore(Root);
    if (!Did)
      return Did.takeError();
    outs() << (*Did ? "the store offers all of its variants again\n"
                    : "there was nothing to restore\n");
    return Error::success();
  }
  if (!Command.Given || Command.Args.empty())
    return usageError("no command was given",
                      "cupilot bisect --store DIR -- sh -c 'make && ./test'");
  if (Expected<std::string> Program = findProgram(Command.Args.front());
      !Program)
    return Program.takeError();
  SignalGuard Signals;
  Expected<bool> Repaired = repairStore(Root);
  if (!Repaired)
    return Repaired.takeError();
  if (*Repaired)
    errs() << "cupilot bisect: restored the store after an earlier bisection "
              "that was killed\n";
  std::optional<StoreRestriction> Store;
  {
    Expected<StoreRestriction> Begun = StoreRestriction::begin(Root);
    if (!Begun)
      return Begun.takeError();
    Store.emplace(std::move(*Begun));
  }
  if (Store->variants().empty()) {
    if (Error E = Store->restore())
      return E;
    return findingError("the store '" + O.StoreDir + "' has no variants");
  }
  unsigned Number = 0;
  Expected<BisectResult> Result = bisect(
      Store->variants().size(), [&](const BitVector &Kept, unsigned StepsLeft) {
        return ask(*Store, Kept, StepsLeft, Command.Args, Signals, ++Number);
      });
  Error Restored = Store->restore();
  if (Signals.caught()) {
    if (!Result)
      consumeError(Result.takeError());
    errs() << "cupilot bisect: interrupted; the store is as it was\n";
    if (!Restored)
      endBySignal(Signals.caught());
    return Restored;
  }
  if (!Result)
    return joinErrors(Result.takeError(), std::move(Restored));
  if (Restored)
    return Restored;
  return tell(*Result, Store->variants(), O.StoreDir);
}

static const Command Registered("bisect",
                                "Find the variant that breaks a command",
                                "COMMAND", Examples, run);

} // namespace bisect_command
