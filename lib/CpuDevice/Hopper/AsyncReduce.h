//===- AsyncReduce.h - Reductions of bulk copies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOPPER_ASYNCREDUCE_H
#define CUPILOT_LIB_CPUDEVICE_HOPPER_ASYNCREDUCE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace cupilot {

/// cp.reduce.async.bulk: what happens to each element.
enum class ReduceOp : uint32_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };
enum class ReduceType : uint32_t {
  B32,
  B64,
  U32,
  S32,
  U64,
  S64,
  F16,
  BF16,
  F32,
  F64
};

std::optional<ReduceOp> reduceOp(llvm::StringRef Modifier);
std::optional<ReduceType> reduceType(llvm::StringRef Modifier);
/// True when PTX has the operation for the type.
bool canReduce(ReduceOp Op, ReduceType Type);
/// Bytes of an element.
unsigned reduceSize(ReduceType Type);
/// To = To op From for \p Size bytes of elements, each atomically.
void reduceInto(char *To, const char *From, uint64_t Size, ReduceOp Op,
                ReduceType Type);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOPPER_ASYNCREDUCE_H
