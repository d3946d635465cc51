//===- Journal.h - What a search has done so far -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_JOURNAL_H
#define CUPILOT_EVOLUTION_JOURNAL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace cupilot {

/// One evaluated candidate of a run. A candidate is known by its genome: the
/// same genome is never evaluated twice.
struct CandidateRecord {
  std::string Genome;  ///< As text: the key.
  std::string Outcome; ///< "accepted", "slower", "refused", "inadmissible",
                       ///< "compile-error", "duplicate", "gate",
                       ///< "no-answer"; "passed" while it waits for a GPU.
  std::string Reason;  ///< A sentence; empty for accepted ones.
  std::string
      DeviceDigest;        ///< Digest of the optimised device code; "" if none.
  double Ratio = 0;        ///< Speed-up, modelled, or measured on a GPU as
                           ///< the evidence says; 0 when not evaluated.
  std::string Source;      ///< The variant's .cu.
  std::string Plan, Guard; ///< JSON in the store's form.
  std::string Evidence;    ///< JSON of the gate's verdict.
  /// The genome that the code really has, as text: parents and statistics go
  /// by it. By rules it is the genome; "" where nothing was carried out.
  std::string Carried = {};
  /// JSON of how it was made: "parents" (genomes), "stages" of translation and
  /// repairs with their calls, what the model said (docs/Evolution.md).
  std::string Made = {};
};

/// The name of a candidate that enters the store: "v_1a2b3c4d".
std::string variantName(const CandidateRecord &R);

/// What was asked of a GPU in one step of a run.
struct BatchRecord {
  std::string Id;      ///< Of the batch: a digest of all that is in it.
  std::string Results; ///< JSON, by request; empty while they are waited for.
};

/// The persisted states of evolution runs, in one SQLite file. Every call is a
/// transaction: a kill leaves the state before it or after it. All errors are
/// resource errors that name the file.
class Journal {
public:
  static llvm::Expected<Journal> open(llvm::StringRef Path);
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
  /// A question to a model: its step, and what CandidateRecord::Made holds of
  /// calls. Asked again, the later one counts.
  llvm::Error saveCall(llvm::StringRef Run, llvm::StringRef Step,
                       llvm::StringRef Note);
  /// All questions of a run, whatever became of their answers, oldest first.
  llvm::Expected<std::vector<std::string>> calls(llvm::StringRef Run);
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
  llvm::Error addColumns();
  std::unique_ptr<sqlite3, Closer> Db;
  std::string Path;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_JOURNAL_H
