//===- TensorMap.h - Tensor maps of the cpu device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUtensorMap is opaque: 128 bytes that only the driver and the copy engine
// understand. The cpu device has a layout of its own, which cuTensorMapEncode*
// of its run-time library writes and the bulk tensor copies read. This file
// knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_TENSORMAP_H
#define CUPILOT_CPUDEVICE_TENSORMAP_H

#include <array>
#include <cstdint>

namespace cupilot {

/// CUtensorMapSwizzle, of which these are supported.
enum class TensorSwizzle : uint8_t { None, B32, B64, B128 };

struct TensorMap {
  static constexpr uint64_t Magic = 0x50616d5450437543; ///< "CuCPTmaP".
  static constexpr unsigned MaxRank = 5;

  uint64_t Tag = Magic;
  uint64_t Address = 0;
  std::array<uint64_t, MaxRank> Size{}; ///< Elements, innermost first.
  /// Bytes from one index to the next, of the second dimension and on.
  std::array<uint64_t, MaxRank - 1> Stride{};
  std::array<uint16_t, MaxRank> Box{};
  std::array<uint8_t, MaxRank> Step{}; ///< Element strides.
  uint8_t Rank = 0;
  uint8_t Type = 0; ///< CUtensorMapDataType.
  TensorSwizzle Swizzle = TensorSwizzle::None;
  bool FillNan = false;
  std::array<uint8_t, 20> Padding{};

  /// Elements that the box holds in dimension \p I.
  uint32_t count(unsigned I) const {
    return I == 0 ? Box[0] : (Box[I] + Step[I] - 1) / Step[I];
  }
  uint64_t boxBytes() const;
};
static_assert(sizeof(TensorMap) == 128);

/// Bytes of an element of a CUtensorMapDataType; 0: none of them, or one that
/// only newer GPUs have.
unsigned tensorElementSize(unsigned Type);

/// cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object Management"):
/// fills \p Map, with that function's arguments and rules. Returns a CUresult:
/// 0, 1 (invalid value) or 801 (not supported: interleaved layouts).
int encodeTiled(void *Map, unsigned Type, uint32_t Rank, void *Address,
                const uint64_t *Size, const uint64_t *Strides,
                const uint32_t *Box, const uint32_t *Steps, unsigned Interleave,
                unsigned Swizzle, unsigned Promotion, unsigned Fill);

/// The place, in shared memory, of what an unswizzled box has at \p Address:
/// bits 4 and up are mixed with bits 7 and up.
uint64_t swizzled(uint64_t Address, TensorSwizzle Swizzle);

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_TENSORMAP_H
