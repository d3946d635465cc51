//===- Workers.h - Tasks that may crash -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_WORKERS_H
#define CUPILOT_SUPPORT_WORKERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// How one task ended.
struct TaskResult {
  enum class Kind { Done, Crashed, TimedOut };
  Kind K = Kind::Done;
  std::string Answer; ///< What the job returned; else why it did not.
};

struct WorkerOptions {
  unsigned Workers = 2;
  unsigned TimeoutSeconds = 600; ///< Wall time of one task.
  unsigned TasksPerProcess = 64; ///< Then a fresh one takes over.
};

/// Runs \p Job on each of \p Tasks in forked processes, so that a crash or a
/// hang costs one task. \p Done hears the results in the order of the tasks;
/// when it returns false, the rest is dropped. What \p Job sets up stays in its
/// process. A process that cannot be started is a resource error.
llvm::Error runTasks(llvm::ArrayRef<unsigned> Tasks,
                     const WorkerOptions &Options,
                     llvm::function_ref<std::string(unsigned)> Job,
                     llvm::function_ref<bool(size_t, TaskResult)> Done);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_WORKERS_H
