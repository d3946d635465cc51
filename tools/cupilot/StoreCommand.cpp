//===- StoreCommand.cpp - cupilot store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "SharedOptions.h"
#include "cupilot/Driver/StoredGenomes.h"
#include "cupilot/Evolution/Journal.h"
#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Store/GateCounts.h"
#include "cupilot/Store/ProjectStore.h"
#include "cupilot/Store/StoreMerge.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;
using namespace cupilot;

namespace store_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Action{
      cl::Positional, cl::Required, In,
      cl::value_desc("list|show|stats|check|merge|prune|genomes|upgrade"),
      cl::desc("The action")};
  cl::opt<std::string> Name{cl::Positional, In, cl::value_desc("[TEXT]"),
                            cl::desc("For show: kernels whose name contains "
                                     "TEXT; for prune: name of the variant; "
                                     "for merge: the store that is changed")};
  cl::opt<std::string> Other{cl::Positional, In, cl::value_desc("[STORE]"),
                             cl::desc("For merge: the store that is added")};
  cl::opt<std::string> OfKernel{
      "kernel", In, cl::value_desc("TEXT"),
      cl::desc("For prune: only kernels whose name contains TEXT")};
  StoreOption StoreDir{Sub};
  cl::opt<bool> Json{"json", In, cl::desc("For stats: print JSON")};
};
} // namespace

static const char Examples[] =
    "  cupilot store list\n"
    "  cupilot store show heatStep --store .cupilot\n"
    "  cupilot store stats --json\n"
    "  cupilot store check\n"
    "  cupilot store merge .cupilot ../theirs/.cupilot\n"
    "  cupilot store prune v_1a2b3c4d --kernel heatStep\n"
    "  cupilot store genomes --store .cupilot\n"
    "  cupilot store upgrade --store .cupilot\n\n"
    "merge adds to the first store all that the second one has, and keeps both "
    "where they\n"
    "differ. genomes reads anew which strategies the code of each variant has, "
    "for "
    "stores of\n"
    "older versions. upgrade converts a store of format 4 to 6 to format 7 in "
    "one\n"
    "step. Builds read all formats.\n";

/// Builds leave out what older versions have kept.
static void noteMissingDomains(const std::vector<StoredKernel> &Kernels,
                               StringRef Store) {
  unsigned Missing = 0;
  for (const StoredKernel &S : Kernels)
    Missing += count_if(S.Variants, [](const Variant &V) { return !V.Where; });
  if (Missing)
    errs() << "note: " << Missing
           << " variant(s) have no domain, so builds run the originals; "
           << verifyCommand(Store) << " gives them one\n";
}

static void list(const std::vector<StoredKernel> &Kernels) {
  outs() << left_justify("kernel", 44) << left_justify("variant", 12)
         << "  ratio  interval         basis     compiler   gate"
         << "  genome\n";
  for (const StoredKernel &S : Kernels)
    for (const Variant &V : S.Variants)
      for (const Measurement &M : V.Evidence) {
        StringRef Short = StringRef(S.K.Name).take_front(42);
        outs() << left_justify(Short, 44) << left_justify(V.Name, 12)
               << format("%6.2fx  ", M.Ratio)
               << left_justify(intervalText(M.Low, M.High), 17)
               << left_justify(wordOf(M.Basis), 10)
               << left_justify(StringRef(M.Compiler).split(' ').first, 11)
               << format("v%u/%u  ", M.Gate, M.Checks) << genomeText(V.Genes)
               << "\n";
      }
}

/// What the gate rejected, and why.
static Error printStats(const Options &O) {
  Expected<std::vector<GateCounts>> All = gateCounts(O.StoreDir);
  if (!All)
    return All.takeError();
  if (O.Json) {
    json::Array Kernels;
    for (const GateCounts &C : *All) {
      json::Object Reasons;
      for (const auto &[Word, Count] : C.Reasons)
        Reasons[Word] = Count;
      Kernels.push_back(json::Object{{"kernel", C.Kernel},
                                     {"identity", C.Identity},
                                     {"gate", C.Gate},
                                     {"judged", C.Judged},
                                     {"passed", C.Passed},
                                     {"reasons", std::move(Reasons)}});
    }
    outs() << formatv("{0:2}\n", json::Value(std::move(Kernels)));
    return Error::success();
  }
  for (const GateCounts &C : *All) {
    outs() << C.Kernel << "\n  gate v" << C.Gate << ": " << C.Judged
           << " judged, " << C.Passed << " passed\n";
    for (const auto &[Word, Count] : C.Reasons)
      outs() << "    " << left_justify(Word, 20) << format(" %6u\n", Count);
  }
  return Error::success();
}

