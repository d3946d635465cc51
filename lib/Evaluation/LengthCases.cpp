//===- LengthCases.cpp - Loaded lengths, offsets and indices --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long rows are lies in memory, where no guard sees it. So rows of all
// lengths are tried, with buffers that have room for them: new elements repeat
// the old ones. Where other arguments forbid a length, the original faults, and
// the case is dropped.
//
//===----------------------------------------------------------------------===//

#include "InputValues.h"
#include "VariableCases.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Longer than any array of a block, and than 16 bits count.
static constexpr uint64_t LongRow = 70'000;
/// A prime: steps of any length reach each index below it.
static constexpr uint64_t ManyIndices = 70'001;
/// Bytes that buffers may grow by; a case that needs more is left out.
static constexpr uint64_t MostOfLengths = uint64_t(8) << 20;

namespace {
/// A list of lengths by its place.
struct Ladder {
  const char *Name;
  uint64_t (*Length)(uint64_t Row, uint64_t Rows, uint64_t Old, uint64_t Most,
                     uint64_t Sum);
};

using U = uint64_t;
/// Of offsets, whose sum counts, and of lengths as such.
constexpr Ladder Ladders[] = {
    {"empty rows", [](U, U, U, U, U) -> U { return 0; }},
    {"rows of 1", [](U, U, U, U, U) -> U { return 1; }},
    {"rows of 2", [](U, U, U, U, U) -> U { return 2; }},
    {"rows of odd lengths",
     [](U Row, U, U, U, U) -> U { return 2 * (Row % 9) + 1; }},
    {"rows of lengths to 300",
     // Some of each side of warps and blocks.
     [](U Row, U, U, U, U) -> U {
       constexpr U Near[] = {0,  1,   31,  32,  33,  63,  64,  65,
                             96, 127, 128, 129, 255, 256, 257, 300};
       return Near[Row * 7 % std::size(Near)];
     }},
    {"all in the first row",
     [](U Row, U, U, U, U Sum) -> U { return Row == 0 ? Sum : 0; }},
    {"all in a middle row",
     [](U Row, U Rows, U, U, U Sum) -> U { return Row == Rows / 2 ? Sum : 0; }},
    {"all in the last row",
     [](U Row, U Rows, U, U, U Sum) -> U { return Row + 1 == Rows ? Sum : 0; }},
    {"equal rows", [](U, U Rows, U, U, U Sum) -> U { return Sum / Rows; }},
    {"one row of 16 times the longest",
     [](U Row, U Rows, U Old, U Most, U) -> U {
       return Row == Rows / 3 ? 16 * Most : Old;
     }},
    {"one row of 70000",
     [](U Row, U Rows, U, U, U) -> U {
       return Row == 2 * Rows / 3 ? LongRow : Row % 2;
     }},
};
} // namespace

namespace {
/// The integers that a case changes: of a buffer, or of a device variable.
struct IntegerList {
  std::string Name; ///< "buffer 1", "offsets".
  size_t Buffer = NoBuffer;
  LoadedFrom From; ///< Where there is no buffer ...
  Bytes Start;     ///< ... and what the variable holds at first.
  static constexpr size_t NoBuffer = ~size_t(0);

  std::vector<int64_t> in(const GateCase &C) const;
  void set(GateCase &C, ArrayRef<int64_t> Values) const;
};
} // namespace

std::vector<int64_t> IntegerList::in(const GateCase &C) const {
  if (Buffer == NoBuffer)
    return integersAt(From, Start);
  std::vector<int64_t> Values;
  Bytes Copy = C.Buffers[Buffer];
  transformIntegers(Copy, C.Layouts[Buffer], [&](uint64_t, int64_t V) {
    Values.push_back(V);
    return V;
  });
  return Values;
}

void IntegerList::set(GateCase &C, ArrayRef<int64_t> Values) const {
  if (Buffer == NoBuffer)
    setIntegersAt(From, Values, variableIn(C, From.Variable, Start));
  else
    transformIntegers(C.Buffers[Buffer], C.Layouts[Buffer],
                      [&](uint64_t I, int64_t) { return Values[I]; });
}

