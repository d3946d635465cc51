//===- OriginalOutputs.cpp - Which buffers the original only writes -------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Original.h"

using namespace llvm;

namespace cupilot {

/// Whether the kernel moves what buffer \p I holds, such as a sort, or adds to
/// it: a fill of equal bytes would stay as it is, and so would a NaN or a
/// number that is too large to notice.
Expected<bool> OriginalRuns::movesContent(const GateCase &C,
                                          const RunResult &First, size_t I) {
  GateCase Try = C;
  Try.PureOutput.assign(C.Buffers.size(), false);
  uint64_t State = Setup.Seed;
  for (uint8_t &Byte : Try.Buffers[I]) {
    State = State * 6364136223846793005 + 1442695040888963407;
    Byte = State >> 56;
  }
  transformFloats(Try.Buffers[I], C.Layouts[I], [&](uint64_t, double) {
    State = State * 6364136223846793005 + 1442695040888963407;
    return 1 + double(State >> 40) * 0x1p-24;
  });
  Expected<RunResult> R = run(Plain, Try);
  if (!R)
    return R.takeError();
  if (R->Fault)
    return true; // It depends on the content in any case.
  const Bytes &Now = R->Buffers[I], &Before = Try.Buffers[I],
              &Own = First.Buffers[I];
  for (size_t At = 0; At < Now.size(); ++At)
    if (Now[At] != Own[At] && Now[At] != Before[At])
      return true;
  return false;
}

/// A buffer is pure output when what it held before makes no difference. (It
/// may hold the result already, as after an earlier launch.)
Expected<std::vector<bool>>
OriginalRuns::findPureOutputs(const GateCase &C, const RunResult &First) {
  std::vector<bool> Pure(C.Buffers.size(), false);
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    if (First.Buffers[I] == C.Buffers[I] && !mayBeWritten(kernel(), C, I))
      continue;
    // What is also an input must hold its data.
    if (C.Aliased && count_if(C.Pointers, [&](const WorkloadPointer &P) {
                       return P.Buffer == I;
                     }) > 1)
      continue;
    Expected<bool> Moves = movesContent(C, First, I);
    if (!Moves)
      return Moves.takeError();
    if (*Moves)
      continue;
    GateCase Try = C;
    Try.PureOutput.assign(C.Buffers.size(), false);
    Try.PureOutput[I] = true;
    // A byte is left alone, or the same whatever was there.
    bool Same = true;
    Bytes Left;
    for (uint8_t Fill : {Poison, OtherPoison}) {
      if (!Same)
        break;
      Expected<RunResult> Poisoned = run(Plain, Try, Fill);
      if (!Poisoned)
        return Poisoned.takeError();
      Same = !Poisoned->Fault;
      for (size_t K = 0; Same && K < C.Buffers.size(); ++K) {
        const Bytes &P = Poisoned->Buffers[K];
        if (K != I) {
          Same = P == First.Buffers[K];
          continue;
        }
        for (size_t At = 0; Same && At < P.size(); ++At)
          Same = P[At] == First.Buffers[K][At] ||
                 (P[At] == Fill && (Fill == Poison || Left[At] == Poison));
        Left = P;
      }
    }
    Pure[I] = Same;
  }
  return Pure;
}
/// Where the result is Poison, who writes nothing would pass: repeats the case
/// with the other fill.
Error OriginalRuns::addRefilled(JudgedCase &J) {
  const GateCase &C = J.Case;
  bool Hidden = false;
  for (size_t I = 0; I < C.PureOutput.size(); ++I)
    Hidden |= C.PureOutput[I] && is_contained(J.Original.Buffers[I], Poison);
  if (!Hidden)
    return Error::success();
  Expected<RunResult> Again = run(Plain, C, OtherPoison);
  if (!Again)
    return Again.takeError();
  Hidden = false;
  for (size_t I = 0; I < C.PureOutput.size(); ++I) {
    // A byte of a float or two may be Poison, a whole one is a NaN.
    size_t Width = C.Layouts[I].hasFloats() ? 4 : 1;
    for (const LayoutField &F : C.Layouts[I].Fields)
      Width = std::min<size_t>(Width, sizeOf(F.Kind));
    const Bytes &Was = J.Original.Buffers[I], &Is = Again->Buffers[I];
    for (size_t At = 0; C.PureOutput[I] && At + Width <= Was.size();
         At += Width) {
      auto All = [&](const Bytes &B) {
        return std::all_of(B.begin() + At, B.begin() + At + Width,
                           [](uint8_t V) { return V == Poison; });
      };
      Hidden |= All(Was) && All(Is);
    }
  }
  if (!Hidden || Again->Fault)
    return Error::success();
  J.Refilled = std::make_unique<JudgedCase>();
  J.Refilled->Case = C;
  J.Refilled->Case.Name += " refilled";
  J.Refilled->Case.Captured = false;
  J.Refilled->Fill = OtherPoison;
  J.Refilled->Original = std::move(*Again);
  Expected<RunResult> Reference = run(Wide, C, OtherPoison);
  if (!Reference)
    return Reference.takeError();
  J.Refilled->Reference = Reference->Fault ? J.Refilled->Original.Buffers
                                           : std::move(Reference->Buffers);
  return Error::success();
}

} // namespace cupilot
