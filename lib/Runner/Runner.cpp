//===- Runner.cpp - Working through a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Runner.h"
#include "Dealer.h"
#include "DeviceTurn.h"
#include "Evaluator.h"
#include "Race.h"
#include "Wire.h"
#include "Worker.h"
#include "cupilot/Portable/Failure.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::runner {

/// A request that was begun so often without a result ends the runner, or the
/// machine, whenever it is tried.
static constexpr unsigned MostAttempts = 3;

namespace {
/// The one runner of a batch, or of a group; the system gives the lock back
/// however it ends.
class BatchLock {
public:
  BatchLock(const std::string &Folder, const std::string &Name, int How) {
    std::string Path = Folder + "/" + Name;
    FD = ::open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (FD < 0)
      throw Failure(FailureKind::Disk, "'" + Path + "' cannot be created");
    if (::flock(FD, How | LOCK_NB) != 0) {
      ::close(FD);
      throw Failure(FailureKind::InUse,
                    "another runner is working on '" + Folder + "'");
    }
  }
  ~BatchLock() { ::close(FD); }
  BatchLock(const BatchLock &) = delete;

private:
  int FD;
};

/// While one lives, SIGTERM and SIGINT end this process in order: what was
/// begun does not count as an attempt, since nothing of it ended the process,
/// and no temporary file stays.
class OrderlyEnd {
public:
  explicit OrderlyEnd(std::function<void()> Last) : Last(std::move(Last)) {
    if (::pipe2(Ends, O_CLOEXEC) != 0)
      throw Failure(FailureKind::Disk, "no pipe can be made");
    Told = Ends[1];
    struct sigaction New = {};
    New.sa_handler = tell;
    for (int Signal : {SIGTERM, SIGINT})
      ::sigaction(Signal, &New, nullptr);
    Waits = std::thread([this] { wait(); });
  }
  ~OrderlyEnd() {
    for (int Signal : {SIGTERM, SIGINT})
      ::signal(Signal, SIG_DFL);
    tell(0);
    Waits.join();
    ::close(Ends[0]);
    ::close(Ends[1]);
  }
  OrderlyEnd(const OrderlyEnd &) = delete;

private:
  static void tell(int Signal) {
    unsigned char Byte = static_cast<unsigned char>(Signal);
    (void)!::write(Told, &Byte, 1);
  }
  void wait() {
    unsigned char Signal = 0;
    while (::read(Ends[0], &Signal, 1) < 0 && errno == EINTR)
      ;
    if (Signal == 0)
      return;
    Last();
    ::_exit(128 + Signal);
  }

  static inline int Told = -1;
  std::function<void()> Last;
  int Ends[2];
  std::thread Waits;
};

/// All that the threads of the GPUs share.
struct Shared {
  Shared(const RunnerOptions &Options, const Batch &B,
         std::vector<Dealer::Group> Groups)
      : Options(Options), B(B), In(Options.Folder, B, Scratch),
        Results(Options.Folder, B), Groups(std::move(Groups)) {}
  const RunnerOptions &Options;
  const Batch &B;
  ScratchFolder Scratch;
  Inputs In;
  ResultFolder Results;
  Dealer Groups;
  std::mutex Lock; ///< Of what follows.
  RunnerSummary Summary;
};
} // namespace

static bool isRaceLost(const json &Result) {
  return Result.value("reason", "") == wordOf(FailureKind::RaceLost);
}

/// To have been slower than others is no fault.
static bool isFault(const json &Result) {
  return Result.value("status", "") != "ok" && !isRaceLost(Result);
}

/// Whether later requests of the group say nothing any more.
static bool endsGroup(const json &Result) {
  if (isRaceLost(Result))
    return false;
  return Result.value("status", "") != "ok" || !Result.value("same", true);
}

