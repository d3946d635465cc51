//===- Verify.h - The gate over a whole store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_VERIFY_H
#define CUPILOT_DRIVER_VERIFY_H

#include "cupilot/Evaluation/Gate.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace cupilot {

/// What is to be judged again.
struct VerifyRequest {
  std::string Store;     ///< Folder.
  std::string Workloads; ///< A module of launches that are added; "": none.
  std::string Only;      ///< Kernels whose names hold it; "": all.
  std::string Device;    ///< A GPU, for judgeOnGpu; "": none.
  /// Bytes of a launch that is too large for the gate; 0: none is compared.
  uint64_t LargeBytes = UsualLargeBytes;
  bool Check = false;             ///< The store stays as it is.
  uint64_t Seed = 1;              ///< Of the inputs.
  std::vector<std::string> Flags; ///< Added to those that the store names.
};

/// Judges all variants of a store with the largest launches, on the store's
/// workloads and with the flags under which they were proved. Those that pass
/// get the domain that the gate found, and its version. One line for each goes
/// to \p Out, progress to \p Log. Variants that do not pass stay in the store;
/// they, and what cannot be judged, are a finding. Workloads of no kernel of
/// the store are a usage error.
llvm::Error verify(const VerifyRequest &R, llvm::raw_ostream &Out,
                   llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_VERIFY_H
