//===- InlineAsm.h - Inline PTX as plain IR ---------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_PTX_INLINEASM_H
#define CUPILOT_LIB_CPUDEVICE_PTX_INLINEASM_H

#include "BodyLowering.h"

namespace cupilot {

/// expandInlinePtx(), which offers a statement to \p Foreign first.
void lowerInlineAsm(llvm::Module &M, ForeignStatement Foreign);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_PTX_INLINEASM_H