static void tell(Shared &S, int Device, const Request &R, const json &Result) {
  std::string Line = "device " + std::to_string(Device) + ": " + R.Id + ": " +
                     Result.value("status", "");
  if (Result.contains("reason"))
    Line +=
        ": " + Result.value("reason", "") +
        (Result.contains("who") ? " (" + Result.value("who", "") + ")" : "");
  if (Result.contains("same"))
    Line += Result.value("same", false) ? ", same" : ", other results";
  if (Result.contains("call"))
    Line += ", " + Result.value("call", "");
  if (Result.contains("ratio") && Result["ratio"].is_number())
    Line += " x" + std::to_string(Result["ratio"].get<double>());
  std::lock_guard<std::mutex> Guard(S.Lock);
  fprintf(stderr, "cupilot-runner: %s\n", Line.c_str());
  ++S.Summary.Done;
  S.Summary.Faults += isFault(Result);
}

static json resultOf(Shared &S, Evaluator &E, const Request &R,
                     const std::string &Ended, const Race &Heats) {
  if (!Ended.empty())
    return {{"status", "skipped"},
            {"reason", wordOf(FailureKind::GroupEnded)},
            {"message",
             "the request '" + Ended + "' of the same candidate failed"}};
  if (!Heats.goesOn(R))
    return {{"status", "skipped"},
            {"reason", wordOf(FailureKind::RaceLost)},
            {"message", "others of '" + R.Heat->Race + "' are faster"}};
  if (S.Results.begin(R) >= MostAttempts)
    return {{"status", "error"},
            {"reason", wordOf(FailureKind::Abandoned)},
            {"message", "the runner or the machine stopped in each of " +
                            std::to_string(MostAttempts) +
                            " times that it was started"}};
  return E.evaluate(R);
}

static void evaluateGroup(Shared &S, Evaluator &E, int Device,
                          const Dealer::Group &Requests) {
  Race Heats;
  std::string Group;
  std::map<std::string, std::string> EndedBy; ///< By group.
  for (const Request *R : Requests) {
    if (R->Group != Group)
      E.endGroup();
    Group = R->Group;
    std::string &Ended = EndedBy[Group];
    json Result;
    if (std::optional<json> Known = S.Results.find(*R)) {
      Result = std::move(*Known);
    } else {
      Result = resultOf(S, E, *R, Ended, Heats);
      S.Results.put(*R, Result);
      tell(S, Device, *R, Result);
    }
    if (Result.value("status", "") == "ok")
      S.Groups.note(*R, Result.value("seconds", 0.0));
    if (Ended.empty() && endsGroup(Result))
      Ended = R->Id;
    Heats.add(*R, Result);
  }
  E.endGroup();
}

/// One thread per GPU takes groups until there are none. A GPU that falls out
/// gives its group back to the others; the attempt counts, as it may have been
/// the group that ended it.
static void serveDevice(Shared &S, int Device, const std::string &Uuid) {
  std::optional<Dealer::Group> Mine;
  try {
    Evaluator E(S.Options.Executable, Device, S.B, S.In, S.Scratch, S.Results);
    while ((Mine = S.Groups.take())) {
      DeviceTurn Turn(Uuid);
      evaluateGroup(S, E, Device, *Mine);
      S.Groups.end();
    }
  } catch (const std::exception &E) {
    if (Mine)
      S.Groups.giveBack(std::move(*Mine));
    std::lock_guard<std::mutex> Guard(S.Lock);
    S.Summary.Lost = E.what();
    fprintf(stderr, "cupilot-runner: device %d is left out: %s\n", Device,
            E.what());
  }
}

json listDevices(const std::string &Executable) {
  ScratchFolder Scratch;
  Child Asked(Executable, -1, Scratch.path() + "/stderr");
  return Asked.greeting().at("devices");
}

