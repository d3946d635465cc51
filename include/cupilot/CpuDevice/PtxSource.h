//===- PtxSource.h - What PTX says of its source -------------- -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_PTXSOURCE_H
#define CUPILOT_CPUDEVICE_PTXSOURCE_H

#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// One kernel of a PTX text in the form of code that clang makes: registers are
/// values with types, addresses are pointers into arguments and variables.
struct PtxSource {
  /// Of the kernel and what it calls. Where an argument is a pointer or a float
  /// the code shows it: other arguments are integers.
  std::string Bitcode;
  /// Why a run of it in float64 would be no reference, in the words of a
  /// finding ("..., at k.cu:12"); "" where it is one.
  std::string NoFloat64;
};

/// Reads the kernel \p Kernel of \p Ptx. Text that is no PTX and kernels that
/// it has not are usage errors; what the cpu device cannot run is a finding.
llvm::Expected<PtxSource> sourceOfPtx(llvm::StringRef Ptx,
                                      llvm::StringRef Kernel);

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_PTXSOURCE_H
