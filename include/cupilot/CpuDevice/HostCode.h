//===- HostCode.h - Host code of candidates, made apart ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_HOSTCODE_H
#define CUPILOT_CPUDEVICE_HOSTCODE_H

#include "cupilot/Support/Error.h"

namespace cupilot {

/// The process that makes host code of a module crashed on it, or went beyond
/// its limits (CpuDeviceOptions::Apart): a finding about the code.
class HostCodeError : public llvm::ErrorInfo<HostCodeError, ToolError> {
public:
  static char ID;
  enum class Kind { Crash, Limits };
  HostCodeError(Kind K, const llvm::Twine &Message)
      : ErrorInfo(ExitCode::Finding, Message), K(K) {}
  Kind kind() const { return K; }

private:
  Kind K;
};

/// What cupilot-compile does for CpuDeviceOptions::Apart: reads requests from
/// standard input and answers on standard output, until the input ends. Returns
/// the exit status.
int serveHostCode();

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_HOSTCODE_H
