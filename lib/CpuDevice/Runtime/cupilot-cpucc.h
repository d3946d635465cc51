//===- cupilot-cpucc.h - What the cpu device reads of sources -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cupilot-cpucc includes this file before each CUDA source, and after
// cupilot-nvcc.h.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUCC_H
#define CUPILOT_CPUCC_H

// clang ignores the attribute of __cluster_dims__; the run time reads this one.
#ifdef __cluster_dims__
#undef __cluster_dims__
#define __cluster_dims__(...)                                                  \
  __attribute__((annotate("cupilot.cluster_dims", __VA_ARGS__)))
#endif

// The host would use its own copy: clang's own message is better.
#undef __managed__
#define __managed__ __location__(managed)

#endif // CUPILOT_CPUCC_H
