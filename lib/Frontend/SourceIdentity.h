//===- SourceIdentity.h - The source identity of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_SOURCEIDENTITY_H
#define CUPILOT_LIB_FRONTEND_SOURCEIDENTITY_H

#include "Closure.h"

namespace cupilot {

struct PrecisionContract;

struct SourceIdentity {
  std::string Digest;
  /// A predefined macro that is another one in every build ("__TIME__"), and
  /// where; empty if none is used.
  std::string FragileMacro, FragileAt;
};

/// The identity of the kernel called \p Name whose closure is \p C: its name,
/// contract, library versions, the tokens of all pieces after preprocessing
/// (macros of system headers by name), and the meaning of the names in them.
/// The order of declarations does not count.
SourceIdentity identifySource(llvm::StringRef Name,
                              const PrecisionContract &Contract,
                              const ParsedUnit &Unit, const Closure &C,
                              const PieceTable &Pieces,
                              const KernelLambdas &Lambdas);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_SOURCEIDENTITY_H
