//===- ScoreReport.h - A mutation score in words -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_SCOREREPORT_H
#define CUPILOT_MUTATION_SCOREREPORT_H

#include "cupilot/Mutation/Score.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Tables over records. A survivor with an argument in \p Arguments, by
/// MutantRecord::key(), does not count, unless an input tells it apart.
class ScoreReport {
public:
  ScoreReport(llvm::ArrayRef<MutantRecord> Records,
              const std::map<std::string, std::string> &Arguments);
  /// Found mutants of those that count, in percent; 100 when none counts.
  double score() const;
  void print(llvm::raw_ostream &OS, unsigned Kernels) const;
  void printJson(llvm::raw_ostream &OS) const;

private:
  struct Row {
    unsigned Made = 0, SameCode = 0, NotCompiled = 0, Equivalent = 0, Found = 0,
             Survived = 0, Misses = 0;
    unsigned counted() const { return Found + Survived; }
  };
  bool isEquivalent(const MutantRecord &R) const;
  void add(Row &To, const MutantRecord &R) const;

  llvm::ArrayRef<MutantRecord> Records;
  const std::map<std::string, std::string> &Arguments;
  std::map<std::string, Row> ByOperator;
  std::map<std::string, unsigned> ByReason;
  Row All;
};

} // namespace cupilot

#endif // CUPILOT_MUTATION_SCOREREPORT_H
