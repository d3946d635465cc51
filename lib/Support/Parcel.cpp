//===- Parcel.cpp - Messages between processes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Parcel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

/// No message is longer: it is damaged.
static constexpr uint64_t LongestMessage = uint64_t(1) << 30;

static bool writeAll(int FD, const char *From, size_t Size) {
  while (Size) {
    ssize_t N = ::write(FD, From, Size);
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return false;
    From += N;
    Size -= size_t(N);
  }
  return true;
}

bool sendParcel(int FD, const Parcel &P) {
  std::string Head;
  auto Add = [&](uint64_t Number) {
    Head.append(reinterpret_cast<const char *>(&Number), sizeof(Number));
  };
  Add(P.size());
  for (const std::string &Part : P)
    Add(Part.size());
  if (!writeAll(FD, Head.data(), Head.size()))
    return false;
  return all_of(P, [&](const std::string &Part) {
    return writeAll(FD, Part.data(), Part.size());
  });
}

static ParcelEnd readAll(int FD, char *To, size_t Size, unsigned Seconds) {
  while (Size) {
    pollfd Ready{FD, POLLIN, 0};
    int Found = ::poll(&Ready, 1, Seconds ? int(Seconds) * 1000 : -1);
    if (Found < 0 && errno == EINTR)
      continue;
    if (Found == 0)
      return ParcelEnd::Late;
    ssize_t N = ::read(FD, To, Size);
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      return ParcelEnd::Closed;
    To += N;
    Size -= size_t(N);
  }
  return ParcelEnd::Whole;
}

ParcelEnd receiveParcel(int FD, Parcel &P, unsigned Seconds) {
  uint64_t Count = 0;
  auto Read = [&](void *To, size_t Size) {
    return readAll(FD, static_cast<char *>(To), Size, Seconds);
  };
  if (ParcelEnd E = Read(&Count, sizeof(Count)); E != ParcelEnd::Whole)
    return E;
  if (Count > LongestMessage / sizeof(uint64_t))
    return ParcelEnd::Closed;
  std::vector<uint64_t> Sizes(Count);
  if (ParcelEnd E = Read(Sizes.data(), Count * sizeof(uint64_t));
      E != ParcelEnd::Whole)
    return E;
  P.clear();
  for (uint64_t Size : Sizes) {
    if (Size > LongestMessage)
      return ParcelEnd::Closed;
    P.emplace_back(Size, 0);
    if (ParcelEnd E = Read(P.back().data(), Size); E != ParcelEnd::Whole)
      return E;
  }
  return ParcelEnd::Whole;
}

void addList(Parcel &P, const std::vector<std::string> &List) {
  P.push_back(utostr(List.size()));
  append_range(P, List);
}

} // namespace cupilot
