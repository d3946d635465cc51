//===- Files.cpp - Files of a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Files.h"
#include "Parallel.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Portable/Files.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

namespace cupilot::runner {

static std::string why() { return std::strerror(errno); }

std::string readWhole(const std::string &Path) {
  std::string Text;
  if (std::error_code Error = loadFile(Path, Text))
    throw Failure(Error == std::errc::no_such_file_or_directory
                      ? FailureKind::MissingFile
                      : FailureKind::UnreadableFile,
                  "'" + Path + "' cannot be read: " + Error.message());
  return Text;
}

void writeWhole(const std::string &Path, std::string_view Bytes) {
  if (std::error_code Error = replaceFile(Path, Bytes, /*Flushed=*/true))
    throw Failure(FailureKind::Disk,
                  "'" + Path + "' cannot be written: " + Error.message());
}

bool exists(const std::string &Path) {
  return ::access(Path.c_str(), F_OK) == 0;
}

void makeFolder(const std::string &Path) {
  std::error_code Error;
  std::filesystem::create_directories(Path, Error);
  if (Error)
    throw Failure(FailureKind::Disk,
                  "the folder '" + Path +
                      "' cannot be made: " + Error.message());
}

MappedFile::MappedFile(const std::string &Path) {
  int FD = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat Info;
  if (FD < 0 || ::fstat(FD, &Info) != 0) {
    std::string Why = why();
    bool Missing = errno == ENOENT;
    if (FD >= 0)
      ::close(FD);
    throw Failure(Missing ? FailureKind::MissingFile
                          : FailureKind::UnreadableFile,
                  "'" + Path + "' cannot be read: " + Why);
  }
  Size = size_t(Info.st_size);
  void *Map =
      Size ? ::mmap(nullptr, Size, PROT_READ, MAP_PRIVATE, FD, 0) : nullptr;
  ::close(FD);
  if (Map == MAP_FAILED)
    throw Failure(FailureKind::UnreadableFile,
                  "'" + Path + "' cannot be mapped");
  Begin = static_cast<const char *>(Map);
}

MappedFile::MappedFile(MappedFile &&Other) noexcept
    : Begin(Other.Begin), Size(Other.Size) {
  Other.Begin = nullptr;
  Other.Size = 0;
}

MappedFile::~MappedFile() {
  if (Begin)
    ::munmap(const_cast<char *>(Begin), Size);
}

NewFile::NewFile(const std::string &Path, uint64_t Size) : Size(Size) {
  int FD = ::open(Path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  // To make room takes one thread as long as to copy. For large files it is
  // enough that there is room, and many threads take it.
  constexpr uint64_t Large = uint64_t(64) << 20;
  struct statvfs Room;
  bool Made = FD >= 0;
  if (Made && Size > Large)
    Made = ::fstatvfs(FD, &Room) == 0 &&
           uint64_t(Room.f_bavail) * Room.f_frsize > Size + Large &&
           ::ftruncate(FD, off_t(Size)) == 0;
  else if (Made && Size)
    Made = ::posix_fallocate(FD, 0, off_t(Size)) == 0;
  void *Map = Made && Size ? ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                                    MAP_SHARED, FD, 0)
                           : nullptr;
  if (FD >= 0)
    ::close(FD);
  if (!Made || Map == MAP_FAILED)
    throw Failure(FailureKind::Disk, "no room for " + std::to_string(Size) +
                                         " bytes in '" + Path + "'");
  Begin = static_cast<uint8_t *>(Map);
  if (Size > Large)
    eachPart(Size, [&](uint64_t, uint64_t From, uint64_t To) {
      constexpr uint64_t Page = 4096;
      for (uint64_t At = From; At < To; At += Page)
        static_cast<volatile uint8_t *>(Begin)[At] = 0;
    });
}

NewFile::~NewFile() {
  if (Begin)
    ::munmap(Begin, Size);
}

uint64_t freeBytes(const std::string &Path) {
  struct statvfs Room;
  return ::statvfs(Path.c_str(), &Room) == 0
             ? uint64_t(Room.f_bavail) * Room.f_frsize
             : 0;
}

ScratchFolder::ScratchFolder() {
  const char *Given = std::getenv("TMPDIR");
  std::string Disk = Given && *Given ? Given : "/tmp";
  bool InMemory = freeBytes("/dev/shm") > (uint64_t(8) << 30);
  for (const std::string &Root :
       {std::string(InMemory ? "/dev/shm" : Disk), Disk}) {
    std::string Template = Root + "/cupilot-runner-XXXXXX";
    if (::mkdtemp(Template.data())) {
      Path = Template;
      return;
    }
  }
  throw Failure(FailureKind::Disk, "no folder for temporary files: " + why());
}

ScratchFolder::~ScratchFolder() {
  std::error_code Ignored;
  std::filesystem::remove_all(Path, Ignored);
}

std::string ScratchFolder::fresh(std::string_view Hint) {
  return Path + "/" + std::to_string(Next++) + "-" + std::string(Hint);
}

std::string inflated(std::string_view Packed, uint64_t Size) {
  std::string Bytes(Size, 0);
  uLongf Got = Size;
  int Status = ::uncompress(reinterpret_cast<Bytef *>(Bytes.data()), &Got,
                            reinterpret_cast<const Bytef *>(Packed.data()),
                            Packed.size());
  if (Status != Z_OK || Got != Size)
    throw Failure(FailureKind::DataDamaged,
                  "packed data cannot be unpacked to " + std::to_string(Size) +
                      " bytes");
  return Bytes;
}

} // namespace cupilot::runner
