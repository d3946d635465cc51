//===- Batch.h - Requests to a GPU machine, as plain data -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch is a folder that holds everything a GPU machine needs to run kernels:
// docs/Runner.md is its contract. Nothing here needs LLVM or CUDA.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_BATCH_H
#define CUPILOT_RUNNER_BATCH_H

#include "cupilot/Runner/Numbers.h"
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cupilot::runner {

/// The version of the folder's format that this code writes and reads.
inline constexpr int BatchVersion = 2;

/// The bytes before a launch: a file of the batch, a generator (docs/Gate.md,
/// "Described workloads"), or, where both are empty, poison.
struct Content {
  std::string Data; ///< "b3:...", of the bytes themselves.
  std::string Generator;
  bool isPoison() const { return Data.empty() && Generator.empty(); }
};

/// What the original does with a buffer.
enum class Role { In, Out, InOut };

struct Buffer {
  uint64_t Size = 0;        ///< Bytes.
  uint64_t Alignment = 256; ///< Of its address: exactly this where below 256.
  Role Use = Role::InOut;
  Content Before;
  Elements Holds; ///< The numbers in it.
};

/// A __device__ or __constant__ variable that is set before each run.
struct Variable {
  std::string Symbol;
  Buffer Value;
};

/// What programs start from.
struct Case {
  std::string Name;
  std::vector<Buffer> Buffers;
  std::vector<Variable> Variables;
};

/// A pointer in the bytes of an argument: into a buffer of the case, or into
/// scratch memory of the program.
struct Patch {
  unsigned Arg = 0, Offset = 0; ///< Where: parameter, byte in it.
  bool Scratch = false;
  unsigned Index = 0; ///< Of the buffer or the scratch memory.
  uint64_t At = 0;    ///< Bytes into it.
};

/// A parameter that is a CUtensorMap: the arguments of cuTensorMapEncodeTiled
/// (CUDA Driver API, "Tensor Map Object Management").
struct MapArgument {
  unsigned Arg = 0;
  unsigned Buffer = 0;
  uint64_t At = 0;
  unsigned Type = 0, Swizzle = 0, Promotion = 0;
  bool FillNan = false;
  std::vector<uint64_t> Extents, Strides;
  std::vector<uint32_t> Box, Steps;
};

struct KernelLaunch {
  std::string Image; ///< Digest of a cubin or PTX of the batch.
  std::string Symbol;
  std::array<uint64_t, 3> Grid{1, 1, 1}, Block{1, 1, 1};
  std::array<uint64_t, 3> Cluster{0, 0, 0}; ///< 0: what the kernel asks for.
  uint64_t Shared = 0;
  bool Cooperative = false;
  std::vector<std::vector<uint8_t>> Args; ///< Raw bytes of each parameter.
  std::vector<Patch> Patches;
  std::vector<MapArgument> Maps;
};

/// Launches, one after the other on one stream.
struct Program {
  std::vector<uint64_t> Scratch; ///< Bytes of each buffer, aligned to 256.
  std::vector<KernelLaunch> Launches;
};

enum class RequestKind { Run, Compare, Time, Ceilings, Sanitize, Profile };

/// When the comparison of times ends.
struct TimeLimits {
  double Precision = 0.005; ///< Half the interval of the ratio, relative.
  double Margin = 0.02;     ///< Smaller differences are called equal.
  double Error = 0.01;      ///< That the interval misses the truth.
  uint64_t BudgetMs = 2000; ///< For one request.
  unsigned Sets = 3;        ///< Of buffers and values, where memory allows.
  unsigned MostRounds = 0;  ///< Of a comparison; 0: as the budget allows.
};

/// A place in a race of candidates (docs/Runner.md, "Races"): who has no time
/// of the level before, or is in its slower half, is not timed on this one.
struct RaceHeat {
  std::string Race;
  unsigned Level = 0;
  double Weight = 1; ///< Of the case's time in that of the candidate.
};

struct Request {
  std::string Id; ///< A file name: letters, digits, '.', '-', '_'.
  RequestKind Kind = RequestKind::Compare;
  std::string Group; ///< Requests of one candidate, in order.
  unsigned Case = 0; ///< Index.
  std::optional<Program> Original, Candidate;
  Tolerance Allowed;          ///< What a number may be off; nothing: no bit.
  uint64_t TimeoutMs = 10000; ///< For each run.
  uint64_t MostOutput = 64 << 20; ///< Bytes of a buffer that Run returns.
  TimeLimits Time;
  std::optional<RaceHeat> Heat;   ///< Consecutive requests make a race.
  std::vector<std::string> Tools; ///< Of compute-sanitizer; for a profile, the
                                  ///< sets of metrics. Empty: all.
};

struct Batch {
  std::string Id;
  std::string Arch;                          ///< "sm_90"; "" for any.
  std::map<std::string, std::string> Images; ///< Digest: "cubin" or "ptx".
  std::map<std::string, uint64_t> Data;      ///< Digest: bytes.
  std::vector<Case> Cases;
  std::vector<Request> Requests;
};

/// Reads DIR/batch.json and checks all that can be checked without the files it
/// names. Failures: no-batch, truncated-batch, broken-batch, newer-batch.
Batch readBatch(const std::string &Folder);
/// Writes it; the files that it names must be there. In one step.
void writeBatch(const std::string &Folder, const Batch &B);

/// A digest of all that the result of \p R depends on; results carry it.
std::string requestDigest(const Batch &B, const Request &R);

/// Consecutive requests of one candidate, or of one race; those without a group
/// alone.
std::vector<std::vector<const Request *>> groupsOf(const Batch &B);

std::string wordOf(RequestKind K);

// JSON, as in batch.json.
nlohmann::json toJson(const Case &C);
nlohmann::json toJson(const Program &P);
nlohmann::json toJson(const Request &R);
nlohmann::json toJson(const Batch &B);
Case caseFromJson(const nlohmann::json &J);
Program programFromJson(const nlohmann::json &J);
Batch batchFromJson(const nlohmann::json &J);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_BATCH_H
