//===- Missing.cpp - Functions of CUDA that there are not -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list has the names of all functions that the toolkit's headers declare.
// Each is defined here, and where a function of that name exists, it counts:
// these are weak. So programs start, and what they miss names itself when it is
// called. The caller removes the arguments, so their number does not matter,
// and both cudaErrorNotSupported and CUDA_ERROR_NOT_SUPPORTED are 801.
//
//===----------------------------------------------------------------------===//

enum cudaError : int;
namespace cupilot {
cudaError unsupported(const char *Function);
}

#define CUPILOT_MISSING(NAME)                                                  \
  extern "C" __attribute__((weak, visibility("default"))) int NAME() {         \
    return static_cast<int>(cupilot::unsupported(#NAME));                      \
  }
#include CUPILOT_MISSING_LIST
