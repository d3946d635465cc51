//===- StoreRestriction.cpp - A store with fewer variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In <store>/journal.sqlite.bisect, which the store's .gitignore leaves out:
//   <record>.json.saved   the text of each build record
//   complete              written last: the records may differ from now on
// The names must not end in .json, which builds look for.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/StoreRestriction.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <chrono>
#include <thread>
#include <tuple>

using namespace llvm;

namespace cupilot {

static std::string savedFolder(StringRef Root) {
  return (Root + "/journal.sqlite.bisect").str();
}

/// Nothing when another process has it.
static Expected<std::optional<FileLock>>
tryStore(StringRef Root,
         std::chrono::milliseconds MostWait = std::chrono::milliseconds(0)) {
  return FileLock::lockWithin((Root + "/journal.sqlite.lock").str(),
                              xxh3_64bits("the records of the store"),
                              MostWait);
}

/// The files of \p Folder that end in \p Ending, sorted.
static Error dropSaved(StringRef Root) {
  // Without the mark, what is left is only rubbish.
  std::string Folder = savedFolder(Root);
  sys::fs::remove(Folder + "/complete");
  if (std::error_code EC = sys::fs::remove_directories(Folder, false))
    return resourceError("cannot remove '" + Folder + "': " + EC.message());
  return Error::success();
}

static Error putBack(StringRef Root) {
  std::string Folder = savedFolder(Root);
  if (sys::fs::exists(Folder + "/complete")) {
    Expected<std::vector<std::string>> Saved = filesIn(Folder, ".saved");
    if (!Saved)
      return Saved.takeError();
    for (StringRef Path : *Saved) {
      Expected<std::string> Text = readFile(Path);
      if (!Text)
        return Text.takeError();
      StringRef Name = sys::path::filename(Path).drop_back(6);
      if (Error E = updateFile((Root + "/builds/" + Name).str(), *Text))
        return E;
    }
  }
  return dropSaved(Root);
}

Expected<bool> repairStore(StringRef Root) {
  if (!sys::fs::is_directory(savedFolder(Root)))
    return false;
  Expected<std::optional<FileLock>> Lock = tryStore(Root);
  if (!Lock)
    return Lock.takeError();
  if (!*Lock || !sys::fs::is_directory(savedFolder(Root)))
    return false;
  if (Error E = putBack(Root))
    return std::move(E);
  return true;
}

Expected<FileLock> lockForWriting(StringRef Root) {
  // Another writer needs milliseconds.
  Expected<std::optional<FileLock>> Lock =
      tryStore(Root, std::chrono::seconds(10));
  if (!Lock)
    return Lock.takeError();
  if (*Lock)
    return std::move(**Lock);
  return resourceError("the store '" + Root +
                           (sys::fs::is_directory(savedFolder(Root))
                                ? "' is restricted by a 'cupilot bisect'"
                                : "' is being written by another cupilot"),
                       "wait until it has finished");
}

Expected<StoreRestriction> StoreRestriction::begin(StringRef Root) {
  Expected<std::optional<FileLock>> Lock = tryStore(Root);
  if (!Lock)
    return Lock.takeError();
  if (!*Lock)
    return resourceError(
        "another 'cupilot bisect' or a search is using the store '" + Root +
            "'",
        "wait until it has finished");
  if (sys::fs::is_directory(savedFolder(Root)))
    if (Error E = putBack(Root))
      return std::move(E);
  StoreRestriction R(Root.str(), std::move(**Lock));
  Expected<std::vector<std::string>> Paths =
      filesIn(Root.str() + "/builds", ".json");
  if (!Paths)
    return Paths.takeError();
  std::vector<std::pair<std::string, std::string>> Records;
  for (const std::string &Path : *Paths) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Expected<BuildRecord> Record = parseBuildRecord(*Text, Path);
    if (!Record)
      return Record.takeError();
    for (const BuildVariant &V : Record->Variants) {
      OfferedVariant O{Record->Kernel, Record->Symbol, V.Name, V.Source,
                       V.Genome};
      if (!is_contained(R.Variants, O))
        R.Variants.push_back(std::move(O));
    }
    Records.emplace_back(Path, std::move(*Text));
  }
  for (const auto &[Path, Text] : Records)
    if (Error E =
            writeFileAtomic(savedFolder(Root) + "/" +
                                sys::path::filename(Path).str() + ".saved",
                            Text))
      return std::move(E);
  llvm::sort(R.Variants, [](const OfferedVariant &A, const OfferedVariant &B) {
    return std::tie(A.Kernel, A.Symbol, A.Name, A.Source) <
           std::tie(B.Kernel, B.Symbol, B.Name, B.Source);
  });
  if (Error E = writeFileAtomic(savedFolder(Root) + "/complete", ""))
    return std::move(E);
  R.Records = std::move(Records);
  return std::move(R);
}

Error StoreRestriction::offer(const BitVector &Kept) {
  for (const auto &[Path, Text] : Records) {
    Expected<BuildRecord> R = parseBuildRecord(Text, Path);
    if (!R)
      return R.takeError();
    size_t Before = R->Variants.size();
    erase_if(R->Variants, [&](const BuildVariant &V) {
      for (size_t I = 0; I < Variants.size(); ++I)
        if (Variants[I].Symbol == R->Symbol && Variants[I].Source == V.Source &&
            Variants[I].Name == V.Name)
          return !Kept.test(static_cast<unsigned>(I));
      return false;
    });
    std::string Fewer = formatv("{0:2}", toJSON(*R)).str() + "\n";
    if (Error E = updateFile(Path, R->Variants.size() == Before ? Text : Fewer))
      return E;
  }
  return Error::success();
}

Error StoreRestriction::restore() {
  if (Records.empty())
    return dropSaved(Root);
  for (const auto &[Path, Text] : Records)
    if (Error E = updateFile(Path, Text))
      return E; // What was saved stays, for the next start.
  Records.clear();
  return dropSaved(Root);
}

StoreRestriction::~StoreRestriction() {
  if (!Records.empty())
    consumeError(restore());
}

} // namespace cupilot
