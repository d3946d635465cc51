//===- NvccOptions.h - nvcc's options -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_NVCCOPTIONS_H
#define CUPILOT_LAUNCHER_NVCCOPTIONS_H

#include "llvm/Option/OptTable.h"

namespace cupilot {

/// The options of NvccOptions.td, by their long names.
namespace nvcc {
enum ID : unsigned {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "cupilot/Launcher/NvccOptions.inc"
#undef OPTION
};

enum Flag : unsigned {
  Ignored = 1 << 4, ///< Without effect on the cpu device, which is said.
  Silent = 1 << 5   ///< Clang does it anyway.
};
} // namespace nvcc

const llvm::opt::OptTable &nvccOptions();

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_NVCCOPTIONS_H
