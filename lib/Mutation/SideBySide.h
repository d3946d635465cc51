//===- SideBySide.h - An original and a variant on one launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_SIDEBYSIDE_H
#define CUPILOT_LIB_MUTATION_SIDEBYSIDE_H

#include "RandomLaunch.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Mutation/Independent.h"
#include <map>

namespace cupilot {

/// What one launch shows of a variant.
struct Comparison {
  enum class Kind {
    Equal,
    Differs, ///< Other results, or a fault that the original does not have.
    Refused, ///< The original does not bear it, or its result is chance.
    NotRun ///< The guard, or a plan without a legal launch: the original runs.
  };
  Kind K = Kind::Equal;
  std::string Evidence; ///< For Differs: the launch and the difference.
  bool Idle = false;    ///< For Equal: the original wrote nothing.
};

/// Both codes, loaded once. It shares neither cases nor comparison with the
/// gate.
class SideBySide {
public:
  /// How much of a launch runs, and for how long.
  enum class Effort {
    Whole,   ///< All blocks of a launch of moderate size.
    Sampled, ///< Some of the blocks, the same of both codes, of a large one:
             ///< what the others would write is missing on both sides.
    Last     ///< The last blocks alone, likewise: those with large indices.
  };
  /// Blocks of a large launch that run.
  static constexpr unsigned Sampled = 256, LastOnes = 4;
  /// Errors: code that the cpu device refuses; a plan with tensor maps.
  static llvm::Expected<SideBySide>
  create(const Kernel &K, const GateCode &Original, const SideVariant &V,
         llvm::StringRef Arch, Effort How = Effort::Whole);
  llvm::Expected<Comparison> compare(RandomLaunch L);

  /// Code, and what its device variables begin with.
  struct Side {
    std::unique_ptr<CpuModule> Module;
    std::map<std::string, std::vector<uint8_t>> Initial;
  };

private:
  llvm::Expected<bool> fit(RandomLaunch &L, bool &Idle);

  const Kernel *K = nullptr;
  LaunchPlan Own; ///< The original's launch.
  SideVariant V;
  Side Plain, Covering, Backwards, Wide, Other;
};

/// The bindings of \p L, and its arguments with pointers as far apart as they
/// are aligned.
struct PlacedLaunch {
  Bindings B;
  std::vector<std::vector<uint8_t>> Args;
};
llvm::Expected<PlacedLaunch> placed(const Kernel &K, const RandomLaunch &L);

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_SIDEBYSIDE_H
