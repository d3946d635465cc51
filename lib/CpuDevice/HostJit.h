//===- HostJit.h - Device code for this machine ----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_HOSTJIT_H
#define CUPILOT_LIB_CPUDEVICE_HOSTJIT_H

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace cupilot {

/// The processor and its features, which decide about the code.
llvm::Expected<std::string> hostTarget();
/// What code generation needs, once in a process.
llvm::Error prepareHost();
/// An object file of \p M.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> hostObject(llvm::Module &M);

/// Where lowered modules become code in this process. Every library sees the
/// functions of the run time and what the first library, variables(), defines.
class HostJit {
public:
  static llvm::Expected<std::unique_ptr<HostJit>> create();
  llvm::orc::JITDylib &variables() { return Jit->getMainJITDylib(); }
  /// A library of its own for \p Name.
  llvm::Expected<llvm::orc::JITDylib *> createLibrary(llvm::StringRef Name);
  /// Lets code in \p In find \p Symbol at \p Address.
  llvm::Error define(llvm::orc::JITDylib &In, llvm::StringRef Symbol,
                     void *Address);
  llvm::Error add(llvm::orc::JITDylib &To,
                  std::unique_ptr<llvm::MemoryBuffer> Object) {
    return Jit->addObjectFile(To, std::move(Object));
  }
  llvm::Expected<llvm::orc::ExecutorAddr> find(llvm::orc::JITDylib &In,
                                               llvm::StringRef Symbol) {
    return Jit->lookup(In, Symbol);
  }

private:
  explicit HostJit(std::unique_ptr<llvm::orc::LLJIT> Jit)
      : Jit(std::move(Jit)) {}

  std::unique_ptr<llvm::orc::LLJIT> Jit;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_HOSTJIT_H
