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
#include "cupilot/Ptx/Module.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cupilot {

/// Read from a kernel's attributes and the variables that it uses.
struct KernelFacts {
  uint64_t StaticShared = 0, Constant = 0, Local = 0; ///< Bytes.
  unsigned MaxThreads =
      MaxBlockThreads; ///< __launch_bounds__, threads per block.
  /// The only block that may be launched, where the kernel says so (PTX ISA,
  /// ".reqntid"); 0: none.
  std::array<unsigned, 3> RequiredBlock{0, 0, 0};
  std::array<unsigned, 3> Cluster{0, 0, 0}; ///< __cluster_dims__; 0: none.
  /// Of PTX: where packed arguments lie, in bytes.
  std::vector<uint64_t> ParamOffsets;
};

/// The facts of each kernel of an NVPTX module; none when it cannot be read.
std::map<std::string, KernelFacts> kernelFacts(llvm::StringRef Bitcode);
/// The same of a PTX module.
std::map<std::string, KernelFacts> kernelFacts(const ptx::Module &M);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_KERNELFACTS_H
