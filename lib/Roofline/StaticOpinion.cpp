//===- StaticOpinion.cpp - A class from code alone -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/StaticFigures.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// Nanoseconds that a warp's turn takes of each side, were all its ceilings
/// reached.
static std::pair<double, double> sides(const LoopFigures &L,
                                       const Ceilings &C) {
  auto Time = [](double Work, double Rate) {
    return Rate > 0 ? Work / Rate : 0;
  };
  double Computing = std::max(
      {Time(L.Fp32, C.Fp32Gops), Time(L.Fp64, C.Fp64Gops),
       Time(L.Fp16, C.Fp16Gops), Time(L.Integer, C.IntegerGops),
       Time(L.Special, C.SpecialGops), Time(L.Tensor, C.TensorGops),
       Time(L.Instructions, C.IssueGops), Time(L.SharedBytes, C.SharedGBs)});
  return {Time(L.Bytes, C.DramGBs), Computing};
}

const LoopFigures &StaticFigures::hottest(const Ceilings &C) const {
  // Where one count of turns is not known, all count as one.
  bool Counted = llvm::all_of(
      Loops, [](const LoopFigures &L) { return L.Depth == 0 || L.Turns; });
  auto Weight = [&](const LoopFigures &L) {
    auto [Memory, Computing] = sides(L, C);
    return std::pair(L.Depth, std::max(Memory, Computing) *
                                  double(Counted ? L.Turns.value_or(1) : 1));
  };
  const LoopFigures *Most = &Loops.front();
  for (const LoopFigures &L : Loops)
    if (Weight(L) > Weight(*Most))
      Most = &L;
  return *Most;
}

Opinion opinionOfCode(const StaticFigures &F, const GpuDescription &Gpu,
                      const Ceilings &C, const LaunchShape *Shape) {
  Opinion O;
  O.Unknown = F.Unknown;
  // A kernel does what its loops do and what stands outside of them; how much
  // of each is known where the turns are.
  const LoopFigures &Hot = F.hottest(C);
  bool Counted = llvm::all_of(F.Loops, [](const LoopFigures &L) {
    return L.Depth == 0 || (L.Depth == 1 && L.Turns);
  });
  double Memory = 0, Computing = 0;
  for (const LoopFigures &L : F.Loops) {
    if (!Counted && &L != &Hot)
      continue;
    auto [M, T] = sides(L, C);
    Memory += M * double(Counted ? L.Turns.value_or(1) : 1);
    Computing += T * double(Counted ? L.Turns.value_or(1) : 1);
  }
  std::string Text;
  if (std::optional<double> Intensity = Hot.intensity())
    Text = formatv("{0:f2} operations per byte", *Intensity);
  else
    Text = "no bytes of device memory";
  O.Grounds.push_back(formatv("{0}: {1}, {2:f0} bytes and {3:f0} instructions "
                              "for each turn of a warp",
                              Hot.Where, Text, Hot.Bytes, Hot.Instructions));
  auto Latency = [&](std::string Why) {
    O.Class = Bottleneck::Latency;
    O.Grounds.push_back(std::move(Why));
  };
  uint64_t Blocks = 0, Threads = 0;
  if (Shape) {
    Blocks = Shape->Grid[0] * Shape->Grid[1] * Shape->Grid[2];
    Threads = Blocks * Shape->Block[0] * Shape->Block[1] * Shape->Block[2];
  } else {
    O.Unknown.push_back("how many threads there are");
  }
  for (const LoopFigures &L : F.Loops) {
    if (L.HotAtomics)
      return Latency(L.Where + ": atomics of all threads on one place"), O;
    if (L.DependentLoads && (!Shape || Threads < Gpu.Multiprocessors * 512ull))
      return Latency(L.Where +
                     ": each load's address follows from the one before"),
             O;
    // A barrier costs some 30 cycles, whatever stands between.
    if (L.Depth && L.Barriers && L.Instructions < 24.0 * L.Barriers &&
        L.Bytes == 0 && &L == &Hot)
      return Latency(formatv("{0}: a barrier for every {1:f0} instructions",
                             L.Where, L.Instructions / L.Barriers)),
             O;
  }
  if (Shape && (Blocks < Gpu.Multiprocessors / 2 ||
                Threads < Gpu.Multiprocessors * 64ull))
    return Latency(formatv("{0} blocks, {1} threads do not fill {2} "
                           "multiprocessors",
                           Blocks, Threads, Gpu.Multiprocessors)),
           O;
  if (Memory == 0 && Computing == 0)
    return O;
  O.Class = Memory > 1.2 * Computing   ? Bottleneck::Memory
            : Computing > 1.2 * Memory ? Bottleneck::Compute
                                       : Bottleneck::Middle;
  O.Grounds.push_back(
      formatv("at the ceilings, moving bytes takes {0:f2} times as long as "
              "computing",
              Computing > 0 ? Memory / Computing : 0.0));
  return O;
}

json::Object toJSON(const StaticFigures &F) {
  json::Array Loops;
  for (const LoopFigures &L : F.Loops) {
    json::Value Turns = nullptr, Intensity = nullptr;
    if (L.Turns)
      Turns = *L.Turns;
    if (std::optional<double> I = L.intensity())
      Intensity = *I;
    Loops.push_back(json::Object{{"where", L.Where},
                                 {"depth", L.Depth},
                                 {"turns", Turns},
                                 {"bytes", L.Bytes},
                                 {"sharedBytes", L.SharedBytes},
                                 {"fp32", L.Fp32},
                                 {"fp64", L.Fp64},
                                 {"fp16", L.Fp16},
                                 {"integer", L.Integer},
                                 {"special", L.Special},
                                 {"tensor", L.Tensor},
                                 {"instructions", L.Instructions},
                                 {"barriers", L.Barriers},
                                 {"atomics", L.Atomics},
                                 {"dependentLoads", L.DependentLoads},
                                 {"scattered", L.Scattered},
                                 {"intensity", Intensity}});
  }
  return json::Object{{"loops", std::move(Loops)},
                      {"unknown", json::Array(F.Unknown)}};
}

} // namespace cupilot
