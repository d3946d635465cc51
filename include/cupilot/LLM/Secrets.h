//===- Secrets.h - Keys: from the environment, and nowhere else -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_SECRETS_H
#define CUPILOT_LLM_SECRETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// The key in the environment variable \p Name, without white space around it;
/// "" when it is not set or empty. One with control characters or spaces is a
/// usage error, which does not quote it.
llvm::Expected<std::string> keyFromEnvironment(llvm::StringRef Name);

/// Texts that must not come out again. Short ones ("EMPTY", "none"), which
/// servers without keys are given, are none.
class Secrets {
public:
  static constexpr size_t Shortest = 8;
  void add(llvm::StringRef Key);
  /// The values of all environment variables whose name ends in KEY, TOKEN,
  /// SECRET or PASSWORD: what a command may print when it fails.
  void addEnvironment();
  /// \p Text with "[key]" in the place of each of them, in their JSON and URL
  /// spellings too.
  std::string scrub(llvm::StringRef Text) const;

private:
  std::vector<std::string> Spellings; ///< Longest first.
};

/// The beginning of \p Text on one line, for messages: no control characters,
/// valid UTF-8. Scrub first, or half a key may stay.
std::string excerpt(llvm::StringRef Text, size_t Most = 300);

} // namespace cupilot

#endif // CUPILOT_LLM_SECRETS_H
