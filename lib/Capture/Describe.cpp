//===- Describe.cpp - Contents by their description -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Describe.h"
#include "cupilot/Capture/Pointees.h"
#include "cupilot/Capture/Run.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace cupilot::capture {

using runner::NumberKind;

static constexpr const char *KeepingWords[] = {"whole", "describe", "both"};

const char *wordOf(Keeping K) { return KeepingWords[static_cast<size_t>(K)]; }

std::optional<Keeping> keepingOf(std::string_view Word) {
  for (size_t I = 0; I < std::size(KeepingWords); ++I)
    if (Word == KeepingWords[I])
      return static_cast<Keeping>(I);
  return std::nullopt;
}

namespace {
/// Of all numbers of a content; the range is that of those that are not 0.
struct NumberRange {
  uint64_t Zeros = 0, Others = 0;
  double Low = HUGE_VAL, High = -HUGE_VAL;
  void add(double V) {
    if (V == 0) {
      ++Zeros;
      return;
    }
    ++Others;
    Low = std::min(Low, V);
    High = std::max(High, V);
  }
};
} // namespace

/// Whether each integer comes once. \p Size of them lie in \p Span values.
template <typename Reader>
static bool allDifferent(uint64_t Count, int64_t Low, uint64_t Span,
                         Reader Read) {
  // In a wider range they were spread by chance; a narrower one holds too few.
  constexpr uint64_t Widest = 64;
  if (Span < Count || Span / Widest > Count)
    return false;
  std::vector<bool> Seen(Span);
  for (uint64_t I = 0; I < Count; ++I) {
    auto At = static_cast<uint64_t>(Read(I) - Low);
    if (Seen[At])
      return false;
    Seen[At] = true;
  }
  return true;
}

static std::string number(double V) {
  char Text[40];
  // The shortest that reads back as the same.
  auto [End, Error] = std::to_chars(Text, Text + sizeof(Text), V);
  return std::string(Text, End);
}

std::optional<std::string> describeNumbers(NumberKind Kind,
                                           std::string_view Bytes,
                                           std::string_view Digest) {
  const unsigned Width = sizeOf(Kind);
  const uint64_t Count = Bytes.size() / Width;
  const auto *At = reinterpret_cast<const uint8_t *>(Bytes.data());
  // Bytes may be anything, and bytes at the end are no number.
  if (Width == 1 || Count == 0 || Bytes.size() % Width)
    return std::nullopt;
  NumberRange R;
  bool Ascends = true;
  if (isFloating(Kind)) {
    Ascends = false;
    for (uint64_t I = 0; I < Count; ++I) {
      double V = readNumber(Kind, At + I * Width);
      if (!std::isfinite(V))
        return std::nullopt;
      R.add(V);
    }
  } else {
    auto Read = [&](uint64_t I) { return readInteger(Kind, At + I * Width); };
    constexpr int64_t Most = int64_t(1) << 53; // That a double holds.
    int64_t Least = INT64_MAX, Greatest = INT64_MIN;
    for (uint64_t I = 0; I < Count; ++I) {
      int64_t V = Read(I);
      if (V < -Most || V > Most)
        return std::nullopt;
      Ascends &= I == 0 || V >= Read(I - 1);
      Least = std::min(Least, V);
      Greatest = std::max(Greatest, V);
      R.add(static_cast<double>(V));
    }
    if (Least != Greatest &&
        (Ascends ||
         allDifferent(Count, Least, static_cast<uint64_t>(Greatest - Least) + 1,
                      Read)))
      return std::nullopt;
  }
  std::string Text(wordOf(Kind));
  if (!R.Others)
    return Text + " zeros";
  if (R.Low == R.High)
    Text += " value=" + number(R.Low);
  else
    Text += " rand low=" + number(R.Low) + " high=" + number(R.High);
  if (R.Zeros)
    Text += " zeros=" +
            number(static_cast<double>(R.Zeros) / static_cast<double>(Count));
  if (R.Low == R.High && !R.Zeros)
    return Text;
  uint64_t Seed = 0; // Short ones are read more easily.
  for (char C : Digest.substr(0, 16))
    Seed = (Seed * 31 + static_cast<unsigned char>(C)) % 1000000;
  return Text + " seed=" + std::to_string(Seed);
}

/// The numbers in buffer \p Index of \p L, if all pointers into it agree.
static std::optional<NumberKind>
numbersIn(const Launch &L, unsigned Index,
          const std::vector<std::optional<Pointee>> &Types) {
  std::optional<NumberKind> Kind;
  for (const Pointer &P : L.Pointers) {
    if (P.Buffer != Index)
      continue;
    if (P.Offset != 0 || P.Param >= Types.size() || !Types[P.Param])
      return std::nullopt;
    NumberKind Own = Types[P.Param]->Numbers;
    if ((Kind && *Kind != Own) || P.At % sizeOf(Own))
      return std::nullopt;
    Kind = Own;
  }
  return Kind;
}

std::optional<Failure> describeContents(const std::string &Folder,
                                        uint64_t Above, Record &R) {
  for (Launch &L : R.Launches) {
    if (!L.Kept)
      continue;
    std::vector<std::optional<Pointee>> Types = pointeesOf(L.Kernel);
    if (Types.size() != L.Args.size())
      continue;
    for (unsigned I = 0; I < L.Buffers.size(); ++I) {
      Content &C = L.Buffers[I];
      std::optional<NumberKind> Kind = numbersIn(L, I, Types);
      if (C.Size <= Above || !Kind || !C.Generator.empty())
        continue;
      std::string Bytes;
      if (auto F = readContent(Folder, C.Digest, C.Size, Bytes))
        return F;
      if (auto Text = describeNumbers(*Kind, Bytes, C.Digest))
        C.Generator = *Text;
    }
  }
  return std::nullopt;
}

std::optional<Failure> dropDescribed(const std::string &Folder, Record &R) {
  for (Launch &L : R.Launches) {
    if (std::ranges::none_of(L.Buffers, &Content::isDescribed))
      continue;
    for (Content &B : L.Buffers)
      B.HasAfter = false;
  }
  removeUnused(Folder, R, /*Described=*/false);
  return writeRecord(Folder, R);
}

bool hasContents(const std::string &Folder, const Launch &L) {
  return std::ranges::all_of(L.Buffers, [&](const Content &B) {
    return !B.isDescribed() || hasContent(Folder, B.Digest);
  });
}

} // namespace cupilot::capture
