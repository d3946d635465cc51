//===- Random.h - Numbers that look random -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_RANDOM_H
#define CUPILOT_PORTABLE_RANDOM_H

#include <cstdint>

namespace cupilot {

/// How far a state of SplitMix64 moves with each number.
inline constexpr uint64_t SplitMixStep = 0x9e3779b97f4a7c15;

/// The next 64 bits of Steele, Lea and Flood's SplitMix64 (OOPSLA 2014).
inline uint64_t splitMix64(uint64_t &State) {
  uint64_t Z = State += SplitMixStep;
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
  return Z ^ (Z >> 31);
}

} // namespace cupilot

#endif // CUPILOT_PORTABLE_RANDOM_H
