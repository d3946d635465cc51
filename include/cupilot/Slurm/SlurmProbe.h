//===- SlurmProbe.h - Whether the nodes of a cluster can work -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SLURM_SLURMPROBE_H
#define CUPILOT_SLURM_SLURMPROBE_H

#include "cupilot/Slurm/SlurmOptions.h"
#include <functional>

namespace cupilot {

/// What a job on a node found.
struct NodeReport {
  enum class State {
    Works,
    Differs, ///< It can do no work: Text says why.
    Busy     ///< It did not answer in time.
  };
  std::string Node, Text;
  State S = State::Busy;
};

/// What a node is asked.
struct NodeQuestion {
  std::string Program; ///< Whose version there must be \p Version.
  std::string Version; ///< What it prints.
  std::vector<std::string> Arguments; ///< With which it answers.
  /// What the answer says for people; an error where the node can do no work.
  std::function<llvm::Expected<std::string>(llvm::StringRef)> Read;
};
/// cupilot-runner, which lists the node's GPUs.
NodeQuestion aboutGpus();

/// Sends a job to each node that \p O names, at most \p MostNodes, and waits
/// for their answers at most \p Seconds: they see O.Folder, their clocks agree
/// with this machine's, and \p Question is answered. Resource errors, before a
/// job is sent: no Slurm here, no such partition, no right to use it, a folder
/// that cannot be written.
llvm::Expected<std::vector<NodeReport>> probeNodes(const SlurmOptions &O,
                                                   const NodeQuestion &Question,
                                                   unsigned MostNodes,
                                                   unsigned Seconds);

} // namespace cupilot

#endif // CUPILOT_SLURM_SLURMPROBE_H
