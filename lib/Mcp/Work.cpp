//===- Work.cpp - Work that outlives the call that began it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mcp/Work.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

double secondsSince(std::chrono::steady_clock::time_point Begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin)
      .count();
}

/// The file of a GpuMeter: the seconds before, and since when more are under
/// way, in seconds since 1970; 0: none are.
static constexpr StringRef GpuFile = "gpu";

static std::pair<double, double> meterIn(StringRef Path) {
  std::pair<double, double> Is;
  Expected<std::string> Text = readFile(Path);
  if (!Text) { // It has not asked yet.
    consumeError(Text.takeError());
    return Is;
  }
  auto [Before, Since] = StringRef(*Text).trim().split(' ');
  if (Before.getAsDouble(Is.first) || Since.getAsDouble(Is.second))
    return {};
  return Is;
}

static double now() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

static void writeMeter(StringRef Path, double Before, double Since) {
  // A meter that cannot be written is no reason to end the work.
  consumeError(
      writeFileAtomic(Path, formatv("{0:f3} {1:f3}\n", Before, Since).str()));
}

void GpuMeter::begin() { writeMeter(Path, secondsIn(Path), now()); }

void GpuMeter::end() { writeMeter(Path, secondsIn(Path), 0); }

void GpuMeter::settle(StringRef Path, double LastSeen) {
  const auto [Before, Since] = meterIn(Path);
  if (Since > 0)
    writeMeter(Path, Before + std::max(0.0, std::min(LastSeen, now()) - Since),
               0);
}

double GpuMeter::secondsIn(StringRef Path) {
  const auto [Before, Since] = meterIn(Path);
  return Before + (Since > 0 ? std::max(0.0, now() - Since) : 0);
}

StringRef wordOf(WorkState S) {
  switch (S) {
  case WorkState::Queued:
    return "queued";
  case WorkState::Running:
    return "running";
  case WorkState::Done:
    return "done";
  case WorkState::Failed:
    return "failed";
  case WorkState::Cancelled:
    return "cancelled";
  case WorkState::Interrupted:
    return "interrupted";
  }
  llvm_unreachable("all states are named");
}

static constexpr unsigned MostAttempts = 3;

static std::string hostName() {
  char Name[256] = "";
  ::gethostname(Name, sizeof(Name) - 1);
  return Name;
}

int64_t secondsOfClock() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

static json::Object toJSON(const WorkRequest &R) {
  return json::Object{{"tool", wordOf(R.Tool)},
                      {"kernel", R.Kernel},
                      {"symbol", R.Symbol},
                      {"identity", R.Identity},
                      {"arguments", json::Object(R.Arguments)},
                      {"client", R.Client},
                      {"model", R.Model},
                      {"time", R.Time}};
}

std::string WorkFolder::file(StringRef Handle, StringRef Name) const {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Handle, Name);
  return Path.str().str();
}

/// A handle names a folder: it is nothing but what begin() makes.
Error WorkFolder::checkHandle(StringRef Handle) const {
  StringRef Digits = Handle;
  const bool IsOne = Digits.consume_front("h_") && Digits.size() == 16 &&
                     all_of(Digits, isHexDigit);
  if (IsOne && sys::fs::exists(file(Handle, "request.json")))
    return Error::success();
  return usageError("there is no work '" + Handle.take_front(40) + "'",
                    "the tool 'status' without a handle lists all");
}

