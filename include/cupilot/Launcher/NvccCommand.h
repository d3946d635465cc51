//===- NvccCommand.h - What an nvcc command line asks for -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCCOMMAND_H
#define CUPILOT_LAUNCHER_NVCCCOMMAND_H

#include "cupilot/Launcher/NvccOptions.h"
#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Substitute/PluginArguments.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// What a variant must be compiled with to become what the unit's own code
/// becomes.
struct NvccDeviceFlags {
  std::vector<std::string> Flags; ///< For nvcc -ptx, without architectures.
  /// Arguments for ptxas. -maxrregcount is in Flags, too.
  std::vector<std::string> Ptxas;
  /// Ptxas as one line, as it goes into identities.
  std::string context() const;
};

/// An option of the command, by whatever name it was given.
struct NvccOption {
  nvcc::ID Id;
  std::string Value; ///< "" of a flag.
};

/// An nvcc command line, as far as a launcher must understand it.
struct NvccCommand {
  /// The command as it goes to nvcc: everything but cuPilot's own arguments.
  std::vector<std::string> Args;
  PluginArguments Plugin;
  bool PluginGiven = false; ///< -fplugin=cupilot or an argument for it.
  std::vector<std::string> Inputs;
  std::vector<NvccOption> Options; ///< In order, options files included.
  std::string Output;  ///< The object; nvcc's default when -o is not given.
  std::string DepFile; ///< The depfile; "" when none is written.
  NvccDeviceFlags Device;
  /// Of relocatable device code: other units may define what kernels use, and
  /// replace what is weak (NVCC, "Using Separate Compilation in CUDA").
  bool Relocatable = false;
  /// -Rpass=, -Rpass-missed=: regular expressions; "" when not given.
  std::string Remarks, MissedRemarks;
  /// Why the command is passed on as it is, unless it makes one object from one
  /// CUDA source.
  std::optional<BuildNote> Unchanged;
  /// The reason is worth a remark: CUDA code is compiled to an object.
  bool UnchangedRemark = false;
  /// It is the same as a command for each of its sources, and one that links
  /// if it does, or makes a library: several sources, or no -c. Unchanged says
  /// so too.
  bool Splits = false, Links = false;
  /// Where inputs, and -o with its value and -lib, stand in the arguments as
  /// given.
  std::vector<size_t> InputAt, OutputAt;
  /// The variables NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS without cuPilot's
  /// own arguments, as NAME=VALUE; empty when they hold none.
  std::vector<std::string> Environment;
};

/// Reads \p Args (without the compiler's name) as nvcc does: options files, the
/// NVCC_*_FLAGS in \p Prepend and \p Append, joined and separate values.
/// Broken arguments for cuPilot, and an options file that cannot be read, are
/// usage errors.
llvm::Expected<NvccCommand> parseNvccCommand(llvm::ArrayRef<std::string> Args,
                                             llvm::StringRef Prepend,
                                             llvm::StringRef Append);

/// By its name: "/usr/local/cuda/bin/nvcc".
bool isNvcc(llvm::StringRef Program);
/// By its name: "clang++-22".
bool isClang(llvm::StringRef Program);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCCOMMAND_H
