//===- RandomLaunch.h - Launches at random -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_RANDOMLAUNCH_H
#define CUPILOT_LIB_MUTATION_RANDOMLAUNCH_H

#include "cupilot/Evaluation/Element.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"
#include "cupilot/Portable/Random.h"

namespace cupilot {

/// A launch with its data.
struct RandomLaunch {
  std::string Text; ///< Shape and scalars, for people.
  LaunchShape Shape;
  std::vector<std::vector<uint8_t>> Args;
  std::vector<WorkloadPointer> Pointers;
  std::vector<std::vector<uint8_t>> Buffers;
  std::vector<ElementKind> Kinds; ///< Of the buffers.
  std::vector<std::pair<std::string, std::vector<uint8_t>>> Globals;
};

/// Draws launches around given ones: buffers keep their sizes, scalars get
/// smaller, values come from several distributions, launch dimensions change.
/// Whether the kernel bears a launch is for the caller to see.
class LaunchSource {
public:
  LaunchSource(const Kernel &K, llvm::ArrayRef<Workload> Around, uint64_t Seed)
      : K(K), Around(Around), State(Seed * SplitMixStep + 1) {}
  llvm::Expected<RandomLaunch> next();

private:
  uint64_t draw() { return splitMix64(State); }
  uint64_t below(uint64_t N) { return N ? draw() % N : 0; }
  double unit() { return double(draw() >> 11) * 0x1p-53; }
  bool chance(double P) { return unit() < P; }
  void drawShape(RandomLaunch &L);
  void drawScalars(RandomLaunch &L);
  void drawFloats(ElementKind Kind, std::vector<uint8_t> &Content);
  void drawIntegers(ElementKind Kind, std::vector<uint8_t> &Content);

  const Kernel &K;
  llvm::ArrayRef<Workload> Around;
  uint64_t State;
};

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_RANDOMLAUNCH_H
