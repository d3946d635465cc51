//===- Sparse.cpp - Sparse functions, which are not provided -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// They are cuSPARSE's. Each names itself and ends the program.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#define CUPILOT_SPARSE(NAME)                                                   \
  CUPILOT_MGPU void NAME() {                                                   \
    cupilot::mgpu::fail(                                                       \
        #NAME ": sparse operations are not provided",                          \
        "lower sparse tensors to loops (sparsifier without gpu libgen), or "   \
        "use upstream's libmlir_cuda_runtime.so with cuSPARSE");               \
  }
#include "Sparse.def"
