//===- GpuOptions.h - The GPU that times are compared with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_TOOLS_CUPILOT_GPUOPTIONS_H
#define CUPILOT_TOOLS_CUPILOT_GPUOPTIONS_H

#include "Command.h"
#include "cupilot/Driver/GpuFacts.h"

namespace cupilot {

/// --gpu, --ceilings and --measured, for GpuFacts.
struct GpuOptions {
  explicit GpuOptions(llvm::cl::SubCommand &Sub) : In(Sub) {}
  GpuRequest request() const { return {Gpu, Ceilings, Measured}; }

  llvm::cl::sub In;
  llvm::cl::OptionCategory Group{"GPU"};
  llvm::cl::opt<std::string> Gpu{
      "gpu",
      In,
      llvm::cl::cat(Group),
      llvm::cl::init("H200"),
      llvm::cl::value_desc("NAME"),
      llvm::cl::desc("The GPU: a name that cupilot doctor lists, or a file "
                     "that describes one (default H200)")};
  llvm::cl::opt<std::string> Ceilings{
      "ceilings", In, llvm::cl::cat(Group), llvm::cl::value_desc("C.json"),
      llvm::cl::desc("Output of cupilot-runner --ceilings (default: the "
                     "machine cache, else the GPU's description)")};
  llvm::cl::opt<std::string> Measured{
      "measured", In, llvm::cl::cat(Group), llvm::cl::value_desc("M.json"),
      llvm::cl::desc("Measured times and counters")};
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_GPUOPTIONS_H
