//===- Folder.cpp - Reading and writing capture folders -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddOnce.h"
#include "cupilot/Capture/Counters.h"
#include "cupilot/Capture/Record.h"
#include "cupilot/Portable/Files.h"
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

using nlohmann::json;
namespace fs = std::filesystem;

namespace cupilot::capture {

static const char Again[] = "copy the folder again, or record again";

static std::optional<Failure> readDevice(const json &J, DeviceFacts &D) {
  try {
    D = {J.at("name"), J.at("arch"), J.at("bandwidth")};
  } catch (const json::exception &) {
    return Failure(FailureKind::BadRecording,
                   "the description of a device is invalid", Again);
  }
  return std::nullopt;
}

static bool sameData(const Launch &A, const Launch &B) {
  auto SameBuffers = [](const Content &X, const Content &Y) {
    return X.Size == Y.Size && X.Digest == Y.Digest;
  };
  return A.Kernel == B.Kernel && A.Dims == B.Dims && A.Args == B.Args &&
         A.Kept == B.Kept && A.Device == B.Device && A.InGraph == B.InGraph &&
         A.Module == B.Module &&
         std::ranges::equal(A.Buffers, B.Buffers, SameBuffers);
}

/// What one process left behind.
static std::optional<Failure> readJournal(const fs::path &Path, Record &R) {
  std::string Text;
  if (loadFile(Path.string(), Text))
    return Failure(FailureKind::UnreadableFile,
                   "cannot read '" + Path.string() + "'", Again);
  std::vector<Launch> Launches;
  size_t Devices = 0;
  // The last line of a process that was killed may be torn.
  for (size_t Begin = 0, End; (End = Text.find('\n', Begin)) != Text.npos;
       Begin = End + 1) {
    json J = json::parse(Text.begin() + static_cast<long>(Begin),
                         Text.begin() + static_cast<long>(End), nullptr, false);
    std::optional<Failure> Wrong;
    if (!J.is_object()) {
      Wrong = Failure(FailureKind::BadRecording, "a line is not a JSON object",
                      Again);
    } else if (J.contains("device")) {
      DeviceFacts D;
      Wrong = readDevice(J["device"], D);
      // By number: two alike stay two. Other processes have the same ones.
      if (!Wrong && ++Devices > R.Devices.size())
        R.Devices.push_back(D);
    } else if (J.contains("note") && J["note"].is_string()) {
      addOnce(R.Notes, J["note"]);
    } else if (J.contains("failure") && J["failure"].is_string()) {
      addOnce(R.Failures, J["failure"]);
    } else if (J.contains("launch") && J.contains("class") &&
               J["class"].is_number_unsigned() &&
               J["class"] < uint64_t(Counters::Capacity)) {
      Launch L;
      size_t Index = J["class"];
      Wrong = fromJson(J["launch"], L);
      Launches.resize(std::max(Launches.size(), Index + 1));
      Launches[Index] = std::move(L);
    }
    if (Wrong)
      return Failure(FailureKind::BadRecording,
                     "'" + Path.string() +
                         "' is damaged: " + std::string(Wrong->what()),
                     Again);
  }
  Counters Counts;
  fs::path CountersPath =
      Path.parent_path() / ("counters" + Path.extension().string());
  ++R.Processes;
  if (auto F = Counts.open(CountersPath.string())) {
    if (!Launches.empty())
      return F;
    // On a full disk not even the reason may have been written.
    if (R.Failures.empty())
      R.Failures.push_back("a process could not write what it recorded");
    return std::nullopt;
  }
  if (Counts.failed())
    addOnce(R.Failures, "a process could not write all that it recorded");
  for (size_t I = 0; I < Launches.size(); ++I) {
    Launch &L = Launches[I];
    L.Count = Counts[I].Count;
    L.Timed = Counts[I].Timed;
    if (L.Kernel.empty() || !(L.Count || L.Kept))
      continue;
    L.Cost = static_cast<double>(Counts[I].Nanoseconds) / 1000;
    // Times that were not delivered before the end are taken as the others.
    if (L.Timed && L.Timed < L.Count)
      L.Cost *= static_cast<double>(L.Count) / static_cast<double>(L.Timed);
    auto Same = std::ranges::find_if(
        R.Launches, [&](const Launch &Other) { return sameData(Other, L); });
    if (Same == R.Launches.end()) {
      R.Launches.push_back(std::move(L));
      continue;
    }
    Same->Count += L.Count;
    Same->Timed += L.Timed;
    Same->Cost += L.Cost;
    for (const std::string &Text : L.Obstacles)
      addOnce(Same->Obstacles, Text);
  }
  if (!Counts.ended())
    addOnce(R.Notes, "a process ended without a normal exit: the times of its "
                     "last launches are estimated");
  return std::nullopt;
}

static std::vector<fs::path> filesLike(const std::string &Folder,
                                       const std::string &Prefix) {
  std::vector<fs::path> Paths;
  std::error_code Error;
  for (const fs::directory_entry &Entry : fs::directory_iterator(Folder, Error))
    if (Entry.path().filename().string().compare(0, Prefix.size(), Prefix) == 0)
      Paths.push_back(Entry.path());
  std::sort(Paths.begin(), Paths.end());
  return Paths;
}

std::optional<Failure> readJournals(const std::string &Folder, Record &R) {
  for (const fs::path &Path : filesLike(Folder, "journal."))
    if (Path.extension() != ".part")
      if (auto F = readJournal(Path, R))
        return F;
  return std::nullopt;
}

static std::optional<Failure> readWritten(const std::string &Path, Record &R) {
  std::string Text;
  if (loadFile(Path, Text))
    return Failure(FailureKind::UnreadableFile, "cannot read '" + Path + "'",
                   Again);
  json J = json::parse(Text, nullptr, false);
  auto Damaged = [&](const std::string &Why) {
    return Failure(FailureKind::BadRecording,
                   "'" + Path + "' is damaged: " + Why, Again);
  };
  if (!J.is_object())
    return Damaged("it is not a JSON object");
  if (!J.contains("format") || !J["format"].is_number_integer())
    return Damaged("it has no format number");
  if (J["format"] != FormatVersion)
    return Failure(FailureKind::BadRecording,
                   "'" + Path + "' has format " + J["format"].dump() +
                       ", this program supports " +
                       std::to_string(FormatVersion),
                   "use the same version of cuPilot on both machines");
  if (!J.contains("launches") || !J["launches"].is_array())
    return Damaged("it has no list of launches");
  for (const json &Item : J["launches"]) {
    Launch L;
    if (!Item.is_object())
      return Damaged("a launch is not a JSON object");
    if (auto F = fromJson(Item, L))
      return Damaged(F->what());
    R.Launches.push_back(std::move(L));
  }
  for (const json &Item : J.value("devices", json::array())) {
    DeviceFacts D;
    if (auto F = readDevice(Item, D))
      return Damaged(F->what());
    R.Devices.push_back(D);
  }
  std::string Basis;
  try {
    Basis = J.value("basis", "");
    R.Notes = J.value("notes", std::vector<std::string>());
    R.Failures = J.value("failures", std::vector<std::string>());
    R.Processes = J.value("processes", uint64_t(0));
  } catch (const json::exception &) {
    return Damaged("the notes are invalid");
  }
  R.Measured = Basis == "measured";
  if (Basis != R.basis())
    return Damaged("the basis of the times is '" + Basis + "'");
  return std::nullopt;
}

std::optional<Failure> readRecord(const std::string &Folder, Record &R) {
  std::error_code Error;
  if (!fs::is_directory(Folder, Error))
    return Failure(FailureKind::BadRecording,
                   "there is no folder '" + Folder + "'",
                   "name the folder given to cupilot-capture -o");
  std::string Path = Folder + "/launches.json";
  if (fs::exists(Path, Error))
    return readWritten(Path, R);
  if (filesLike(Folder, "journal.").empty())
    return Failure(FailureKind::BadRecording,
                   "'" + Folder + "' has no file launches.json",
                   "name the folder given to cupilot-capture -o");
  return readJournals(Folder, R);
}

std::optional<Failure> writeRecord(const std::string &Folder, const Record &R) {
  if (auto F = writeWhole(Folder + "/launches.json", print(R)))
    return F;
  std::error_code Error;
  for (const char *Prefix : {"journal.", "counters."})
    for (const fs::path &Path : filesLike(Folder, Prefix))
      fs::remove(Path, Error);
  return std::nullopt;
}

} // namespace cupilot::capture