/// Gives buffers that hold \p Old elements for each of \p Rows, or a multiple,
/// room for \p New in one of them. No copy of what they held is like another:
/// an index that lost bits must not find the same there. False where that is
/// too much.
static bool makeRoom(GateCase &C, size_t Except, uint64_t Rows, uint64_t Old,
                     uint64_t New) {
  if (New <= Old)
    return true;
  uint64_t Added = 0;
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    Bytes &To = C.Buffers[I];
    uint64_t Stride = C.Layouts[I].Stride, N = To.size() / Stride;
    if (I == Except || N == 0 || N < Old)
      continue;
    uint64_t Times = Old ? divideCeil(N, Old * Rows) : 1;
    uint64_t More = Times * (New - Old) * Stride;
    Added += More;
    if (Added > MostOfLengths)
      return false;
    const Bytes From = To;
    To.resize(From.size() + More);
    if (C.Layouts[I].hasFloats()) {
      for (uint64_t At = N * Stride; At < To.size(); At += N * Stride)
        std::memcpy(To.data() + At, From.data(),
                    std::min<uint64_t>(N * Stride, To.size() - At));
      varyCopies(C, I, N * Stride, /*Seed=*/0);
      continue;
    }
    // Integers may be indices themselves: the same ones, from another on.
    for (uint64_t E = N; (E + 1) * Stride <= To.size(); ++E)
      std::memcpy(To.data() + E * Stride,
                  From.data() + (E + E / N) % N * Stride, Stride);
  }
  return true;
}

static void addMade(const GateCase &Base, const Twine &Name,
                    const std::function<bool(GateCase &)> &Change,
                    CaseMakers &Makers) {
  std::string Text = Name.str();
  GateCase Trial = Base;
  if (Change(Trial))
    Makers.push_back({Base.Name + " " + Text, [&Base, Text, Change] {
                        GateCase C = varied(Base, Text);
                        Change(C);
                        return C;
                      }});
}

/// Offsets that rise: rows go from one to the next.
static void addOffsets(const GateCase &Base, const IntegerList &List,
                       CaseMakers &Makers) {
  std::vector<int64_t> Old = List.in(Base);
  // A variable has a fixed size, of which the rest may be unused.
  if (List.Buffer == IntegerList::NoBuffer)
    while (Old.size() > 2 && Old.back() == 0)
      Old.pop_back();
  if (Old.size() < 2 || Old.front() < 0 || !is_sorted(Old))
    return;
  for (const Ladder &L : Ladders)
    addMade(
        Base, Twine(L.Name) + " by " + List.Name,
        [L, List, Old](GateCase &C) {
          U Rows = Old.size() - 1, Most = 1,
            Sum = static_cast<U>(Old.back() - Old.front());
          for (U R = 0; R < Rows; ++R)
            Most = std::max<U>(Most, Old[R + 1] - Old[R]);
          std::vector<int64_t> New = Old;
          for (U R = 0; R < Rows; ++R)
            New[R + 1] = New[R] + static_cast<int64_t>(L.Length(
                                      R, Rows, Old[R + 1] - Old[R], Most, Sum));
          bool Fits = makeRoom(C, List.Buffer, 1, static_cast<U>(Old.back()),
                               static_cast<U>(New.back()));
          List.set(C, New);
          return Fits && New != Old;
        },
        Makers);
}

/// Lengths as such: each row has a place of its own.
static void addLengths(const GateCase &Base, const IntegerList &List,
                       CaseMakers &Makers) {
  std::vector<int64_t> Old = List.in(Base);
  if (Old.empty() ||
      any_of(Old, [](int64_t V) { return V < 0 || V > int64_t(LongRow) * 16; }))
    return;
  for (const Ladder &L : Ladders)
    addMade(
        Base, Twine(L.Name) + " by " + List.Name,
        [L, List, Old](GateCase &C) {
          auto Most = static_cast<U>(*llvm::max_element(Old));
          std::vector<int64_t> New = Old;
          for (U R = 0; R < Old.size(); ++R)
            New[R] = static_cast<int64_t>(L.Length(R, Old.size(),
                                                   static_cast<U>(Old[R]),
                                                   std::max<U>(Most, 1), Most));
          auto Longest = static_cast<U>(*llvm::max_element(New));
          bool Fits = makeRoom(C, List.Buffer, Old.size(), Most, Longest);
          List.set(C, New);
          return Fits && New != Old;
        },
        Makers);
}

