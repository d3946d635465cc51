//===- KernelFacts.h - What a launch must know of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_KERNELFACTS_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_KERNELFACTS_H

#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace cupilot {

/// Read from a kernel's attributes and the variables that it uses.
struct KernelFacts {
  uint64_t StaticShared = 0, Constant = 0, Local = 0; ///< Bytes.
  unsigned MaxThreads =
      MaxBlockThreads; ///< __launch_bounds__, threads per block.
  std::array<unsigned, 3> Cluster{0, 0, 0}; ///< __cluster_dims__; 0: none.
};

/// The facts of each kernel of an NVPTX module; none when it cannot be read.
std::map<std::string, KernelFacts> kernelFacts(llvm::StringRef Bitcode);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_KERNELFACTS_H