/// Takes a variant out. Records stay, if need be without variants: depfiles
/// name them.
static Error prune(const Options &O, ProjectStore &Store,
                   std::vector<StoredKernel> &Kernels) {
  unsigned Taken = 0;
  for (StoredKernel &S : Kernels) {
    if (!StringRef(S.K.Name).contains(StringRef(O.OfKernel)) ||
        none_of(S.Variants, [&](const Variant &V) { return V.Name == O.Name; }))
      continue;
    // A variant whose text is gone can be taken out too.
    std::vector<Variant> Left;
    copy_if(S.Variants, std::back_inserter(Left),
            [&](const Variant &V) { return V.Name != O.Name; });
    S.Variants = std::move(Left);
    if (Error E = Store.readTexts(S))
      return E;
    if (Error E = Store.put(S))
      return E;
    ++Taken;
    outs() << S.K.Name << ": removed variant " << O.Name << ", "
           << S.Variants.size() << " left\n";
  }
  if (!Taken)
    return findingError("no kernel of the store has a variant '" + O.Name + "'",
                        "'cupilot store list' shows the variants");
  return Error::success();
}

/// The digests of texts that searches and submissions of this store accepted;
/// nothing without a journal, which is not part of what people share.
static Expected<std::optional<std::set<std::string>>>
backedTexts(StringRef Store) {
  const std::string Path = Journal::pathIn(Store);
  if (!sys::fs::exists(Path))
    return std::nullopt;
  Expected<Journal> J = Journal::open(Path);
  if (!J)
    return J.takeError();
  Expected<std::vector<std::string>> Texts = J->acceptedTexts();
  if (!Texts)
    return Texts.takeError();
  return std::set<std::string>(Texts->begin(), Texts->end());
}

