//===- SlurmProbe.cpp - Whether the nodes of a cluster can work -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Slurm/SlurmProbe.h"
#include "JobGuard.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Slurm/SlurmQueue.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <chrono>
#include <ctime>
#include <set>
#include <thread>

using namespace llvm;

namespace cupilot {

/// Clocks of a cluster agree within less; build tools and journals suffer from
/// more.
static constexpr int64_t MostDrift = 60;

namespace {
class Probe {
public:
  Probe(SlurmOptions Options, const NodeQuestion &Question)
      : O(std::move(Options)), Asks(Question) {}
  Expected<std::vector<NodeReport>> run(unsigned MostNodes, unsigned Seconds);

private:
  std::string file(const Twine &Name) const {
    return (Folder + "/" + Name).str();
  }
  Error writeScript();
  Error send(StringRef Node);
  void look(NodeReport &R, const std::optional<std::vector<SlurmTask>> &Tasks);
  void read(NodeReport &R, StringRef Answer);

  SlurmOptions O;
  const NodeQuestion &Asks;
  std::string Folder, Script, Prefix;
  std::map<std::string, int64_t> EndedSince; ///< By node, without an answer.
  std::set<std::string> Asked;
  int64_t Start = 0;
};
} // namespace

static int64_t now() { return std::time(nullptr); }

/// Three lines: clock, version, status of the answer; then the answer. What
/// others say on the way, such as a container's warnings, is none of it, but
/// where a command fails says why.
Error Probe::writeScript() {
  const std::string Call = shellQuoted(O.onNode(Asks.Program));
  Script = file("probe.sh");
  return writeFileAtomic(
      Script, "#!/bin/sh\nout=\"" + Folder +
                  "/$SLURMD_NODENAME\"\n"
                  "clock=$(date +%s)\n"
                  "version=$(" +
                  Call +
                  " --version 2> \"$out.says\") || version=$(tail -n 1 "
                  "\"$out.says\")\n"
                  "answer=$(" +
                  Call + " " + shellQuoted(Asks.Arguments) +
                  " 2> \"$out.says\")\n"
                  "status=$?\n"
                  "[ $status -eq 0 ] || answer=$(cat \"$out.says\")\n"
                  "printf '%s\\n' \"$clock\" \"$version\" \"$status\" "
                  "\"$answer\" > \"$out.new\" && "
                  "mv \"$out.new\" \"$out.answer\"\n");
}

Error Probe::send(StringRef Node) {
  std::vector<std::string> Flags = O.sbatchFlags();
  for (std::string Flag :
       {"--job-name=" + Prefix + Node.str(), "--nodelist=" + Node.str(),
        "--chdir=" + Folder, "--output=" + file(Node + ".log")})
    Flags.push_back(std::move(Flag));
  if (Error E = SlurmQueue::wouldTake(Flags, Script))
    return E;
  return SlurmQueue::submit(Flags, Script);
}

void Probe::read(NodeReport &R, StringRef Answer) {
  R.S = NodeReport::State::Differs;
  auto [Clock, AfterClock] = Answer.split('\n');
  auto [Version, AfterVersion] = AfterClock.split('\n');
  auto [Status, List] = AfterVersion.split('\n');
  int64_t Then = 0;
  Clock.getAsInteger(10, Then);
  const int64_t Drift =
      Then < Start ? Then - Start : std::max<int64_t>(0, Then - now());
  if (std::abs(Drift) > MostDrift) {
    R.Text = "its clock is " + itostr(std::abs(Drift)) + " s " +
             (Drift < 0 ? "behind" : "ahead");
    return;
  }
  if (Version != Asks.Version) {
    R.Text = "'" + shellQuoted(O.onNode(Asks.Program)) + " --version' says '" +
             Version.str() + "', not '" + Asks.Version + "'";
    return;
  }
  if (Status != "0") {
    R.Text = List.rtrim().str();
    return;
  }
  Expected<std::string> Said = Asks.Read(List);
  if (!Said) {
    R.Text = toString(Said.takeError());
    return;
  }
  R.S = NodeReport::State::Works;
  R.Text = Version.str() + ", " + *Said;
}

NodeQuestion aboutGpus() {
  auto Read = [](StringRef List) -> Expected<std::string> {
    Expected<json::Value> Gpus = json::parse(List);
    if (!Gpus)
      return Gpus.takeError();
    std::vector<std::string> Names;
    if (const json::Array *All = Gpus->getAsArray())
      for (const json::Value &V : *All)
        if (const json::Object *Gpu = V.getAsObject())
          Names.push_back(Gpu->getString("name").value_or("").str());
    return join(Names, ", ");
  };
  return {
      "cupilot-runner", "cupilot-runner " CUPILOT_VERSION, {"--list"}, Read};
}

void Probe::look(NodeReport &R,
                 const std::optional<std::vector<SlurmTask>> &Tasks) {
  // A listing makes a network file system look again.
  Expected<std::vector<std::string>> Files = filesIn(Folder, ".answer");
  if (!Files)
    return consumeError(Files.takeError());
  const std::string Path = file(R.Node + ".answer");
  if (is_contained(*Files, Path)) {
    Expected<std::string> Answer = readFile(Path);
    if (!Answer)
      return consumeError(Answer.takeError());
    return read(R, *Answer);
  }
  if (!Tasks)
    return;
  for (const SlurmTask &T : *Tasks) {
    if (T.Job != Prefix + R.Node)
      continue;
    R.Text = ("its job " + meaningOf(T.State) +
              (T.Reason.empty() || T.Reason == "None" ? "" : ": " + T.Reason))
                 .str();
    if (!isEnded(T.State))
      return;
    int64_t &Since = EndedSince.emplace(R.Node, now()).first->second;
    if (now() - Since < int64_t(O.Settle))
      return;
    R.S = NodeReport::State::Differs;
    R.Text = ("its job " + meaningOf(T.State) + ", but wrote nothing into '" +
              Folder + "': the node does not see this folder")
                 .str();
  }
}

Expected<std::vector<NodeReport>> Probe::run(unsigned MostNodes,
                                             unsigned Seconds) {
  if (Error E = SlurmQueue::checkHere())
    return std::move(E);
  Expected<std::map<std::string, bool>> Nodes = SlurmQueue::nodes(O);
  if (!Nodes)
    return Nodes.takeError();
  // A search makes the folder; what is there of it now is seen, or is not.
  StringRef There = O.Folder;
  while (!sys::fs::is_directory(There) && There.size() > 1)
    There = sys::path::parent_path(There);
  Folder = (There + "/probe-" + utostr(sys::Process::getProcessId())).str();
  Prefix = "cupilot-" + shortDigest(digest(Folder), 8) + "-";
  if (Error E = ensureDirectory(Folder))
    return std::move(E);
  if (Error E = writeScript())
    return std::move(E);
  Expected<JobGuard> Guard = JobGuard::create();
  if (!Guard)
    return Guard.takeError();
  Start = now();
  std::vector<NodeReport> All;
  Error Refused = Error::success();
  for (const auto &[Node, Takes] : *Nodes) {
    if (!Takes || All.size() >= MostNodes) {
      All.push_back({Node, Takes ? "not asked" : "it takes no jobs now"});
      continue;
    }
    Guard->add(Prefix + Node);
    if (Error E = send(Node)) {
      // Perhaps it is the node, not what is asked for.
      if (!Refused)
        Refused = std::move(E);
      else
        consumeError(std::move(E));
      All.push_back({Node,
                     "Slurm takes no job for it with these options: '" +
                         shellQuoted(O.sbatchFlags()) + "'",
                     NodeReport::State::Differs});
      continue;
    }
    Asked.insert(Node);
    All.push_back({Node, "its job waits"});
  }
  if (Refused && Asked.empty()) {
    Guard->release();
    sys::fs::remove_directories(Folder);
    return std::move(Refused);
  }
  consumeError(std::move(Refused));
  auto Waits = [](const NodeReport &R) {
    return R.S == NodeReport::State::Busy;
  };
  const auto End =
      std::chrono::steady_clock::now() + std::chrono::seconds(Seconds);
  bool Open = true;
  while (Open && std::chrono::steady_clock::now() < End) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::optional<std::vector<SlurmTask>> Tasks = SlurmQueue::tasks(Prefix);
    Open = false;
    for (NodeReport &R : All)
      if (Waits(R) && Asked.count(R.Node)) {
        look(R, Tasks);
        Open |= Waits(R);
      }
  }
  if (!Open)
    Guard->release();
  sys::fs::remove_directories(Folder);
  return All;
}

Expected<std::vector<NodeReport>> probeNodes(const SlurmOptions &O,
                                             const NodeQuestion &Question,
                                             unsigned MostNodes,
                                             unsigned Seconds) {
  return Probe(O, Question).run(MostNodes, Seconds);
}

} // namespace cupilot
