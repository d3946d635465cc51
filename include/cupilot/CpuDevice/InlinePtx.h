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

namespace cupilot {

/// The statements of an asm statement's text, with $0 for its operands. An
/// error says what is not understood.
llvm::Expected<ptx::Fragment> readAsm(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_INLINEPTX_H