/// Adds one store to another.
static Error mergeInto(StringRef Into, StringRef From) {
  Expected<ProjectStore> Ours = ProjectStore::open(Into);
  if (!Ours)
    return Ours.takeError();
  Expected<ProjectStore> Its = ProjectStore::open(From);
  if (!Its)
    return Its.takeError();
  Expected<StoreMerge> Done = mergeStores(*Ours, *Its);
  if (!Done)
    return Done.takeError();
  for (const std::string &Note : Done->Notes)
    errs() << "note: " << Note << "\n";
  outs() << Done->Kernels << " new kernel(s), " << Done->Variants
         << " new file(s) of variants, " << Done->Files << " file(s) in all\n";
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &Rest) {
  if (O.Action != "list" && O.Action != "show" && O.Action != "stats" &&
      O.Action != "check" && O.Action != "merge" && O.Action != "prune" &&
      O.Action != "genomes" && O.Action != "upgrade")
    return usageError("unknown action '" + O.Action + "'",
                      "cupilot store list, show, stats, check, merge, prune, "
                      "genomes or upgrade");
  if (O.Action == "prune" && O.Name.empty())
    return usageError("'cupilot store prune' needs the name of a variant",
                      "'cupilot store list' shows the variants");
  if (!O.OfKernel.empty() && O.Action != "prune")
    return usageError("'cupilot store " + O.Action +
                          "' does not take '--kernel'",
                      "'cupilot store prune' does");
  if (O.Json && O.Action != "stats")
    return usageError("'cupilot store " + O.Action + "' does not take '--json'",
                      "'cupilot store stats' does");
  if (O.Action == "merge" && (O.Name.empty() || O.Other.empty()))
    return usageError("'cupilot store merge' needs two stores",
                      "cupilot store merge .cupilot ../theirs/.cupilot");
  const bool TakesName =
      O.Action == "show" || O.Action == "prune" || O.Action == "merge";
  const std::string Unwanted = !Rest.Args.empty()    ? Rest.Args.front()
                               : !TakesName          ? O.Name.getValue()
                               : O.Action != "merge" ? O.Other.getValue()
                                                     : "";
  if (!Unwanted.empty())
    return usageError("'cupilot store " + O.Action + "' does not take '" +
                          Unwanted + "'",
                      "'cupilot store --help' shows its options");
  if (O.Action == "merge")
    return mergeInto(O.Name, O.Other);
  Expected<BuildStore> Readable = BuildStore::open(O.StoreDir);
  if (!Readable)
    return Readable.takeError();
  if (O.Action == "stats")
    return printStats(O);
  if (O.Action == "upgrade") {
    Expected<unsigned> Upgraded = ProjectStore::upgrade(O.StoreDir);
    if (!Upgraded)
      return Upgraded.takeError();
    outs() << "the store has format " << StoreFormat << ": " << *Upgraded
           << " kernel(s) upgraded\n";
    return Error::success();
  }
  Expected<ProjectStore> Store = ProjectStore::open(O.StoreDir);
  if (!Store)
    return Store.takeError();
  Expected<std::vector<StoredKernel>> Kernels = Store->kernels();
  if (!Kernels)
    return Kernels.takeError();
  if (O.Action == "list") {
    list(*Kernels);
    noteMissingDomains(*Kernels, O.StoreDir);
    return Error::success();
  }
  if (O.Action == "prune")
    return prune(O, *Store, *Kernels);
  if (O.Action == "genomes") {
    Expected<unsigned> Changed = readGenomes(*Store, *Kernels, outs());
    if (!Changed)
      return Changed.takeError();
    outs() << *Changed << " variant(s) have another genome\n";
    return Error::success();
  }
  if (O.Action == "check") {
    Expected<std::vector<std::string>> Problems = Store->check();
    if (!Problems)
      return Problems.takeError();
    for (const std::string &P : *Problems)
      errs() << P << "\n";
    if (!Problems->empty())
      return findingError(Twine(Problems->size()) + " problem(s) in the store",
                          "restore the files, or run " +
                              verifyCommand(O.StoreDir) +
                              " for build records, 'cupilot evolve' for the "
                              "rest");
    noteMissingDomains(*Kernels, O.StoreDir);
    outs() << "the store is sound: " << Kernels->size() << " kernel(s)\n";
    return Error::success();
  }
  auto Backed = backedTexts(O.StoreDir);
  if (!Backed)
    return Backed.takeError();
  bool Any = false;
  for (const StoredKernel &S : *Kernels) {
    if (!O.Name.empty() && !StringRef(S.K.Name).contains(StringRef(O.Name)))
      continue;
    Any = true;
    outs() << S.K.Name << "\n  identity " << S.K.Digest << "\n  contract "
           << contractText(S.K.Contract) << "\n";
    for (const BuildEntry &B : S.Builds)
      outs() << "  build " << B.Compiler << " " << B.Arch << " " << B.Digest
             << "\n";
    for (const Variant &V : S.Variants) {
      outs() << "  variant " << V.Name << ": " << genomeText(V.Genes) << "\n";
      for (const Launch &L : V.Plan ? V.Plan->Launches : std::vector<Launch>())
        outs() << "    grid (" << L.Grid[0].str() << ", " << L.Grid[1].str()
               << ", " << L.Grid[2].str() << "), block (" << L.Block[0].str()
               << ", " << L.Block[1].str() << ", " << L.Block[2].str()
               << "), shared " << L.Shared.str() << "\n";
      const LaunchNames Names = launchNames(S.K);
      if (V.When) {
        std::string Conditions = guardText(*V.When, Names);
        outs() << "    when " << V.When->Arch
               << (Conditions.empty() ? "" : "; ") << Conditions << "\n";
      }
      outs() << "    domain "
             << (V.Where ? domainText(*V.Where, Names, "\n      ") : "none")
             << "\n";
      for (const Measurement &M : V.Evidence) {
        outs() << "    " << speedupText(M.Ratio, M.Low, M.High, M.Basis)
               << " on " << M.Device << ", gate " << M.Gate << " passed with "
               << M.Checks << " checks\n";
        if (M.Others)
          outs() << "      on " << M.Others->Kind << " inputs "
                 << speedupText(M.Others->Ratio, M.Others->Low, M.Others->High,
                                M.Basis)
                 << "\n";
      }
      if (*Backed && !(*Backed)->count(V.Digest))
        outs()
            << "    unbacked: no search or submission in the journal of this "
               "store accepted this text; "
            << verifyCommand(O.StoreDir) << " judges it again\n";
      for (const std::string &Prompt : V.Prompts)
        outs() << "    written with prompt " << Prompt << "\n";
    }
  }
  if (Any && !*Backed)
    errs() << "note: this store has no journal that backs its evidence; "
           << verifyCommand(O.StoreDir) << " judges it again\n";
  if (!Any && !O.Name.empty())
    return findingError("no kernel of the store is named '" + O.Name + "'");
  return Error::success();
}

static const Command Registered("store", "Show and check a project store", "",
                                Examples, run);

} // namespace store_command
