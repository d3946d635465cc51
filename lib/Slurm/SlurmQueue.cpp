//===- SlurmQueue.cpp - What a Slurm cluster says of jobs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Slurm/SlurmQueue.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace cupilot {

namespace {
struct StateEntry {
  TaskState State;
  StringRef Code;
  bool Ended;
  StringRef Meaning;
};
} // namespace

static constexpr StateEntry States[] = {
#define CUPILOT_TASK_STATE(NAME, CODE, ENDED, MEANING)                         \
  {TaskState::NAME, CODE, ENDED, MEANING},
#include "cupilot/Slurm/TaskStates.def"
};

std::optional<TaskState> taskStateOf(StringRef Code) {
  for (const StateEntry &E : States)
    if (E.Code == Code)
      return E.State;
  return std::nullopt;
}

bool isEnded(TaskState S) { return States[static_cast<size_t>(S)].Ended; }

StringRef meaningOf(TaskState S) {
  return States[static_cast<size_t>(S)].Meaning;
}

bool takesJobs(StringRef NodeState) {
  // A mark stands behind a state (man sinfo, "NODE STATE CODES"). Those that
  // save power start when they get a job, and "-" is planned for one. A node
  // that does not answer ("*"), or is reserved for maintenance ("$"), gets
  // none.
  static constexpr StringRef Harmless = "~#!%@^-+";
  if (!NodeState.empty() && Harmless.contains(NodeState.back()))
    NodeState = NodeState.drop_back();
  return is_contained(
      {"idle", "mix", "alloc", "comp", "plnd", "pow_up", "pow_dn"},
      NodeState.lower());
}

bool SlurmTask::isHeld() const {
  // Slurm's words for its reasons (man squeue, "JOB REASON CODES"). A task that
  // its user holds is not meant: that is a wish.
  return State == TaskState::RequeueHeld || State == TaskState::SpecialExit ||
         (State == TaskState::Pending &&
          (Reason == "launch failed requeued held" ||
           Reason == "LaunchFailedRequeuedHeld" || Reason == "JobHeldAdmin" ||
           Reason == "ReqNodeNotAvail_Held"));
}

/// Slurm's commands answer within a second or two; one that waits longer is one
/// whose slurmctld is away.
static constexpr unsigned MostSeconds = 60;

static std::optional<std::string> output(ArrayRef<std::string> Command) {
  Expected<ProcessResult> R = runProcess(Command, MostSeconds);
  if (!R) {
    consumeError(R.takeError());
    return std::nullopt;
  }
  if (R->Status != 0)
    return std::nullopt;
  return std::move(R->Out);
}

Error SlurmQueue::checkHere() {
  for (const char *Name : {"sbatch", "squeue", "scancel"})
    if (!sys::findProgramByName(Name))
      return resourceError("there is no '" + Twine(Name) + "' here",
                           "run cuPilot on a machine that submits jobs to the "
                           "cluster, or install Slurm's client (Debian: "
                           "slurm-client)");
  return Error::success();
}

std::optional<std::vector<SlurmTask>> SlurmQueue::tasks(StringRef Prefix) {
  std::optional<std::string> Out =
      output({"squeue", "--noheader", "--array", "--me", "--states=all",
              "--format=%j|%F|%K|%t|%N|%r"});
  if (!Out)
    return std::nullopt;
  std::vector<SlurmTask> Tasks;
  for (StringRef Line : split(*Out, '\n')) {
    SmallVector<StringRef, 6> Fields;
    Line.split(Fields, '|', 5);
    SlurmTask T;
    if (Fields.size() != 6 || !Fields[0].starts_with(Prefix))
      continue;
    // Jobs that are no arrays have no index.
    if (Fields[2].getAsInteger(10, T.Index))
      T.Index = 0;
    T.Job = Fields[0].str();
    T.Id = Fields[1].str();
    // A state of a later Slurm: not known to have ended.
    T.State = taskStateOf(Fields[3]).value_or(TaskState::Pending);
    T.Node = Fields[4].str();
    T.Reason = Fields[5].str();
    Tasks.push_back(std::move(T));
  }
  return Tasks;
}

bool SlurmQueue::answers() {
  return output({"scontrol", "ping"}).has_value() &&
         output({"squeue", "--noheader", "--me"}).has_value();
}

