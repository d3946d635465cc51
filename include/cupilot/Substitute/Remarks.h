//===- Remarks.h - What became of kernels, as remarks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_REMARKS_H
#define CUPILOT_SUBSTITUTE_REMARKS_H

#include "cupilot/Substitute/Substitute.h"

namespace cupilot {

/// Emits \p Outcomes through LLVM's optimisation remarks, pass name "cupilot",
/// so that -Rpass=cupilot and record files show them. Each kernel has one:
/// what was taken is told by the host module (\p Device false), why not by the
/// device module; which tells all when it only checks.
void emitRemarks(llvm::Module &M, llvm::ArrayRef<SubstitutionOutcome> Outcomes,
                 bool Device, bool CheckOnly);

/// The same for the launches in a host module of kernels that have variants.
void emitRemarks(llvm::ArrayRef<LaunchSite> Sites);

/// "launch of 'k(int)' at F.cu:3 in 'main': redirected", or why not.
std::string describe(const LaunchSite &S);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_REMARKS_H
