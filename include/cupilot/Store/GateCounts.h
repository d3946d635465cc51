//===- GateCounts.h - How often each reason rejected -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel and version of the gate, the store holds how many variants
// were judged and why they were rejected: gate/<source identity>-<version>.txt,
// one "WORD COUNT" a line, sorted. A search replaces what an earlier one of the
// same seed and settings said; lines of different searches stand side by side,
// so that a merge of two stores is a merge of files.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_GATECOUNTS_H
#define CUPILOT_STORE_GATECOUNTS_H

#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace cupilot {

/// What the gate said of one kernel's variants.
struct GateCounts {
  std::string Kernel;   ///< Its name.
  std::string Identity; ///< Its source identity.
  std::string Search;   ///< Which search it was: its digest.
  unsigned Gate = 0;    ///< Version of the gate.
  unsigned Judged = 0, Passed = 0;
  std::map<std::string, unsigned> Reasons; ///< By word.
};

/// The file of a search: its path relative to the store, and its text.
std::pair<std::string, std::string> gateCountsFile(const GateCounts &C);

/// One file's counts. Text that does not parse is a usage error that names
/// \p Path.
llvm::Expected<GateCounts> parseGateCounts(llvm::StringRef Text,
                                           llvm::StringRef Path);

/// All counts of the store, one for each kernel and version, searches added
/// up, sorted by name. A file that does not parse is a usage error.
llvm::Expected<std::vector<GateCounts>> gateCounts(llvm::StringRef Root);

} // namespace cupilot

#endif // CUPILOT_STORE_GATECOUNTS_H
