//===- ProjectKernels.h - The units that define a recording's kernels -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_PROJECTKERNELS_H
#define CUPILOT_DRIVER_PROJECTKERNELS_H

#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/ProjectUnits.h"
#include "cupilot/Model/Kernel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace cupilot {

/// A kernel and its unit, as an index of ProjectKernels::units().
struct ProjectKernel {
  Kernel K;
  size_t Unit = 0;
  std::vector<size_t> Others = {}; ///< Further units that define it alike.
};

/// Finds the kernels of a recording in the units of a project, by what is
/// cheapest: by the strings of a unit's object, where that is newer than the
/// source; else by the source's text and, last, by parsing the unit.
class ProjectKernels {
public:
  /// \p Trailing is added to each unit's command.
  ProjectKernels(ProjectUnits Project, llvm::ArrayRef<std::string> Trailing);
  const std::vector<ProjectUnit> &units() const { return Project.Units; }
  /// The command of a unit that kernelOf() took something from.
  const UnitCommand &commandOf(size_t Unit) const {
    return *Known[Unit].Command;
  }

  /// Looks for the kernels that a recording calls \p Symbols.
  void locate(llvm::ArrayRef<std::string> Symbols);
  /// The units that may define \p Symbol: none, where no unit does.
  llvm::ArrayRef<size_t> unitsOf(llvm::StringRef Symbol) const;
  /// The kernel \p Symbol, from the first of its units that can be read. Units
  /// are parsed for all of \p Wanted at once. Findings: no unit defines it, its
  /// units cannot be read, or two have different kernels of this name.
  llvm::Expected<ProjectKernel> kernelOf(llvm::StringRef Symbol,
                                         llvm::ArrayRef<std::string> Wanted);

private:
  struct UnitState {
    std::optional<llvm::StringSet<>> Names; ///< Of its object.
    std::optional<UnitCommand> Command;
    std::vector<Kernel> Kernels; ///< What was extracted.
    llvm::StringSet<> Sought;    ///< By these symbols.
    std::string Failure;         ///< Why it cannot be read.
  };

  void readObjects();
  void extract(size_t Unit, llvm::ArrayRef<std::string> Symbols);
  const Kernel *find(size_t Unit, llvm::StringRef Symbol) const;

  ProjectUnits Project;
  std::vector<std::string> Trailing;
  std::vector<UnitState> Known; ///< Of each unit.
  llvm::StringMap<std::vector<size_t>> Holders;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_PROJECTKERNELS_H
