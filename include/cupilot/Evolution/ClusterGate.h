//===- ClusterGate.h - The gate on a cluster's nodes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_CLUSTERGATE_H
#define CUPILOT_EVOLUTION_CLUSTERGATE_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Slurm/SlurmProbe.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <functional>
#include <map>

namespace cupilot {

/// The options of "slurm[:OPTIONS]", with what cupilot.slurm beside \p Store
/// says in lines "judge.KEY = VALUE"; nothing for "here". Another word is a
/// usage error.
llvm::Expected<std::optional<SlurmOptions>> gatePlace(llvm::StringRef Spec,
                                                      llvm::StringRef Store);

/// Judges candidates on the nodes of a cluster, a task for each, as
/// CandidateEvaluator::judge() does it here.
class ClusterGate {
public:
  using Teller = std::function<void(const llvm::Twine &)>;

  /// Writes what all tasks need into a folder in Options.Folder.
  static llvm::Expected<std::unique_ptr<ClusterGate>>
  create(SlurmOptions Options, const SearchProblem &Problem, Teller Tell);
  /// By candidate: its record as judge() makes it, as far as the journal holds
  /// it; nothing where judge() failed there, so that it can say why here, and
  /// where there was no verdict when \p Until came. Resource errors: those of
  /// SlurmWork; no node is left that judges as this machine does.
  llvm::Expected<std::vector<std::optional<CandidateRecord>>>
  judge(llvm::ArrayRef<const Candidate *> Candidates,
        std::optional<std::chrono::steady_clock::time_point> Until);

private:
  ClusterGate(SlurmOptions Options, std::string Folder, Teller Tell)
      : O(std::move(Options)), Folder(std::move(Folder)),
        Tell(std::move(Tell)) {}
  llvm::Error noteRefusals(llvm::function_ref<void(llvm::StringRef)> LeaveOut);

  SlurmOptions O;
  std::string Folder;
  Teller Tell;
  std::map<std::string, std::string> Refused; ///< Why, by node.
};

/// What a task does: judges the candidate \p Piece of \p Step, a folder that
/// ClusterGate wrote, and puts its verdict there. Resource error: a verdict of
/// this node would be another one than where the search runs, which the folder
/// is told, too.
llvm::Error judgeOnNode(llvm::StringRef Step, unsigned Piece);

/// What verdicts depend on, as a node says it and as aboutGate() reads it.
llvm::Expected<std::string> gateHostText();
/// `cupilot`, which compares a node with this machine.
llvm::Expected<NodeQuestion> aboutGate();

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_CLUSTERGATE_H