/// Indices beyond 16 bits, each once.
static void addIndices(const GateCase &Base, const IntegerList &List,
                       CaseMakers &Makers) {
  std::vector<int64_t> Old = List.in(Base);
  if (Old.empty() || Old.size() >= ManyIndices ||
      any_of(Old, [](int64_t V) { return V < 0; }))
    return;
  addMade(
      Base, "indices to 70000 by " + List.Name,
      [List, Old](GateCase &C) {
        constexpr U Step = 39'119;
        std::vector<int64_t> New(Old.size());
        for (U I = 0; I < New.size(); ++I)
          New[I] =
              static_cast<int64_t>((ManyIndices - 1 + I * Step) % ManyIndices);
        bool Fits =
            makeRoom(C, List.Buffer, 1,
                     static_cast<U>(*llvm::max_element(Old)) + 1, ManyIndices);
        List.set(C, New);
        return Fits;
      },
      Makers);
}

/// The constants that the original compares a buffer's integers with, and their
/// neighbours: among others, and each by itself.
static void addConstants(const GateCase &Base, const LoadedIntegers &L,
                         size_t Buffer, CaseMakers &Makers) {
  constexpr size_t MostMixed = 24, MostAlone = 6;
  auto Add = [&](const Twine &Name, const auto &Change) {
    Makers.push_back(
        {Base.Name + " " + Name.str(),
         [&Base, Buffer, Name = Name.str(), Change] {
           GateCase C = varied(Base, Name + " buffer " + Twine(Buffer));
           transformIntegers(C.Buffers[Buffer], C.Layouts[Buffer], Change);
           return C;
         }});
  };
  ArrayRef<int64_t> Constants(L.Constants);
  std::vector<int64_t> Mixed;
  for (int64_t Near : {0, 1, -1})
    for (int64_t C : Constants.take_front(MostMixed))
      Mixed.push_back(
          static_cast<int64_t>(static_cast<uint64_t>(C) + uint64_t(Near)));
  if (Mixed.empty())
    return;
  Add("constants", [Mixed](uint64_t Index, int64_t V) {
    return Index % 2 ? V : Mixed[Index / 2 % Mixed.size()];
  });
  for (int64_t C : Constants.take_front(MostAlone))
    Add("all " + Twine(C), [C](uint64_t, int64_t) { return C; });
}

void addLengthCases(const GateCase &Base, ArrayRef<LoadedIntegers> Loaded,
                    ArrayRef<std::pair<std::string, Bytes>> Variables,
                    double Cost, CaseMakers &Makers) {
  std::vector<CaseMakers> Each;
  auto Add = [&](const LoadedIntegers &L, const IntegerList &List) {
    CaseMakers Own;
    if (L.Begins)
      addOffsets(Base, List, Own);
    else if (L.Turns)
      addLengths(Base, List, Own);
    if (L.Addresses && !L.Begins)
      addIndices(Base, List, Own);
    Each.push_back(std::move(Own));
  };
  for (const LoadedIntegers &L : Loaded) {
    for (const WorkloadPointer &P : Base.Pointers)
      if (L.From.Variable.empty() && P.Param == L.From.Pointer.Param &&
          P.Offset == L.From.Pointer.Offset && P.BufferOffset == 0 &&
          Base.Layouts[P.Buffer].hasIntegers() &&
          (Base.PureOutput.empty() || !Base.PureOutput[P.Buffer])) {
        Add(L, {"buffer " + std::to_string(P.Buffer), P.Buffer, {}, {}});
        if (L.Decides)
          addConstants(Base, L, P.Buffer, Each.back());
      }
    const Bytes *Start = variableBefore(Base, L.From.Variable, Variables);
    if (Start && L.From.Step && !L.Changed)
      Add(L, {L.From.Variable, IntegerList::NoBuffer, L.From, *Start});
  }
  Each.emplace_back();
  addVariableCases(Base, Loaded, Variables, Cost, Each.back());
  appendInTurn(std::move(Each), Makers);
}

} // namespace cupilot
