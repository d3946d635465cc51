//===- CudaLibraries.cpp - Libraries that need a GPU ------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/CudaLibraries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

bool isCudaLibrary(StringRef File) {
  static constexpr StringLiteral Names[] = {
      "cublas",   "cudnn",    "cudss", "cufft", "cufile", "curand", "cusolver",
      "cusparse", "cutensor", "nccl",  "npp",   "nvblas", "nvjpeg"};
  StringRef Name = sys::path::filename(File);
  return Name.consume_front("lib") &&
         any_of(Names, [&](StringRef Each) { return Name.starts_with(Each); });
}

} // namespace cupilot
