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
#include "cupilot/Support/Nesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <set>

using namespace llvm;

namespace cupilot {

Expected<BuildStore> BuildStore::open(StringRef Root) {
  if (!sys::fs::is_directory(Root))
    return usageError(
        "there is no store '" + Root + "'",
        "cupilot evolve makes one; name it with -fplugin-arg-cupilot-store= or "
        "--store");
  Expected<std::string> Format = readFile((Root + "/FORMAT").str());
  if (!Format) {
    consumeError(Format.takeError());
    return usageError("'" + Root +
                          "' is no store: it has no readable file FORMAT",
                      "name a folder that cupilot evolve made");
  }
  StringRef Text = StringRef(*Format).trim();
  unsigned Version = 0;
  if (!Text.consume_front("cupilot-store ") || Text.getAsInteger(10, Version))
    return usageError("'" + Root +
                          "' is no store: its FORMAT is not 'cupilot-store N'",
                      "restore the file, or name a folder that cupilot evolve "
                      "made");
  if (Version > 1)
    return usageError("the store '" + Root + "' has format " + Twine(Version) +
                          "; this cupilot knows format 1",
                      "use the cupilot that wrote it");
  SmallString<256> Absolute(Root);
  sys::fs::make_absolute(Absolute);
  return BuildStore(Absolute.str().str());
}

std::string buildRecordPath(StringRef Root, StringRef Identity,
                            StringRef Symbol) {
  uint32_t Name = crc32(arrayRefFromStringRef(Symbol));
  return (Root + "/builds/" + shortDigest(Identity, 64) + "-" +
          utohexstr(Name, /*LowerCase=*/true, /*Width=*/8) + ".json")
      .str();
}

Expected<std::optional<BuildRecord>>
BuildStore::lookup(StringRef Identity, StringRef Symbol) const {
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

Error BuildStore::readAll() const {
  std::set<std::string> Paths;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Root + "/builds", EC), End;
       !EC && It != End; It.increment(EC))
    if (sys::path::extension(It->path()) == ".json")
      Paths.insert(It->path());
  RecordFiles Read;
  for (const std::string &Path : Paths) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Read.emplace_back(Path, std::move(*Text));
  }
  Files = std::move(Read);
  return Error::success();
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
  if (!Files)
    if (Error E = readAll())
      return std::move(E);
  std::string Prefix = shortDigest(Identity, 64) + "-";
  std::vector<BuildRecord> Records;
  for (const auto &[Path, Text] : *Files) {
    if (!sys::path::filename(Path).starts_with(Prefix))
      continue;
    Expected<BuildRecord> R = parseBuildRecord(Text, Path);
    if (!R)
      return R.takeError();
    if (R->Identity != Identity ||
        buildRecordPath(Root, Identity, R->Symbol) != Path)
      return usageError("'" + Path + "' is the record of another kernel");
    Records.push_back(std::move(*R));
  }
  return Records;
}

Expected<std::vector<BuildRecord>>
BuildStore::recordsNaming(StringRef Word) const {
  if (!Files)
    if (Error E = readAll())
      return std::move(E);
  std::vector<BuildRecord> Records;
  for (const auto &[Path, Text] : *Files) {
    // Most records are of other kernels: look before parsing.
    if (!StringRef(Text).contains(Word))
      continue;
    Expected<BuildRecord> R = parseBuildRecord(Text, Path);
    if (!R)
      return R.takeError();
    Records.push_back(std::move(*R));
  }
  return Records;
}

std::string describeDifference(StringRef Path, StringRef Text, StringRef What,
                               function_ref<bool(StringRef)> IsRight) {
  std::string Plain;
  for (char C : Text)
    if (C != '\r')
      Plain += C;
  if (IsRight(Plain))
    return ("'" + Path +
            "' has other line ends than were written; check it out again with "
            "'* -text' in the store's .gitattributes")
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
