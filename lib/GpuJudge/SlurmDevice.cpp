//===- SlurmDevice.cpp - The GPUs of a Slurm cluster -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlurmDevice.h"
#include "SpoolDevice.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/ReadResults.h"
#include "cupilot/Slurm/SlurmWork.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>
#include <set>

using namespace llvm;

namespace cupilot {

Expected<SlurmOptions> slurmOptionsFor(StringRef Given, StringRef Store) {
  SlurmOptions O;
  const std::string File = slurmFileBeside(Store);
  if (sys::fs::exists(File))
    if (Error E = O.addFile(File))
      return std::move(E);
  if (!Given.empty())
    if (Error E = O.add(Given))
      return std::move(E);
  // A name that the store's .gitignore knows.
  std::string Usual = (Store + "/journal.sqlite.batches").str();
  if (Store.empty())
    if (Error E = batchRoot().moveInto(Usual))
      return std::move(E);
  if (Error E = O.placeIn(Usual))
    return std::move(E);
  return O;
}

namespace {
class SlurmDevice : public SpoolDevice {
public:
  explicit SlurmDevice(SlurmOptions Options)
      : SpoolDevice(Options.Folder), O(std::move(Options)) {}
  Expected<std::optional<GpuResults>> evaluate(const GpuBatch &B) override;
  bool worksByItself() const override { return true; }
  std::string waiting(const GpuBatch &B) const override {
    return "Slurm works on it ('squeue --me' lists the jobs" +
           (Work ? " " + Work->jobPrefix() + "*" : std::string()) + ")";
  }
  void setTeller(std::function<void(const Twine &)> To) override {
    Tell = std::move(To);
  }

private:
  Error begin(const GpuBatch &B);
  Error readCard(const GpuBatch &B);
  Expected<bool> areOfOneCard(const GpuBatch &B, const GpuResults &Results);
  std::vector<unsigned> openGroups(const GpuBatch &B);
  std::string cardFile(const GpuBatch &B) const {
    return Root + "/card-" + B.batch().Arch;
  }

