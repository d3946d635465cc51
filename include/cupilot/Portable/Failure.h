//===- Failure.h - Failures of the parts without LLVM -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_FAILURE_H
#define CUPILOT_PORTABLE_FAILURE_H

#include <stdexcept>
#include <string>
#include <string_view>

namespace cupilot {

enum class FailureKind {
#define CUPILOT_FAILURE(Name, Word, Status, Scope, Meaning) Name,
#include "cupilot/Portable/Failure.def"
};

/// What a runner does about a failure; see Failure.def.
enum class FailureScope { Program, Request, Runner };

/// "timeout", "wrong-arch", ...: stable, for programs.
std::string_view wordOf(FailureKind K);
/// The kind of a word; Worker for one that is not in the table.
FailureKind failureKindOf(std::string_view Word);
FailureScope scopeOf(FailureKind K);
/// 1, 2 or 3.
int exitStatusOf(FailureKind K);

/// What the parts without LLVM throw. Code that uses them inside of LLVM code
/// catches it at the border and makes an llvm::Error of it.
class Failure : public std::runtime_error {
public:
  Failure(FailureKind Kind, const std::string &Message, std::string Hint = "")
      : std::runtime_error(Message), Kind(Kind), Hint(std::move(Hint)) {}
  FailureKind kind() const { return Kind; }
  std::string_view word() const { return wordOf(Kind); }
  /// A way out; may be empty.
  const std::string &hint() const { return Hint; }

private:
  FailureKind Kind;
  std::string Hint;
};

} // namespace cupilot

#endif // CUPILOT_PORTABLE_FAILURE_H
