//===- DeviceModule.h - One kernel of a unit's device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_DEVICEMODULE_H
#define CUPILOT_EVALUATION_DEVICEMODULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// \p Bitcode with the kernel \p Symbol and what it uses alone, so that a unit
/// of many kernels costs the gate no more than a small one. A module without
/// that kernel is a usage error.
llvm::Expected<std::string> onlyKernel(llvm::StringRef Bitcode,
                                       llvm::StringRef Symbol);

/// The same with all of \p Symbols.
llvm::Expected<std::string> onlyKernels(llvm::StringRef Bitcode,
                                        llvm::ArrayRef<std::string> Symbols);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_DEVICEMODULE_H
