//===- DeviceCase.h - The buffers of a case on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_DEVICECASE_H
#define CUPILOT_LIB_RUNNER_DEVICECASE_H

#include "Gpu.h"
#include "cupilot/Runner/Batch.h"
#include <memory>

namespace cupilot::runner {

/// Device memory between two bands of poison, at an address that has exactly
/// the alignment that is asked for.
class BandedMemory {
public:
  static constexpr uint64_t Band = 65536;
  /// \p Skew, a multiple of 256 below Band, moves the address, so that runs do
  /// not all see the same ones.
  /// A bare one has neither bands nor poison: for tools that look at
  /// allocations.
  BandedMemory(const Gpu &G, uint64_t Size, uint64_t Alignment, uint64_t Skew,
               bool Bare = false);
  ~BandedMemory();
  BandedMemory(const BandedMemory &) = delete;
  DeviceAddress begin() const { return Begin; }
  uint64_t size() const { return Size; }
  void poison() const; ///< What lies between the bands.
  /// Bytes of the bands that are no poison any more, before and after.
  std::pair<uint64_t, uint64_t> strayBytes() const;

private:
  const Gpu &G;
  uint64_t Size;
  DeviceAddress Base = 0, Begin = 0;
  uint64_t Whole = 0;
};

/// The buffers of a case; files hold their content, in the case's order, ""
/// for poison.
class DeviceCase {
public:
  DeviceCase(const Gpu &G, const Case &C, const std::vector<std::string> &Files,
             uint64_t Skew, bool Bare = false);
  /// Keeps copies of what \p restore brings back.
  void keepPristine();
  /// Every buffer that a program may write gets its content from before the
  /// launch again, on the stream. Needs keepPristine.
  void restore() const;
  DeviceAddress address(unsigned Buffer) const {
    return Buffers[Buffer]->begin();
  }
  const BandedMemory &buffer(unsigned I) const { return *Buffers[I]; }
  /// Bytes on the device, with pristine copies.
  static uint64_t bytesNeeded(const Case &C);

private:
  const Gpu &G;
  const Case &C;
  std::vector<std::unique_ptr<BandedMemory>> Buffers, Pristine;
};

/// Fills \p Size bytes with poison on the stream of \p G.
void fillPoison(const Gpu &G, DeviceAddress At, uint64_t Size);

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_DEVICECASE_H
