//===- PlannedRun.cpp - What a plan comes to for one launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Variant.h"
#include "cupilot/CpuDevice/TensorMap.h"
#include "cupilot/Support/Error.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// The arguments, with pointers as far apart as buffers are in a run.
static std::vector<Bytes> placed(std::vector<Bytes> Args,
                                 ArrayRef<WorkloadPointer> Pointers,
                                 uint64_t Shift) {
  for (const WorkloadPointer &P : Pointers) {
    uint64_t Target = (uint64_t(P.Buffer + 1) << 40) + Shift + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, 8);
  }
  return Args;
}

static std::vector<Bytes> placedArguments(const GateCase &C) {
  return placed(C.Args, C.Pointers, C.Shift);
}

std::vector<Bytes> placedArguments(const Workload &W) {
  return placed(W.Args, W.Pointers, 0);
}

TriedLaunch triedLaunch(const Kernel &K, const GateCase &C) {
  TriedLaunch L;
  L.Case = C.Name;
  L.Args = placedArguments(C);
  L.Misaligned = C.Shift;
  L.Crowded = C.Crowded;
  L.Roomy = C.Roomy;
  // A case has all arguments: its kernel has run with them.
  L.B = cantFail(bindLaunch(C.Shape, K.Scalars, L.Args));
  return L;
}

Expected<std::optional<PlannedRun>>
plannedRun(const Kernel &K, const LaunchPlan &Plan, const Guard &When,
           const GateCase &C, std::optional<GateFinding> &Illegal) {
  std::vector<Bytes> Args = placedArguments(C);
  Expected<Bindings> B = bindLaunch(C.Shape, K.Scalars, Args);
  if (!B)
    return B.takeError();
  if (!admits(When, *B, Args))
    return std::nullopt;
  // Where a plan cannot be carried out, the build's dispatch runs the original.
  PlannedRun Run;
  for (const Launch &L : Plan.Launches) {
    std::optional<LaunchShape> Shape = planShape(L, *B);
    if (!Shape) {
      Illegal = makeFinding(GateReason::Plan, C.Name, describeIllegal(L, *B));
      return std::nullopt;
    }
    Run.Launches.push_back({L.Symbol, *Shape});
  }
  for (const Expr &Size : Plan.Scratch) {
    std::optional<uint64_t> Bytes = scratchBytes(Size, *B);
    if (!Bytes) {
      Illegal =
          makeFinding(GateReason::Plan, C.Name, describeIllegal(Size, *B));
      return std::nullopt;
    }
    Run.Scratch.push_back(*Bytes);
  }
  for (const TensorMapPlan &Map : Plan.TensorMaps) {
    uint64_t Base = 0;
    std::memcpy(&Base, Args[Map.Base.Param].data() + Map.Base.Offset,
                sizeof(Base));
    if (!Base) // No guard could say so.
      return std::nullopt;
    std::optional<TensorMapValues> Values = tensorValues(Map, *B);
    alignas(64) TensorMap Encoded;
    if (!Values || encodeTensorMap({Map, *Values}, Base, Encoded)) {
      Illegal =
          makeFinding(GateReason::Plan, C.Name, describeIllegal(Map, *B, Base));
      return std::nullopt;
    }
    Run.TensorMaps.push_back({Map, std::move(*Values)});
  }
  return Run;
}

} // namespace cupilot