  SlurmOptions O;
  std::function<void(const Twine &)> Tell;
  std::string BatchId; ///< That Work and Done are of.
  std::unique_ptr<SlurmWork> Work;
  std::set<unsigned> Done; ///< Groups with all results.
};
} // namespace

/// Ratios of different GPUs are not compared: the first batch decides on one.
Error SlurmDevice::readCard(const GpuBatch &B) {
  if (!O.Card.empty() || !sys::fs::exists(cardFile(B)))
    return Error::success();
  Expected<std::string> Text = readFile(cardFile(B));
  if (!Text)
    return Text.takeError();
  O.Card = StringRef(*Text).trim().str();
  return Error::success();
}

static StringRef cardOf(const json::Object &Result) {
  const json::Object *Gpu = Result.getObject("device");
  return Gpu ? Gpu->getString("name").value_or("") : "";
}

/// Removes the results of other GPUs than the search's, and with them those of
/// the same group that name none: a race is lost to times of that GPU.
Expected<bool> SlurmDevice::areOfOneCard(const GpuBatch &B,
                                         const GpuResults &Results) {
  // Another search of this folder may have decided meanwhile.
  if (Error E = readCard(B))
    return std::move(E);
  if (O.Card.empty()) {
    std::map<std::string, unsigned> Counts;
    for (const json::Object &R : Results)
      if (StringRef Name = cardOf(R); !Name.empty())
        ++Counts[Name.str()];
    if (Counts.empty())
      return true;
    O.Card = max_element(Counts, [](const auto &A, const auto &B) {
               return A.second < B.second;
             })->first;
    if (Error E = writeFileAtomic(cardFile(B), O.Card + "\n"))
      return std::move(E);
  }
  bool All = true;
  const runner::Request *First = B.batch().Requests.data();
  for (const auto &Group : runner::groupsOf(B.batch())) {
    StringRef Other;
    for (const runner::Request *R : Group)
      if (StringRef Name = cardOf(Results[size_t(R - First)]);
          !Name.empty() && Name != O.Card)
        Other = Name;
    if (Other.empty())
      continue;
    All = false;
    for (const runner::Request *R : Group) {
      StringRef Name = cardOf(Results[size_t(R - First)]);
      if (Name == O.Card)
        continue;
      if (Tell && !Name.empty())
        Tell(R->Id + " was evaluated on another GPU, " + Name +
             ": it is sent again for " + O.Card);
      sys::fs::remove(folder(B) + "/results/" + R->Id + ".json");
    }
  }
  return All;
}

Error SlurmDevice::begin(const GpuBatch &B) {
  std::vector<std::string> Words = O.onNode("cupilot-runner");
  if (!O.Card.empty())
    Words.push_back("--card=" + O.Card);
  std::vector<std::string> Names;
  for (const auto &Group : runner::groupsOf(B.batch())) {
    const runner::Request &R = *Group.front();
    Names.push_back("'" + (R.Group.empty() ? R.Id : R.Group) + "'");
  }
  auto NameOf = [Names = std::move(Names)](unsigned P) { return Names[P]; };
  Expected<std::unique_ptr<SlurmWork>> Made = SlurmWork::create(
      O, folder(B) + "/slurm",
      shellQuoted(Words) + " --group=\"$piece\" " + shellQuoted({folder(B)}),
      std::move(NameOf));
  if (!Made)
    return Made.takeError();
  Work = std::move(*Made);
  BatchId = B.batch().Id;
  Done.clear();
  return Error::success();
}

static bool hasResult(const std::string &Folder, const runner::Batch &B,
                      const runner::Request &R) {
  try {
    return runner::readResult(Folder, B, R).has_value();
  } catch (const Failure &) {
    return false;
  }
}

std::vector<unsigned> SlurmDevice::openGroups(const GpuBatch &B) {
  std::vector<unsigned> Open;
  for (auto [I, Group] : enumerate(runner::groupsOf(B.batch()))) {
    const unsigned P = unsigned(I);
    if (Done.count(P))
      continue;
    if (all_of(Group, [&](const runner::Request *R) {
          return hasResult(folder(B), B.batch(), *R);
        }))
      Done.insert(P);
    else
      Open.push_back(P);
  }
  return Open;
}

Expected<std::optional<GpuResults>> SlurmDevice::evaluate(const GpuBatch &B) {
  if (Error E = readCard(B))
    return std::move(E);
  Expected<std::optional<GpuResults>> Known = SpoolDevice::evaluate(B);
  if (!Known)
    return Known;
  if (*Known) {
    if (Work)
      Work->finish();
    Work.reset();
    Expected<bool> One = areOfOneCard(B, **Known);
    if (!One)
      return One.takeError();
    if (*One)
      return Known;
  }
  if (!Work || BatchId != B.batch().Id)
    if (Error E = begin(B))
      return std::move(E);
  const std::vector<unsigned> Open = openGroups(B);
  auto Again = [&](unsigned P) {
    // What a task left that died while it wrote, on a file system that does
    // not rename in one step, is no result.
    const auto Groups = runner::groupsOf(B.batch());
    for (const runner::Request *R : Groups[P])
      if (!hasResult(folder(B), B.batch(), *R))
        sys::fs::remove(folder(B) + "/results/" + R->Id + ".json");
  };
  if (Error E = Work->step(Open, Tell, Again))
    return std::move(E);
  return std::nullopt;
}

Expected<std::unique_ptr<GpuDevice>> makeSlurmDevice(SlurmOptions O) {
  if (O.Folder.empty()) {
    Expected<SlurmOptions> Whole = slurmOptionsFor(O.str(), "");
    if (!Whole)
      return Whole.takeError();
    O = std::move(*Whole);
  }
  return std::make_unique<SlurmDevice>(std::move(O));
}

} // namespace cupilot
