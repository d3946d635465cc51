//===- AccessFaults.cpp - What is said of wrong accesses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

/// "byte 16 of a 4096-byte buffer".
static std::string placeOf(const ThreadContext &T, uint64_t Address) {
  BlockState &B = *T.Block;
  if (const BlockState *Owner = B.sharedOwner(Address))
    return "byte " + utostr(Address - addressOf(Owner->Shared)) +
           (Owner == &B ? " of the block's " : " of another block's ") +
           utostr(Owner->SharedSize) + " bytes of shared memory";
  if (auto Buffer = B.Memory.find(reinterpret_cast<void *>(Address)))
    return "byte " + utostr(Address - addressOf(Buffer->Base)) + " of a " +
           utostr(Buffer->Size) + "-byte buffer";
  if (T.Checks)
    if (auto Found = T.Checks->launch().find(reinterpret_cast<void *>(Address)))
      return "byte " + utostr(Address - addressOf(Found->Buffer.Base)) +
             " of a variable of " + utostr(Found->Buffer.Size) + " bytes";
  return "memory outside all buffers";
}

static void describeMiss(const ThreadContext &T, uint64_t Address,
                         uint64_t Size, std::string &Detail) {
  raw_string_ostream OS(Detail);
  const BlockState &B = *T.Block;
  uint64_t Shared = addressOf(B.Shared);
  if (Address >= Shared && Address < Shared + B.SharedSize + 4096) {
    OS << Address - Shared << " bytes into the block's " << B.SharedSize
       << " bytes of shared memory";
    return;
  }
  auto Near = B.Memory.nearest(reinterpret_cast<void *>(Address));
  if (Address < 4096) {
    OS << "a null pointer";
  } else if (Near && Address < addressOf(Near->Base) &&
             addressOf(Near->Base) - Address < (64u << 20)) {
    OS << addressOf(Near->Base) - Address << " bytes before the start of a "
       << Near->Size << "-byte buffer";
  } else if (Near && Address >= addressOf(Near->Base) &&
             Address - addressOf(Near->Base) < Near->Size + (64u << 20)) {
    uint64_t End = addressOf(Near->Base) + Near->Size;
    if (Address < End)
      OS << Size << " bytes that begin " << End - Address
         << " bytes before the end of a " << Near->Size << "-byte buffer";
    else
      OS << Address - End << " bytes past the end of a " << Near->Size
         << "-byte buffer";
  } else {
    OS << "no buffer is near";
  }
}

void recordMiss(ThreadContext &T, uint64_t Address, uint64_t Size,
                const AccessSite &Site, FaultKind Kind) {
  std::string Detail;
  switch (Kind) {
  case FaultKind::MisalignedRead:
  case FaultKind::MisalignedWrite:
  case FaultKind::MisalignedAtomic:
    Detail = "the access needs an address that is a multiple of " +
             itostr(Site.Align);
    break;
  case FaultKind::ReadOnlyWrite:
  case FaultKind::ReadOnlyAtomic:
    Detail = "the buffer is read-only";
    break;
  case FaultKind::UseAfterFree: {
    auto Freed = static_cast<DeviceBuffers &>(T.Block->Memory)
                     .findFreed(reinterpret_cast<void *>(Address));
    Detail =
        (wordsOf(accessOf(Site)) + " of " + Twine(Size) + " bytes, ").str() +
        (Freed ? "byte " + utostr(Address - addressOf(Freed->Base)) +
                     " of a freed buffer of " + utostr(Freed->Size) + " bytes"
               : "in a freed buffer");
    break;
  }
  default:
    describeMiss(T, Address, Size, Detail);
  }
  T.Block->recordFault(T, Kind, Address, &Site, Detail);
}

void recordUnwritten(ThreadContext &T, uint64_t Address, uint64_t Size,
                     uint64_t Unwritten, const AccessSite &Site) {
  unsigned First = llvm::countr_zero(Unwritten);
  T.Block->recordFault(T, FaultKind::UnwrittenRead, Address + First, &Site,
                       Twine(llvm::popcount(Unwritten)) + " of " + Twine(Size) +
                           " bytes hold nothing yet, from " +
                           placeOf(T, Address + First));
}

static std::array<uint64_t, 3> split(uint64_t Linear,
                                     const std::array<uint64_t, 3> &Extent) {
  return {Linear % Extent[0], Linear / Extent[0] % Extent[1],
          Linear / (Extent[0] * Extent[1])};
}

void recordExchange(ThreadContext &T, uint64_t Address, const AccessSite &Site,
                    uint64_t Word, const AccessSite &By, RaceRule Rule) {
  const LaunchShadow &Launch = T.Checks->launch();
  FaultParty Other;
  Other.Access = AccessKind::AtomicWrite;
  Other.Block =
      split(Launch.segment(word::segment(Word)).Block, Launch.Shape.Grid);
  Other.Thread = split(word::thread(Word), Launch.Shape.Block);
  Other.Location = By.Location;
  std::string What = (wordsOf(accessOf(Site)) + " of " + Twine(Site.Size) +
                      " bytes at " + placeOf(T, Address))
                         .str();
  T.Block->recordFault(
      T, FaultKind::DataRace, Address, &Site,
      What + (Rule == RaceRule::LostUpdate
                  ? ", a lost update: the thread read the place, and nothing "
                    "keeps another thread from changing it before the store; "
                    "use one atomic operation"
                  : ", volatile data without an order: volatile accesses order "
                    "nothing; use a barrier, or fences and a flag"));
  T.Block->Fault->Other = std::move(Other);
  T.Block->Fault->Rule = Rule;
}

void recordRace(ThreadContext &T, FaultKind Kind, uint64_t Address,
                uint64_t Size, const AccessSite &Site, uint64_t Word,
                bool OtherWrote, bool Known, bool SameValue) {
  const LaunchShadow &Launch = T.Checks->launch();
  const LoweredKernel &K = Launch.Kernel;
  FaultParty Other;
  Other.KnowsThread = Known;
  bool Atomic = (Word & word::Atomic) != 0;
  Other.Access = OtherWrote
                     ? Atomic ? AccessKind::AtomicWrite : AccessKind::Write
                 : Atomic ? AccessKind::VolatileRead
                          : AccessKind::Read;
  Other.Block =
      split(Launch.segment(word::segment(Word)).Block, Launch.Shape.Grid);
  if (Known) {
    Other.Thread = split(word::thread(Word), Launch.Shape.Block);
    uint64_t Line =
        OtherWrote
            ? Word >> word::WriteLocationShift & (word::WriteLocations - 1)
            : Word >> word::ReadLocationShift & (word::ReadLocations - 1);
    const auto &Lines = OtherWrote ? K.WriteLocations : K.ReadLocations;
    if (Line < Lines.size())
      Other.Location = Lines[Line];
  }
  T.Block->recordFault(T, Kind, Address, &Site,
                       wordsOf(accessOf(Site)) + " of " + Twine(Size) +
                           " bytes at " + placeOf(T, Address));
  T.Block->Fault->Other = std::move(Other);
  T.Block->Fault->SameValue = SameValue;
}

} // namespace cupilot
