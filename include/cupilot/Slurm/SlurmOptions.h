//===- SlurmOptions.h - How jobs are sent to a Slurm cluster -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SLURM_SLURMOPTIONS_H
#define CUPILOT_SLURM_SLURMOPTIONS_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// What follows "slurm" in "slurm[:KEY=VALUE,...]", and the lines
/// "KEY = VALUE" of a file cupilot.slurm. docs/Cluster.md lists the keys.
struct SlurmOptions {
  std::string Folder; ///< That all nodes see; "": who uses it chooses one.
  std::string Partition, Account, Qos, Constraint, Reservation, Nodes;
  std::string Time;           ///< Limit of a task, as sbatch takes it.
  std::string Gres = "gpu:1"; ///< Of a task; "none".
  std::string Cpus, Memory;   ///< Of a task, as sbatch takes them.
  std::string Prefix;         ///< Of cuPilot on the nodes; "": as here.
  std::string Container;      ///< Image that Apptainer runs it in.
  std::string Card;           ///< Name of the GPU; "": that of the first batch.
  unsigned Attempts = 5;      ///< Tasks that may end without a result.
  unsigned PerTask = 0; ///< Pieces of a task; 0: by how many places there are.
  unsigned Settle = 10; ///< Seconds until a result that is not seen is missing.
  unsigned Patience = 600; ///< Seconds that Slurm may not take jobs or answer.

  /// Adds what \p Text, "KEY=VALUE,KEY=VALUE", says. A word without "=" belongs
  /// to the value before it: "gres=gpu:1,disk:2". Usage errors name the key.
  llvm::Error add(llvm::StringRef Text);
  /// Adds what the file \p Path says in lines "KEY = VALUE"; of a \p Section
  /// "judge" those of "judge.KEY = VALUE", which others pass over.
  llvm::Error addFile(llvm::StringRef Path, llvm::StringRef Section = "");
  /// As add() takes it.
  std::string str() const;
  /// Options of sbatch: where a job runs and what it takes.
  std::vector<std::string> sbatchFlags() const;
  /// Makes paths absolute, and takes \p Usual where no folder is named.
  llvm::Error placeIn(llvm::StringRef Usual);
  /// How \p Program of this installation is called on a node.
  std::vector<std::string> onNode(llvm::StringRef Program) const;
};

/// The file cupilot.slurm beside the project store \p Store; "" is the usual
/// one.
std::string slurmFileBeside(llvm::StringRef Store);

} // namespace cupilot

#endif // CUPILOT_SLURM_SLURMOPTIONS_H
