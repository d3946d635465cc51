//===- RecordedRanges.h - Magnitudes in recorded launches -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_RECORDEDRANGES_H
#define CUPILOT_DRIVER_RECORDEDRANGES_H

#include "cupilot/Evaluation/Magnitudes.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

/// The floats that a pointer parameter of a recorded launch reaches, before the
/// launch.
struct RecordedBuffer {
  std::string Workload, Symbol;
  unsigned Param = 0;
  bool ReadOnly = false; ///< The pointer is one to const.
  Magnitudes Held;
};

/// Reads the data of \p All, which lies in \p Folder. Types are those of the
/// mangled names: a kernel without one, and what is no pointer to floats, tell
/// nothing.
llvm::Expected<std::vector<RecordedBuffer>>
recordedBuffers(llvm::ArrayRef<Workload> All, llvm::StringRef Folder);

/// "add(float*, float const*, int): parameter 1: magnitudes 0.001 to 3.2", for
/// each parameter, over all launches.
std::vector<std::string>
describeMagnitudes(llvm::ArrayRef<RecordedBuffer> Buffers);

/// A contract, and what it is about.
struct RangePromise {
  std::string Symbol;                  ///< Of one kernel; "" for all.
  std::vector<std::string> ParamNames; ///< Of that kernel.
  PrecisionContract Contract;
};

/// The promises in \p Text: a contract, or the folder of a store, for the
/// contracts of its kernels. A usage error where neither has a range, or one
/// names a parameter of kernels whose names are not known.
llvm::Expected<std::vector<RangePromise>> readPromises(llvm::StringRef Text);

/// What of \p Buffers breaks a promise: "w0: add(...), parameter 1: the largest
/// magnitude is 3e+05, not in 0.001 to 10000". A range without a name is about
/// what kernels only read: others may hold results from before.
std::vector<std::string> findBroken(llvm::ArrayRef<RecordedBuffer> Buffers,
                                    llvm::ArrayRef<RangePromise> Promises);

} // namespace cupilot

#endif // CUPILOT_DRIVER_RECORDEDRANGES_H
