//===- Launch.h - cupilot-launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_LAUNCH_H
#define CUPILOT_LAUNCHER_LAUNCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace cupilot {

/// Runs the compiler command \p Command (compiler first) so that the object it
/// makes holds the store's variants. Returns the exit status: the compiler's
/// own, or 2 or 3 for what is wrong with cuPilot's arguments or its store.
/// Commands that give no object to change replace this process.
int launch(llvm::ArrayRef<std::string> Command);

/// The same for a command whose compiler is nvcc itself.
int launchNvcc(llvm::ArrayRef<std::string> Command);

/// The environment variable by which a launcher in front of a cache reaches the
/// launcher behind it: cuPilot's own arguments, one a line.
inline constexpr llvm::StringLiteral PassedArguments = "CUPILOT_LAUNCH_ARGS";

/// The one by which a launcher in front of sccache names the nvcc that the
/// launcher behind it stands for.
inline constexpr llvm::StringLiteral NamedNvcc = "CUPILOT_LAUNCH_NVCC";

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_LAUNCH_H
