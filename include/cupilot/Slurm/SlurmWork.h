//===- SlurmWork.h - Work in pieces as job arrays -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SLURM_SLURMWORK_H
#define CUPILOT_SLURM_SLURMWORK_H

#include "cupilot/Slurm/SlurmOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <memory>

namespace cupilot {

/// Numbered pieces of work, as tasks of job arrays, until all have results.
/// Whoever asks knows by files of its own which pieces have one; Slurm only
/// says whether a task may still bring one, and why it did not.
class SlurmWork {
public:
  using Teller = std::function<void(const llvm::Twine &)>;
  using PieceNamer = std::function<std::string(unsigned)>; ///< For people.

  /// \p Folder holds lists, scripts and logs, and is seen by all nodes; one
  /// that an earlier process used goes on. \p Line is the command by which
  /// the shell of a task does the piece $piece.
  static llvm::Expected<std::unique_ptr<SlurmWork>>
  create(SlurmOptions Options, llvm::StringRef Folder, llvm::StringRef Line,
         PieceNamer NameOf);
  /// Cancels what is still in the queue, as the end of the process does.
  ~SlurmWork();
  /// Looks once: sends the pieces of \p Open, those without a result, that no
  /// task works on. \p Again: told of a piece before it is sent once more.
  /// Resource error: Slurm does not take jobs, does not answer for too long, or
  /// a piece has used its attempts and no other can go on.
  llvm::Error step(llvm::ArrayRef<unsigned> Open, const Teller &Tell,
                   llvm::function_ref<void(unsigned)> Again);
  /// No task is sent to \p Node any more, and one that ended there is not an
  /// attempt.
  void leaveOut(llvm::StringRef Node);
  /// All pieces have results: what is still in the queue is not needed.
  void finish();
  /// What the names of the jobs begin with.
  const std::string &jobPrefix() const;
  class State;

private:
  explicit SlurmWork(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

} // namespace cupilot

#endif // CUPILOT_SLURM_SLURMWORK_H
