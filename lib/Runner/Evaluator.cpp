//===- Evaluator.cpp - One GPU's share of a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Nvml.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Compare.h"
#include "cupilot/Runner/Files.h"
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::runner {

Evaluator::Evaluator(std::string Executable, int Device, const Batch &B,
                     Inputs &In, ScratchFolder &Scratch, ResultFolder &Results)
    : Executable(std::move(Executable)), Device(Device), B(B), In(In),
      Scratch(Scratch), Results(Results) {}

/// The process in \p Place, a new one where there is none.
Child &Evaluator::worker(std::unique_ptr<Child> &Place) {
  std::string Why;
  // After a fault a driver may need a moment.
  for (int Try = 0; !Place && Try < 4; ++Try) {
    if (Try > 0)
      std::this_thread::sleep_for(std::chrono::seconds(Try));
    try {
      Place = std::make_unique<Child>(Executable, Device,
                                      Scratch.path() + "/stderr-" +
                                          std::to_string(Device));
    } catch (const Failure &F) {
      Why = std::string(F.word()) + ": " + F.what();
    }
  }
  if (!Place)
    throw Failure(FailureKind::DeviceLost, "device " + std::to_string(Device) +
                                               " takes no new process: " + Why);
  const json &Devices = Place->greeting().at("devices");
  Uuid = Devices.at(size_t(Device)).at("uuid").get<std::string>();
  return *Place;
}

int64_t copyMs(const Case &C) {
  uint64_t Bytes = 0;
  for (const Buffer &Buf : C.Buffers)
    Bytes += Buf.Size;
  return int64_t(30000 + Bytes / 100000);
}

RunFiles Evaluator::runIn(std::unique_ptr<Child> &Place, const Program &P,
                          const Case &C, uint64_t Variation,
                          uint64_t TimeoutMs) {
  const std::vector<std::string> Inputs = In.buffers(C, Variation);
  json Message = {{"do", "run"},
                  {"case", toJson(C)},
                  {"program", toJson(P)},
                  {"images", In.images(P)},
                  {"files", Inputs},
                  {"variables", In.variables(C)},
                  {"save", Scratch.fresh("run-" + std::to_string(Device))},
                  {"skew", ++Runs * 1280 % 65536 / 256 * 256}};
  Child &W = worker(Place);
  json Answer;
  try {
    Answer = W.ask(Message, copyMs(C), int64_t(TimeoutMs));
  } catch (const Failure &) {
    Place.reset();
    throw;
  }
  RunFiles Files;
  for (const json &Buf : Answer.at("buffers")) {
    Files.Buffers.push_back(Buf.at("file").get<std::string>());
    Files.Borrowed.push_back(Files.Buffers.back() ==
                             Inputs.at(Files.Borrowed.size()));
    Files.Stray.push_back({Buf.at("stray_before").get<uint64_t>(),
                           Buf.at("stray_after").get<uint64_t>()});
  }
  for (const json &V : Answer.at("variables"))
    Files.Variables.push_back(
        V.is_null() ? std::nullopt : std::optional(V.get<std::string>()));
  Files.ScratchStray = Answer.at("scratch_stray").get<uint64_t>();
  return Files;
}

void Evaluator::forget(const RunFiles &Files) {
  for (size_t I = 0; I < Files.Buffers.size(); ++I)
    if (!Files.Borrowed[I])
      ::unlink(Files.Buffers[I].c_str());
  for (const std::optional<std::string> &Path : Files.Variables)
    if (Path)
      ::unlink(Path->c_str());
}

/// What the original makes of the request's case, in a process that no
/// candidate ever ran in. Kept, as many candidates are compared with it.
const RunFiles &Evaluator::reference(const Request &R, uint64_t Variation) {
  const Case &C = B.Cases[R.Case];
  std::string Key =
      toJson(*R.Original).dump() + toJson(C).dump() + std::to_string(Variation);
  for (auto It = References.begin(); It != References.end(); ++It)
    if (It->Key == Key) {
      References.splice(References.begin(), References, It);
      return References.front().Files;
    }
  Blame = "original";
  KnownReference New;
  New.Key = std::move(Key);
  New.Files = runIn(Original, *R.Original, C, Variation, R.TimeoutMs);
  for (size_t I = 0; I < C.Buffers.size(); ++I)
    New.Bytes += New.Files.Borrowed[I] ? 0 : C.Buffers[I].Size;
  References.push_front(std::move(New));
  // The next run needs as much again, and others may use the folder too.
  const uint64_t Most =
      std::max(uint64_t(2) << 30, freeBytes(Scratch.path()) / 4);
  uint64_t Sum = 0;
  for (auto It = References.begin(); It != References.end();) {
    Sum += It->Bytes;
    if (It == References.begin() || Sum <= Most) {
      ++It;
      continue;
    }
    forget(It->Files);
    It = References.erase(It);
  }
  return References.front().Files;
}

json compareFiles(const std::string &Original, const std::string &Got,
                  const Buffer &Buf, const Request &R) {
  MappedFile A(Original), C(Got);
  if (A.bytes().size() != Buf.Size || C.bytes().size() != Buf.Size)
    throw Failure(FailureKind::WorkerLost,
                  "a result has another size than its buffer");
  return toJson(compareBytes(A.bytes(), C.bytes(), Buf.Holds, R.Allowed));
}

bool isTolerable(const json &Compared) {
  return Compared["wrong"] == 0 && Compared["far_fields"] == 0;
}

json Evaluator::compareRuns(const Request &R, const RunFiles &Original,
                            const RunFiles &Got) {
  const Case &C = B.Cases[R.Case];
  std::vector<std::string> Before = In.buffers(C);
  json Buffers = json::array(), Variables = json::array();
  bool Same = Got.ScratchStray == 0;
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const Buffer &Buf = C.Buffers[I];
    json J = compareFiles(Original.Buffers[I], Got.Buffers[I], Buf, R);
    J["stray_before"] = Got.Stray[I].first;
    J["stray_after"] = Got.Stray[I].second;
    if (Buf.Use == Role::In && !Before[I].empty()) {
      bool Changed =
          Before[I] != Got.Buffers[I] &&
          MappedFile(Before[I]).bytes() != MappedFile(Got.Buffers[I]).bytes();
      J["changed"] = Changed;
      Same &= !Changed;
    }
    Same &= isTolerable(J) && J["unwritten"] == 0 &&
            Got.Stray[I] == std::pair<uint64_t, uint64_t>();
    Buffers.push_back(std::move(J));
  }
  std::vector<std::string> Start = In.variables(C);
  for (size_t I = 0; I < C.Variables.size(); ++I) {
    // Who does not have a variable leaves it as it was.
    std::string A = Original.Variables[I].value_or(Start[I]),
                N = Got.Variables[I].value_or(Start[I]);
    if (A.empty() || N.empty()) {
      Variables.push_back(nullptr);
      continue;
    }
    json J = compareFiles(A, N, C.Variables[I].Value, R);
    Same &= isTolerable(J);
    Variables.push_back(std::move(J));
  }
  return {{"same", Same},
          {"buffers", std::move(Buffers)},
          {"variables", std::move(Variables)},
          {"scratch_stray", Got.ScratchStray}};
}

