//===- TensorMap.cpp - Tensor maps of the cpu device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/TensorMap.h"
#include <cstring>

namespace cupilot {

uint64_t TensorMap::boxBytes() const {
  uint64_t Bytes = tensorElementSize(Type);
  for (unsigned I = 0; I < Rank; ++I)
    Bytes *= count(I);
  return Bytes;
}

unsigned tensorElementSize(unsigned Type) {
  // CU_TENSOR_MAP_DATA_TYPE_: UINT8, UINT16, UINT32, INT32, UINT64, INT64,
  // FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ.
  static constexpr uint8_t Sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return Type < sizeof(Sizes) ? Sizes[Type] : 0;
}

static bool isFloating(unsigned Type) { return Type >= 6; }

int encodeTiled(void *To, unsigned Type, uint32_t Rank, void *Address,
                const uint64_t *Size, const uint64_t *Strides,
                const uint32_t *Box, const uint32_t *Steps, unsigned Interleave,
                unsigned Swizzle, unsigned Promotion, unsigned Fill) {
  static constexpr int Invalid = 1, NotSupported = 801;
  unsigned Element = tensorElementSize(Type);
  auto Multiple = [](const void *P, uint64_t Of) {
    return reinterpret_cast<uintptr_t>(P) % Of == 0;
  };
  if (!To || !Multiple(To, 64) || Element == 0 || Rank < 1 ||
      Rank > TensorMap::MaxRank || !Address || !Multiple(Address, 16) ||
      !Size || (!Strides && Rank > 1) || !Box || !Steps || Interleave > 2 ||
      Swizzle > 3 || Promotion > 3 || Fill > 1 || (Fill && !isFloating(Type)))
    return Invalid;
  if (Interleave != 0)
    return NotSupported;
  TensorMap Map;
  Map.Address = reinterpret_cast<uintptr_t>(Address);
  Map.Rank = static_cast<uint8_t>(Rank);
  Map.Type = static_cast<uint8_t>(Type);
  Map.Swizzle = static_cast<TensorSwizzle>(Swizzle);
  Map.FillNan = Fill != 0;
  for (uint32_t I = 0; I < Rank; ++I) {
    if (Size[I] == 0 || Size[I] > uint64_t(1) << 32 || Box[I] == 0 ||
        Box[I] > 256 || Steps[I] == 0 || Steps[I] > 8)
      return Invalid;
    Map.Size[I] = Size[I];
    Map.Box[I] = static_cast<uint16_t>(Box[I]);
    Map.Step[I] = static_cast<uint8_t>(Steps[I]);
    if (I + 1 == Rank)
      break;
    if (Strides[I] % 16 != 0 || Strides[I] >= uint64_t(1) << 40)
      return Invalid;
    Map.Stride[I] = Strides[I];
  }
  uint64_t Inner = uint64_t(Box[0]) * Element;
  static constexpr uint64_t Spans[] = {~0ull, 32, 64, 128};
  if (Inner % 16 != 0 || Inner > Spans[Swizzle])
    return Invalid;
  std::memcpy(To, &Map, sizeof(Map));
  return 0;
}

uint64_t swizzled(uint64_t Address, TensorSwizzle Swizzle) {
  switch (Swizzle) {
  case TensorSwizzle::None:
    return Address;
  case TensorSwizzle::B32:
    return Address ^ (Address >> 3 & 0x10);
  case TensorSwizzle::B64:
    return Address ^ (Address >> 3 & 0x30);
  case TensorSwizzle::B128:
    return Address ^ (Address >> 3 & 0x70);
  }
  return Address;
}

} // namespace cupilot
