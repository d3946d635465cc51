//===- Coverage.cpp - What a variant reads and writes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"
#include "Variant.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Changes the numbers of \p Buffer that lie in \p Missed.
static GateCase changed(const GateCase &Base, size_t Buffer,
                        const BitVector &Missed, unsigned Round) {
  GateCase C = Base;
  C.Name += " with other values where it does not read, " + utostr(Round + 1);
  C.Captured = false;
  C.Doubtful = true;
  C.Ordered = C.Thorough = false;
  const Layout &L = C.Layouts[Buffer];
  Bytes &Content = C.Buffers[Buffer];
  auto Hit = [&](uint64_t At, uint64_t Size) {
    return Missed.find_first_in(
               At, std::min<uint64_t>(At + Size, Missed.size())) >= 0;
  };
  if (L.Fields.empty()) {
    for (uint64_t At = 0; At < Content.size(); ++At)
      if (Missed[At])
        Content[At] ^= Round == 0 ? 1 : 0x55;
    return C;
  }
  for (uint64_t At = 0; At + L.Stride <= Content.size(); At += L.Stride)
    for (const LayoutField &F : L.Fields) {
      if (!Hit(At + F.Offset, sizeOf(F.Kind)))
        continue;
      uint8_t *P = Content.data() + At + F.Offset;
      if (isInteger(F.Kind)) {
        // Small steps, since it may be an index.
        writeInteger(F.Kind, P, readInteger(F.Kind, P) + (Round % 2 ? -1 : 1));
        continue;
      }
      double Far = 2048 + std::fabs(readElement(F.Kind, P));
      writeElement(F.Kind, P, Round % 2 ? -Far : Far);
    }
  return C;
}

/// The bytes that the original reads and the variant does not, made into one
/// element each round, or all of them.
static BitVector choose(const BitVector &Missed, unsigned Round) {
  if (Round < 2)
    return Missed;
  // One element alone, in the middle or at the end.
  BitVector One(Missed.size());
  int First = Missed.find_first(), Last = Missed.find_last();
  int At = Round == 2 ? Last : Missed.find_next((First + Last) / 2 - 1);
  for (int I = At; I >= 0 && I < int(Missed.size()) && I / 8 == At / 8; ++I)
    if (Missed[I])
      One.set(I);
  return One;
}

/// Whether every kernel in \p Symbols of \p Bitcode that changes what a pointer
/// to buffer \p Buffer leads to does so by atomic operations alone.
static Expected<bool> changesAtomically(StringRef Bitcode,
                                        ArrayRef<std::string> Symbols,
                                        const GateCase &C, size_t Buffer) {
  Expected<KernelCode> Code = KernelCode::of(Bitcode);
  if (!Code)
    return Code.takeError();
  for (const std::string &Symbol : Symbols) {
    const Function *F = Code->kernel(Symbol);
    if (!F)
      return false;
    std::vector<PointerRef> Atomic = changedByAtomics(*F);
    if (none_of(C.Pointers, [&](const WorkloadPointer &P) {
          return P.Buffer == Buffer &&
                 is_contained(Atomic, PointerRef{P.Param, P.Offset});
        }))
      return false;
  }
  return true;
}

/// The textbook's histogram adds the bins of a block to those of all, also
/// where nothing was counted: to add nothing by an atomic operation, where the
/// original changes numbers in the same way, is no output.
Expected<bool> VariantRuns::addsNothing(const JudgedCase &J,
                                        const RunResult &Got, size_t Buffer,
                                        const BitVector &Extra) const {
  const Bytes &Mine = Got.Buffers[Buffer], &Own = J.Original.Buffers[Buffer];
  for (unsigned At : Extra.set_bits())
    if (Mine[At] != Own[At])
      return false;
  Expected<bool> Alike = changesAtomically(O.setup().Code.Source,
                                           O.kernel().Symbol, J.Case, Buffer);
  if (!Alike || !*Alike)
    return Alike;
  return changesAtomically(Code.Source, Plan.symbols(), J.Case, Buffer);
}

Expected<std::optional<GateFinding>>
VariantRuns::judgeCoverage(const JudgedCase &J, const PlannedRun &Launches,
                           const RunResult &Checked, GateVerdict &Verdict) {
  ArrayRef<BufferCoverage> Own = J.Coverage;
  ArrayRef<BufferCoverage> Mine = Checked.Coverage;
  if (Own.size() != J.Case.Buffers.size() || Mine.size() != Own.size())
    return std::nullopt;
  for (size_t I = 0; I < Own.size(); ++I) {
    // An input of a launch that has nothing to do may be read all the same.
    Expected<const JudgedCase *> Base = O.get(0);
    if (!Base)
      return Base.takeError();
    bool Input = *Base && (**Base).Coverage.size() == Own.size() &&
                 (**Base).Coverage[I].Read.any();
    if (Own[I].Read.none() && Own[I].Written.none() && Mine[I].Read.any() &&
        !Input)
      return makeFinding(GateReason::ExtraRead, J.Case.Name,
                         "buffer " + Twine(I) +
                             " is read, which the original does not touch");
    BitVector Extra = Mine[I].Written;
    Extra.reset(Own[I].Written);
    bool Harmless = Extra.none();
    if (!Harmless && !J.Case.PureOutput[I]) {
      Expected<bool> Nothing = addsNothing(J, Checked, I, Extra);
      if (!Nothing)
        return Nothing.takeError();
      Harmless = *Nothing;
    }
    if (!Harmless)
      return makeFinding(GateReason::ExtraOutput, J.Case.Name,
                         Twine(Extra.count()) + " bytes of buffer " + Twine(I) +
                             " are written that the original does not write, "
                             "the first at byte " +
                             Twine(Extra.find_first()));
    BitVector Missed = Own[I].Read;
    Missed.reset(Mine[I].Read);
    // What the original reads back after writing it is no input.
    if (J.Case.PureOutput[I] || Missed.none())
      continue;
    constexpr unsigned Rounds = 4;
    for (unsigned Round = 0; Round < Rounds; ++Round) {
      Expected<std::unique_ptr<JudgedCase>> Other =
          O.prepare(changed(J.Case, I, choose(Missed, Round), Round));
      if (!Other)
        return Other.takeError();
      if (!*Other)
        continue;
      RunResult Got;
      ++Verdict.Checks;
      Expected<std::optional<GateFinding>> Wrong =
          runAndCompare(Plain, **Other, Launches, Got, Verdict);
      if (!Wrong)
        return Wrong.takeError();
      if (*Wrong)
        return makeFinding(
            GateReason::IgnoredInput, J.Case.Name,
            Twine(Missed.count()) + " bytes of buffer " + Twine(I) +
                " are never read, the first at byte " +
                Twine(Missed.find_first()) +
                ", and with other values there: " + (**Wrong).Evidence);
    }
  }
  return std::nullopt;
}

} // namespace cupilot
