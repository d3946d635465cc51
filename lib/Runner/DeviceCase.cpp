//===- DeviceCase.cpp - The buffers of a case on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceCase.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Compare.h"
#include "cupilot/Runner/Files.h"

namespace cupilot::runner {

/// The poison's byte at \p Address: its pattern follows addresses.
static uint8_t poisonByte(uint64_t Address) {
  return uint8_t(Address % 2 ? Poison >> 8 : Poison);
}

void fillPoison(const Gpu &G, DeviceAddress At, uint64_t Size) {
  if (Size == 0)
    return;
  // Numbers start at the buffer's beginning, so the pattern must too; at an odd
  // address there are no numbers of two bytes.
  if (At % 2) {
    G.check(G.api().Fill8(At, uint8_t(Poison >> 8), Size, G.stream()),
            "filling memory");
    return;
  }
  if (Size >= 2)
    G.check(G.api().Fill16(At, Poison, Size / 2, G.stream()), "filling memory");
  if (Size % 2)
    G.check(G.api().Fill8(At + Size - 1, uint8_t(Poison), 1, G.stream()),
            "filling memory");
}

BandedMemory::BandedMemory(const Gpu &G, uint64_t Size, uint64_t Alignment,
                           uint64_t Skew, bool Bare)
    : G(G), Size(Size) {
  if (Bare) {
    Begin = Base = G.allocate(std::max<uint64_t>(Size, 1));
    return;
  }
  uint64_t Coarse = std::max<uint64_t>(Alignment, 256);
  Whole = Size + 3 * Band + 2 * Coarse;
  Base = G.allocate(Whole);
  Begin = Base + Band + Skew % Band;
  Begin = (Begin + Coarse - 1) / Coarse * Coarse;
  if (Alignment < 256) // Not more aligned than what was recorded.
    Begin += Alignment;
  fillPoison(G, Base, Whole);
}

BandedMemory::~BandedMemory() { G.api().Free(Base); }

void BandedMemory::poison() const { fillPoison(G, Begin, Size); }

std::pair<uint64_t, uint64_t> BandedMemory::strayBytes() const {
  std::vector<uint8_t> Bytes(Band);
  auto Stray = [&](DeviceAddress From) {
    G.check(G.api().CopyOut(Bytes.data(), From, Band), "reading a guard band");
    uint64_t Count = 0;
    for (uint64_t I = 0; I < Band; ++I)
      Count += Bytes[I] != poisonByte(From + I);
    return Count;
  };
  return {Stray(Begin - Band), Stray(Begin + Size)};
}

DeviceCase::DeviceCase(const Gpu &G, const Case &C,
                       const std::vector<std::string> &Files, uint64_t Skew,
                       bool Bare)
    : G(G), C(C) {
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const Buffer &B = C.Buffers[I];
    Buffers.push_back(std::make_unique<BandedMemory>(
        G, B.Size, B.Alignment, Skew + 256 * (I * 7 % 128), Bare));
    if (Files.at(I).empty() || B.Size == 0)
      continue; // Poison already.
    MappedFile Content(Files[I]);
    if (Content.bytes().size() != B.Size)
      throw Failure(FailureKind::DataDamaged, "'" + Files[I] +
                                                  "' has another size than "
                                                  "its buffer");
    // Poison was written on the stream; the copy is on the default one.
    G.check(G.api().StreamSynchronize(G.stream()), "filling memory");
    G.check(G.api().CopyIn(Buffers[I]->begin(), Content.bytes().data(), B.Size),
            "copying inputs to the GPU");
  }
  G.synchronize("copying inputs to the GPU");
}

void DeviceCase::keepPristine() {
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const Buffer &B = C.Buffers[I];
    // Poison is as quickly made as copied; what is only read stays.
    if (B.Before.isPoison() || B.Size == 0 || B.Use == Role::In) {
      Pristine.push_back(nullptr);
      continue;
    }
    Pristine.push_back(std::make_unique<BandedMemory>(G, B.Size, 256, 0));
    G.check(G.api().CopyAsync(Pristine[I]->begin(), Buffers[I]->begin(), B.Size,
                              G.stream()),
            "copying inputs");
  }
  G.synchronize("copying inputs");
}

void DeviceCase::restore() const {
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const Buffer &B = C.Buffers[I];
    if (B.Size == 0 || B.Use == Role::In)
      continue;
    if (!Pristine[I])
      Buffers[I]->poison();
    else
      G.check(G.api().CopyAsync(Buffers[I]->begin(), Pristine[I]->begin(),
                                B.Size, G.stream()),
              "copying inputs");
  }
}

uint64_t DeviceCase::bytesNeeded(const Case &C) {
  uint64_t Sum = 0;
  for (const Buffer &B : C.Buffers)
    Sum += 2 * (B.Size + 3 * BandedMemory::Band + 512);
  return Sum;
}

} // namespace cupilot::runner
