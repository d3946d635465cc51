//===- ObjectKernels.h - The kernels that an object registers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_OBJECTKERNELS_H
#define CUPILOT_DRIVER_OBJECTKERNELS_H

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// Names under which the object \p Path may register kernels with the CUDA run
/// time (__cudaRegisterFunction takes the device's name as a string): nvcc's
/// and clang's objects hold them among their constant strings, next to strings
/// of other use. Empty where no symbol is a kernel's stub. An object that
/// cannot be read is a finding.
llvm::Expected<llvm::StringSet<>> registeredNames(llvm::StringRef Path);

} // namespace cupilot

#endif // CUPILOT_DRIVER_OBJECTKERNELS_H
