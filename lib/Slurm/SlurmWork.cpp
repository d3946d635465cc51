//===- SlurmWork.cpp - Work in pieces as job arrays -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Slurm/SlurmWork.h"
#include "JobGuard.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Slurm/SlurmQueue.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <chrono>
#include <set>

using namespace llvm;

namespace cupilot {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

/// Slurm's own default for the tasks of an array (MaxArraySize); where it is
/// less, the first job is not taken, and smaller ones follow.
static constexpr unsigned MostTasks = 1000;
static constexpr unsigned MostBackoff = 60;

namespace {
/// What is known of a piece that has no result yet.
struct Piece {
  unsigned Attempts = 0; ///< Tasks of this process that ended without a result.
  bool Sent = false;     ///< By this process.
  std::string Log;       ///< Of its last task.
  std::string Job, Node; ///< Of its last task.
  unsigned Index = 0;    ///< In its last job.
  bool Again = false;    ///< A task of it has ended without a result.
  std::optional<Clock::time_point> MissingSince;
  std::string Why; ///< It has no result.
};
} // namespace

class SlurmWork::State {
public:
  State(SlurmOptions Options, std::string Folder, std::string Line,
        PieceNamer NameOf, JobGuard Guard)
      : O(std::move(Options)), Folder(std::move(Folder)), Line(std::move(Line)),
        NameOf(std::move(NameOf)),
        Prefix("cupilot-" + shortDigest(digest(this->Folder), 8) + "-"),
        Guard(std::move(Guard)), LastProgress(Clock::now()) {}

  Error readLists();
  Error step(ArrayRef<unsigned> Open, const Teller &Tell,
             function_ref<void(unsigned)> Again);
  void finish();

  std::set<std::string> LeftOut; ///< Nodes.
  SlurmOptions O;
  std::string Folder, Line;
  PieceNamer NameOf;
  std::string Prefix;
  JobGuard Guard;

private:
  std::string file(const Twine &Name) const {
    return (Folder + "/" + Name).str();
  }
  /// The task of each piece that has not ended, else the last one.
  std::map<unsigned, SlurmTask> tasksOfPieces(ArrayRef<SlurmTask> Tasks);
  void endedWithout(unsigned P, const SlurmTask *T, const Teller &Tell);
  Error send(ArrayRef<unsigned> Open, bool Active);
  std::vector<std::vector<unsigned>> packed(ArrayRef<unsigned> Todo);
  Error submit(ArrayRef<std::vector<unsigned>> Tasks);
  Error notTaken(Error Failed, size_t Asked, bool Active);
  Error givenUp(ArrayRef<unsigned> Lost);
  std::string lastLines(StringRef Path) const;
  /// Jobs that leave out nodes hold up others in the queue: one failure is not
  /// a reason.
  std::vector<StringRef> failingNodes() const {
    std::vector<StringRef> Names;
    for (const auto &[Node, Count] : Failures)
      if (Count > 1)
        Names.push_back(Node);
    return Names;
  }
  void noteResults(ArrayRef<unsigned> Open);
  void guard(const std::string &Job) {
    if (Guarded.insert(Job).second)
      Guard.add(Job);
  }
  bool isOverdue(Clock::time_point Since) const {
    return Clock::now() - Since > seconds(O.Patience);
  }

