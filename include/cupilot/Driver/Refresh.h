//===- Refresh.h - Variants proved for other flags -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DRIVER_REFRESH_H
#define CUPILOT_DRIVER_REFRESH_H

#include "cupilot/Driver/BuildCommand.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Which variants are to be proved for which command.
struct RefreshRequest {
  std::string Input; ///< The source.
  BuildCommand Command;
  std::string Store;     ///< Folder.
  std::string Workloads; ///< A module; "": those that the store keeps.
  std::string Only;      ///< Kernels whose names hold it; "": all.
  uint64_t Seed = 1;     ///< Of the inputs.
};

/// Judges the variants of kernels whose source is the one that was searched, as
/// the command compiles them, and adds those that pass to what builds find.
/// Progress goes to \p Log. That nothing could be added is a finding.
llvm::Error refresh(const RefreshRequest &R, llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_REFRESH_H
