//===- GpuDescription.h - What is known of a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs are described in JSON (docs/CostModel.md): lib/Model/gpus for those that
// cuPilot knows, or a file that cupilot-runner writes for the GPU at hand. This
// is the one reader and writer, for programs with and without LLVM.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_GPUDESCRIPTION_H
#define CUPILOT_PORTABLE_GPUDESCRIPTION_H

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot {

/// Where figures come from.
struct GpuFigureSource {
  /// From NVIDIA's publications, the driver, measured, or derived from another
  /// GPU's: not known.
  enum class Basis { Published, Driver, Measured, Derived };
  Basis From = Basis::Derived;
  std::string Text; ///< The publication; what was measured how.
  bool operator==(const GpuFigureSource &) const = default;
};

/// What the cost model must know of a GPU.
struct GpuDescription {
  std::string Name;                    ///< As the driver says it.
  std::vector<std::string> OtherNames; ///< That --gpu takes too.
  std::string Arch;                    ///< "sm_90".
#define CUPILOT_GPU_FIGURE(Type, Member, Key, Most, Meaning) Type Member = 0;
#include "cupilot/Portable/GpuFigure.def"
  /// By a word of the file.
  std::map<std::string, GpuFigureSource> Sources;
  /// The word of a source for each key in GpuFigure.def.
  std::map<std::string, std::string> SourceOf;

  /// Upper and lower case, and a leading "NVIDIA ", make no difference.
  bool isNamed(std::string_view Text) const;
  /// 10 * major + minor.
  unsigned capability() const;
  /// Figures that are derived.
  unsigned derivedFigures() const;
  /// What f32 units can do by count and clock, in TFLOP/s.
  double fp32Peak() const {
    return 2 * Fp32PerCycle * Multiprocessors * ClockGHz * 1e-3;
  }
};

/// Reads a description from JSON. \p File is for messages. A figure that is
/// missing, not positive, beyond what is possible or contradicts another one is
/// a Failure (BadDescription); members that are not of a description are
/// ignored outside of "figures".
GpuDescription readGpuDescription(std::string_view Text,
                                  const std::string &File);

/// What readGpuDescription reads.
nlohmann::json toJson(const GpuDescription &G);

/// The GPUs that cuPilot knows, in the order of their names.
const std::vector<GpuDescription> &knownGpus();

/// The known GPU that has a name; null: none.
const GpuDescription *findGpu(std::string_view Name);

} // namespace cupilot

#endif // CUPILOT_PORTABLE_GPUDESCRIPTION_H
