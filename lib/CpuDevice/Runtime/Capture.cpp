//===- Capture.cpp - Recording launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdio>
#include <cstring>

namespace cupilot {

/// Content kept at most, in bytes; what lies beyond is counted, not stored.
static constexpr uint64_t StoreLimit = 1ull << 30;
/// Different launches of one kernel that are kept.
static constexpr size_t LaunchLimit = 8;

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

void Capture::before(const std::string &Kernel, const LaunchShape &Shape,
                     const std::vector<uint64_t> &Sizes, void *const *Args,
                     const std::map<char *, size_t> &Allocations,
                     const CpuModule &Module,
                     const std::vector<std::string> &Variables) {
  nlohmann::json Launch;
  Launch["kernel"] = Kernel;
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
  auto [Entry, New] = Known.try_emplace(Key, Launches.size());
  if (!New) {
    Current = Entry->second;
    Launches[Current]["count"] = Launches[Current]["count"].get<uint64_t>() + 1;
    return;
  }
  size_t Same = 0;
  for (const nlohmann::json &Other : Launches)
    Same += Other["kernel"] == Kernel;
  Launch["count"] = 1;
  Launch["cost"] = 0.0;
  Launch["kept"] = Same < LaunchLimit && Stored < StoreLimit;
  Launch["buffers"] = nlohmann::json::array();
  Launch["globals"] = nlohmann::json::array();
  // Pointers name their buffers in launches without data, too.
  bool Kept = Launch["kept"];
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
  Current = Launches.size();
  Launches.push_back(std::move(Launch));
}

void Capture::after(double Cost) {
  Launches[Current]["cost"] = Launches[Current]["cost"].get<double>() + Cost;
}

bool Capture::finish() {
  nlohmann::json Record = {
      {"format", 2}, {"basis", "modelled"}, {"launches", Launches}};
  if (llvm::Error E =
          writeFileAtomic(Folder + "/launches.json", Record.dump(1))) {
    std::fprintf(stderr, "cupilot: error: capture: %s\n",
                 toString(std::move(E)).c_str());
    return false;
  }
  return !Failed;
}

} // namespace cupilot
