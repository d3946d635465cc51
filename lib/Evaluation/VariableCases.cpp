//===- VariableCases.cpp - Integers of device variables -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A count in constant memory is like an argument that no guard sees: a variant
// must be right with all that the original bears. So it gets the ladder that
// arguments get, and buffers that bear it; where they do not, the original
// faults, and the case is dropped.
//
//===----------------------------------------------------------------------===//

#include "VariableCases.h"
#include "InputValues.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Bytes that buffers may grow by.
static constexpr uint64_t MostOfVariables = uint64_t(8) << 20;
/// Instructions of all threads that a longer loop may take.
static constexpr double MostOfLongLoops = 64e6;

const Bytes *variableBefore(const GateCase &C, StringRef Symbol,
                            ArrayRef<std::pair<std::string, Bytes>> Variables) {
  auto Known = [&](const auto &V) { return V.first == Symbol; };
  const auto *Start = find_if(Variables, Known);
  if (Start == Variables.end())
    return nullptr;
  auto Set = find_if(C.Globals, Known);
  return Set == C.Globals.end() ? &Start->second : &Set->second;
}

Bytes &variableIn(GateCase &C, StringRef Symbol, const Bytes &Start) {
  auto It =
      find_if(C.Globals, [&](const auto &V) { return V.first == Symbol; });
  if (It != C.Globals.end())
    return It->second;
  C.Globals.emplace_back(Symbol.str(), Start);
  return C.Globals.back().second;
}

/// Makes each buffer \p Times as long, or \p Added elements longer, if that is
/// too much.
static void makeRoom(GateCase &C, uint64_t Times, uint64_t Added) {
  uint64_t All = 0;
  for (const Bytes &B : C.Buffers)
    All += B.size() * (Times - 1);
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    Bytes &To = C.Buffers[I];
    const Bytes From = To;
    uint64_t Stride = C.Layouts[I].Stride,
             Whole = From.size() / Stride * Stride;
    if (Whole == 0)
      continue;
    uint64_t More =
        All <= MostOfVariables ? Whole * (Times - 1) : Added * Stride;
    if (More > MostOfVariables)
      continue;
    To.resize(Whole + More);
    for (uint64_t At = Whole; At < To.size(); At += Whole)
      std::memcpy(To.data() + At, From.data(),
                  std::min<uint64_t>(Whole, To.size() - At));
  }
}

namespace {
/// One integer of a device variable, or all of a list, which are the same then.
struct Single {
  const LoadedIntegers *L = nullptr;
  const Bytes *Start = nullptr;
  int64_t Old = 0; ///< Of the first.
  size_t Count = 1;
  std::string Name;               ///< "params.8".
  std::vector<int64_t> Constants; ///< In order, each once.

  bool isKept(int64_t V) const;
  void set(GateCase &C, int64_t V) const {
    setIntegersAt(L->From, std::vector<int64_t>(Count, V),
                  variableIn(C, L->From.Variable, *Start));
  }
};
} // namespace

/// Whether the integer's bytes hold \p V, signed or not.
bool Single::isKept(int64_t V) const {
  unsigned Bits = 8 * L->From.Size;
  return Bits >= 64 ||
         (V >= minIntN(Bits) && V <= static_cast<int64_t>(maxUIntN(Bits)));
}