Expected<WorkRequest> WorkFolder::request(StringRef Handle) const {
  Expected<std::string> Text = readFile(file(Handle, "request.json"));
  if (!Text)
    return Text.takeError();
  Expected<json::Value> V = parseJson(*Text);
  if (!V)
    return V.takeError();
  const json::Object *O = V->getAsObject();
  const json::Object *Arguments = O ? O->getObject("arguments") : nullptr;
  std::optional<Tool> Asked =
      Arguments ? toolOf(textIn(*O, "tool")) : std::nullopt;
  if (!Asked)
    return usageError("'" + file(Handle, "request.json") + "' is damaged",
                      "remove the folder, and call the tool again");
  WorkRequest R;
  R.Tool = *Asked;
  R.Kernel = textIn(*O, "kernel");
  R.Symbol = textIn(*O, "symbol");
  R.Identity = textIn(*O, "identity");
  R.Arguments = *Arguments;
  R.Client = textIn(*O, "client");
  R.Model = textIn(*O, "model");
  R.Time = O->getInteger("time").value_or(0);
  return R;
}

WorkFolder::~WorkFolder() {
  // The processes share these locks and go on; a destructor would release them.
  for (Piece &P : Running)
    (void)P.Lock.release();
}

std::vector<std::string> WorkFolder::handles() const {
  std::vector<std::pair<int64_t, std::string>> All;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Folder, EC), End; !EC && It != End;
       It.increment(EC)) {
    StringRef Name = sys::path::filename(It->path());
    if (!Name.starts_with("h_"))
      continue;
    auto Known = Times.find(Name);
    if (Known == Times.end()) {
      Expected<WorkRequest> R = request(Name);
      if (!R) {
        consumeError(R.takeError());
        continue;
      }
      Known = Times.emplace(Name.str(), R->Time).first;
    }
    All.emplace_back(Known->second, Name.str());
  }
  llvm::sort(All);
  std::vector<std::string> Names;
  for (auto &[Time, Name] : All)
    Names.push_back(std::move(Name));
  return Names;
}

void WorkFolder::finish(StringRef Handle, json::Object Result) const {
  Result["gpu_seconds"] = GpuMeter::secondsIn(file(Handle, GpuFile));
  if (Error E = writeFileAtomic(
          file(Handle, "result.json"),
          formatv("{0:2}\n", json::Value(std::move(Result))).str()))
    consumeError(std::move(E)); // It stays interrupted.
  if (!Ended)
    return;
  if (Expected<WorkStatus> S = status(Handle))
    Ended(Handle, *S);
  else
    consumeError(S.takeError());
}

/// When \p Path was written; 0 where it was not.
static sys::TimePoint<> timeOf(const Twine &Path) {
  sys::fs::file_status Status;
  return sys::fs::status(Path, Status) ? sys::TimePoint<>()
                                       : Status.getLastModificationTime();
}

Expected<WorkStatus> WorkFolder::status(StringRef Handle) const {
  if (Error E = checkHandle(Handle))
    return std::move(E);
  const sys::TimePoint<> Written = timeOf(file(Handle, "result.json"));
  if (auto Known = Over.find(Handle);
      Known != Over.end() && Known->second.first == Written)
    return Known->second.second;
  WorkStatus S;
  Expected<WorkRequest> R = request(Handle);
  if (!R)
    return R.takeError();
  S.Request = std::move(*R);
  S.Seconds = double(std::max<int64_t>(0, secondsOfClock() - S.Request.Time));
  if (Expected<std::string> Log = readFile(file(Handle, "log")))
    S.Said = json::fixUTF8(
        StringRef(*Log).rtrim().rsplit('\n').second.empty()
            ? StringRef(*Log).rtrim().take_back(300)
            : StringRef(*Log).rtrim().rsplit('\n').second.take_back(300));
  else
    consumeError(Log.takeError());
  auto ReadResult = [&]() -> Expected<bool> {
    if (!sys::fs::exists(file(Handle, "result.json")))
      return false;
    Expected<std::string> Text = readFile(file(Handle, "result.json"));
    if (!Text)
      return Text.takeError();
    Expected<json::Value> V = parseJson(*Text);
    if (!V)
      return V.takeError();
    const json::Object *O = V->getAsObject();
    if (!O)
      return usageError("'" + file(Handle, "result.json") + "' is damaged",
                        "remove the file, and ask again");
    S.Seconds = numberIn(*O, "seconds");
    S.GpuSeconds = numberIn(*O, "gpu_seconds");
    if (const json::Object *Result = O->getObject("result")) {
      S.State = WorkState::Done;
      S.Result = *Result;
    } else if (O->getBoolean("cancelled") == true) {
      S.State = WorkState::Cancelled;
    } else {
      S.State = WorkState::Failed;
      S.Error = textIn(*O, "error");
      S.Hint = textIn(*O, "hint");
    }
    return true;
  };
  Expected<bool> IsOver = ReadResult();
  if (!IsOver)
    return IsOver.takeError();
  if (*IsOver) {
    constexpr size_t MostKnown = 1000;
    if (Over.size() < MostKnown && Written != sys::TimePoint<>())
      Over.insert_or_assign(Handle.str(), std::pair(Written, S));
    return S;
  }
  Expected<std::optional<FileLock>> Lock =
      FileLock::tryLock(file(Handle, "lock"), 0);
  if (!Lock)
    return Lock.takeError();
  if (!*Lock) {
    S.State = sys::fs::exists(file(Handle, "pid")) ? WorkState::Running
                                                   : WorkState::Queued;
    return S;
  }
  // It may have ended between the two looks.
  IsOver = ReadResult();
  if (!IsOver)
    return IsOver.takeError();
  if (!*IsOver)
    S.State = WorkState::Interrupted;
  return S;
}

