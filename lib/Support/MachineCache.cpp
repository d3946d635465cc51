//===- MachineCache.cpp - What can be made again -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/MachineCache.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstdlib>

using namespace llvm;

namespace cupilot {

std::string machineCacheDirectory() {
  if (const char *Env = std::getenv("CUPILOT_CACHE_DIR"))
    return Env;
  SmallString<256> Path;
  if (!sys::path::cache_directory(Path))
    return "";
  sys::path::append(Path, "cupilot");
  return Path.str().str();
}

MachineCacheEntry::MachineCacheEntry(StringRef Kind, StringRef Ending,
                                     const DigestBuilder &Key)
    : Ending(Ending) {
  if (std::string Root = machineCacheDirectory(); !Root.empty())
    Path = (Root + "/" + Kind + "/").str() + shortDigest(Key.str(), 40);
}

std::string MachineCacheEntry::describe(StringRef File) {
  sys::fs::file_status Status;
  if (sys::fs::status(File, Status))
    return "";
  return (Twine(Status.getSize()) + " " +
          Twine(Status.getLastModificationTime().time_since_epoch().count()) +
          " " + File)
      .str();
}

std::optional<CachedBytes> MachineCacheEntry::load() const {
  if (Path.empty() || !sys::fs::exists(Path + ".files"))
    return std::nullopt;
  Expected<std::string> Manifest = readFile(Path + ".files"),
                        Bytes = readFile(file());
  if (!Manifest || !Bytes) {
    consumeError(Manifest.takeError());
    consumeError(Bytes.takeError());
    return std::nullopt;
  }
  // The last line covers the bytes and the lines before it.
  auto [Above, Last] = StringRef(*Manifest).rtrim('\n').rsplit('\n');
  if (Last.empty())
    std::swap(Above, Last);
  if (Last != "digest " + DigestBuilder().add(Above).add(*Bytes).str())
    return std::nullopt;
  CachedBytes What;
  SmallVector<StringRef> Lines;
  Above.split(Lines, '\n', -1, false);
  for (StringRef Line : Lines)
    if (Line.consume_front("note "))
      What.Notes.push_back(Line.str());
    else if (Line != describe(Line.split(' ').second.split(' ').second))
      return std::nullopt;
  What.Bytes = std::move(*Bytes);
  return What;
}

bool MachineCacheEntry::isWritable() const {
  StringRef Folder = sys::path::parent_path(Path);
  return !Path.empty() && !sys::fs::create_directories(Folder) &&
         !sys::fs::access(Folder, sys::fs::AccessMode::Write);
}

bool MachineCacheEntry::store(const CachedBytes &What,
                              ArrayRef<std::string> Files) const {
  if (Path.empty())
    return false;
  std::vector<std::string> Lines;
  for (const std::string &File : Files)
    if (std::string Line = describe(File); !Line.empty())
      Lines.push_back(std::move(Line));
  for (const std::string &Note : What.Notes)
    Lines.push_back("note " + Note);
  std::string Above;
  for (const std::string &Line : Lines)
    Above += (Above.empty() ? "" : "\n") + Line;
  std::string Digest = DigestBuilder().add(Above).add(What.Bytes).str();
  if (!Above.empty())
    Above += '\n';
  Error E = writeFileAtomic(file(), What.Bytes);
  if (!E)
    E = writeFileAtomic(Path + ".files", Above + "digest " + Digest + "\n");
  bool Done = !E;
  consumeError(std::move(E));
  return Done;
}

void MachineCacheEntry::keepYoungest(unsigned Count) const {
  std::vector<std::pair<sys::TimePoint<>, std::string>> All;
  std::error_code EC;
  for (sys::fs::directory_iterator It(sys::path::parent_path(Path), EC), End;
       !EC && It != End; It.increment(EC)) {
    sys::fs::file_status Status;
    if (sys::path::extension(It->path()) == ".files" &&
        !sys::fs::status(It->path(), Status))
      All.push_back({Status.getLastModificationTime(), It->path()});
  }
  if (All.size() <= Count)
    return;
  llvm::sort(All, std::greater<>());
  for (size_t I = Count; I < All.size(); ++I) {
    SmallString<256> Bytes(All[I].second);
    sys::fs::remove(Bytes);
    sys::path::replace_extension(Bytes, Ending);
    sys::fs::remove(Bytes);
  }
}

} // namespace cupilot