  /// The pieces of each task, by job.
  std::map<std::string, std::vector<std::vector<unsigned>>> Lists;
  std::map<unsigned, Piece> Pieces;
  std::map<std::string, unsigned> Failures; ///< By node, since a result.
  std::set<std::string> Guarded;
  unsigned NextList = 0, Chunk = MostTasks, Backoff = 1, Places = 0;
  bool Taken = false;   ///< A job of this process.
  bool Refused = false; ///< Not even one task is ever taken.
  size_t LastOpen = 0;
  Clock::time_point LastProgress, NextSend = Clock::time_point::min();
};

/// What earlier processes have sent: their tasks may still be in the queue.
Error SlurmWork::State::readLists() {
  Expected<std::vector<std::string>> Files = filesIn(Folder, ".list");
  if (!Files)
    return Files.takeError();
  for (const std::string &Path : *Files) {
    unsigned Number;
    if (sys::path::stem(Path).getAsInteger(10, Number))
      continue;
    NextList = std::max(NextList, Number + 1);
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    auto &List = Lists[Prefix + utostr(Number)];
    for (StringRef TaskLine : split(StringRef(*Text).rtrim(), '\n')) {
      List.emplace_back();
      for (StringRef Word : split(TaskLine, ' '))
        if (unsigned P; !Word.getAsInteger(10, P))
          List.back().push_back(P);
    }
  }
  return Error::success();
}

std::map<unsigned, SlurmTask>
SlurmWork::State::tasksOfPieces(ArrayRef<SlurmTask> Tasks) {
  std::map<unsigned, SlurmTask> Found;
  for (bool Ended : {true, false})
    for (const SlurmTask &T : Tasks) {
      auto It = Lists.find(T.Job);
      if (It == Lists.end() || T.Index >= It->second.size() ||
          isEnded(T.State) != Ended)
        continue;
      for (unsigned P : It->second[T.Index])
        if (!Ended || Pieces[P].Job == T.Job)
          Found[P] = T;
    }
  return Found;
}

std::string SlurmWork::State::lastLines(StringRef Path) const {
  Expected<std::string> Text = readFile(Path);
  if (!Text) {
    consumeError(Text.takeError());
    return "";
  }
  constexpr size_t Most = 600;
  StringRef End = StringRef(*Text).rtrim().take_back(Most);
  return End.size() == Most ? End.split('\n').second.str() : End.str();
}

void SlurmWork::State::endedWithout(unsigned P, const SlurmTask *T,
                                    const Teller &Tell) {
  Piece &It = Pieces[P];
  It.MissingSince.reset();
  if (T) {
    It.Why = ("its task " + meaningOf(T->State)).str();
    if (!T->Node.empty())
      It.Why += " on " + T->Node;
    if (T->isHeld())
      It.Why += " (" + T->Reason + ")";
  } else {
    It.Why = "Slurm does not know its task any more";
  }
  if (T && LeftOut.count(T->Node)) {
    It.Again = true;
    return;
  }
  It.Again = true;
  // A limit or a wish says nothing about the node.
  if (T && !T->Node.empty() &&
      (T->State == TaskState::Failed || T->State == TaskState::Completed ||
       T->State == TaskState::NodeFailed || T->State == TaskState::BootFailed))
    ++Failures[T->Node];
  ++It.Attempts;
  if (Tell)
    Tell(NameOf(P) + " has no result: " + It.Why +
         (It.Attempts < O.Attempts ? "; it is sent again" : ""));
}

Error SlurmWork::State::submit(ArrayRef<std::vector<unsigned>> Tasks) {
  const std::string Number = utostr(NextList++), Job = Prefix + Number,
                    List = file(Number + ".list"),
                    Script = file(Number + ".sh");
  std::string Text;
  for (const std::vector<unsigned> &Task : Tasks)
    Text +=
        join(map_range(Task, [](unsigned P) { return utostr(P); }), " ") + "\n";
  if (Error E = writeFileAtomic(List, Text))
    return E;
  Text = "#!/bin/sh\n"
         "pieces=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" " +
         shellQuoted({List}) + ")\n" +
         "[ -n \"$pieces\" ] || exit 3\n"
         "status=0\n"
         "for piece in $pieces; do\n"
         "  echo \"node $SLURMD_NODENAME, piece $piece\"\n"
         "  " +
         Line +
         " || status=$?\n"
         "done\n"
         "exit $status\n";
  if (Error E = writeFileAtomic(Script, Text))
    return E;
  std::vector<std::string> Flags = O.sbatchFlags();
  for (std::string Flag :
       {"--job-name=" + Job, std::string("--requeue"),
        std::string("--open-mode=append"), "--chdir=" + Folder,
        "--output=" + file(Number + "-%a.log"),
        "--array=0-" + utostr(Tasks.size() - 1)})
    Flags.push_back(std::move(Flag));
  std::vector<StringRef> Without = failingNodes();
  Without.insert(Without.end(), LeftOut.begin(), LeftOut.end());
  if (!Without.empty())
    Flags.push_back("--exclude=" + join(Without, ","));
  guard(Job);
  // Noted before: a job may be taken whose sbatch does not live to say so.
  Lists[Job] = Tasks.vec();
  if (Error E = SlurmQueue::submit(Flags, Script)) {
    if (Taken || !failingNodes().empty() || !SlurmQueue::answers())
      return E;
    // The first job: is it what was asked for, or the queue?
    Flags.push_back("--array=0-0");
    Error Wrong = SlurmQueue::wouldTake(Flags, Script);
    Refused = bool(Wrong);
    if (!Refused)
      return E;
    consumeError(std::move(E));
    return Wrong;
  }
  Taken = true;
  for (auto [I, Task] : enumerate(Tasks))
    for (unsigned P : Task) {
      Piece &It = Pieces[P];
      It.Sent = true;
      It.Job = Job;
      It.Index = unsigned(I);
      It.Log = file(Number + "-" + utostr(I) + ".log");
    }
  return Error::success();
}

/// After a job that was not taken: success where to try again makes sense.
Error SlurmWork::State::notTaken(Error Failed, size_t Asked, bool Active) {
  if (!failingNodes().empty()) {
    // Perhaps no node is left.
    Failures.clear();
    consumeError(std::move(Failed));
    return Error::success();
  }
  Chunk = std::max<unsigned>(1, unsigned(Asked) / 2);
  NextSend = Clock::now() + seconds(Asked > 1 ? 0 : Backoff);
  if (Asked == 1)
    Backoff = std::min(MostBackoff, Backoff * 2);
  if (Active || (!Refused && !isOverdue(LastProgress))) {
    consumeError(std::move(Failed));
    return Error::success();
  }
  return handleErrors(std::move(Failed), [&](const ToolError &T) {
    return resourceError("Slurm takes no jobs: " + T.text(),
                         "'cupilot doctor --device slurm' with the same "
                         "options says what is wrong; --resume continues a "
                         "search");
  });
}

/// Slurm takes a second to start a task after another one: where there are many
/// more pieces than places, tasks have several. As in guided self-scheduling
/// (Polychronopoulos and Kuck, 1987) the last tasks are small, so that all
/// places end at about the same time. A piece that came to no result is a task
/// of its own from then on, and takes no other one along.
std::vector<std::vector<unsigned>>
SlurmWork::State::packed(ArrayRef<unsigned> Todo) {
  if (!O.PerTask && !Places)
    Places = std::max(1u, SlurmQueue::places(O));
  auto Most = [&](size_t Left) -> size_t {
    constexpr size_t TasksPerPlace = 2, Largest = 8;
    return O.PerTask ? O.PerTask
                     : std::clamp<size_t>(Left / (TasksPerPlace * Places), 1,
                                          Largest);
  };
  std::vector<std::vector<unsigned>> Tasks;
  size_t Room = 0; // In the last task.
  for (auto [I, P] : enumerate(Todo)) {
    const bool Alone = Pieces[P].Attempts > 0;
    if (Room == 0 || Alone) {
      Tasks.emplace_back();
      Room = Alone ? 1 : Most(Todo.size() - I);
    }
    Tasks.back().push_back(P);
    --Room;
  }
  return Tasks;
}

Error SlurmWork::State::send(ArrayRef<unsigned> Open, bool Active) {
  if (Open.empty() || Clock::now() < NextSend)
    return Error::success();
  const std::vector<std::vector<unsigned>> Tasks = packed(Open);
  ArrayRef<std::vector<unsigned>> Todo = Tasks;
  while (!Todo.empty() && Clock::now() >= NextSend) {
    auto Now = Todo.take_front(Chunk);
    if (Error E = submit(Now)) {
      if (Error Stop = notTaken(std::move(E), Now.size(), Active))
        return Stop;
      continue;
    }
    LastProgress = Clock::now();
    Backoff = 1;
    Chunk = std::min(MostTasks, Chunk * 2);
    Active = true;
    Todo = Todo.drop_front(Now.size());
  }
  return Error::success();
}

Error SlurmWork::State::givenUp(ArrayRef<unsigned> Lost) {
  const Piece &First = Pieces[Lost.front()];
  std::string Text = NameOf(Lost.front()) + " has no result after " +
                     utostr(First.Attempts) + " attempt(s): " + First.Why;
  if (std::string Words = lastLines(First.Log); !Words.empty())
    Text += ":\n" + Words;
  if (std::string Words = SlurmQueue::accounted(First.Job, First.Index);
      !Words.empty())
    Text += "\nsacct: " + Words;
  if (Lost.size() > 1)
    Text += "\n(" + utostr(Lost.size() - 1) + " other(s) have none either)";
  return resourceError(Text, "see '" + First.Log +
                                 "'; more time, memory or attempts: "
                                 "slurm:time=...,attempts=N; --resume "
                                 "continues a search");
}

/// Nodes that brought results work.
void SlurmWork::State::noteResults(ArrayRef<unsigned> Open) {
  const std::set<unsigned> Without(Open.begin(), Open.end());
  for (auto &[P, It] : Pieces)
    if (It.Sent && !Without.count(P)) {
      It.Sent = false;
      Failures.erase(It.Node);
    }
}

Error SlurmWork::State::step(ArrayRef<unsigned> Open, const Teller &Tell,
                             function_ref<void(unsigned)> Again) {
  noteResults(Open);
  const Clock::time_point Now = Clock::now();
  if (Open.size() != LastOpen)
    LastProgress = Now;
  LastOpen = Open.size();
  std::optional<std::vector<SlurmTask>> Tasks = SlurmQueue::tasks(Prefix);
  if (!Tasks) {
    if (!isOverdue(LastProgress))
      return Error::success();
    return resourceError("Slurm has not answered for " + Twine(O.Patience) +
                             " seconds",
                         "see whether slurmctld runs: scontrol ping; --resume "
                         "continues a search");
  }
  const std::map<unsigned, SlurmTask> Found = tasksOfPieces(*Tasks);
  std::vector<unsigned> Todo, Lost;
  bool Active = false;
  for (unsigned P : Open) {
    Piece &It = Pieces[P];
    auto Task = Found.find(P);
    const SlurmTask *T = Task == Found.end() ? nullptr : &Task->second;
    if (T && !isEnded(T->State) && !T->isHeld()) {
      It.MissingSince.reset();
      It.Node = T->Node;
      Active = true;
      guard(T->Job);
      continue;
    }
    // A shared folder may show a result later than Slurm shows the end.
    if (It.Sent) {
      if (!It.MissingSince)
        It.MissingSince = Now;
      if (*It.MissingSince == Now ||
          Now - *It.MissingSince < seconds(O.Settle)) {
        Active = true;
        continue;
      }
      if (T && T->isHeld())
        SlurmQueue::cancel(*T);
      endedWithout(P, T, Tell);
      It.Sent = false;
    }
    if (It.Attempts >= O.Attempts) {
      Lost.push_back(P);
      continue;
    }
    if (It.Again)
      Again(P);
    Todo.push_back(P);
  }
  if (Active)
    LastProgress = Now;
  if (Error E = send(Todo, Active))
    return E;
  if (!Lost.empty() && Todo.empty() && !Active)
    return givenUp(Lost);
  return Error::success();
}

SlurmWork::SlurmWork(std::unique_ptr<State> S) : S(std::move(S)) {}

SlurmWork::~SlurmWork() = default;

Expected<std::unique_ptr<SlurmWork>> SlurmWork::create(SlurmOptions Options,
                                                       StringRef Folder,
                                                       StringRef Line,
                                                       PieceNamer NameOf) {
  if (Error E = SlurmQueue::checkHere())
    return std::move(E);
  if (Error E = ensureDirectory(Folder))
    return std::move(E);
  Expected<JobGuard> Guard = JobGuard::create();
  if (!Guard)
    return Guard.takeError();
  auto S = std::make_unique<State>(std::move(Options), Folder.str(), Line.str(),
                                   std::move(NameOf), std::move(*Guard));
  if (Error E = S->readLists())
    return std::move(E);
  return std::unique_ptr<SlurmWork>(new SlurmWork(std::move(S)));
}

Error SlurmWork::step(ArrayRef<unsigned> Open, const Teller &Tell,
                      function_ref<void(unsigned)> Again) {
  return S->step(Open, Tell, Again);
}

/// A task ends by itself once its pieces have results. One that waits, or whose
/// pieces were sent a second time, has nothing left to do. Where Slurm does not
/// answer, the guard waits for it.
void SlurmWork::State::finish() {
  std::optional<std::vector<SlurmTask>> Tasks = SlurmQueue::tasks(Prefix);
  if (!Tasks)
    return;
  std::map<unsigned, unsigned> Sent; ///< How often, by piece.
  for (const auto &[Job, All] : Lists)
    for (const std::vector<unsigned> &Task : All)
      for (unsigned P : Task)
        ++Sent[P];
  for (const SlurmTask &T : *Tasks) {
    auto List = Lists.find(T.Job);
    if (isEnded(T.State) || T.State == TaskState::Completing ||
        List == Lists.end() || T.Index >= List->second.size())
      continue;
    if (T.State != TaskState::Running ||
        any_of(List->second[T.Index], [&](unsigned P) { return Sent[P] > 1; }))
      SlurmQueue::cancel(T);
  }
  Guard.release();
}

void SlurmWork::leaveOut(StringRef Node) { S->LeftOut.insert(Node.str()); }

void SlurmWork::finish() { S->finish(); }

const std::string &SlurmWork::jobPrefix() const { return S->Prefix; }

} // namespace cupilot
