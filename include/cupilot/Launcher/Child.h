//===- Child.h - The compiler as a child process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_CHILD_H
#define CUPILOT_LAUNCHER_CHILD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// How a child ended: its exit status, or the signal that ended it.
struct ChildEnd {
  int Status = 0;
  int Signal = 0; ///< 0 when it exited.
};

/// The full path of the program \p Name; a resource error when there is none.
llvm::Expected<std::string> findProgram(llvm::StringRef Name);

/// Replaces this process by \p Command. Returns only when that fails.
llvm::Error replaceProcess(llvm::ArrayRef<std::string> Command,
                           llvm::ArrayRef<std::string> Environment);

/// While it lives, requests to end that reach this process (interrupt,
/// terminate, hang up, quit) are passed on to the child that runs, which
/// decides; what this process ignores stays ignored.
class SignalGuard {
public:
  SignalGuard();
  ~SignalGuard();
  /// The signal that came; 0 when none did.
  int caught() const;
};

/// Runs \p Command with this process's standard streams and waits.
/// \p Environment holds NAME=VALUE pairs that are set, and names alone, which
/// are unset.
llvm::Expected<ChildEnd> runChild(llvm::ArrayRef<std::string> Command,
                                  llvm::ArrayRef<std::string> Environment);

/// Ends this process by \p Signal, as its child ended.
[[noreturn]] void endBySignal(int Signal);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_CHILD_H
