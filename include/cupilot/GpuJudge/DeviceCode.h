//===- DeviceCode.h - PTX from device bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_GPUJUDGE_DEVICECODE_H
#define CUPILOT_GPUJUDGE_DEVICECODE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// The PTX that LLVM makes of unoptimised device bitcode at -O3 for \p Arch
/// ("sm_90"), without debug information. In-process: no file is parsed twice.
llvm::Expected<std::string> generatePtx(llvm::StringRef Bitcode,
                                        llvm::StringRef Arch);

/// Digest of \p Ptx without comments, blank lines and directives that name
/// files: two candidates with the same one are the same device code.
std::string deviceCodeDigest(llvm::StringRef Ptx);

/// The mangled names of the kernels that \p Ptx defines.
std::vector<std::string> kernelsOf(llvm::StringRef Ptx);

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_DEVICECODE_H