static std::vector<int> chooseDevices(const RunnerOptions &Options,
                                      const Batch &B, const json &All) {
  auto Fits = [&](const json &Gpu) {
    return (B.Arch.empty() || Gpu.at("arch") == B.Arch) &&
           (Options.Card.empty() || Gpu.at("name") == Options.Card);
  };
  const std::string Want =
      B.Arch + (Options.Card.empty() ? "" : " (" + Options.Card + ")");
  auto Is = [](const json &Gpu) {
    return Gpu.at("name").get<std::string>() + ", " +
           Gpu.at("arch").get<std::string>();
  };
  std::vector<int> Devices = Options.Devices;
  if (Devices.empty())
    for (size_t I = 0; I < All.size(); ++I)
      if (Fits(All[I]))
        Devices.push_back(int(I));
  if (Devices.empty())
    throw Failure(FailureKind::WrongArch,
                  "the batch is for " + Want +
                      ", but no GPU here is one: the first is " +
                      Is(All.at(0)));
  for (int D : Devices) {
    if (D < 0 || size_t(D) >= All.size())
      throw Failure(FailureKind::NoDevice,
                    "there is no device " + std::to_string(D));
    if (!Fits(All[size_t(D)]))
      throw Failure(FailureKind::WrongArch,
                    "the batch is for " + Want + ", device " +
                        std::to_string(D) + " is " + Is(All[size_t(D)]));
  }
  return Devices;
}

/// The groups that are asked for.
static std::vector<std::vector<const Request *>>
chosenGroups(const RunnerOptions &Options, const Batch &B) {
  std::vector<std::vector<const Request *>> Groups = groupsOf(B);
  if (!Options.Group)
    return Groups;
  if (*Options.Group >= Groups.size())
    throw Failure(FailureKind::BrokenBatch, "the batch has " +
                                                std::to_string(Groups.size()) +
                                                " groups: there is no group " +
                                                std::to_string(*Options.Group));
  return {Groups[*Options.Group]};
}

RunnerSummary runBatch(const RunnerOptions &Options) {
  const Batch B = readBatch(Options.Folder);
  // Runners of single groups work beside each other.
  BatchLock Lock(Options.Folder, "lock", Options.Group ? LOCK_SH : LOCK_EX);
  std::optional<BatchLock> OfGroup;
  if (Options.Group)
    OfGroup.emplace(Options.Folder, "lock." + std::to_string(*Options.Group),
                    LOCK_EX);
  std::vector<Dealer::Group> Groups = chosenGroups(Options, B);
  Shared S(Options, B, Groups);
  unsigned Open = 0;
  for (const auto &Group : Groups)
    for (const Request *R : Group) {
      if (std::optional<json> Known = S.Results.find(*R)) {
        ++S.Summary.Before;
        S.Summary.Faults += isFault(*Known);
      } else {
        ++Open;
      }
    }
  if (Open == 0)
    return S.Summary;
  OrderlyEnd Orderly([&S] {
    S.Results.withdraw();
    std::error_code Ignored;
    std::filesystem::remove_all(S.Scratch.path(), Ignored);
  });
  const json All = listDevices(Options.Executable);
  std::vector<int> Devices = chooseDevices(Options, B, All);
  std::vector<std::thread> Threads;
  Threads.reserve(Devices.size());
  for (int D : Devices)
    Threads.emplace_back(serveDevice, std::ref(S), D,
                         All[size_t(D)].at("uuid").get<std::string>());
  for (std::thread &T : Threads)
    T.join();
  S.Summary.Missing = Open - S.Summary.Done;
  return S.Summary;
}

int serveAsWorker() { return Worker(WorkerDescriptor).serve(); }

int replay(const std::string &Path) {
  json Message = json::parse(readWhole(Path));
  Gpu G;
  G.use(Message.at("device").get<int>());
  Case C = caseFromJson(Message.at("case"));
  Program P = programFromJson(Message.at("program"));
  auto Files = Message.at("files").get<std::vector<std::string>>();
  LoadedProgram Loaded(G, P, C, Message.at("images").get<ImageFiles>(),
                       Message.at("variables").get<std::vector<std::string>>(),
                       /*Bare=*/true);
  // Bounds are those of allocations here, so there are no guard bands, and what
  // nobody wrote stays unwritten, which initcheck looks for.
  DeviceCase Memory(G, C, Files, 0, /*Bare=*/true);
  BoundProgram Bound = Loaded.bind(Memory);
  Loaded.restoreVariables();
  G.synchronize("making a run ready");
  Loaded.launch(Bound);
  G.synchronize("running '" + P.Launches.front().Symbol + "'");
  return 0;
}

} // namespace cupilot::runner
