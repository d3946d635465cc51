//===- File.cpp - Whole files in, whole files out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/File.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

Expected<std::string> readFile(StringRef Path) {
  auto Buffer = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (Buffer)
    return (*Buffer)->getBuffer().str();
  std::error_code EC = Buffer.getError();
  if (EC == std::errc::no_such_file_or_directory)
    return usageError("there is no file '" + Path + "'");
  return resourceError("cannot read '" + Path + "': " + EC.message());
}

Error ensureDirectory(StringRef Path) {
  if (Path.empty())
    return Error::success();
  if (std::error_code EC = sys::fs::create_directories(Path))
    return resourceError("cannot create the folder '" + Path +
                         "': " + EC.message());
  return Error::success();
}

Expected<std::vector<std::string>> filesIn(StringRef Folder, StringRef Ending) {
  std::vector<std::string> Paths;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Folder, EC), End; !EC && It != End;
       It.increment(EC))
    if (StringRef(It->path()).ends_with(Ending))
      Paths.push_back(It->path());
  if (EC && EC != std::errc::no_such_file_or_directory)
    return resourceError("cannot read the folder '" + Folder +
                         "': " + EC.message());
  llvm::sort(Paths);
  return Paths;
}

/// Writes to what cannot be replaced: a device or a pipe.
static Error writeInPlace(StringRef Path, StringRef Content) {
  int FD = -1;
  std::error_code EC = sys::fs::openFileForWrite(
      Path, FD, sys::fs::CD_OpenExisting, sys::fs::OF_None);
  if (!EC) {
    raw_fd_ostream OS(FD, /*shouldClose=*/true);
    OS << Content;
    OS.close();
    EC = OS.error();
    OS.clear_error();
  }
  if (EC)
    return resourceError("cannot write '" + Path + "': " + EC.message());
  return Error::success();
}

/// Blocks of zeros of large contents become holes: recorded buffers that a
/// launch only writes take no room.
static void writeSparse(raw_fd_ostream &OS, StringRef Content) {
  constexpr size_t Block = 64 << 10;
  static const char Zeros[Block] = {};
  while (Content.size() > Block) {
    StringRef Next = Content.take_front(Block);
    if (std::memcmp(Next.data(), Zeros, Block) == 0)
      OS.seek(OS.tell() + Block);
    else
      OS << Next;
    Content = Content.drop_front(Block);
  }
  OS << Content;
}

Error writeFileAtomic(StringRef Path, StringRef Content) {
  if (Error E = ensureDirectory(sys::path::parent_path(Path)))
    return E;
  sys::fs::file_status Status;
  if (!sys::fs::status(Path, Status) && !sys::fs::is_regular_file(Status) &&
      !sys::fs::is_directory(Status))
    return writeInPlace(Path, Content);
  Expected<sys::fs::TempFile> Temp =
      sys::fs::TempFile::create(Path + ".tmp-%%%%%%%%", 0666 & ~022);
  if (!Temp)
    return resourceError("cannot write '" + Path +
                         "': " + toString(Temp.takeError()));
  std::error_code EC;
  {
    raw_fd_ostream OS(Temp->FD, /*shouldClose=*/false);
    writeSparse(OS, Content);
    OS.flush();
    EC = OS.error();
    OS.clear_error();
  }
  // A hole at the end is no part of the file yet.
  if (!EC)
    EC = sys::fs::resize_file(Temp->FD, Content.size());
  if (!EC && ::fsync(Temp->FD) != 0)
    EC = std::error_code(errno, std::generic_category());
  if (EC) {
    consumeError(Temp->discard());
    return resourceError("cannot write '" + Path + "': " + EC.message(),
                         "the old content, if any, is unchanged; free some "
                         "space or choose another folder");
  }
  if (Error E = Temp->keep(Path))
    return resourceError("cannot write '" + Path +
                         "': " + toString(std::move(E)));
  return Error::success();
}

Error updateFile(StringRef Path, StringRef Content) {
  auto Old = MemoryBuffer::getFile(Path, false, false);
  if (Old && (*Old)->getBuffer() == Content)
    return Error::success();
  return writeFileAtomic(Path, Content);
}

