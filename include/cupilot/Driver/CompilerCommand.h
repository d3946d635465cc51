//===- CompilerCommand.h - What follows -- on the command line -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_COMPILERCOMMAND_H
#define CUPILOT_DRIVER_COMPILERCOMMAND_H

#include "cupilot/Launcher/NvccUse.h"
#include "llvm/ADT/ArrayRef.h"

namespace cupilot {

/// How a unit is compiled.
struct UnitCommand {
  std::vector<std::string> Flags; ///< For clang, which reads it.
  std::optional<NvccUse> Nvcc;    ///< Who builds it; nothing: clang.
};

/// What compiles \p Source, as clangFlagsFor finds it.
llvm::Expected<UnitCommand> unitCommandFor(llvm::StringRef Source,
                                           llvm::ArrayRef<std::string> Trailing,
                                           llvm::StringRef BuildFolder);

struct ProjectUnit;

/// What compiles a unit of compile_commands.json, with \p Trailing added as in
/// clangFlagsFor. A command that keeps all originals is a usage error.
llvm::Expected<UnitCommand> unitCommandOf(const ProjectUnit &Unit,
                                          llvm::ArrayRef<std::string> Trailing);

/// The flags for clang with which \p Source is to be seen. \p Trailing holds
/// them, or a whole command, clang's or nvcc's, also behind launchers
/// ("ccache nvcc ..."); nvcc's are translated. With \p BuildFolder the command
/// is that of compile_commands.json there, and \p Trailing is added to it.
/// A command of another compiler, and a source that the file does not list,
/// are usage errors.
llvm::Expected<std::vector<std::string>>
clangFlagsFor(llvm::StringRef Source, llvm::ArrayRef<std::string> Trailing,
              llvm::StringRef BuildFolder);

/// \p Command from the compiler's name on: without cupilot-launch, its
/// arguments, ccache and sccache in front.
llvm::ArrayRef<std::string>
withoutLaunchers(llvm::ArrayRef<std::string> Command);

} // namespace cupilot

#endif // CUPILOT_DRIVER_COMPILERCOMMAND_H