static Error sbatch(ArrayRef<std::string> Before, ArrayRef<std::string> Flags,
                    StringRef Script) {
  std::vector<std::string> Command = {"sbatch"};
  append_range(Command, Before);
  append_range(Command, Flags);
  Command.push_back(Script.str());
  Expected<ProcessResult> R = runProcess(Command, MostSeconds);
  if (!R)
    return R.takeError();
  if (R->Status == 0)
    return Error::success();
  StringRef Words = StringRef(R->Err).rtrim();
  return resourceError(
      "'" + shellQuoted(Command) + "' failed" +
      (R->TimedOut ? ": no answer in " + Twine(MostSeconds) + " seconds"
                   : Twine("")) +
      (Words.empty() ? "" : ":\n") + Words);
}

Error SlurmQueue::submit(ArrayRef<std::string> Flags, StringRef Script) {
  return sbatch({"--parsable"}, Flags, Script);
}

Error SlurmQueue::wouldTake(ArrayRef<std::string> Flags, StringRef Script) {
  return sbatch({"--test-only"}, Flags, Script);
}

std::string SlurmQueue::accounted(StringRef Job, unsigned Index) {
  std::optional<std::string> Out =
      output({"sacct", "--noheader", "--allocations", "--parsable2",
              "--name=" + Job.str(), "--format=JobID,State,ExitCode,NodeList"});
  if (!Out)
    return "";
  // "123_4|FAILED|1:0|n1"; what never ran has a range in brackets.
  const std::string Task = "_" + utostr(Index);
  std::vector<StringRef> Lines;
  for (StringRef Line : split(*Out, '\n'))
    if (Line.split('|').first.ends_with(Task))
      Lines.push_back(Line);
  return join(Lines, "\n");
}

namespace {
/// A line of sinfo.
struct NodeLine {
  std::string Name;
  bool Takes; ///< Jobs, now or when others have ended.
  std::string Gres;
};
} // namespace

static std::vector<std::string> nodeCommand(const SlurmOptions &O) {
  std::vector<std::string> Command = {"sinfo", "--noheader", "--Node",
                                      "--format=%N|%a|%t|%P|%G"};
  if (!O.Partition.empty())
    Command.push_back("--partition=" + O.Partition);
  if (!O.Nodes.empty())
    Command.push_back("--nodes=" + O.Nodes);
  return Command;
}

static std::optional<std::vector<NodeLine>> nodeLines(const SlurmOptions &O) {
  std::optional<std::string> Out = output(nodeCommand(O));
  if (!Out)
    return std::nullopt;
  std::vector<NodeLine> All;
  for (StringRef Line : split(*Out, '\n')) {
    SmallVector<StringRef, 5> Fields;
    Line.split(Fields, '|', 4);
    // The default partition is marked; without a name it is the one.
    if (Fields.size() != 5 ||
        (O.Partition.empty() && !Fields[3].ends_with("*")))
      continue;
    All.push_back({Fields[0].str(), Fields[1] == "up" && takesJobs(Fields[2]),
                   Fields[4].str()});
  }
  return All;
}

/// GPUs of "gpu:h200:8(S:0-1),disk:2".
static unsigned gpusOf(StringRef Gres) {
  unsigned Count = 0;
  for (StringRef Each : split(Gres, ',')) {
    unsigned N;
    if (Each.starts_with("gpu:") &&
        !Each.split('(').first.rsplit(':').second.getAsInteger(10, N))
      Count += N;
  }
  return Count;
}

unsigned SlurmQueue::places(const SlurmOptions &O) {
  unsigned Places = 0;
  for (const NodeLine &N : nodeLines(O).value_or(std::vector<NodeLine>()))
    if (N.Takes)
      Places += std::max(1u, gpusOf(N.Gres));
  return Places;
}

Expected<std::map<std::string, bool>> SlurmQueue::nodes(const SlurmOptions &O) {
  std::optional<std::vector<NodeLine>> Lines = nodeLines(O);
  if (!Lines)
    return resourceError("'" + shellQuoted(nodeCommand(O)) + "' failed",
                         "see whether slurmctld runs: scontrol ping");
  std::map<std::string, bool> All;
  for (const NodeLine &N : *Lines)
    All[N.Name] |= N.Takes;
  if (All.empty())
    return resourceError(
        O.Partition.empty()
            ? Twine("the cluster has no default partition, or it is empty")
            : "the cluster has no partition '" + Twine(O.Partition) +
                  "' that you may see, or it is empty",
        "'sinfo' lists the partitions; name one: slurm:partition=NAME");
  return All;
}

void SlurmQueue::cancel(const SlurmTask &T) {
  output({"scancel", T.Id + "_" + utostr(T.Index)});
}

} // namespace cupilot
