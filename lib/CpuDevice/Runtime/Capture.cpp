//===- Capture.cpp - Recording launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture.h"
#include "cupilot/Capture/Record.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/CpuDevice/TensorMap.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

namespace cupilot {

/// A program that is killed loses no more of its recording than that.
static constexpr std::chrono::milliseconds WriteInterval(200);

struct Capture::Progress {
  std::mutex Lock;
  std::string Kernel;
  uint64_t Launches = 0, Kernels = 0, Kept = 0;
  bool Running = false; ///< Kernel is.
};

Capture::Capture(std::string Folder, const capture::Options &Opts)
    : Folder(std::move(Folder)), Opts(Opts), Quota(Opts) {
  if (Opts.ProgressMs)
    showProgress();
}

void Capture::showProgress() {
  Shown = new Progress();
  std::thread([P = Shown, Each = std::chrono::milliseconds(Opts.ProgressMs)] {
    const auto Begin = std::chrono::steady_clock::now();
    while (true) {
      std::this_thread::sleep_for(Each);
      std::lock_guard Lock(P->Lock);
      auto Seconds = std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::steady_clock::now() - Begin);
      std::fputs(capture::progressLine(
                     uint64_t(Seconds.count()), P->Kernels, P->Launches,
                     P->Kept,
                     P->Running ? "running " + llvm::demangle(P->Kernel) : "")
                     .c_str(),
                 stderr);
    }
  }).detach();
}

std::string Capture::store(const void *Data, size_t Size) {
  llvm::StringRef Bytes(static_cast<const char *>(Data), Size);
  std::string Digest = digest(Bytes);
  std::string Path = Folder + "/" + dataFileName(Digest);
  if (!llvm::sys::fs::exists(Path)) {
    Stored += Size;
    if (llvm::Error E = writeFileAtomic(Path, Bytes)) {
      std::fprintf(stderr, "cupilot: error: capture: %s\n",
                   toString(std::move(E)).c_str());
      Failed = true;
    }
  }
  return Digest;
}

/// Whether a tensor map lies in memory: what it names cannot be moved with it.
static bool holdsTensorMap(const char *Base, size_t Size) {
  static constexpr size_t Align = 64; // Of CUtensorMap.
  for (size_t At = 0; At + sizeof(TensorMap) <= Size; At += Align) {
    uint64_t Tag;
    std::memcpy(&Tag, Base + At, sizeof(Tag));
    if (Tag == TensorMap::Magic)
      return true;
  }
  return false;
}

