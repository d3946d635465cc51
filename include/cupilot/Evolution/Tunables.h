//===- Tunables.h - Numbers that code leaves open -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile's size, a number of stages: what only a GPU can tell. Whoever writes
// a variant declares them, with their domains, as parameters of its genes;
// plan and guard may name them. A setting is put in as constants, and what
// comes of it is a candidate like any other.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_TUNABLES_H
#define CUPILOT_EVOLUTION_TUNABLES_H

#include "cupilot/Frontend/Rules.h"
#include "llvm/ADT/ArrayRef.h"

namespace cupilot {

class Random;
struct LibraryStrategy;
struct StrategyInfo;

/// A number of a variant that is open.
struct Tunable {
  std::string Name;            ///< In code, plan and guard: "TILE".
  std::string Strategy, Param; ///< Whose parameter it is.
  std::vector<int64_t> Values; ///< Its domain.
  int64_t Value = 0;           ///< What it is set to.
  bool operator==(const Tunable &) const = default;
};

/// A value for each of some tunables.
using Setting = std::vector<int64_t>;

/// Domains with a larger product are refused.
constexpr uint64_t MostSettings = 10000;

/// Code whose numbers are open.
struct TunableCode {
  std::vector<Tunable> Numbers;
  std::string Source; ///< Uses their names, and does not define them.
  /// JSON, as models answer (prompts/strategy-translator.schema.json).
  std::string Plan, Guard;
  bool operator==(const TunableCode &) const = default;
};

/// Says which of \p Numbers, parameters of \p Strategies, cannot be tuned, and
/// why: no values, values that are no 31-bit numbers, a name that \p K's plans
/// use for something else, a strategy that does not exist, a parameter that is
/// no number, too many settings. A parameter that the strategy lacks is none of
/// a genome's.
llvm::Error checkTunables(llvm::ArrayRef<Tunable> Numbers, const Kernel &K,
                          llvm::ArrayRef<LibraryStrategy> Strategies);

/// The product of the domains, as far as MostSettings + 1.
uint64_t countSettings(llvm::ArrayRef<Tunable> Numbers);
/// What they are set to.
Setting presentSetting(llvm::ArrayRef<Tunable> Numbers);
/// All other settings in the order in which to try them: first those where one
/// number moves one step, then the others by chance.
std::vector<Setting> settingsToTry(llvm::ArrayRef<Tunable> Numbers, Random &R);
/// "TILE = 32, STAGES = 3".
std::string settingText(llvm::ArrayRef<Tunable> Numbers, const Setting &To);
/// For prompts: "TILE = 32 of [16, 32, 64] (shared_memory_tiling.tile)".
std::string tunablesText(llvm::ArrayRef<Tunable> Numbers);

/// The integer parameters of \p G that have several values: what rules leave
/// open. Their names are "strategy.parameter".
std::vector<Tunable> tunablesOf(const Genome &G,
                                llvm::ArrayRef<StrategyInfo> Strategies);

/// \p G with the parameters that \p Numbers stand for set to \p To; those whose
/// domain does not have the value take the nearest of it. Of several that are
/// one parameter, the first counts.
Genome withSetting(Genome G, llvm::ArrayRef<Tunable> Numbers, const Setting &To,
                   llvm::ArrayRef<StrategyInfo> Strategies);

/// \p Code as an ordinary variant: its source with \p To as constants before
/// it, plan and guard with the numbers in the names' places. Names of kernels
/// are left for nameKernels. Findings: a plan or guard that means nothing.
llvm::Expected<Translation> codeWith(const TunableCode &Code, const Setting &To,
                                     const Kernel &K, llvm::StringRef Arch);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_TUNABLES_H
