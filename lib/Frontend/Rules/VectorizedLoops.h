//===- VectorizedLoops.h - Wide accesses in loops over rows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_VECTORIZEDLOOPS_H
#define CUPILOT_LIB_FRONTEND_RULES_VECTORIZEDLOOPS_H

#include "KernelView.h"

namespace cupilot {

/// Lets the loops that a group of threads (warp, block, tile, grid) shares take
/// \p Width neighbouring elements at once:
///   for (int i = threadIdx.x; i < n; i += blockDim.x)
/// False: the kernel has no such loop. A finding says why they cannot.
llvm::Expected<bool> vectorizeLoops(RewriteState &S, KernelView &V,
                                    int64_t Width);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_VECTORIZEDLOOPS_H