json Evaluator::compare(const Request &R) {
  const Case &C = B.Cases[R.Case];
  // The candidate first: nothing on the GPU holds the answer yet.
  Blame = "candidate";
  RunFiles Got = runIn(Candidate, *R.Candidate, C, 0, R.TimeoutMs);
  json Result;
  try {
    const RunFiles &Expected = reference(R, 0);
    Blame = "";
    Result = compareRuns(R, Expected, Got);
  } catch (const Failure &) {
    forget(Got);
    throw;
  }
  forget(Got);
  return Result;
}

json Evaluator::run(const Request &R) {
  const Case &C = B.Cases[R.Case];
  json Result;
  for (bool IsCandidate : {true, false}) {
    const std::optional<Program> &P = IsCandidate ? R.Candidate : R.Original;
    if (!P)
      continue;
    Blame = IsCandidate ? "candidate" : "original";
    RunFiles Got =
        runIn(IsCandidate ? Candidate : Original, *P, C, 0, R.TimeoutMs);
    json Buffers = json::array(), Variables = json::array();
    for (size_t I = 0; I < C.Buffers.size(); ++I) {
      MappedFile File(Got.Buffers[I]);
      bool Kept =
          C.Buffers[I].Use != Role::In && File.bytes().size() <= R.MostOutput;
      Buffers.push_back({{"digest", Kept ? Results.putData(File.bytes())
                                         : digest(File.bytes())},
                         {"kept", Kept},
                         {"stray_before", Got.Stray[I].first},
                         {"stray_after", Got.Stray[I].second}});
    }
    for (const std::optional<std::string> &Path : Got.Variables)
      Variables.push_back(Path
                              ? json(Results.putData(MappedFile(*Path).bytes()))
                              : json(nullptr));
    forget(Got);
    Result[Blame] = {{"buffers", std::move(Buffers)},
                     {"variables", std::move(Variables)},
                     {"scratch_stray", Got.ScratchStray}};
  }
  return Result;
}

json Evaluator::evaluate(const Request &R) {
  json Result;
  Blame = "";
  auto Begin = std::chrono::steady_clock::now();
  try {
    switch (R.Kind) {
    case RequestKind::Run:
      Result = run(R);
      break;
    case RequestKind::Compare:
      Result = compare(R);
      break;
    case RequestKind::Time:
      Result = time(R);
      break;
    case RequestKind::Ceilings:
      Result = ceilings(R);
      break;
    case RequestKind::Sanitize:
      Result = sanitize(R);
      break;
    case RequestKind::Profile:
      Result = profile(R);
      break;
    }
    Result["status"] = "ok";
  } catch (const Failure &F) {
    const FailureScope Scope = scopeOf(F.kind());
    if (Scope == FailureScope::Runner)
      throw;
    // What a program did on the GPU is a fault; what is wrong with the batch or
    // the machine is an error.
    const bool Blamed = Scope == FailureScope::Program && !Blame.empty();
    Result = {{"status", Blamed ? "fault" : "error"},
              {"reason", F.word()},
              {"message", F.what()}};
    if (Blamed)
      Result["who"] = Blame;
  }
  Result["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin)
          .count();
  Child *Any = Candidate ? Candidate.get() : Original.get();
  if (Any)
    Result["device"] = Any->greeting().at("devices").at(size_t(Device));
  return Result;
}

} // namespace cupilot::runner