Capture::Verdict Capture::before(
    const std::string &Kernel, const std::pair<std::string, size_t> &Code,
    const LaunchShape &Shape, const std::vector<uint64_t> &Sizes,
    void *const *Args, const std::map<char *, size_t> &Allocations,
    const CpuModule &Module, const std::vector<std::string> &Variables) {
  nlohmann::json Launch;
  Launch["kernel"] = Kernel;
  if (!Code.first.empty()) {
    Launch["module"] = Code.first;
    Launch["moduleSize"] = Code.second;
  }
  Launch["grid"] = Shape.Grid;
  Launch["block"] = Shape.Block;
  Launch["shared"] = Shape.Shared;
  if (Shape.Cluster != std::array<uint64_t, 3>{1, 1, 1})
    Launch["cluster"] = Shape.Cluster;
  if (Shape.Cooperative)
    Launch["cooperative"] = true;
  Launch["args"] = nlohmann::json::array();
  Launch["pointers"] = nlohmann::json::array();
  std::vector<std::pair<char *, size_t>> Buffers;
  for (size_t Param = 0; Param < Sizes.size(); ++Param) {
    std::vector<uint8_t> Bytes(Sizes[Param]);
    std::memcpy(Bytes.data(), Args[Param], Bytes.size());
    // Aligned words that point into live allocations are pointers.
    for (size_t Offset = 0; Offset + 8 <= Bytes.size(); Offset += 8) {
      char *Word;
      std::memcpy(&Word, Bytes.data() + Offset, 8);
      auto It = Allocations.upper_bound(Word);
      if (It == Allocations.begin())
        continue;
      --It;
      if (Word < It->first || Word >= It->first + It->second)
        continue;
      std::pair<char *, size_t> Buffer = *It;
      size_t Index = llvm::find(Buffers, Buffer) - Buffers.begin();
      if (Index == Buffers.size())
        Buffers.push_back(Buffer);
      Launch["pointers"].push_back(
          {{"param", Param},
           {"offset", Offset},
           {"buffer", Index},
           {"at", static_cast<uint64_t>(Word - It->first)}});
      std::memset(Bytes.data() + Offset, 0, 8);
    }
    Launch["args"].push_back(llvm::toHex(Bytes, /*LowerCase=*/true));
  }
  // Buffers with another content are the same launch as far as speed goes.
  std::string Key = Launch.dump();
  if (Opts.Contents)
    for (auto [Base, Size] : Buffers)
      Key += digest({Base, Size});
  const Verdict Next = Quota.next(Kernel + Code.first);
  if (Next == Verdict::Stop)
    return Next;
  auto [Entry, New] = Known.try_emplace(Key, Launches.size());
  Current = Entry->second;
  const auto Of = Kernels.try_emplace({Kernel, Code.first}).first;
  if (Shown) {
    std::lock_guard Lock(Shown->Lock);
    Shown->Kernel = Kernel;
    Shown->Kernels = Kernels.size();
    ++Shown->Launches;
    Shown->Running = Next == Verdict::Run;
  }
  if (!New) {
    ++Tallies[Current].Count;
    writeSometimes();
    return Next;
  }
  uint64_t Bytes = 0;
  for (auto [Base, Size] : Buffers)
    Bytes += Size;
  bool Kept =
      !Opts.Timing && (Of->second.Classes < Opts.PerKernel || Opts.Contents);
  if (Kept && Bytes > Opts.MaxLaunchBytes) {
    Launch["obstacles"] = {"its buffers hold " + std::to_string(Bytes) +
                           " bytes, more than --max-launch-mb allows"};
    Kept = false;
  } else if (Kept && Stored + Bytes > Opts.MaxBytes) {
    Launch["obstacles"] = {"the limit of " + std::to_string(Opts.MaxBytes) +
                           " bytes for all data is reached (--max-mb)"};
    Kept = false;
  }
  if (Kept)
    for (auto [Base, Size] : Buffers)
      if (holdsTensorMap(Base, Size)) {
        Launch["obstacles"] = {"a buffer holds a tensor map, whose address of "
                               "the tensor is the program's"};
        break;
      }
  Of->second.Classes += Kept;
  Launch["kept"] = Kept;
  Launch["buffers"] = nlohmann::json::array();
  Launch["globals"] = nlohmann::json::array();
  // Pointers name their buffers in launches without data, too.
  for (auto [Base, Size] : Buffers)
    Launch["buffers"].push_back({{"size", Size},
                                 {"align", 256},
                                 {"digest", Kept ? store(Base, Size) : ""}});
  if (Kept) {
    for (const std::string &Name : Variables)
      if (auto Global = Module.global(Name))
        Launch["globals"].push_back(
            {{"symbol", Name},
             {"size", Global->second},
             {"digest", store(Global->first, Global->second)}});
  }
  Launches.push_back(std::move(Launch));
  Tallies.push_back({Of, 1, {}});
  if (Kept)
    Quota.foundNew();
  if (Kept && Shown) {
    std::lock_guard Lock(Shown->Lock);
    ++Shown->Kept;
  }
  writeSometimes();
  return Next;
}

void Capture::after(double Cost) {
  Tallies[Current].Ran.add(Cost);
  Tallies[Current].Of->second.Ran.add(Cost);
  if (Shown) {
    std::lock_guard Lock(Shown->Lock);
    Shown->Running = false;
  }
}

void Capture::tooLong() {
  Notes.push_back("a launch of " +
                  llvm::demangle(Tallies[Current].Of->first.first) +
                  " took more than " + std::to_string(Opts.LaunchSteps) +
                  " instructions and was ended, and the program with it "
                  "(--launch-steps)");
}

void Capture::stopped() {
  uint64_t All = 0;
  for (const Tally &T : Tallies)
    All += T.Count;
  Notes.push_back(
      "the program was stopped after " + std::to_string(All) +
      " launches, as the last ones brought nothing new: shares of the time are "
      "those of this part (--then=run runs it to its end)");
}

void Capture::writeSometimes() {
  auto Now = std::chrono::steady_clock::now();
  if (Now - Written < WriteInterval)
    return;
  finish();
  // Writing takes longer for long recordings, and no more than a small part.
  auto Took = std::chrono::steady_clock::now() - Now;
  Written = Now + 20 * Took;
}

bool Capture::finish() {
  // Launches that did not run take as long as those of their kernel that did.
  for (size_t I = 0; I < Tallies.size(); ++I) {
    const Tally &T = Tallies[I];
    const Runs &Like = T.Ran.Count ? T.Ran : T.Of->second.Ran;
    Launches[I]["count"] = T.Count;
    Launches[I]["cost"] =
        Like.Count ? Like.Cost / double(Like.Count) * double(T.Count) : 0.0;
  }
  nlohmann::json Record = {{"format", capture::FormatVersion},
                           {"basis", "modelled"},
                           {"launches", Launches},
                           {"notes", Notes}};
  if (llvm::Error E =
          writeFileAtomic(Folder + "/launches.json", Record.dump(1))) {
    std::fprintf(stderr, "cupilot: error: capture: %s\n",
                 toString(std::move(E)).c_str());
    return false;
  }
  return !Failed;
}

} // namespace cupilot
