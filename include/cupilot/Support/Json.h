//===- Json.h - JSON and other texts that nest -*- C++ -*-===//
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
#ifndef CUPILOT_SUPPORT_JSON_H
#define CUPILOT_SUPPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <limits>

namespace cupilot {

/// The deepest nesting of (), [] and {} in \p Text, not counted inside of
/// "strings". With \p Angles, <> count too, but for "->", ">=" and "<=".
unsigned nestingDepth(llvm::StringRef Text, bool Angles = false);

/// Nothing of ours nests a tenth as deep.
inline constexpr unsigned MaxNesting = 1000;

/// JSON that came from outside. Text that is none, or nests deeper than
/// MaxNesting, is an error without the file's name.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text);

/// JSON has no infinity: "infinite" stands for it.
inline llvm::json::Value numberJson(double Value) {
  if (std::isfinite(Value))
    return Value;
  return "infinite";
}

/// The number in \p Key as numberJson wrote it; 0 where there is none.
inline double numberIn(const llvm::json::Object &O, llvm::StringRef Key) {
  return O.getString(Key) == "infinite"
             ? std::numeric_limits<double>::infinity()
             : O.getNumber(Key).value_or(0);
}

/// The text in \p Key; "" where there is none.
inline std::string textIn(const llvm::json::Object &O, llvm::StringRef Key) {
  return O.getString(Key).value_or("").str();
}

} // namespace cupilot

#endif // CUPILOT_SUPPORT_JSON_H