Expected<std::optional<FileLock>> FileLock::tryLock(StringRef Path,
                                                    uint64_t Place) {
  if (Error E = ensureDirectory(sys::path::parent_path(Path)))
    return std::move(E);
  int FD = -1;
  if (std::error_code EC = sys::fs::openFileForReadWrite(
          Path, FD, sys::fs::CD_OpenAlways, sys::fs::OF_None))
    return resourceError("cannot open the lock '" + Path +
                         "': " + EC.message());
  FileLock Lock(FD);
  struct flock Range = {};
  Range.l_type = F_WRLCK;
  Range.l_whence = SEEK_SET;
  Range.l_start = static_cast<off_t>(Place >> 2); // Must stay positive.
  Range.l_len = 1;
  if (::fcntl(FD, F_OFD_SETLK, &Range) == 0)
    return std::optional(std::move(Lock));
  if (errno == EAGAIN || errno == EACCES)
    return std::nullopt;
  return resourceError("cannot lock '" + Path +
                       "': " + std::generic_category().message(errno));
}

Expected<std::optional<FileLock>>
FileLock::lockWithin(StringRef Path, uint64_t Place,
                     std::chrono::milliseconds MostWait) {
  constexpr std::chrono::milliseconds Pause(20);
  for (;; MostWait -= Pause) {
    Expected<std::optional<FileLock>> Lock = tryLock(Path, Place);
    if (!Lock || *Lock || MostWait.count() <= 0)
      return Lock;
    std::this_thread::sleep_for(Pause);
  }
}

FileLock::~FileLock() {
  if (FD < 0)
    return;
  // A process that was forked meanwhile has the file open as well, and would
  // keep the lock.
  struct flock Range = {};
  Range.l_type = F_UNLCK;
  Range.l_whence = SEEK_SET;
  ::fcntl(FD, F_OFD_SETLK, &Range);
  ::close(FD);
}

std::string findUpward(StringRef File, StringRef Name) {
  SmallString<256> Folder(File);
  sys::fs::make_absolute(Folder);
  sys::path::remove_dots(Folder, /*remove_dot_dot=*/true);
  sys::path::remove_filename(Folder);
  while (!Folder.empty()) {
    SmallString<256> Candidate(Folder);
    sys::path::append(Candidate, Name);
    if (sys::fs::is_directory(Candidate))
      return Candidate.str().str();
    StringRef Parent = sys::path::parent_path(Folder);
    if (Parent.size() == Folder.size())
      break;
    Folder.resize(Parent.size());
  }
  return "";
}

Expected<TemporaryDirectory> TemporaryDirectory::create(StringRef Prefix) {
  SmallString<256> Path;
  if (std::error_code EC = sys::fs::createUniqueDirectory(Prefix, Path))
    return resourceError("cannot create a temporary folder: " + EC.message(),
                         "set TMPDIR to a writable folder");
  return TemporaryDirectory(Path.str().str());
}

Expected<TemporaryDirectory>
TemporaryDirectory::createFor(StringRef Prefix, StringRef Content,
                              std::chrono::milliseconds MostWait) {
  const uint64_t Key = xxh3_64bits(Content);
  SmallString<256> Path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, Path);
  sys::path::append(Path, Prefix + "-" + Twine(::getuid()));
  Expected<std::optional<FileLock>> Lock =
      FileLock::lockWithin((Path + ".lock").str(), Key, MostWait);
  if (!Lock) { // Another user's file, say.
    consumeError(Lock.takeError());
    return create(Prefix);
  }
  Path += "-" + utohexstr(Key, /*LowerCase=*/true);
  // Whoever was killed left one behind. A link is nobody's folder.
  sys::fs::file_status Left;
  if (*Lock && !sys::fs::status(Path, Left, /*Follow=*/false) &&
      Left.type() == sys::fs::file_type::directory_file &&
      Left.getUser() == ::getuid())
    sys::fs::remove_directories(Path);
  if (!*Lock || sys::fs::create_directory(Path, /*IgnoreExisting=*/false,
                                          sys::fs::owner_all))
    return create(Prefix);
  return TemporaryDirectory(Path.str().str(), std::move(*Lock));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!Path.empty())
    sys::fs::remove_directories(Path);
}

std::string TemporaryDirectory::file(StringRef Name) const {
  SmallString<256> Full(Path);
  sys::path::append(Full, Name);
  return Full.str().str();
}

} // namespace cupilot
