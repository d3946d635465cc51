//===- ExecutionCounts.cpp - What a launch did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/ExecutionCounts.h"
#include "cupilot/Model/KernelResources.h"
#include "llvm/ADT/STLExtras.h"

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

ExecutionCounts &ExecutionCounts::operator+=(const ExecutionCounts &O) {
  for (const NamedCount &N : Counts)
    this->*N.Field += O.*N.Field;
  return *this;
}

void ExecutionCounts::scale(uint64_t Numerator, uint64_t Denominator) {
  for (const NamedCount &N : Counts)
    this->*N.Field =
        static_cast<uint64_t>(double(this->*N.Field) * Numerator / Denominator);
}

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
    P.field(Name).report("expected a count");
    return false;
  }
  To = *Count;
  return true;
}

bool fromJSON(const json::Value &V, ExecutionCounts &C, json::Path P) {
  const json::Object *O = V.getAsObject();
  if (!O) {
    P.report("expected counts");
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
    P.report("expected resources");
    return false;
  }
  R.Registers = static_cast<unsigned>(Registers);
  return llvm::all_of(Resources, [&](const NamedResource &N) {
    return readCount(*O, N.Name, R.*N.Field, P);
  });
}

} // namespace cupilot
