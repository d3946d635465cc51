//===- Unsupported.h - What the cpu device cannot run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_UNSUPPORTED_H
#define CUPILOT_CPUDEVICE_UNSUPPORTED_H

#include "cupilot/Support/Error.h"

namespace cupilot {

/// A finding that says nothing against a kernel: it uses what the cpu device
/// does not have, and a GPU may run it.
class UnsupportedError : public llvm::ErrorInfo<UnsupportedError, ToolError> {
public:
  static char ID;
  UnsupportedError(const llvm::Twine &Message, const llvm::Twine &Hint = "")
      : ErrorInfo(ExitCode::Finding, Message, Hint) {}
};

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_UNSUPPORTED_H
