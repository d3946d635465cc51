//===- Parcel.cpp - Messages to and from cupilot-compile -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parcel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
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

namespace {
/// Takes a parcel apart, in the order in which it was made.
class Reader {
public:
  explicit Reader(const Parcel &P) : P(P) {}
  std::string text() {
    if (At < P.size())
      return P[At++];
    Broken = true;
    return "";
  }
  uint64_t number() {
    uint64_t Number = 0;
    Broken |= StringRef(text()).getAsInteger(10, Number);
    return Number;
  }
  std::vector<std::string> list() {
    std::vector<std::string> All(std::min<uint64_t>(number(), P.size()));
    for (std::string &Each : All)
      Each = text();
    return All;
  }
  bool isGood() const { return !Broken && At == P.size(); }

private:
  const Parcel &P;
  size_t At = 0;
  bool Broken = false;
};
} // namespace

static void add(Parcel &P, const std::vector<std::string> &List) {
  P.push_back(utostr(List.size()));
  append_range(P, List);
}

Parcel toParcel(const TextRequest &Text, const TextLimits &Limits) {
  Parcel P = {Text.Source,
              Text.Arch,
              Text.Name,
              utostr(Text.Original.Prints),
              utostr(Limits.CpuSeconds),
              utostr(Limits.AddressBytes),
              utostr(Limits.WallSeconds)};
  add(P, Text.Flags);
  add(P, Text.Original.Variables);
  return P;
}

std::optional<TextRequest> requestFrom(const Parcel &P, TextLimits &Limits) {
  Reader From(P);
  TextRequest Text;
  Text.Source = From.text();
  Text.Arch = From.text();
  Text.Name = From.text();
  Text.Original.Prints = From.number();
  Limits.CpuSeconds = unsigned(From.number());
  Limits.AddressBytes = From.number();
  Limits.WallSeconds = unsigned(From.number());
  Text.Flags = From.list();
  Text.Original.Variables = From.list();
  if (!From.isGood())
    return std::nullopt;
  return Text;
}

Parcel toParcel(const CompiledText &Text) {
  Parcel P = {utostr(unsigned(Text.Fate)), Text.Message, Text.Bitcode, Text.Ptx,
              utostr(Text.Findings.size())};
  for (const AdmissionFinding &F : Text.Findings)
    append_range(P, Parcel{F.Rule, utostr(F.Line), F.Message});
  return P;
}

std::optional<CompiledText> answerFrom(const Parcel &P) {
  Reader From(P);
  CompiledText Text;
  uint64_t Fate = From.number();
  if (Fate > unsigned(TextFate::BeyondLimits))
    return std::nullopt;
  Text.Fate = static_cast<TextFate>(Fate);
  // Messages quote texts, which are any bytes.
  Text.Message = json::fixUTF8(From.text());
  Text.Bitcode = From.text();
  Text.Ptx = From.text();
  for (uint64_t I = 0, E = std::min<uint64_t>(From.number(), P.size()); I < E;
       ++I) {
    AdmissionFinding F;
    F.Rule = From.text();
    F.Line = unsigned(From.number());
    F.Message = json::fixUTF8(From.text());
    Text.Findings.push_back(std::move(F));
  }
  if (!From.isGood())
    return std::nullopt;
  return Text;
}

} // namespace cupilot
