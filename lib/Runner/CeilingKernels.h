//===- CeilingKernels.h - Kernels that reach a GPU's limits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_CEILINGKERNELS_H
#define CUPILOT_LIB_RUNNER_CEILINGKERNELS_H

#include <string>
#include <vector>

namespace cupilot::runner {

/// A kernel "ceiling", in PTX that the driver compiles on the GPU's machine:
/// one build of the runner serves all GPUs, and no compiler is needed.
struct CeilingKernel {
  enum class Kind {
    Copy,    ///< (to, from): a block moves Bytes.
    Read,    ///< (to, from, bytes, times): the grid reads all, often.
    Compute, ///< (to, times): a thread does Operations in each turn.
  };
  std::string Name; ///< Of the way: "copy-16x4".
  std::string What; ///< The ceiling that it is a way to: "copy", "bf16".
  Kind K = Kind::Compute;
  int Needs = 75;    ///< Compute capability, as 10 * major + minor.
  int Until = 0;     ///< Says nothing of later ones; 0: of all.
  bool Only = false; ///< Runs on exactly that one ("sm_90a").
  unsigned Threads = 256;
  double Bytes = 0;      ///< That a block moves, or a thread in each turn.
  double Operations = 0; ///< Of a thread in each turn; a product counts as two.
  std::string Ptx;
};

/// All of them.
std::vector<CeilingKernel> ceilingKernels();

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_CEILINGKERNELS_H
