//===- DomainEnds.h - Whether a box is right at its ends --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A box is the hull of launches of which each was right. What lies between them
// was not run: its largest sizes together, its least sizes with its most
// blocks, its limits and numbers at ends of their own, sizes that were wrong
// with other flags and pointers, and, at an end that a wrong launch made, other
// numbers, as the last right one may have been so by chance.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_DOMAINENDS_H
#define CUPILOT_LIB_EVALUATION_DOMAINENDS_H

#include "DeriveDomain.h"
#include "Variant.h"

namespace cupilot {

/// Runs \p V at the ends of the boxes of \p D, which \p F is the frame of,
/// that \p Cases made. False where it was right, or nothing is there to run.
llvm::Expected<bool> wrongAtEnds(const DomainFrame &F, VariantRuns &V,
                                 DomainCases &Cases, const Domain &D,
                                 DomainCases::Admission Admits,
                                 GateVerdict &Verdict);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_DOMAINENDS_H
