//===- Work.h - Work that outlives the call that began it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A piece of work is a folder below the store, named by its handle: what was
// asked (request.json), the process that does it (pid), what it says (log), and
// what came of it (result.json). A lock tells whether somebody is at it. So any
// process can look at any work, end it, or go on with one whose process is
// gone.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MCP_WORK_H
#define CUPILOT_MCP_WORK_H

#include "cupilot/Evolution/Tool.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace cupilot {

double secondsSince(std::chrono::steady_clock::time_point Begin);
/// Since 1970.
int64_t secondsOfClock();

/// What is to be done, and for whom.
struct WorkRequest {
  cupilot::Tool Tool = cupilot::Tool::Compile;
  std::string Kernel, Symbol; ///< "": of none.
  std::string Identity;       ///< The kernel's source identity.
  llvm::json::Object Arguments;
  std::string Client, Model; ///< As the client tells.
  int64_t Time = 0;          ///< Seconds since 1970.
};

enum class WorkState {
  Queued,
  Running,
  Done,
  Failed,
  Cancelled,
  Interrupted ///< Nobody is at it, and it has not ended.
};
llvm::StringRef wordOf(WorkState S);

/// What is known of a piece of work.
struct WorkStatus {
  WorkState State = WorkState::Queued;
  WorkRequest Request;
  std::string Said; ///< The last line of its log.
  double Seconds = 0, GpuSeconds = 0;
  llvm::json::Object Result; ///< Where it is done.
  std::string Error, Hint;   ///< Where it failed.
  bool isOver() const {
    return State == WorkState::Done || State == WorkState::Failed ||
           State == WorkState::Cancelled;
  }
};

/// Counts the seconds that a piece of work takes of a GPU, in a file of its
/// folder: whatever ends it, they count.
class GpuMeter {
public:
  explicit GpuMeter(std::string Path) : Path(std::move(Path)) {}
  void begin();
  void end();
  /// Of work whose process is gone: what was under way ended with the last that
  /// is known of it.
  static void settle(llvm::StringRef Path, double LastSeen);
  /// What \p Path has so far, what is under way included.
  static double secondsIn(llvm::StringRef Path);

private:
  std::string Path;
};

/// Does the work.
using Worker = std::function<llvm::Expected<llvm::json::Object>(
    const WorkRequest &, llvm::raw_ostream &Log, GpuMeter &Meter)>;
/// Told of work that ended.
using WorkListener =
    std::function<void(llvm::StringRef Handle, const WorkStatus &)>;

/// The work below one folder. It is done in processes that are copies of this
/// one, which must have no threads, and that go on when this one ends.
class WorkFolder {
public:
  struct Limits {
    unsigned AtOnce = 2;     ///< Processes of this object.
    unsigned Waiting = 32;   ///< Behind them; more is refused.
    unsigned Seconds = 3600; ///< For one; 0: no limit.
  };
  WorkFolder(llvm::StringRef Folder, Limits L, Worker Do, WorkListener Ended)
      : Folder(Folder), L(L), Do(std::move(Do)), Ended(std::move(Ended)) {}
  WorkFolder(const WorkFolder &) = delete;
  /// What is running goes on.
  ~WorkFolder();

  /// Begins \p R, or puts it behind what is running. Returns its handle.
  llvm::Expected<std::string> begin(const WorkRequest &R);
  /// That there is no such work is a usage error.
  llvm::Expected<WorkStatus> status(llvm::StringRef Handle) const;
  /// Goes on with interrupted work; says whether it was.
  llvm::Expected<bool> resume(llvm::StringRef Handle);
  /// Ends work, whoever is at it. False: it had ended.
  llvm::Expected<bool> cancel(llvm::StringRef Handle);
  /// All handles, the latest last.
  std::vector<std::string> handles() const;
  /// Notes what ended and begins what waits.
  void turn();
  /// Can be read when a process of this object ends (pidfd_open(2)); -1 where
  /// the system has no such thing.
  std::vector<int> ends() const;
  /// Whether \p Handle is done by a process of this object, or waits for one.
  bool isOwn(llvm::StringRef Handle) const;

private:
  struct Piece {
    std::string Handle;
    std::unique_ptr<FileLock> Lock; ///< Shared with the process.
    int Pid = -1;
    int End = -1; ///< ends().
  };
  std::string file(llvm::StringRef Handle, llvm::StringRef Name) const;
  llvm::Error checkHandle(llvm::StringRef Handle) const;
  llvm::Expected<WorkRequest> request(llvm::StringRef Handle) const;
  llvm::Error take(llvm::StringRef Handle, std::unique_ptr<FileLock> Lock);
  llvm::Error start(Piece P);
  [[noreturn]] void work(const Piece &P) const;
  void finish(llvm::StringRef Handle, llvm::json::Object Result) const;

  std::string Folder;
  Limits L;
  Worker Do;
  WorkListener Ended;
  std::vector<Piece> Running;
  std::deque<Piece> Waiting;
  unsigned Begun = 0;
  /// By handle: when it was asked for, and, where it is over, all of it with
  /// the time of its result's file. Neither changes.
  mutable std::map<std::string, int64_t, std::less<>> Times;
  mutable std::map<std::string, std::pair<llvm::sys::TimePoint<>, WorkStatus>,
                   std::less<>>
      Over;
};

} // namespace cupilot

#endif // CUPILOT_MCP_WORK_H
