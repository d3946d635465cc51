//===- Variant.h - A variant of a kernel and its evidence -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_VARIANT_H
#define CUPILOT_MODEL_VARIANT_H

#include "cupilot/Model/Basis.h"
#include "cupilot/Model/CandidateOutcome.h"
#include "cupilot/Model/Domain.h"
#include "cupilot/Model/Genome.h"
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// A speed-up on floating-point inputs of another kind than those that it was
/// judged on; see #cupilot.other_values.
struct OtherValues {
  std::string Kind; ///< "heavy-tailed", "normal".
  double Ratio = 0, Low = 0, High = 0;
  bool operator==(const OtherValues &) const = default;
};

/// A measurement as plain data; see #cupilot.measurement.
struct Measurement {
  std::string Device;                     ///< "NVIDIA H200".
  cupilot::Basis Basis = Basis::Modelled; ///< Not Static.
  double Ratio = 0, Low = 0, High = 0;
  unsigned Gate = 0, Checks = 0;
  std::string Compiler, Arch, Digest; ///< Identity of the variant's own code.
  /// Digest of the build identity that it stands in for; the store adds it, and
  /// the contract.
  std::string Original = {}, Contract = {};
  /// The workloads that it was judged on, as caseName() calls them.
  std::vector<std::string> Cases = {};
  std::optional<OtherValues> Others = {};
  bool operator==(const Measurement &) const = default;
};

/// The language model that wrote a variant; see #cupilot.author. What is not
/// known is "".
struct Author {
  std::string Provider, Model, Effort;
};

/// A variant as plain data; see cupilot.variant.
struct Variant {
  std::string Name;
  std::vector<std::string> Parents;
  Genome Genes;
  std::optional<LaunchPlan> Plan;
  std::optional<Guard> When;
  /// Where it was proved; nothing for one of a store of format 6 or before.
  std::optional<Domain> Where = {};
  std::string Source; ///< File name.
  std::string Digest; ///< Of that file.
  std::optional<double> Fitness;
  std::optional<CandidateOutcome> Outcome;
  std::vector<Measurement> Evidence;
  /// Those that a model was asked with, "strategy-translator 2 b3:...".
  std::vector<std::string> Prompts = {};
  Author By = {}; ///< Who asked with them.
};

/// A build identity of a kernel.
struct BuildEntry {
  std::string Compiler, Arch, Digest;
};

} // namespace cupilot

#endif // CUPILOT_MODEL_VARIANT_H
