//===- Counters.cpp - Counters that outlive their process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Counters.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cupilot::capture {

struct Counters::Header {
  char Magic[8];
  std::atomic<uint64_t> Ended;
  std::atomic<uint64_t> Failed;
  uint64_t Unused[5];
};

static constexpr char Magic[9] = "cuPcnt01";

// The header is as large as two counters, so that these stay aligned.
static constexpr size_t HeaderSize = 64;
static constexpr size_t FileSize =
    HeaderSize + Counters::Capacity * sizeof(Counter);

Counters::~Counters() {
  if (Head)
    munmap(Head, FileSize);
}

std::optional<Failure> Counters::create(const std::string &Path) {
  static_assert(sizeof(Header) == HeaderSize);
  int File = ::open(Path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  // The blocks must exist: a full disk under a mapping is a SIGBUS.
  int Error = File < 0 ? errno : posix_fallocate(File, 0, FileSize);
  void *Memory = MAP_FAILED;
  if (!Error) {
    Memory =
        mmap(nullptr, FileSize, PROT_READ | PROT_WRITE, MAP_SHARED, File, 0);
    Error = Memory == MAP_FAILED ? errno : 0;
  }
  if (File >= 0)
    close(File);
  std::optional<Failure> Result;
  if (Error) {
    unlink(Path.c_str());
    Result = Failure(FailureKind::Disk,
                     "cannot write '" + Path + "': " + std::strerror(Error),
                     "free some space, or name another folder with -o");
    Memory = mmap(nullptr, FileSize, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (Memory == MAP_FAILED)
      return Result;
  }
  Head = static_cast<Header *>(Memory);
  std::memcpy(Head->Magic, Magic, sizeof(Head->Magic));
  Slots = reinterpret_cast<Counter *>(static_cast<char *>(Memory) + HeaderSize);
  return Result;
}

std::optional<Failure> Counters::open(const std::string &Path) {
  int File = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return Failure(FailureKind::BadRecording, "'" + Path + "' is missing",
                   "copy the folder again, or record again");
  struct stat Info;
  void *Memory = MAP_FAILED;
  if (fstat(File, &Info) == 0 && Info.st_size == FileSize)
    Memory = mmap(nullptr, FileSize, PROT_READ, MAP_PRIVATE, File, 0);
  close(File);
  if (Memory == MAP_FAILED || std::memcmp(Memory, Magic, 8) != 0) {
    if (Memory != MAP_FAILED)
      munmap(Memory, FileSize);
    return Failure(FailureKind::BadRecording, "'" + Path + "' is damaged",
                   "copy the folder again, or record again");
  }
  Head = static_cast<Header *>(Memory);
  Slots = reinterpret_cast<Counter *>(static_cast<char *>(Memory) + HeaderSize);
  return std::nullopt;
}

void Counters::setEnded() {
  if (Head)
    Head->Ended = 1;
}

bool Counters::ended() const { return Head && Head->Ended; }

void Counters::setFailed() {
  if (Head)
    Head->Failed = 1;
}

bool Counters::failed() const { return Head && Head->Failed; }

} // namespace cupilot::capture
