//===- RecordedWorkloads.cpp - Workloads of a recording -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/RecordedWorkloads.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace llvm;

namespace cupilot {

Error asError(const Failure &F) {
  const int Status = exitStatusOf(F.kind());
  return Status == 1   ? findingError(F.what(), F.hint())
         : Status == 3 ? resourceError(F.what(), F.hint())
                       : usageError(F.what(), F.hint());
}

static bool repeated(const capture::Launch &L) {
  return L.Replay && L.Replay->repeats();
}

/// Why a kept launch is of no use as a workload, if it is none.
static std::optional<std::string> obstacle(const capture::Launch &L) {
  // What a replay on the device has shown is stronger than a suspicion.
  if (repeated(L))
    return std::nullopt;
  if (L.Replay)
    return "a replay " + L.Replay->text();
  if (L.Obstacles.empty())
    return std::nullopt;
  return L.Obstacles.front();
}

/// Puts one content into \p DataFolder, where other tools expect it as it is.
static Error putContent(const capture::Content &C, StringRef From,
                        StringRef DataFolder) {
  std::string Path = (DataFolder + "/" + dataFileName(C.Digest)).str();
  std::string Bytes;
  if (auto F = capture::readContent(From.str(), C.Digest, C.Size, Bytes))
    return asError(*F);
  if (!sys::fs::exists(Path) || !sys::fs::equivalent(From, DataFolder))
    if (Error E = writeFileAtomic(Path, Bytes))
      return E;
  return Error::success();
}

/// Whether the bytes of \p C are part of the workload.
static bool hasBytes(const capture::Content &C, StringRef From,
                     bool WithDescribed) {
  return !C.isDescribed() ||
         (WithDescribed && capture::hasContent(From.str(), C.Digest));
}

static Workload toWorkload(const capture::Launch &L, StringRef DataName,
                           function_ref<bool(const capture::Content &)> Has) {
  Workload W;
  W.Symbol = L.Kernel;
  W.Shape.Grid = L.Dims.Grid;
  W.Shape.Block = L.Dims.Block;
  W.Shape.Shared = L.Dims.Shared;
  W.Shape.Cluster = L.Dims.Cluster;
  W.Shape.Cooperative = L.Dims.Cooperative;
  for (const std::string &Arg : L.Args)
    W.Args.emplace_back(Arg.begin(), Arg.end());
  for (const capture::Pointer &P : L.Pointers)
    W.Pointers.push_back({P.Param, P.Offset, P.Buffer, P.At});
  auto Content = [&](const capture::Content &C) {
    WorkloadBuffer B{C.Size, std::max<uint64_t>(C.Align, 16), "", "",
                     C.Generator};
    if (Has(C)) {
      B.Digest = C.Digest;
      B.File = (DataName + "/" + dataFileName(C.Digest)).str();
    }
    return B;
  };
  // Other contents become other results.
  bool Known = false, Same = all_of(L.Buffers, Has);
  for (const capture::Content &B : L.Buffers) {
    W.Buffers.push_back(Content(B));
    W.After.push_back(B.After);
    Known |= !B.After.empty();
  }
  if (!Known || !Same)
    W.After.clear();
  for (const capture::Global &G : L.Globals)
    W.Globals.push_back({G.Symbol, Content(G.Value)});
  W.Count = L.Count;
  return W;
}

Expected<std::vector<Workload>>
recordedWorkloads(const capture::Record &R, StringRef From,
                  StringRef DataFolder, bool WithDescribed,
                  std::vector<std::string> &LeftOut) {
  // The time of launches that are not used goes to those of the same kernel
  // that are.
  double Total = 0;
  using Key = std::pair<std::string, std::string>;
  std::map<Key, double> KernelTime, UsedTime;
  std::map<Key, size_t> Used;
  std::vector<const capture::Launch *> Use;
  for (const capture::Launch &L : R.Launches) {
    Total += L.Cost;
    KernelTime[capture::kernelKey(R, L)] += L.Cost;
    if (!L.Kept)
      continue;
    if (std::optional<std::string> Why = obstacle(L)) {
      LeftOut.push_back("a launch of " + demangle(withoutUnitName(L.Kernel)) +
                        ": " + *Why);
      continue;
    }
    Use.push_back(&L);
    UsedTime[capture::kernelKey(R, L)] += L.Cost;
    ++Used[capture::kernelKey(R, L)];
  }
  std::vector<Workload> Workloads;
  auto Has = [&](const capture::Content &C) {
    return hasBytes(C, From, WithDescribed);
  };
  for (const capture::Launch *L : Use) {
    for (const capture::Content &B : L->Buffers)
      if (Error E = Has(B) ? putContent(B, From, DataFolder) : Error::success())
        return E;
    for (const capture::Global &G : L->Globals)
      if (Error E = putContent(G.Value, From, DataFolder))
        return E;
    Workload W = toWorkload(*L, sys::path::filename(DataFolder), Has);
    const Key Of = capture::kernelKey(R, *L);
    double Share = UsedTime[Of] > 0 ? L->Cost / UsedTime[Of]
                                    : 1.0 / static_cast<double>(Used[Of]);
    W.Weight = Total > 0 ? std::min(1.0, Share * KernelTime[Of] / Total) : 0;
    W.WeightBasis = R.Measured ? Basis::Measured : Basis::Modelled;
    W.Name = "w" + std::to_string(Workloads.size());
    Workloads.push_back(std::move(W));
  }
  return Workloads;
}

} // namespace cupilot
