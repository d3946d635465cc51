//===- DeviceWords.h - What device code does, counted -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RETRIEVAL_DEVICEWORDS_H
#define CUPILOT_LIB_RETRIEVAL_DEVICEWORDS_H

#include <array>
#include <cstddef>

namespace llvm {
class Function;
} // namespace llvm

namespace cupilot {

/// Kinds of what an instruction of device code does.
enum class DeviceWord : unsigned {
  GlobalLoad,
  GlobalStore,
  SharedLoad,
  SharedStore,
  LocalAccess,
  WideAccess,   ///< Of a vector, or by more than four bytes.
  GatheredLoad, ///< At an address that was loaded itself.
  Atomic,
  Barrier,
  Shuffle, ///< Votes and warp reductions too.
  Matrix,  ///< mma, wmma, wgmma.
  AsyncCopy,
  Special, ///< Square roots, exponentials, and their kin.
  Division,
  FloatArithmetic,
  DoubleArithmetic,
  HalfArithmetic,
  IntegerMultiply,
  IntegerArithmetic,
  Bits, ///< and, or, xor, shifts, counts.
  Conversion,
  Comparison,
  MinMax,
  Reduction,  ///< A loop carries a sum, a product, a minimum.
  Recurrence, ///< A loop carries another value of arithmetic.
  Loop,
  InnerLoop, ///< A loop in a loop.
  Branch,
  ThreadIndex,
  BlockIndex,
  Count
};

using DeviceWords = std::array<double, size_t(DeviceWord::Count)>;

/// What \p Kernel and the functions that it calls do, each weighted by how deep
/// in loops it stands.
DeviceWords countWords(const llvm::Function &Kernel);

} // namespace cupilot

#endif // CUPILOT_LIB_RETRIEVAL_DEVICEWORDS_H