Expected<std::string> WorkFolder::begin(const WorkRequest &R) {
  if (Running.size() >= L.AtOnce && Waiting.size() >= L.Waiting)
    return resourceError(Twine(Running.size()) +
                             " pieces of work are running "
                             "and " +
                             Twine(Waiting.size()) + " are waiting",
                         "wait for one ('result'), or end one ('cancel')");
  WorkRequest Kept = R;
  Kept.Time = secondsOfClock();
  const std::string Text = formatv("{0:2}\n", json::Value(toJSON(Kept))).str();
  DigestBuilder B;
  B.add(Text).add(hostName()).add(uint64_t(::getpid())).add(uint64_t(Begun++));
  B.add(uint64_t(std::chrono::system_clock::now().time_since_epoch().count()));
  std::string Handle = "h_" + shortDigest(B.str(), 16);
  if (Error E = ensureDirectory(file(Handle, "")))
    return std::move(E);
  Expected<std::optional<FileLock>> Lock =
      FileLock::tryLock(file(Handle, "lock"), 0);
  if (!Lock)
    return Lock.takeError();
  if (!*Lock)
    return resourceError("the handle '" + Handle + "' is taken", "call again");
  if (Error E = writeFileAtomic(file(Handle, "request.json"), Text))
    return std::move(E);
  if (Error E = take(Handle, std::make_unique<FileLock>(std::move(**Lock))))
    return std::move(E);
  return Handle;
}

Error WorkFolder::take(StringRef Handle, std::unique_ptr<FileLock> Lock) {
  Piece P{Handle.str(), std::move(Lock)};
  // Of a process that is gone, the log is the last that is known.
  GpuMeter::settle(file(Handle, GpuFile),
                   std::chrono::duration<double>(
                       timeOf(file(Handle, "log")).time_since_epoch())
                       .count());
  // Its number may be another's by now.
  sys::fs::remove(file(Handle, "pid"));
  if (Running.size() < L.AtOnce)
    return start(std::move(P));
  Waiting.push_back(std::move(P));
  return Error::success();
}

/// Nothing of the other end's is kept: neither its pipes nor other locks.
static void closeAllBut(StringRef Kept) {
  std::error_code EC;
  std::vector<int> Open;
  for (sys::fs::directory_iterator It("/proc/self/fd", EC), End;
       !EC && It != End; It.increment(EC)) {
    int FD = -1;
    char To[4096];
    if (sys::path::filename(It->path()).getAsInteger(10, FD) || FD <= 2)
      continue;
    const ssize_t Size = ::readlink(It->path().c_str(), To, sizeof(To));
    if (Size < 0 || StringRef(To, size_t(Size)) != Kept)
      Open.push_back(FD);
  }
  for (int FD : Open)
    ::close(FD);
}

