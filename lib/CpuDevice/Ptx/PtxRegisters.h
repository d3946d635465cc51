//===- PtxRegisters.h - Special registers in inline PTX ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_PTXREGISTERS_H
#define CUPILOT_LIB_CPUDEVICE_PTX_PTXREGISTERS_H

#include "BodyLowering.h"

namespace cupilot {

/// Reads the special register \p Name ("%laneid"; PTX ISA, "Special
/// Registers") by the compiler's own intrinsic; null for one that is not known.
llvm::Value *readPtxRegister(BodyLowering &L, llvm::StringRef Name,
                             unsigned Bits);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_PTXREGISTERS_H
