//===- Noise.cpp - Looks for what a launch touches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Noise.h"
#include "Child.h"
#include "cupilot/Portable/Files.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>

using nlohmann::json;

namespace cupilot::capture {

json toJson(const NoiseRequest &R) {
  return {{"launch", toJson(R.What)},
          {"handles", R.Handles},
          {"folder", R.Folder},
          {"waitMs", R.WaitMs},
          {"mostMs", R.MostMs}};
}

std::optional<NoiseRequest> readRequest(const std::string &Path) {
  std::string Text;
  if (loadFile(Path, Text))
    return std::nullopt;
  json J = json::parse(Text, nullptr, false);
  NoiseRequest R;
  try {
    if (fromJson(J.at("launch"), R.What))
      return std::nullopt;
    R.Handles = J.at("handles");
    R.Folder = J.at("folder");
    R.WaitMs = J.at("waitMs");
    R.MostMs = J.at("mostMs");
  } catch (const json::exception &) {
    return std::nullopt;
  }
  if (R.Handles.size() != R.What.Buffers.size())
    return std::nullopt;
  return R;
}

json toJson(const Ranges &R) {
  json All = json::array();
  for (const std::vector<Range> &Each : R) {
    json One = json::array();
    for (const Range &Part : Each)
      One.push_back({Part.Base, Part.Size});
    All.push_back(std::move(One));
  }
  return All;
}

std::optional<Ranges> rangesOf(const json &J) {
  Ranges R;
  try {
    for (const json &Each : J) {
      R.emplace_back();
      for (const json &Part : Each)
        R.back().push_back({Part.at(0), Part.at(1)});
    }
  } catch (const json::exception &) {
    return std::nullopt;
  }
  return R;
}

namespace {
class Inference {
public:
  Inference(std::string Self, std::string Path, NoiseRequest R)
      : Self(std::move(Self)), Path(std::move(Path)), R(std::move(R)),
        Until(std::chrono::steady_clock::now() +
              std::chrono::milliseconds(this->R.MostMs)) {
    for (const Content &B : this->R.What.Buffers)
      Allocations.push_back({uint64_t(Allocations.size()) << 44, B.Size});
  }
  /// What a replay says to \p Question; nothing where it faults or hangs.
  std::optional<json> ask(const json &Question);
  bool isSame(const Ranges &Kept);
  json answer();

private:
  bool start();
  bool late() const { return std::chrono::steady_clock::now() > Until; }

  const std::string Self, Path;
  const NoiseRequest R;
  const std::chrono::steady_clock::time_point Until;
  std::vector<Range> Allocations; ///< Apart, as they lie anywhere.
  Child Replays;
  std::string Why;
  unsigned Runs = 0;
};
} // namespace

/// A process whose first replays, of the launch as it is, went well.
bool Inference::start() {
  // It initialises a device and reads all contents.
  constexpr uint64_t StartMs = 30000;
  if (!Replays.start({Self, "--noise-replays", Path})) {
    Why = "no process can be started";
    return false;
  }
  std::optional<std::string> Line = Replays.hear(StartMs + 2 * R.WaitMs);
  json J = Line ? json::parse(*Line, nullptr, false) : json();
  if (J.is_object() && J.contains("ready"))
    return true;
  Why = J.is_object() ? J.value("why", "")
                      : "it does not run on copies of its memory";
  Replays.end();
  return false;
}

std::optional<json> Inference::ask(const json &Question) {
  if (!Replays.running() && !start())
    return std::nullopt;
  ++Runs;
  std::optional<std::string> Line;
  if (Replays.say(Question.dump()))
    Line = Replays.hear(R.WaitMs);
  json J = Line ? json::parse(*Line, nullptr, false) : json();
  if (J.is_object() && !J.contains("fault"))
    return J;
  Replays.end();
  return std::nullopt;
}

bool Inference::isSame(const Ranges &Kept) {
  // Zeros first: few launches fault with them.
  for (unsigned Fill : {0u, 1u}) {
    std::optional<json> J =
        ask({{"do", "replay"}, {"fill", Fill}, {"kept", toJson(Kept)}});
    if (!J || !J->value("same", false))
      return false;
  }
  return true;
}

json Inference::answer() {
  if (!start())
    return {{"why", Why}};
  std::optional<Ranges> Reads =
      inferReads(Allocations, R.What.Pointers,
                 [&](const Ranges &Kept) -> std::optional<bool> {
                   if (late())
                     return std::nullopt;
                   return isSame(Kept);
                 });
  if (!Reads)
    return {{"why", Why.empty() ? "replays of it differ" : Why}};
  std::optional<json> Pages =
      ask({{"do", "written"}, {"kept", toJson(*Reads)}});
  std::optional<Ranges> Writes;
  if (Pages)
    Writes = rangesOf(Pages->value("written", json()));
  if (!Writes || Writes->size() != Allocations.size())
    return {{"why", "replays of it fault"}};
  std::vector<Touched> Marks(Allocations.size());
  for (size_t I = 0; I < Marks.size(); ++I) {
    markRanges((*Reads)[I], Allocations[I].Size, Marks[I].Reads);
    markRanges((*Writes)[I], Allocations[I].Size, Marks[I].Writes);
  }
  for (bool Together : {false, true}) {
    TouchedParts Split =
        splitTouched(Allocations, Marks, R.What.Pointers, Together);
    json Parts = json::array(), Pointers = json::array();
    for (const Part &P : Split.Parts) {
      json Within = json::array();
      for (const Range &Each : P.Within)
        Within.push_back({Each.Base - P.All.Base, Each.Size});
      uint64_t Allocation = P.All.Base >> 44;
      Parts.push_back({{"allocation", Allocation},
                       {"from", P.All.Base - (Allocation << 44)},
                       {"size", P.All.Size},
                       {"within", std::move(Within)}});
    }
    for (const Pointer &P : Split.Pointers)
      Pointers.push_back({P.Buffer, P.At});
    std::optional<json> J = ask({{"do", "apart"},
                                 {"parts", std::move(Parts)},
                                 {"pointers", std::move(Pointers)}});
    if (J && J->value("same", false))
      return {{"reads", toJson(*Reads)},
              {"writes", toJson(*Writes)},
              {"together", Together},
              {"runs", Runs}};
  }
  return {{"why", "it needs more than its ranges"}};
}

int inferTouched(const std::string &Self, const std::string &Path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // Nobody waits for the answer then.
  std::signal(SIGPIPE, SIG_IGN);    // A process that has ended says nothing.
  std::optional<NoiseRequest> R = readRequest(Path);
  json Answer = R ? Inference(Self, Path, std::move(*R)).answer()
                  : json{{"why", "the request cannot be read"}};
  std::printf("%s\n", Answer.dump().c_str());
  return 0;
}

} // namespace cupilot::capture
