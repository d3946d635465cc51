//===- VariableCases.h - Integers of device variables -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_VARIABLECASES_H
#define CUPILOT_LIB_EVALUATION_VARIABLECASES_H

#include "LoadedIntegers.h"

namespace cupilot {

/// What the variable \p Symbol holds before \p C; null where it is none of
/// \p Variables.
const Bytes *
variableBefore(const GateCase &C, llvm::StringRef Symbol,
               llvm::ArrayRef<std::pair<std::string, Bytes>> Variables);
/// The content of the variable \p Symbol in \p C, to be changed; \p Start,
/// where the case did not set it.
Bytes &variableIn(GateCase &C, llvm::StringRef Symbol, const Bytes &Start);

/// Single integers of device variables as counts, sizes, indices and modes, one
/// at a time; modes also two at a time. Lists of them are in LengthCases.cpp.
void addVariableCases(const GateCase &Base,
                      llvm::ArrayRef<LoadedIntegers> Loaded,
                      llvm::ArrayRef<std::pair<std::string, Bytes>> Variables,
                      double Cost, CaseMakers &Makers);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_VARIABLECASES_H
