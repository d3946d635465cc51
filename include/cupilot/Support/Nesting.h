//===- Nesting.h - How deep a text nests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parsers of JSON and MLIR go down one level of the stack for each bracket,
// without a limit. What comes from a file is looked at first: a broken store is
// an error and never the end of a compiler.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_NESTING_H
#define CUPILOT_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// The deepest nesting of (), [] and {} in \p Text, not counted inside of
/// "strings". With \p Angles, <> count too, but for "->", ">=" and "<=".
unsigned nestingDepth(llvm::StringRef Text, bool Angles = false);

/// Nothing of ours nests a tenth as deep.
inline constexpr unsigned MaxNesting = 1000;

/// JSON that came from outside. Text that is none, or nests deeper than
/// MaxNesting, is an error without the file's name.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_NESTING_H
