//===- LaunchMemory.cpp - Buffers of launches, large ones too -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchMemory.h"
#include "cupilot/Support/Pages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace cupilot {

void BufferContent::cut(uint64_t NewSize) {
  Size = std::min(Size, NewSize);
  if (!repeats())
    Drawn.resize(Size);
}

LaunchMemory::LaunchMemory(LaunchMemory &&Other) noexcept {
  *this = std::move(Other);
}

LaunchMemory &LaunchMemory::operator=(LaunchMemory &&Other) noexcept {
  std::swap(Storage, Other.Storage);
  std::swap(Base, Other.Base);
  std::swap(Size, Other.Size);
  std::swap(Mapped, Other.Mapped);
  return *this;
}

LaunchMemory::~LaunchMemory() {
  if (Mapped)
    ::munmap(Base, Mapped);
}

LaunchMemory LaunchMemory::scratch(uint64_t Size) {
  constexpr size_t Alignment = 256;
  LaunchMemory M;
  M.Storage.assign(Size + 2 * Alignment, 0xff);
  auto At = reinterpret_cast<uintptr_t>(M.Storage.data());
  M.Base = reinterpret_cast<uint8_t *>((At / Alignment + 1) * Alignment);
  M.Size = Size;
  return M;
}

static bool writeAll(int To, ArrayRef<uint8_t> Bytes) {
  while (!Bytes.empty()) {
    ssize_t Put = ::write(To, Bytes.data(), Bytes.size());
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put <= 0)
      return false;
    Bytes = Bytes.drop_front(size_t(Put));
  }
  return true;
}

/// A file without a name that holds \p Drawn so many times; -1 where none could
/// be made.
static int fileOf(ArrayRef<uint8_t> Drawn, uint64_t Times) {
  int File = ::memfd_create("cupilot-buffer", MFD_CLOEXEC);
  for (uint64_t I = 0; File >= 0 && I < Times; ++I)
    if (!writeAll(File, Drawn)) {
      ::close(File);
      return -1;
    }
  return File;
}

LaunchMemory LaunchMemory::create(const BufferContent &Content) {
  if (!Content.repeats()) {
    LaunchMemory M = scratch(Content.Size);
    if (Content.Size)
      std::memcpy(M.Base, Content.Drawn.data(), Content.Size);
    return M;
  }
  // A process has some 65,000 mappings.
  constexpr uint64_t MostPieces = 1000;
  const uint64_t Period = Content.Drawn.size();
  const uint64_t Times =
      divideCeil(divideCeil(Content.Size, Period), MostPieces);
  const uint64_t Piece = Period * Times;
  LaunchMemory M;
  const uint64_t Bytes = alignTo(Content.Size, pageSize());
  void *Place = ::mmap(nullptr, Bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Place == MAP_FAILED)
    return M;
  M.Base = static_cast<uint8_t *>(Place);
  M.Size = Content.Size;
  M.Mapped = Bytes;
  int File = fileOf(Content.Drawn, Times);
  for (uint64_t At = 0; File >= 0 && At < Bytes; At += Piece)
    if (::mmap(M.Base + At, std::min(Piece, Bytes - At), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, File,
               0) == MAP_FAILED) {
      ::close(File);
      File = -1;
    }
  if (File < 0)
    return {};
  ::close(File);
  return M;
}

static void add(std::vector<ByteRange> &Ranges, ByteRange R) {
  if (!Ranges.empty() && Ranges.back().To == R.From)
    Ranges.back().To = R.To;
  else
    Ranges.push_back(R);
}

std::vector<ByteRange> LaunchMemory::written() const {
  if (!Mapped)
    return {{0, Size}};
  std::vector<ByteRange> Ranges;
  for (auto [Page, Used] :
       enumerate(PageMap().used(Base, Mapped, PageMap::Use::Written)))
    if (Used)
      add(Ranges, {Page * pageSize(), std::min(Size, (Page + 1) * pageSize())});
  return Ranges;
}

std::vector<ByteRange> writtenByAny(ArrayRef<const LaunchMemory *> Runs) {
  std::vector<ByteRange> All, Ranges;
  for (const LaunchMemory *M : Runs)
    append_range(All, M->written());
  llvm::sort(All, [](const ByteRange &A, const ByteRange &B) {
    return A.From < B.From;
  });
  for (const ByteRange &R : All)
    if (!Ranges.empty() && R.From <= Ranges.back().To)
      Ranges.back().To = std::max(Ranges.back().To, R.To);
    else
      Ranges.push_back(R);
  return Ranges;
}

std::vector<uint8_t> gather(const LaunchMemory &M, ArrayRef<ByteRange> Ranges) {
  std::vector<uint8_t> Bytes;
  for (const ByteRange &R : Ranges)
    Bytes.insert(Bytes.end(), M.base() + R.From, M.base() + R.To);
  return Bytes;
}

uint64_t placeOf(ArrayRef<ByteRange> Ranges, uint64_t At) {
  for (const ByteRange &R : Ranges) {
    if (At < R.To - R.From)
      return R.From + At;
    At -= R.To - R.From;
  }
  return At;
}

bool equalIn(const LaunchMemory &A, const LaunchMemory &B,
             ArrayRef<ByteRange> Ranges) {
  return all_of(Ranges, [&](const ByteRange &R) {
    return std::memcmp(A.base() + R.From, B.base() + R.From, R.To - R.From) ==
           0;
  });
}

} // namespace cupilot
