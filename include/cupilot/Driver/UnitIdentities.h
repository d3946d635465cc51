//===- UnitIdentities.h - Build identities of a unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_UNITIDENTITIES_H
#define CUPILOT_DRIVER_UNITIDENTITIES_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include <map>

namespace cupilot {

/// The build identities of a unit's kernels by clang.
class UnitIdentities {
public:
  /// \p Unit is the whole source ("": only slices are there).
  UnitIdentities(llvm::StringRef Unit, llvm::ArrayRef<std::string> Flags)
      : Unit(Unit), Flags(Flags) {}

  /// The identity of \p K for \p Arch in the whole unit, where that is at
  /// hand; a slice with another one is a finding.
  llvm::Expected<std::string> identityOf(const Kernel &K,
                                         const std::string &Arch);

private:
  llvm::StringRef Unit;
  llvm::ArrayRef<std::string> Flags;
  /// Compiled once for each architecture: units take seconds and have many
  /// kernels.
  std::map<std::string, std::vector<KernelIdentity>> Whole;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_UNITIDENTITIES_H
