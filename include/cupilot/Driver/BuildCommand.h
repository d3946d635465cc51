//===- BuildCommand.h - The command that builds a source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_BUILDCOMMAND_H
#define CUPILOT_DRIVER_BUILDCOMMAND_H

#include "cupilot/Driver/CompilerCommand.h"

namespace cupilot {

/// A compiler command of a build, as clang and nvcc would take it.
struct BuildCommand {
  /// For clang: what the command says of the source, without the compiler, the
  /// source, outputs, depfiles and plugins.
  std::vector<std::string> Flags;
  std::vector<std::string> Archs; ///< "sm_90"; at least one.
  std::optional<NvccUse> Nvcc;    ///< Who builds; nothing: clang.
  /// The same as a unit's command, for the first architecture.
  UnitCommand unit() const { return {Flags, Nvcc}; }
};

/// \p Flags, clang's or nvcc's, without the source \p Input and what is said of
/// outputs, depfiles, remarks and plugins. A missing value is a usage error.
llvm::Expected<std::vector<std::string>>
sourceFlags(llvm::ArrayRef<std::string> Flags, llvm::StringRef Input,
            bool ForNvcc);

/// Reads \p Args, "clang++ FLAGS" or "nvcc FLAGS", with or without the source
/// \p Input, and with or without launchers in front (cupilot-launch, ccache,
/// sccache). Another compiler is a usage error.
llvm::Expected<BuildCommand> readBuildCommand(llvm::ArrayRef<std::string> Args,
                                              llvm::StringRef Input);

} // namespace cupilot

#endif // CUPILOT_DRIVER_BUILDCOMMAND_H
