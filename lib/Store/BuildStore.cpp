//===- BuildStore.cpp - The store as builds see it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/BuildStore.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;

namespace cupilot {

static constexpr StringLiteral FormatWord = "cupilot-store ";

std::string formatText(unsigned Format) {
  return (FormatWord + utostr(Format) + "\n").str();
}

Expected<BuildStore> BuildStore::open(StringRef Root) {
  if (!sys::fs::is_directory(Root))
    return usageError("there is no store '" + Root + "'",
                      "'cupilot evolve' creates one; name it with "
                      "-fplugin-arg-cupilot-store= or --store");
  Expected<std::string> Format = readFile((Root + "/FORMAT").str());
  if (!Format) {
    consumeError(Format.takeError());
    return usageError("'" + Root +
                          "' is not a store: it has no readable file FORMAT",
                      "name a folder that 'cupilot evolve' created");
  }
  StringRef Text = StringRef(*Format).trim();
  unsigned Version = 0;
  if (!Text.consume_front(FormatWord) || Text.getAsInteger(10, Version))
    return usageError(
        "'" + Root + "' is not a store: its FORMAT is not 'cupilot-store N'",
        "restore the file, or name a folder that 'cupilot evolve' created");
  if (Version > StoreFormat)
    return usageError("the store '" + Root + "' has format " + Twine(Version) +
                          "; this cupilot supports formats up to " +
                          Twine(StoreFormat),
                      "use the cupilot that wrote it");
  if (Version < FirstSplitFormat && Version != 1)
    return usageError("'" + Root +
                          "' is not a store: no cupilot writes format " +
                          Twine(Version) + " into its FORMAT",
                      "restore the file: 'cupilot-store 1' for formats 1 to 5");
  SmallString<256> Absolute(Root);
  sys::fs::make_absolute(Absolute);
  return BuildStore(Absolute.str().str(), Version);
}

std::string buildRecordPath(StringRef Root, StringRef Identity,
                            StringRef Symbol, StringRef Of) {
  uint32_t Name = crc32(arrayRefFromStringRef(Symbol));
  return (Root + "/builds/" + shortDigest(Identity, 64) + "-" +
          utohexstr(Name, /*LowerCase=*/true, /*Width=*/8) +
          (Of.empty() ? "" : "-") + Of + ".json")
      .str();
}

/// The words of a record's name: identity, symbol and, from format 6 on, the
/// variant's file.
static SmallVector<StringRef, 3> wordsOf(StringRef Name) {
  SmallVector<StringRef, 3> Words;
  if (Name.consume_back(".json"))
    Name.split(Words, '-');
  if (Words.size() < 2 || Words[0].size() != 64 || Words[1].size() != 8)
    Words.clear();
  return Words;
}

bool isOldRecordName(StringRef Name) { return wordsOf(Name).size() == 2; }
bool isRecordName(StringRef Name) { return wordsOf(Name).size() == 3; }

Expected<std::optional<BuildRecord>>
BuildStore::lookup(StringRef Identity, StringRef Symbol) const {
  if (!isOld()) {
    std::string Prefix = buildRecordPath(Root, Identity, Symbol);
    Prefix.replace(Prefix.size() - 5, 5, "-");
    Expected<std::vector<BuildRecord>> Found = read(
        [&](StringRef Path, StringRef) { return Path.starts_with(Prefix); });
    if (!Found)
      return Found.takeError();
    if (Found->empty())
      return std::nullopt;
    return std::optional(std::move(Found->front()));
  }
  std::string Path = buildRecordPath(Root, Identity, Symbol);
  if (!sys::fs::exists(Path))
    return std::nullopt;
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<BuildRecord> R = parseBuildRecord(*Text, Path);
  if (!R)
    return R.takeError();
  if (R->Identity != Identity || R->Symbol != Symbol)
    return usageError("'" + Path + "' is the record of another kernel");
  return std::optional(std::move(*R));
}

Expected<std::vector<std::string>> BuildStore::decidingFiles() const {
  Expected<std::vector<std::string>> Files = filesIn(Root + "/builds", ".json");
  if (!Files)
    return Files.takeError();
  if (sys::fs::is_directory(Root + "/builds"))
    Files->insert(Files->begin(), Root + "/builds");
  Files->insert(Files->begin(), Root + "/FORMAT");
  return Files;
}

Error BuildStore::readAll() const {
  Expected<std::vector<std::string>> Paths = filesIn(Root + "/builds", ".json");
  if (!Paths)
    return Paths.takeError();
  RecordFiles Read;
  for (const std::string &Path : *Paths) {
    StringRef Name = sys::path::filename(Path);
    // An upgrade writes all records of the new format before FORMAT, and
    // removes the others behind it.
    if (isOld() && isRecordName(Name))
      continue;
    if (!isOld() && isOldRecordName(Name))
      return usageError("the store '" + Root + "' is only partly upgraded: '" +
                            Path + "' has an older format",
                        "'cupilot store upgrade' completes the upgrade");
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Read.emplace_back(Path, std::move(*Text));
  }
  Files = std::move(Read);
  return Error::success();
}

/// The records of the files that \p Take wants, one for each identity and
/// symbol, in the order of the files.
Expected<std::vector<BuildRecord>>
BuildStore::read(function_ref<bool(StringRef, StringRef)> Take) const {
  if (!Files)
    if (Error E = readAll())
      return std::move(E);
  std::vector<BuildRecord> Records;
  std::vector<std::vector<BuildRecord>> Groups;
  for (const auto &[Path, Text] : *Files) {
    if (!Take(Path, Text))
      continue;
    Expected<BuildRecord> R = parseBuildRecord(Text, Path);
    if (!R)
      return R.takeError();
    std::string Right = buildRecordPath(Root, R->Identity, R->Symbol);
    if (isRecordName(sys::path::filename(Path)) &&
        !StringRef(Path).starts_with(StringRef(Right).drop_back(5)))
      return usageError("'" + Path + "' is the record of another kernel");
    auto Group = find_if(Groups, [&](const std::vector<BuildRecord> &G) {
      return !isOld() && G.front().Identity == R->Identity &&
             G.front().Symbol == R->Symbol;
    });
    if (Group == Groups.end())
      Group = Groups.insert(Groups.end(), std::vector<BuildRecord>());
    Group->push_back(std::move(*R));
  }
  for (std::vector<BuildRecord> &Group : Groups)
    Records.push_back(isOld() ? std::move(Group.front())
                              : mergeRecords(std::move(Group)));
  return Records;
}

Expected<std::vector<BuildRecord>>
BuildStore::recordsFor(StringRef Symbol) const {
  Expected<std::vector<BuildRecord>> Records = recordsNaming(Symbol);
  if (Records)
    erase_if(*Records,
             [&](const BuildRecord &R) { return R.Symbol != Symbol; });
  return Records;
}

Expected<std::vector<BuildRecord>>
BuildStore::recordsWith(StringRef Identity) const {
  std::string Prefix = Root + "/builds/" + shortDigest(Identity, 64) + "-";
  Expected<std::vector<BuildRecord>> Records =
      read([&](StringRef Path, StringRef) { return Path.starts_with(Prefix); });
  if (Records && isOld())
    for (const BuildRecord &R : *Records)
      if (std::string Path = buildRecordPath(Root, R.Identity, R.Symbol);
          R.Identity != Identity ||
          none_of(*Files, [&](const auto &F) { return F.first == Path; }))
        return usageError("'" + Prefix +
                          "*.json' is the record of another "
                          "kernel");
  return Records;
}

Expected<std::vector<BuildRecord>>
BuildStore::recordsNaming(StringRef Word) const {
  // Most records are of other kernels: look before parsing.
  return read([&](StringRef, StringRef Text) { return Text.contains(Word); });
}

std::string describeDifference(StringRef Path, StringRef Text, StringRef What,
                               function_ref<bool(StringRef)> IsRight) {
  std::string Plain;
  for (char C : Text)
    if (C != '\r')
      Plain += C;
  if (IsRight(Plain))
    return ("'" + Path +
            "' was checked out with different line endings; check it out again "
            "with '* -text' in the store's .gitattributes")
        .str();
  return ("'" + Path + "' " + What).str();
}

std::string BuildStore::sourcePath(const BuildVariant &V) const {
  return Root + "/" + V.Source;
}

std::string resolveStore(StringRef Flag, StringRef MainFile, bool &Explicit) {
  Explicit = true;
  if (!Flag.empty())
    return Flag.str();
  if (const char *Env = std::getenv("CUPILOT_STORE"); Env && *Env)
    return Env;
  Explicit = false;
  return findUpward(MainFile, ".cupilot");
}

} // namespace cupilot
