//===- NvccUse.h - nvcc as the compiler of a build -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCUSE_H
#define CUPILOT_LAUNCHER_NVCCUSE_H

#include "cupilot/Launcher/NvccCommand.h"

namespace cupilot {

/// An nvcc, the flags for the unit, and those for what stands alone.
struct NvccUse {
  std::string Nvcc;
  std::vector<std::string> UnitFlags;
  NvccDeviceFlags Device;
  bool Named = false; ///< By the user, who chose all its flags.

  /// "nvcc-13.0 --use_fast_math", as records call it: the version, and the
  /// flags that change device code. Evidence is for one of these. A resource
  /// error when nvcc cannot be run.
  llvm::Expected<std::string> name() const;
  /// Whether these flags let nvcc approximate quotients, roots and functions.
  bool approximates() const;
  /// What ptxas is told, as clang's flags: "-Xcuda-ptxas", "-maxrregcount=32".
  std::vector<std::string> ptxasFlags() const;
};

/// The use that the command \p Words means, nvcc's name first; its relative
/// paths are meant from \p Folder, if that is given. A command that cannot be
/// read, or that keeps all originals, is a usage error.
llvm::Expected<NvccUse> readNvccUse(llvm::ArrayRef<std::string> Words,
                                    llvm::StringRef Folder = "");

/// The same of a command in one line; nothing for one of clang's. A program
/// that is not there is a resource error.
llvm::Expected<std::optional<NvccUse>> readCompiler(llvm::StringRef Command);

/// What \p Nvcc would be told in a build that tells clang \p Flags. Flags that
/// change device code and have no counterpart are a finding.
llvm::Expected<NvccUse> nvccUseFor(llvm::StringRef Nvcc,
                                   llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCUSE_H
