//===- CountsJson.cpp - Counts and resources as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/CountsJson.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

namespace {
struct NamedCount {
  const char *Name;
  uint64_t ExecutionCounts::*Field;
};
struct NamedResource {
  const char *Name;
  uint64_t KernelResources::*Field;
};
} // namespace

static constexpr NamedCount Counts[] = {
    {"warps", &ExecutionCounts::Warps},
    {"threads", &ExecutionCounts::Threads},
    {"globalLoads", &ExecutionCounts::GlobalLoads},
    {"globalStores", &ExecutionCounts::GlobalStores},
    {"globalLoadSectors", &ExecutionCounts::GlobalLoadSectors},
    {"globalStoreSectors", &ExecutionCounts::GlobalStoreSectors},
    {"uniqueSectors", &ExecutionCounts::UniqueSectors},
    {"readSectors", &ExecutionCounts::ReadSectors},
    {"writtenSectors", &ExecutionCounts::WrittenSectors},
    {"sharedAccesses", &ExecutionCounts::SharedAccesses},
    {"sharedWavefronts", &ExecutionCounts::SharedWavefronts},
    {"localAccesses", &ExecutionCounts::LocalAccesses},
    {"atomicOps", &ExecutionCounts::AtomicOps},
    {"hotAtomics", &ExecutionCounts::HotAtomics},
    {"barriers", &ExecutionCounts::Barriers},
    {"fp32", &ExecutionCounts::Fp32},
    {"fp64", &ExecutionCounts::Fp64},
    {"fp16", &ExecutionCounts::Fp16},
    {"integer", &ExecutionCounts::Integer},
    {"special", &ExecutionCounts::Special},
    {"control", &ExecutionCounts::Control},
    {"conversion", &ExecutionCounts::Conversion},
    {"shuffle", &ExecutionCounts::Shuffle},
    {"tensor", &ExecutionCounts::Tensor},
    {"dependentLoads", &ExecutionCounts::DependentLoads},
    {"warpInstructions", &ExecutionCounts::WarpInstructions},
    {"chainCycles", &ExecutionCounts::ChainCycles},
    {"waits", &ExecutionCounts::Waits}};

static constexpr NamedResource Resources[] = {
    {"staticShared", &KernelResources::StaticShared},
    {"stackBytes", &KernelResources::StackBytes},
    {"spillBytes", &KernelResources::SpillBytes}};

json::Object toJSON(const ExecutionCounts &C) {
  json::Object O;
  for (const NamedCount &N : Counts)
    O[N.Name] = C.*N.Field;
  return O;
}

/// Reads the number \p Name of \p O, which may be missing.
static bool readCount(const json::Object &O, StringRef Name, uint64_t &To,
                      json::Path P) {
  const json::Value *Value = O.get(Name);
  if (!Value)
    return true;
  std::optional<uint64_t> Count = Value->getAsUINT64();
  if (!Count) {
    P.field(Name).report("a count expected");
    return false;
  }
  To = *Count;
  return true;
}

bool fromJSON(const json::Value &V, ExecutionCounts &C, json::Path P) {
  const json::Object *O = V.getAsObject();
  if (!O) {
    P.report("counts expected");
    return false;
  }
  return llvm::all_of(Counts, [&](const NamedCount &N) {
    return readCount(*O, N.Name, C.*N.Field, P);
  });
}

json::Object toJSON(const KernelResources &R) {
  json::Object O{{"registers", R.Registers}};
  for (const NamedResource &N : Resources)
    O[N.Name] = R.*N.Field;
  return O;
}

bool fromJSON(const json::Value &V, KernelResources &R, json::Path P) {
  const json::Object *O = V.getAsObject();
  uint64_t Registers = 0;
  if (!O || !readCount(*O, "registers", Registers, P)) {
    P.report("resources expected");
    return false;
  }
  R.Registers = static_cast<unsigned>(Registers);
  return llvm::all_of(Resources, [&](const NamedResource &N) {
    return readCount(*O, N.Name, R.*N.Field, P);
  });
}

json::Object toJSON(const LaunchShape &S) {
  return json::Object{
      {"grid", json::Array{S.Grid[0], S.Grid[1], S.Grid[2]}},
      {"block", json::Array{S.Block[0], S.Block[1], S.Block[2]}},
      {"shared", S.Shared}};
}

bool fromJSON(const json::Value &V, LaunchShape &S, json::Path P) {
  json::ObjectMapper Map(V, P);
  std::vector<uint64_t> Grid, Block;
  if (!Map || !Map.map("grid", Grid) || !Map.map("block", Block) ||
      !Map.mapOptional("shared", S.Shared))
    return false;
  if (Grid.size() != 3 || Block.size() != 3) {
    P.report("three dimensions expected");
    return false;
  }
  llvm::copy(Grid, S.Grid.begin());
  llvm::copy(Block, S.Block.begin());
  return true;
}

json::Object toJSON(const ModelledTime &T) {
  json::Value Time = nullptr;
  if (std::isfinite(T.Microseconds))
    Time = T.Microseconds;
  return json::Object{{"microseconds", Time},
                      {"dram", T.Dram},
                      {"l2", T.L2},
                      {"shared", T.Shared},
                      {"issue", T.Issue},
                      {"arithmetic", T.Fp},
                      {"latency", T.Latency},
                      {"launch", T.Launch},
                      {"occupancy", T.Occupancy},
                      {"intensity", T.Intensity},
                      {"class", toString(T.Class)}};
}

} // namespace cupilot
