//===- DeviceCode.h - What PTX says of itself -*- C++ -*-===//
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

/// Digest of \p Ptx without comments, blank lines and directives that name
/// files: two candidates with the same one are the same device code.
std::string deviceCodeDigest(llvm::StringRef Ptx);

/// The mangled names of the kernels that \p Ptx defines. Text that is no PTX is
/// a usage error.
llvm::Expected<std::vector<std::string>> kernelsOf(llvm::StringRef Ptx);

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_DEVICECODE_H
