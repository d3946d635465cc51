//===- StoreMerge.h - Two stores as one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_STOREMERGE_H
#define CUPILOT_STORE_STOREMERGE_H

#include "cupilot/Store/ProjectStore.h"

namespace cupilot {

/// What a merge did.
struct StoreMerge {
  unsigned Kernels = 0;           ///< Folders that are new.
  unsigned Variants = 0;          ///< Files of variants that are new.
  unsigned Files = 0;             ///< All that were written.
  std::vector<std::string> Notes; ///< What people may want to decide.
};

/// Adds to \p Into all that \p From holds, as git merges two branches, in one
/// step; what git cannot decide is kept of both: records of one search that
/// differ, a kernel under two contracts, variants of one name. Files that are
/// the same in both, and the texts of known kernels, stay as they are.
/// \p From is only read. Usage errors: a store of a format before 6, one with a
/// broken file.
llvm::Expected<StoreMerge> mergeStores(const ProjectStore &Into,
                                       const ProjectStore &From);

} // namespace cupilot

#endif // CUPILOT_STORE_STOREMERGE_H
