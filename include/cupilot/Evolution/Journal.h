//===- Journal.h - What a search has done so far -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_JOURNAL_H
#define CUPILOT_EVOLUTION_JOURNAL_H

#include "cupilot/Evolution/CandidateRecord.h"

struct sqlite3;

namespace cupilot {

/// What was asked of a GPU in one step of a run.
struct BatchRecord {
  std::string Id;      ///< Of the batch: a digest of all that is in it.
  std::string Results; ///< JSON, by request; empty while they are waited for.
};

/// A call of a tool of cupilot mcp, or the end of the work that one began.
struct ToolCall {
  int64_t Time = 0;          ///< Seconds since 1970.
  std::string Client, Model; ///< As the client tells; "": it does not.
  std::string Tool, Kernel;
  std::string Arguments; ///< Digest.
  std::string Handle;    ///< "" where nothing was begun.
  /// "done", "pending" (the work goes on), "error", "refused", "cancelled".
  std::string Outcome;
  std::string Result; ///< Digest; "" while it is pending.
  double Seconds = 0, GpuSeconds = 0;
  bool IsWork = false; ///< The end of the work, not a call.
  bool IsFree = false; ///< It counts for no budget.
};

/// What the calls of a store have used.
struct ToolTotals {
  unsigned Calls = 0;
  double GpuSeconds = 0;
};

/// The persisted states of evolution runs, in one SQLite file. Every call is a
/// transaction: a kill leaves the state before it or after it. All errors are
/// resource errors that name the file. A file of an earlier format is brought
/// to this one when it is opened; one of a later format is a usage error.
class Journal {
public:
  static llvm::Expected<Journal> open(llvm::StringRef Path);
  /// Where the journal of the store \p Root lies.
  static std::string pathIn(llvm::StringRef Root) {
    return (Root + "/journal.sqlite").str();
  }
  Journal(Journal &&) = default;

  /// Forgets what is known of run \p Run.
  llvm::Error restart(llvm::StringRef Run);
  /// The population after the last finished generation: its number and its
  /// MLIR text; nothing when the run has not begun.
  llvm::Expected<std::optional<std::pair<unsigned, std::string>>>
  lastGeneration(llvm::StringRef Run);
  llvm::Error saveGeneration(llvm::StringRef Run, unsigned Generation,
                             llvm::StringRef Module);

  /// The batch of a step: "g0", "final-..."; nothing when none was made.
  llvm::Expected<std::optional<BatchRecord>> findBatch(llvm::StringRef Run,
                                                       llvm::StringRef Step);
  llvm::Error saveBatch(llvm::StringRef Run, llvm::StringRef Step,
                        const BatchRecord &Batch);

  llvm::Expected<std::optional<CandidateRecord>> find(llvm::StringRef Run,
                                                      llvm::StringRef Genome);
  llvm::Error save(llvm::StringRef Run, const CandidateRecord &Candidate);
  /// A question to a model. Asked again, the later one counts.
  llvm::Error saveCall(llvm::StringRef Run, const ModelCall &Call);
  /// All questions of a run, whatever became of their answers, oldest first.
  llvm::Expected<std::vector<ModelCall>> calls(llvm::StringRef Run);
  /// Calls of tools belong to no run.
  llvm::Error saveToolCall(const ToolCall &Call);
  /// Oldest first.
  llvm::Expected<std::vector<ToolCall>> toolCalls();
  llvm::Expected<ToolTotals> toolTotals();
  /// The digests of all variants that passed all checks, of the texts.
  llvm::Expected<std::vector<std::string>> acceptedTexts();
  /// All runs of which a generation was finished, oldest first.
  llvm::Expected<std::vector<std::string>> runs();
  /// All candidates of a run in the order of their evaluation.
  llvm::Expected<std::vector<CandidateRecord>> candidates(llvm::StringRef Run);

private:
  struct Closer {
    void operator()(sqlite3 *Db) const;
  };
  explicit Journal(sqlite3 *Db, std::string Path)
      : Db(Db), Path(std::move(Path)) {}
  llvm::Error failure(llvm::StringRef What) const;
  llvm::Error execute(const char *Sql);
  llvm::Error upgrade();
  std::unique_ptr<sqlite3, Closer> Db;
  std::string Path;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_JOURNAL_H
