//===- LaunchForms.cpp - Launches that stay the originals' -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/LaunchForms.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

std::optional<BuildReason> keptLaunchForm(StringRef Function) {
  using R = std::optional<BuildReason>;
  Function.consume_back("_ptsz");
  return StringSwitch<R>(Function)
      .Cases({"cudaLaunchCooperativeKernel",
              "cudaLaunchCooperativeKernelMultiDevice",
              "cuLaunchCooperativeKernel"},
             BuildReason::CooperativeLaunch)
      .Cases({"cudaGraphAddKernelNode", "cudaGraphKernelNodeSetParams",
              "cudaGraphExecKernelNodeSetParams", "cudaGraphAddNode",
              "cudaGraphAddNode_v2", "cuGraphAddKernelNode",
              "cuGraphAddKernelNode_v2"},
             BuildReason::GraphNode)
      .Cases({"cuLaunchKernel", "cuLaunchKernelEx"}, BuildReason::DriverLaunch)
      .Default(std::nullopt);
}

} // namespace cupilot
