//===- SlurmQueue.h - What a Slurm cluster says of jobs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SLURM_SLURMQUEUE_H
#define CUPILOT_SLURM_SLURMQUEUE_H

#include "cupilot/Slurm/SlurmOptions.h"
#include <map>
#include <optional>

namespace cupilot {

/// What became of a task, by Slurm's short words for states
/// (TaskStates.def).
enum class TaskState {
#define CUPILOT_TASK_STATE(NAME, CODE, ENDED, MEANING) NAME,
#include "cupilot/Slurm/TaskStates.def"
};
/// Nothing for a word that is none.
std::optional<TaskState> taskStateOf(llvm::StringRef Code);
/// Whether it does not run any more, and will not.
bool isEnded(TaskState S);
/// "timed out".
llvm::StringRef meaningOf(TaskState S);

/// Whether a node takes jobs, now or when others have ended, by sinfo's word
/// for its state: "idle", "mix-".
bool takesJobs(llvm::StringRef NodeState);

/// A task as squeue lists it, also for some time after its end.
struct SlurmTask {
  std::string Job;    ///< Name.
  std::string Id;     ///< Of the array.
  unsigned Index = 0; ///< In its array.
  TaskState State = TaskState::Pending;
  std::string Node, Reason;
  /// Slurm waits for somebody to release it.
  bool isHeld() const;
};

/// The commands of Slurm.
class SlurmQueue {
public:
  /// Resource error: there is no sbatch here.
  static llvm::Error checkHere();
  /// This user's tasks of jobs whose names begin with \p Prefix; nothing while
  /// Slurm does not answer.
  static std::optional<std::vector<SlurmTask>> tasks(llvm::StringRef Prefix);
  /// Whether slurmctld answers.
  static bool answers();
  /// Sends a job. Resource error, in sbatch's words: it was not taken.
  static llvm::Error submit(llvm::ArrayRef<std::string> Flags,
                            llvm::StringRef Script);
  /// The same without sending it.
  static llvm::Error wouldTake(llvm::ArrayRef<std::string> Flags,
                               llvm::StringRef Script);
  /// What accounting knows of the task \p Index of \p Job, a line for each of
  /// its starts; "" where it is off.
  static std::string accounted(llvm::StringRef Job, unsigned Index);
  /// The names of the nodes that \p O names, with whether each can take jobs
  /// now or later. Resource error: Slurm knows no such partition.
  static llvm::Expected<std::map<std::string, bool>>
  nodes(const SlurmOptions &O);
  /// How many tasks the nodes that \p O names can run at once, by their GPUs; 0
  /// where Slurm does not say.
  static unsigned places(const SlurmOptions &O);
  static void cancel(const SlurmTask &T);
};

} // namespace cupilot

#endif // CUPILOT_SLURM_SLURMQUEUE_H
