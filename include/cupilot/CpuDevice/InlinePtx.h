//===- InlinePtx.h - The text of inline PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_INLINEPTX_H
#define CUPILOT_CPUDEVICE_INLINEPTX_H

#include "cupilot/Ptx/Module.h"
#include "llvm/Support/Error.h"

namespace llvm {
class CallBase;
class Instruction;
class Module;
} // namespace llvm

namespace cupilot {

/// The statements of an asm statement's text, with $0 for its operands. An
/// error says what is not understood.
llvm::Expected<ptx::Fragment> readAsm(llvm::StringRef Text);

/// Puts plain IR in the place of inline PTX of \p M, so that whoever reads the
/// code sees what it computes and decides. Statements with an instruction that
/// is not known stay: the cpu device cannot run them.
void expandInlinePtx(llvm::Module &M);

/// Whether \p Call stands for an instruction that the run time of the cpu
/// device executes: copies of tensors, barriers in memory, matrix products. Its
/// operands are integers, addresses as well.
bool isDeviceOp(const llvm::CallBase &Call);

/// Whether \p I, in the place of inline PTX, is only how an instruction of PTX
/// works: a shift's amount that is clamped, a NaN that is sought. Comparisons,
/// minima, maxima and shifts that the text has itself are not.
bool isImplied(const llvm::Instruction &I);

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_INLINEPTX_H
