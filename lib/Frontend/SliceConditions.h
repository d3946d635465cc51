//===- SliceConditions.h - Conditions that are settled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_SLICECONDITIONS_H
#define CUPILOT_LIB_FRONTEND_SLICECONDITIONS_H

#include "cupilot/Frontend/ParsedUnit.h"

namespace cupilot {

/// \p Text with what #if and its kin ask of the compiler and of headers settled
/// as it is in the unit: "CUDART_VERSION >= 11000" becomes "13000 >= 11000",
/// "#ifdef __clang__" becomes "#if 1". The program's own macros and the
/// architecture's stay; so do directives with anything else in them. Variants
/// may not ask what differs between compilers, and builds with other headers
/// have another build identity.
std::string settleConditions(std::string Text, const ParsedUnit &Unit);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_SLICECONDITIONS_H