/// What \p S is tried with, what matters most first.
static std::vector<int64_t> ladderOf(const Single &S) {
  if (S.L->Boolean)
    return {0, 1};
  constexpr size_t MostConstants = 24;
  std::vector<int64_t> Values = {0, 1};
  for (int64_t C : ArrayRef(S.Constants).take_front(MostConstants))
    Values.push_back(C);
  append_range(Values, std::initializer_list<int64_t>{2, 3, -1});
  auto Near = [&](int64_t V) {
    if (V > -(int64_t(1) << 40) && V < int64_t(1) << 40)
      append_range(Values, std::initializer_list<int64_t>{V + 1, V - 1});
  };
  Near(S.Old);
  for (int64_t C : ArrayRef(S.Constants).take_front(MostConstants))
    Near(C);
  if (S.L->Turns || S.L->Addresses)
    // Both sides of warps and blocks, and rests of what is unrolled.
    append_range(Values, std::initializer_list<int64_t>{
                             33,     300, 7,   16,  5,   64,  129, 12, 1000,
                             70'000, 4,   8,   6,   13,  15,  17,  31, 32,
                             63,     65,  128, 255, 256, 257, 4099});
  else
    append_range(Values, std::initializer_list<int64_t>{300, 70'000, 33, 5, 8,
                                                        16, 64, 129, 256,
                                                        INT32_MAX, INT32_MIN});
  if (S.Old > 0 && S.Old < 70'000)
    append_range(Values, std::initializer_list<int64_t>{2 * S.Old, S.Old / 2});
  return Values;
}

static void addSingle(const GateCase &Base, const Single &S, double Cost,
                      CaseMakers &Makers) {
  std::vector<int64_t> Done = {S.Old};
  for (int64_t V : ladderOf(S)) {
    if (is_contained(Done, V) || !S.isKept(V))
      continue;
    Done.push_back(V);
    constexpr int64_t AlwaysTurns = 300;
    const bool Grows = (S.L->Turns || S.L->Addresses) && V > S.Old && V > 0;
    if (Grows && S.L->Turns && V > AlwaysTurns &&
        Cost * double(V) / double(std::max<int64_t>(S.Old, 1)) >
            MostOfLongLoops)
      continue;
    std::string Name = S.Name + " = " + std::to_string(V);
    Makers.push_back({Base.Name + " " + Name, [&Base, Name, S, V, Grows] {
                        GateCase C = varied(Base, Name);
                        S.set(C, V);
                        if (Grows)
                          makeRoom(C,
                                   divideCeil(static_cast<uint64_t>(V),
                                              std::max<int64_t>(S.Old, 1)),
                                   static_cast<uint64_t>(V) -
                                       std::max<int64_t>(S.Old, 0));
                        return C;
                      }});
  }
}

/// Modes that decide together.
static void addPairs(const GateCase &Base, ArrayRef<Single> All,
                     CaseMakers &Makers) {
  constexpr size_t MostOfEach = 4, MostPairs = 48;
  size_t Pairs = 0;
  auto Of = [](const Single &S) {
    return S.L->Boolean   ? std::vector<int64_t>{0, 1}
           : S.L->Decides ? ArrayRef(S.Constants).take_front(MostOfEach).vec()
                          : std::vector<int64_t>();
  };
  for (size_t I = 0; I < All.size(); ++I)
    for (size_t J = 0; J < I; ++J)
      for (int64_t A : Of(All[I]))
        for (int64_t B : Of(All[J])) {
          if (A == All[I].Old || B == All[J].Old || Pairs++ >= MostPairs)
            continue;
          std::string Name = All[J].Name + " = " + std::to_string(B) + ", " +
                             All[I].Name + " = " + std::to_string(A);
          Makers.push_back({Base.Name + " " + Name,
                            [&Base, Name, S = All[I], T = All[J], A, B] {
                              GateCase C = varied(Base, Name);
                              S.set(C, A);
                              T.set(C, B);
                              return C;
                            }});
        }
}

void addVariableCases(const GateCase &Base, ArrayRef<LoadedIntegers> Loaded,
                      ArrayRef<std::pair<std::string, Bytes>> Variables,
                      double Cost, CaseMakers &Makers) {
  std::vector<Single> All;
  std::vector<CaseMakers> Each;
  for (const LoadedIntegers &L : Loaded) {
    if (L.From.Variable.empty() || L.Changed)
      continue;
    const Bytes *Start = variableBefore(Base, L.From.Variable, Variables);
    if (!Start)
      continue;
    std::vector<int64_t> Old = integersAt(L.From, *Start);
    // Of lists, modes alone: LengthCases.cpp has lengths, offsets and indices.
    if (Old.empty() || (Old.size() > 1 && !L.Decides))
      continue;
    Single S{&L, Start, Old.front(), Old.size(), L.From.Variable, L.Constants};
    if (Start->size() > L.From.Size && L.From.Step == 0)
      S.Name += "." + std::to_string(L.From.First);
    llvm::sort(S.Constants);
    S.Constants.erase(llvm::unique(S.Constants), S.Constants.end());
    All.push_back(std::move(S));
  }
  for (const Single &S : All)
    addSingle(Base, S, Cost, Each.emplace_back());
  addPairs(Base, All, Each.emplace_back());
  appendInTurn(std::move(Each), Makers);
}

} // namespace cupilot
