//===- Worker.cpp - The process that touches a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "Ceilings.h"
#include "Wire.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Files.h"
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::runner {

json toJson(const GpuInfo &I) {
  return {{"name", I.Name},        {"uuid", I.Uuid},
          {"arch", I.arch()},      {"multiprocessors", I.Multiprocessors},
          {"l2_bytes", I.L2Bytes}, {"shared_per_block", I.SharedPerBlock},
          {"memory", I.Memory},    {"driver", I.Driver}};
}

/// Device memory into a new file, without a copy in between.
static void saveMemory(const Gpu &G, DeviceAddress From, uint64_t Size,
                       const std::string &Path) {
  NewFile New(Path, Size);
  if (Size == 0)
    return;
  DriverStatus Status = G.api().CopyOut(New.bytes(), From, Size);
  G.check(Status, "copying results from the GPU");
}

/// Whether device memory holds the bytes of the file \p Path.
static bool holdsStill(const Gpu &G, DeviceAddress From, uint64_t Size,
                       const std::string &Path) {
  MappedFile Before(Path);
  if (Before.bytes().size() != Size)
    return false;
  std::vector<char> Part(std::min<uint64_t>(Size, uint64_t(64) << 20));
  for (uint64_t At = 0; At < Size; At += Part.size()) {
    uint64_t Count = std::min<uint64_t>(Part.size(), Size - At);
    G.check(G.api().CopyOut(Part.data(), From + At, Count),
            "copying inputs from the GPU");
    if (std::memcmp(Part.data(), Before.bytes().data() + At, Count) != 0)
      return false;
  }
  return true;
}

static ImageFiles imageFiles(const json &Message) {
  return Message.at("images").get<ImageFiles>();
}

json Worker::open(const json &Message) {
  G = std::make_unique<Gpu>();
  if (Message.contains("device")) {
    Device = Message.at("device").get<int>();
    G->use(Device);
  }
  json Devices = json::array();
  for (int I = 0; I < G->count(); ++I)
    Devices.push_back(toJson(G->info(I)));
  return {{"devices", std::move(Devices)}, {"memory", G->current().Memory}};
}

json Worker::run(const json &Message) {
  Case C = caseFromJson(Message.at("case"));
  Program P = programFromJson(Message.at("program"));
  auto Files = Message.at("files").get<std::vector<std::string>>();
  auto Variables = Message.at("variables").get<std::vector<std::string>>();
  auto Save = Message.at("save").get<std::string>();
  LoadedProgram Loaded(*G, P, C, imageFiles(Message), Variables);
  DeviceCase Memory(*G, C, Files, Message.at("skew").get<uint64_t>());
  BoundProgram Bound = Loaded.bind(Memory);
  Loaded.restore();
  G->synchronize("making a run ready");
  sendMessage(FD, {{"progress", "running"}});
  Loaded.launch(Bound);
  G->synchronize("running '" + P.Launches.front().Symbol + "'");
  sendMessage(FD, {{"progress", "copying"}});
  json Result = {{"buffers", json::array()},
                 {"variables", json::array()},
                 {"scratch_stray", Loaded.strayBytes()}};
  for (unsigned I = 0; I < C.Buffers.size(); ++I) {
    const BandedMemory &B = Memory.buffer(I);
    std::string Path = Save + "-b" + std::to_string(I);
    // A large input that is as it was needs no file of its own.
    constexpr uint64_t Large = uint64_t(64) << 20;
    if (C.Buffers[I].Use == Role::In && B.size() > Large && !Files[I].empty() &&
        holdsStill(*G, B.begin(), B.size(), Files[I]))
      Path = Files[I];
    else
      saveMemory(*G, B.begin(), B.size(), Path);
    auto [Before, After] = B.strayBytes();
    Result["buffers"].push_back(
        {{"file", Path}, {"stray_before", Before}, {"stray_after", After}});
  }
  for (size_t I = 0; I < C.Variables.size(); ++I) {
    std::optional<std::string> Bytes = Loaded.variable(I);
    if (!Bytes) {
      Result["variables"].push_back(nullptr);
      continue;
    }
    std::string Path = Save + "-v" + std::to_string(I);
    writeWhole(Path, *Bytes);
    Result["variables"].push_back(Path);
  }
  return Result;
}

json Worker::timeOpen(const json &Message) {
  Timed.reset();
  TimedCase = std::make_unique<Case>(caseFromJson(Message.at("case")));
  TimedOriginal =
      std::make_unique<Program>(programFromJson(Message.at("original")));
  TimedCandidate =
      std::make_unique<Program>(programFromJson(Message.at("candidate")));
  Timed = std::make_unique<Timing>(
      *G, *TimedOriginal, *TimedCandidate, *TimedCase, imageFiles(Message),
      Message.at("sets").get<std::vector<std::vector<std::string>>>(),
      Message.at("variables").get<std::vector<std::string>>(),
      Message.at("seed").get<uint64_t>());
  sendMessage(FD, {{"progress", "running"}});
  Timed->warmUp();
  return {{"sets", Timed->sets()},
          {"repeats", Timed->repeats()},
          {"flush", Timed->flushKind()},
          {"empty_us", Timed->emptyTime()}};
}

/// A number of rounds; the results of both programs in round "snapshot" are
/// kept, as they are in the middle of it.
json Worker::timeRounds(const json &Message) {
  if (!Timed)
    throw Failure(FailureKind::Protocol, "nothing is being timed");
  auto Count = Message.at("rounds").get<unsigned>();
  auto Chosen = Message.value("snapshot", ~0u);
  json Result = {{"rounds", json::array()}};
  for (unsigned I = 0; I < Count; ++I) {
    Round R = Timed->round([&](unsigned Slot, unsigned Program, unsigned Set) {
      // Of the last two slots each belongs to another program.
      if (I == Chosen && Slot >= 2) {
        Timed->snapshot(Program, Set);
        Result["snapshot_set"] = Set;
      }
    });
    Result["rounds"].push_back({{"set", R.Set},
                                {"candidate_first", R.CandidateFirst},
                                {"us", R.Times}});
  }
  return Result;
}

/// The results of the latest snapshot, as files.
json Worker::timeSnapshot(const json &Message) {
  if (!Timed)
    throw Failure(FailureKind::Protocol, "nothing is being timed");
  auto Save = Message.at("save").get<std::string>();
  json Result;
  for (unsigned P = 0; P < 2; ++P) {
    json Files = json::array();
    for (unsigned I = 0; I < TimedCase->Buffers.size(); ++I) {
      const BandedMemory *Copy = Timed->copied(P, I);
      std::string Path =
          Save + "-" + std::to_string(P) + "-b" + std::to_string(I);
      if (Copy)
        saveMemory(*G, Copy->begin(), Copy->size(), Path);
      Files.push_back(Copy ? Path : "");
    }
    Result[P ? "candidate" : "original"] = std::move(Files);
  }
  return Result;
}

json Worker::timeSteady() {
  if (!Timed)
    throw Failure(FailureKind::Protocol, "nothing is being timed");
  json Result;
  for (unsigned P = 0; P < 2; ++P) {
    SteadyTime T = Timed->steady(P);
    Result[P ? "candidate" : "original"] = {{"events_us", T.Events},
                                            {"wall_us", T.Wall}};
  }
  return Result;
}

json Worker::obey(const json &Message) {
  auto Do = Message.at("do").get<std::string>();
  if (Do == "open")
    return open(Message);
  if (!G)
    throw Failure(FailureKind::Protocol, "no device is open");
  if (Do == "run")
    return run(Message);
  if (Do == "time-open")
    return timeOpen(Message);
  if (Do == "time-rounds")
    return timeRounds(Message);
  if (Do == "time-snapshot")
    return timeSnapshot(Message);
  if (Do == "time-steady")
    return timeSteady();
  if (Do == "profile")
    return profile(Message);
  if (Do == "ceilings")
    return measureCeilings(*G);
  throw Failure(FailureKind::Protocol, "there is no '" + Do + "'");
}

int Worker::serve() {
  // Where the runner is killed, nobody would end a kernel that hangs.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  json Message;
  while (receiveMessage(FD, Message, -1) == Received::Message) {
    json Answer;
    try {
      Answer = obey(Message);
      Answer["ok"] = true;
    } catch (const Failure &F) {
      Answer = {{"ok", false}, {"reason", F.word()}, {"message", F.what()}};
    } catch (const std::exception &E) {
      Answer = {{"ok", false},
                {"reason", wordOf(FailureKind::Worker)},
                {"message", E.what()}};
    }
    if (!sendMessage(FD, Answer))
      break;
    if (!Answer["ok"])
      break; // Nothing is known of the context any more.
  }
  // Not by exit(): the driver's own clean-up may wait for a broken context.
  ::_exit(0);
}

} // namespace cupilot::runner
