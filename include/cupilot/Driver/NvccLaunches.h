//===- NvccLaunches.h - The launches of a unit that nvcc builds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_NVCCLAUNCHES_H
#define CUPILOT_DRIVER_NVCCLAUNCHES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace cupilot {

/// Adds to \p Part, the report of a build of \p Source by nvcc with the command
/// \p Command, the launches in the source with what becomes of them, and where
/// the kernels stand. \p Object is what the build made. Of a source that clang
/// does not parse, an outcome of the unit says so.
void addNvccLaunches(llvm::json::Object &Part, llvm::StringRef Source,
                     llvm::ArrayRef<std::string> Command,
                     llvm::StringRef Object);

} // namespace cupilot

#endif // CUPILOT_DRIVER_NVCCLAUNCHES_H
