//===- Record.h - What a capture folder says -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_RECORD_H
#define CUPILOT_CAPTURE_RECORD_H

#include "cupilot/Capture/Content.h"
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace cupilot::capture {

/// The number in "format" of launches.json.
constexpr int FormatVersion = 2;

/// Content of a buffer or variable before and after a launch.
struct Content {
  uint64_t Size = 0; ///< Bytes.
  uint64_t Align = 256;
  std::string Digest;   ///< Before; empty where it was not read.
  std::string After;    ///< After; empty where it was not read.
  uint64_t Changed = 0; ///< Bytes that are known to differ.
  bool HasAfter = true; ///< The contents after it are kept, not their digest
                        ///< alone.
  /// What makes numbers like those before, where they are large and described;
  /// then their bytes may be missing.
  std::string Generator = {};
  bool isDescribed() const { return !Generator.empty(); }
};

/// An aligned word of a parameter that lies in a live allocation.
struct Pointer {
  unsigned Param = 0;
  unsigned Offset = 0; ///< Bytes in the parameter.
  unsigned Buffer = 0; ///< Index into Buffers.
  uint64_t At = 0;     ///< Bytes from the buffer's start.
};

struct Global {
  std::string Symbol;
  Content Value;
};

/// The part of a launch that its time depends on most.
struct Shape {
  std::array<uint64_t, 3> Grid{1, 1, 1}, Block{1, 1, 1}, Cluster{1, 1, 1};
  uint64_t Shared = 0; ///< Dynamic shared memory in bytes.
  bool Cooperative = false;
  bool operator==(const Shape &) const = default;
};

/// What a recorded launch gave when it was made again.
struct ReplayResult {
  enum Outcome { Same, Close, Differs, Failed } What = Same;
  std::string Details; ///< "largest relative difference 1.0e-06".
  bool repeats() const { return What == Same || What == Close; }
  /// "close: largest relative difference 1.0e-06", and back.
  std::string text() const;
  static std::optional<ReplayResult> parse(const std::string &Text);
};

/// Launches of one kernel that are alike, and one of them with its data.
struct Launch {
  std::string Kernel; ///< Mangled.
  Shape Dims;
  std::vector<std::string> Args; ///< Raw bytes; words in Pointers are 0.
  std::vector<Pointer> Pointers;
  std::vector<Content> Buffers;
  std::vector<Global> Globals;
  uint64_t Count = 0;
  double Cost = 0;    ///< Of all of them, in microseconds.
  uint64_t Timed = 0; ///< How many of them Cost was measured for.
  bool Kept = false;  ///< Args and contents are there.
  unsigned Device = 0;
  uint64_t Stream = 0;
  bool InGraph = false;
  bool Inferred = false; ///< Its buffers are what replays with noise showed.
  std::string Library;   ///< That makes it: "libcublas.so.13"; "" for others.
  std::string Module;    ///< Digest of the GPU binary that holds the kernel.
  uint64_t ModuleSize = 0;
  std::vector<std::string> Obstacles; ///< Why it cannot be replayed.
  std::vector<std::string> Remarks;   ///< What to know when replaying it.
  std::optional<ReplayResult> Replay; ///< Nothing: not tried.
};

struct DeviceFacts {
  std::string Name;
  std::string Arch;     ///< "sm_90".
  double Bandwidth = 0; ///< Of its memory at most, in bytes per second.
  bool operator==(const DeviceFacts &) const = default;
};

/// Everything that one run of a program left.
struct Record {
  bool Measured = true;             ///< What Cost is; else it is modelled.
  std::vector<DeviceFacts> Devices; ///< By the number in Launch::Device.
  std::vector<Launch> Launches;
  std::vector<std::string> Notes;    ///< What is incomplete, and why.
  std::vector<std::string> Failures; ///< Outside resources that failed.
  uint64_t Processes = 0;            ///< That used a device.

  /// The word for what Cost is, as the file has it.
  const char *basis() const { return Measured ? "measured" : "modelled"; }
};

nlohmann::json toJson(const Launch &L);
/// Throws nothing: a wrong shape of \p J is a failure that names the field.
std::optional<Failure> fromJson(const nlohmann::json &J, Launch &L);

/// launches.json as text.
std::string print(const Record &R);

/// Reads what \p Folder holds: launches.json, or else the journals of the
/// recorded processes.
std::optional<Failure> readRecord(const std::string &Folder, Record &R);
/// Reads the journals alone and adds what they hold to \p R.
std::optional<Failure> readJournals(const std::string &Folder, Record &R);
/// Writes launches.json into \p Folder and removes the journals.
std::optional<Failure> writeRecord(const std::string &Folder, const Record &R);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_RECORD_H
