//===- BareCommand.h - Commands that name no compiler -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LAUNCHER_BARECOMMAND_H
#define CUPILOT_LIB_LAUNCHER_BARECOMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace cupilot {

/// Whether \p Arg is -fplugin of cuPilot's plugin.
bool isPlugin(llvm::StringRef Arg);

/// Those of nvcc's \p Args that are for cuPilot. They may stand before the
/// compiler too.
std::vector<std::string> ownArguments(llvm::ArrayRef<std::string> Args);

/// Takes cuPilot's own arguments from the front of \p Command, where they stand
/// before a compiler.
std::vector<std::string> takeOwnArguments(llvm::ArrayRef<std::string> &Command);

/// True for arguments alone, where one name of a program is all that can be
/// said (PYTORCH_NVCC). cuPilot's own arguments are no part of \p Command.
bool namesNoCompiler(llvm::ArrayRef<std::string> Command);

/// The nvcc of such commands, as PyTorch chooses it: that of CUDA_HOME or
/// CUDA_PATH, the one in PATH, that of /usr/local/cuda. "nvcc" if there is
/// none.
std::string defaultNvcc();

} // namespace cupilot

#endif // CUPILOT_LIB_LAUNCHER_BARECOMMAND_H