void WorkFolder::work(const Piece &P) const {
  ::setsid();
  for (int Signal : {SIGPIPE, SIGINT, SIGTERM, ProcessDeadline::Signal})
    ::signal(Signal, SIG_DFL);
  int Log = ::open(file(P.Handle, "log").c_str(),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  int None = ::open("/dev/null", O_RDONLY);
  if (Log < 0 || None < 0 || ::dup2(None, 0) < 0 || ::dup2(Log, 1) < 0 ||
      ::dup2(Log, 2) < 0)
    ::_exit(1);
  SmallString<256> Lock;
  sys::fs::real_path(file(P.Handle, "lock"), Lock);
  closeAllBut(Lock);
  consumeError(writeFileAtomic(file(P.Handle, "pid"),
                               itostr(::getpid()) + " " + hostName() + "\n"));
  const ProcessDeadline Deadline(L.Seconds);
  const auto Begin = std::chrono::steady_clock::now();
  GpuMeter Meter(file(P.Handle, GpuFile));
  json::Object Result;
  auto Fail = [&](StringRef Text, StringRef Hint) {
    Result["error"] = json::fixUTF8(Text);
    Result["hint"] = json::fixUTF8(Hint);
  };
  Expected<WorkRequest> R = request(P.Handle);
  Expected<json::Object> Made =
      R ? Do(*R, errs(), Meter) : Expected<json::Object>(R.takeError());
  if (Made)
    Result["result"] = std::move(*Made);
  else
    handleAllErrors(
        Made.takeError(), [&](const ToolError &T) { Fail(T.text(), T.hint()); },
        [&](const ErrorInfoBase &Other) { Fail(Other.message(), ""); });
  Result["seconds"] = secondsSince(Begin);
  finish(P.Handle, std::move(Result));
  errs().flush();
  ::_exit(0); // No destructors: they are the other end's.
}

Error WorkFolder::start(Piece P) {
  unsigned Attempts = 0;
  if (Expected<std::string> Text = readFile(file(P.Handle, "attempts")))
    (void)StringRef(*Text).trim().getAsInteger(10, Attempts);
  else
    consumeError(Text.takeError());
  if (Attempts >= MostAttempts) {
    finish(
        P.Handle,
        json::Object{
            {"error", formatv("it was begun {0} times, and its process ended "
                              "each time",
                              Attempts)
                          .str()},
            {"hint", "the log in '" + file(P.Handle, "log") + "' may say why"},
            {"seconds", 0}});
    return Error::success();
  }
  if (Error E = writeFileAtomic(file(P.Handle, "attempts"),
                                utostr(Attempts + 1) + "\n"))
    return E;
  outs().flush();
  errs().flush();
  P.Pid = ::fork();
  if (P.Pid == 0)
    work(P);
  if (P.Pid < 0)
    return resourceError(Twine("no process can be started: ") +
                             std::strerror(errno),
                         "call again later");
  P.End = int(::syscall(SYS_pidfd_open, P.Pid, 0));
  if (P.End >= 0)
    ::fcntl(P.End, F_SETFD, FD_CLOEXEC);
  Running.push_back(std::move(P));
  return Error::success();
}

std::vector<int> WorkFolder::ends() const {
  std::vector<int> All;
  for (const Piece &P : Running)
    All.push_back(P.End);
  return All;
}

bool WorkFolder::isOwn(StringRef Handle) const {
  auto Is = [&](const Piece &P) { return P.Handle == Handle; };
  return any_of(Running, Is) || any_of(Waiting, Is);
}

Expected<bool> WorkFolder::resume(StringRef Handle) {
  Expected<WorkStatus> S = status(Handle);
  if (!S)
    return S.takeError();
  if (S->State != WorkState::Interrupted)
    return false;
  Expected<std::optional<FileLock>> Lock =
      FileLock::tryLock(file(Handle, "lock"), 0);
  if (!Lock)
    return Lock.takeError();
  if (!*Lock)
    return false;
  if (Error E = take(Handle, std::make_unique<FileLock>(std::move(**Lock))))
    return std::move(E);
  return true;
}

Expected<bool> WorkFolder::cancel(StringRef Handle) {
  Expected<WorkStatus> S = status(Handle);
  if (!S)
    return S.takeError();
  if (S->isOver())
    return false;
  json::Object Result{{"cancelled", true}, {"seconds", S->Seconds}};
  auto Queued =
      find_if(Waiting, [&](const Piece &P) { return P.Handle == Handle; });
  if (Queued != Waiting.end()) {
    finish(Handle, std::move(Result));
    Waiting.erase(Queued);
    return true;
  }
  auto End = [](int Pid) {
    ::kill(-Pid, SIGKILL); // With all that it started ...
    ::kill(Pid, SIGKILL);  // ... and before it is at the head of a group.
  };
  auto Own =
      find_if(Running, [&](const Piece &P) { return P.Handle == Handle; });
  if (Own != Running.end()) {
    End(Own->Pid);
    ::waitpid(Own->Pid, nullptr, 0);
    if (Own->End >= 0)
      ::close(Own->End);
    Running.erase(Own);
  } else if (S->State == WorkState::Queued) {
    return resourceError("'" + Handle + "' waits in another server's queue",
                         "cancel it there, or when it runs");
  } else if (S->State == WorkState::Running) {
    Expected<std::string> Text = readFile(file(Handle, "pid"));
    if (!Text)
      return Text.takeError();
    auto [Digits, Host] = StringRef(*Text).trim().split(' ');
    int Pid = 0;
    if (Digits.getAsInteger(10, Pid) || Pid <= 1)
      return resourceError("'" + file(Handle, "pid") + "' is damaged");
    if (Host != hostName())
      return resourceError("'" + Handle + "' runs on " + Host.str(),
                           "cancel it there");
    End(Pid);
  }
  // What it ended with at the last moment counts: it may be in the store.
  if (sys::fs::exists(file(Handle, "result.json"))) {
    turn();
    return false;
  }
  finish(Handle, std::move(Result));
  turn();
  return true;
}

void WorkFolder::turn() {
  for (size_t I = 0; I < Running.size();) {
    int Status = 0;
    const pid_t Got = ::waitpid(Running[I].Pid, &Status, WNOHANG);
    if (Got == 0 || (Got < 0 && errno == EINTR)) {
      ++I;
      continue;
    }
    Piece P = std::move(Running[I]);
    Running.erase(Running.begin() + I);
    if (P.End >= 0)
      ::close(P.End);
    if (!sys::fs::exists(file(P.Handle, "result.json"))) {
      const bool Late =
          WIFSIGNALED(Status) && WTERMSIG(Status) == ProcessDeadline::Signal;
      finish(P.Handle,
             json::Object{
                 {"error",
                  Late ? formatv("it took longer than {0} s", L.Seconds).str()
                       : std::string("its process was ended, or crashed")},
                 {"hint", Late ? "start the server with a larger --work-seconds"
                               : "the log in '" + file(P.Handle, "log") +
                                     "' may say why"},
                 {"seconds", L.Seconds}});
    }
  }
  while (!Waiting.empty() && Running.size() < L.AtOnce) {
    Piece P = std::move(Waiting.front());
    Waiting.pop_front();
    std::string Handle = P.Handle;
    if (Error E = start(std::move(P)))
      finish(Handle,
             json::Object{{"error", toString(std::move(E))}, {"seconds", 0}});
  }
}

} // namespace cupilot
