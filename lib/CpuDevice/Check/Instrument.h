//===- Instrument.h - Checks that are put into device code ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_INSTRUMENT_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_INSTRUMENT_H

#include "Abi/LoweredModule.h"
#include "cupilot/CpuDevice/CpuDevice.h"

namespace cupilot {

/// Follows what local variables hold before they are set, in code whose
/// variables are registers where they can be and which is not optimised yet:
/// when a branch, an address, or a computed value that is stored depends on it,
/// that is a fault.
void checkUninitialized(llvm::Function &F, LoweredModule &Tables);
/// Adds bounds checks, access traces and counters to an entry.
void instrument(llvm::Function &Entry, LoweredModule &Tables, LoweredKernel &K,
                const CpuDeviceOptions &Options);
/// Instructions of \p BB as budgets and costs of launches count them. What a
/// GPU's addresses are made of is not counted twice because the code has them
/// as numbers, as PTX does: casts of pointers cost nothing, and a scaled index
/// is part of the sum that is an address, as in a getelementptr.
unsigned stepsOf(const llvm::BasicBlock &BB);
/// Makes \p F, before its device operations are lowered, ask before it uses an
/// accumulator, and before it gives one to a product.
void guardAccumulators(llvm::Function &F, LoweredModule &Tables);

/// A kind of access whose check has common cases.
struct FastKind {
  unsigned Size; ///< Bytes: a power of two up to 16.
  bool IsStore;
  bool Unwritten; ///< A read of unwritten bytes is none of the common cases.
};
/// bool (ThreadContext *, shadow, address, location bits): does the whole check
/// of an access behind its bounds, or returns false without having noted
/// anything that would be wrong. \p shadow is that of groupShadow().
llvm::Function *fastCheck(llvm::Module &M, const FastKind &Kind,
                          const CpuDeviceOptions &Options);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_INSTRUMENT_H
