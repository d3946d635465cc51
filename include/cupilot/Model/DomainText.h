//===- DomainText.h - Guards and domains for people -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one form that judge, store show, explain, reports and programs print:
//
//   2 <= n <= 70000; incx == 1; bias != null; x and y do not overlap (n * 4
//   bytes)
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_DOMAINTEXT_H
#define CUPILOT_MODEL_DOMAINTEXT_H

#include "cupilot/Model/Domain.h"
#include "cupilot/Model/LaunchNames.h"

namespace cupilot {

/// "n * 4", "gx * bx - n".
std::string exprText(const Expr &E, const LaunchNames &N);

/// \p D: its clauses; of several boxes first what they have in common, then
/// each box after \p Between. Where a GPU saw a box, each says who saw it.
std::string domainText(const Domain &D, const LaunchNames &N,
                       llvm::StringRef Between = " ");
/// One clause, counted as in ClauseRef.
std::string clauseText(const DomainBox &Box, size_t Index,
                       const LaunchNames &N);

/// The conditions of \p G, without its architecture; "" where it has none.
std::string guardText(const Guard &G, const LaunchNames &N);

/// The shortest decimal number that \p Type reads as the finite bits \p Raw.
std::string floatText(FloatRef::Format Type, uint64_t Raw);

} // namespace cupilot

#endif // CUPILOT_MODEL_DOMAINTEXT_H
