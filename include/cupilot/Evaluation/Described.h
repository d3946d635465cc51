//===- Described.h - Workloads in words -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workload that nobody recorded: one launch, its arguments, and how the
// content of each buffer is made.
//
//   grid=16, block=256, args=[buffer f32 n=4096 uniform seed=1,
//                             buffer f32 n=4096 output, 4096]
//
// docs/Gate.md has the whole grammar.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_DESCRIBED_H
#define CUPILOT_EVALUATION_DESCRIBED_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

/// The launch of \p K that \p Text describes, called \p Name. Text that does
/// not parse, or that does not fit the parameters, is a usage error.
llvm::Expected<Workload> parseWorkload(llvm::StringRef Text, const Kernel &K,
                                       llvm::StringRef Name);

/// The \p Size bytes that \p Generator makes: "f32 uniform seed=1 low=-1
/// high=1". The same on every machine. An unknown generator is a usage error.
llvm::Expected<std::vector<uint8_t>> generateContent(llvm::StringRef Generator,
                                                     uint64_t Size);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_DESCRIBED_H
