//===- StrategyRecord.h - What strategies have done so far -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ROOT/strategies/CLASS-GPU-SEARCH.txt of a store: how often each strategy was
// tried in a search on kernels of one bottleneck class and one GPU, and how
// often it helped. One file a search, so that stores merge as files do.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_STRATEGYRECORD_H
#define CUPILOT_EVOLUTION_STRATEGYRECORD_H

#include "cupilot/Dialect/Transforms/Genetics.h"
#include "llvm/Support/Error.h"

namespace cupilot {

using StrategyTallies = std::map<std::string, StrategyTally>;

/// What one search found out.
struct StrategyRecord {
  std::string Class;  ///< "memory", "compute", "middle".
  std::string Gpu;    ///< "NVIDIA H200".
  std::string Kernel; ///< Its name.
  std::string Search; ///< Its digest.
  StrategyTallies Tallies;
};

/// The search's file: its path relative to the store, and its text. Where
/// nothing was tried there is none to write.
std::pair<std::string, std::string> strategyFile(const StrategyRecord &R);

/// A file's text. Usage errors name \p Path.
llvm::Expected<StrategyRecord> parseStrategyRecord(llvm::StringRef Text,
                                                   llvm::StringRef Path);

/// All searches of the store, by file name.
llvm::Expected<std::vector<StrategyRecord>>
strategyRecords(llvm::StringRef Root);

/// The sum over searches of one class and GPU, but for \p Without.
llvm::Expected<StrategyTallies> strategyTallies(llvm::StringRef Root,
                                                llvm::StringRef Class,
                                                llvm::StringRef Gpu,
                                                llvm::StringRef Without);

class Journal;
/// What other searches tell the one that \p Of names (its tallies do not
/// matter); of no store where \p Root is "". It is read once, and kept in the
/// journal: a search that is resumed goes the same way, whatever ended
/// meanwhile.
llvm::Expected<StrategyTallies> priorTallies(Journal &J, llvm::StringRef Root,
                                             const StrategyRecord &Of);

/// "a:5:2", "b:1:0": for a journal and for passes, and back. Nothing where one
/// is broken.
std::vector<std::string> tallyTexts(const StrategyTallies &T);
std::optional<StrategyTallies> parseTallies(llvm::ArrayRef<std::string> Texts);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_STRATEGYRECORD_H
