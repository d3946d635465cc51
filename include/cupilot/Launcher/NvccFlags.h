//===- NvccFlags.h - nvcc's flags, for clang -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCFLAGS_H
#define CUPILOT_LAUNCHER_NVCCFLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// A command line with nvcc's own flags taken out.
struct TranslatedFlags {
  std::vector<std::string> Args;    ///< For clang, both halves and the link.
  std::vector<std::string> Host;    ///< For the host half alone (-Xcompiler).
  std::vector<std::string> Ignored; ///< Without effect on the target.
};

/// What the flags are translated for.
enum class NvccTarget {
  CpuDevice, ///< A program for the cpu device.
  Parse      ///< Clang's view of the device code.
};

/// Translates what public makefiles pass to nvcc (NVIDIA CUDA Compiler Driver,
/// "Command Option Description"). Clang's flags stay as they are. What the cpu
/// device cannot do (relocatable device code, CUDA's libraries) is a usage
/// error for it.
llvm::Expected<TranslatedFlags>
translateNvccFlags(llvm::ArrayRef<std::string> Args, NvccTarget Target);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCFLAGS_H
