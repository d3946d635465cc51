//===- MemoryBudget.cpp - Memory that a variant may take -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time can be bought with memory, which others need. A variant may take what
// the original takes, and a little more, of the heap of device code and of
// local memory: as much as the GPU would hold for all threads at a time.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Compare.h"

using namespace llvm;

namespace cupilot {

/// Bytes beyond the original's, of the heap.
static uint64_t allowance(const GateCase &C) {
  return std::max<uint64_t>(64 * 1024, bytesOf(C.Buffers) / 8);
}

std::optional<GateFinding> compareScratch(const JudgedCase &J,
                                          const PlannedRun &Run) {
  uint64_t Mine = Run.scratchBytes(),
           Most = J.Original.Heap.AtOnce + allowance(J.Case);
  if (Mine <= Most)
    return std::nullopt;
  return makeFinding(GateReason::MemoryBudget, J.Case.Name,
                     "the plan takes " + Twine(Mine) +
                         " bytes of scratch memory; at most " + Twine(Most) +
                         " are allowed");
}

std::optional<GateFinding> compareMemory(const JudgedCase &J,
                                         const RunResult &Got) {
  const DeviceHeapUse &Mine = Got.Heap, &Own = J.Original.Heap;
  std::string Where =
      Mine.Location.empty() ? "" : " (malloc at " + Mine.Location + ")";
  if (Mine.Refused && !Own.Refused)
    return makeFinding(
        GateReason::MemoryBudget, J.Case.Name,
        "device code asks for " + Twine(Mine.RefusedBytes) +
            " bytes more than the heap of " + Twine(DeviceLimits().HeapBytes) +
            " bytes holds, " + Twine(Mine.Refused) +
            " time(s); the original asks for no more than there is" + Where);
  uint64_t Most = Own.AtOnce + allowance(J.Case);
  if (Mine.AtOnce + Got.Scratch > Most)
    return makeFinding(
        GateReason::MemoryBudget, J.Case.Name,
        "the threads that a GPU runs at a time hold up to " +
            Twine(Mine.AtOnce) + " bytes of the heap" +
            (Got.Scratch ? ", and the plan " + std::to_string(Got.Scratch) +
                               " of scratch memory"
                         : std::string()) +
            "; those of the original " + Twine(Own.AtOnce) + ", and at most " +
            Twine(Most) + " are allowed" + Where);
  return std::nullopt;
}

Expected<std::optional<GateFinding>>
compareLocalMemory(const LoadedKernel &Original, StringRef OriginalSymbol,
                   const LoadedKernel &Variant, const LaunchPlan &Plan) {
  // 2 GiB for the 270,336 threads that an H200 holds.
  constexpr uint64_t Allowed = 8 * 1024;
  Expected<uint64_t> Own = Original.Module->localBytes(OriginalSymbol);
  if (!Own)
    return Own.takeError();
  for (const Launch &L : Plan.Launches) {
    Expected<uint64_t> Mine = Variant.Module->localBytes(L.Symbol);
    if (!Mine)
      return Mine.takeError();
    if (*Mine > *Own + Allowed)
      return makeFinding(
          GateReason::MemoryBudget, "",
          "each thread of '" + L.Symbol + "' has " + Twine(*Mine) +
              " bytes of local memory, those of the original " + Twine(*Own) +
              "; at most " + Twine(Allowed) + " more are allowed");
  }
  return std::nullopt;
}

} // namespace cupilot
