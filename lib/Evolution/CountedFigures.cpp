//===- CountedFigures.cpp - What counts tell agents -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountedFigures.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cupilot {

const std::vector<CountedFigure> &countedFigures() {
  using enum Bottleneck;
  using C = const ExecutionCounts &;
  static const std::vector<CountedFigure> All = {
      {"bytes_read",
       "bytes of device memory",
       32,
       {Memory, Middle, Latency},
       [](C K) { return K.ReadSectors; }},
      {"bytes_written",
       "bytes of device memory",
       32,
       {Memory, Middle},
       [](C K) { return K.WrittenSectors; }},
      {"load_sectors",
       "sectors of 32 bytes asked for by loads",
       1,
       {Memory, Middle},
       [](C K) { return K.GlobalLoadSectors; }},
      {"store_sectors",
       "sectors of 32 bytes written by stores",
       1,
       {Memory},
       [](C K) { return K.GlobalStoreSectors; }},
      {"global_loads",
       "loads of warps",
       1,
       {Memory, Latency, Middle},
       [](C K) { return K.GlobalLoads; }},
      {"global_stores",
       "stores of warps",
       1,
       {Memory},
       [](C K) { return K.GlobalStores; }},
      {"shared_wavefronts",
       "shared memory accesses with bank conflicts",
       1,
       {Compute, Middle, Latency},
       [](C K) { return K.SharedWavefronts; }},
      {"shared_accesses",
       "shared memory accesses of warps",
       1,
       {Compute, Middle, Latency},
       [](C K) { return K.SharedAccesses; }},
      {"local_accesses",
       "accesses to local memory (spills, arrays)",
       1,
       {Compute, Middle, Latency},
       [](C K) { return K.LocalAccesses; }},
      {"fp32",
       "fp32 instructions of threads",
       1,
       {Compute, Middle},
       [](C K) { return K.Fp32; }},
      {"fp64",
       "fp64 instructions of threads",
       1,
       {Compute, Middle},
       [](C K) { return K.Fp64; }},
      {"fp16",
       "fp16 instructions of threads",
       1,
       {Compute, Middle},
       [](C K) { return K.Fp16; }},
      {"tensor",
       "operations of matrix instructions",
       1,
       {Compute, Middle},
       [](C K) { return K.Tensor; }},
      {"integer",
       "integer instructions of threads",
       1,
       {Compute},
       [](C K) { return K.Integer; }},
      {"special",
       "instructions of the special units",
       1,
       {Compute},
       [](C K) { return K.Special; }},
      {"warp_instructions",
       "instructions of warps",
       1,
       {Compute, Latency},
       [](C K) { return K.WarpInstructions; }},
      {"warps", "warps", 1, {Latency}, [](C K) { return K.Warps; }},
      {"barriers",
       "barriers of warps",
       1,
       {Latency},
       [](C K) { return K.Barriers; }},
      {"atomics",
       "atomics of threads",
       1,
       {Latency, Memory},
       [](C K) { return K.AtomicOps; }},
      {"hot_atomics",
       "atomics on the most wanted sector",
       1,
       {Latency},
       [](C K) { return K.HotAtomics; }},
      {"dependent_loads",
       "loads whose address follows from the one before",
       1,
       {Latency},
       [](C K) { return K.DependentLoads; }}};
  return All;
}

bool matters(const CountedFigure &F, std::optional<Bottleneck> Class) {
  return is_contained(F.Matters, Class.value_or(Bottleneck::Middle));
}

} // namespace cupilot
