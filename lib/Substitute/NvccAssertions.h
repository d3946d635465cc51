//===- NvccAssertions.h - Where assertions stand -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_NVCCASSERTIONS_H
#define CUPILOT_LIB_SUBSTITUTE_NVCCASSERTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace cupilot {

/// Of a function's tokens in PTX, those that say in which file, line and
/// function an assertion stands, and nothing else; \p IsLiteral knows the names
/// of string literals.
llvm::DenseSet<unsigned>
findAssertionPlaces(llvm::ArrayRef<llvm::StringRef> Words,
                    llvm::function_ref<bool(llvm::StringRef)> IsLiteral);

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_NVCCASSERTIONS_H
