//===- LaunchNames.h - What people call what a kernel gets -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_LAUNCHNAMES_H
#define CUPILOT_MODEL_LAUNCHNAMES_H

#include "cupilot/Model/LaunchPlan.h"

namespace cupilot {

struct Kernel;

/// A parameter of a kernel, for people.
struct ParamName {
  std::string Name;  ///< "" where the source has none.
  uint64_t Size = 0; ///< Bytes.
  bool operator==(const ParamName &) const = default;
};

/// What texts about a launch call its arguments.
struct LaunchNames {
  std::vector<ParamName> Params;
  std::vector<ScalarRef> Scalars; ///< The symbols of expressions.

  /// "n", or "p.8" for the field at byte 8; a parameter without a name, or with
  /// one that the launch has ("gx"), is "argument2".
  std::string field(unsigned Param, unsigned Offset, unsigned Bytes) const;
  std::string scalar(size_t Symbol) const;
  std::string pointer(const PointerRef &P) const;
};

LaunchNames launchNames(const Kernel &K);

} // namespace cupilot

#endif // CUPILOT_MODEL_LAUNCHNAMES_H
