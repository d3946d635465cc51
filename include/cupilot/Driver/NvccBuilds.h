//===- NvccBuilds.h - What builds by nvcc need of a search -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_NVCCBUILDS_H
#define CUPILOT_DRIVER_NVCCBUILDS_H

#include "cupilot/Store/ProjectStore.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Adds to \p S what builds by nvcc look up for \p Arch: the identity of the
/// kernel, and of each variant, in nvcc's PTX. \p Unit is the whole source ("":
/// only the slice is there), \p Flags are clang's. \p Compilers are the
/// commands that the user named; without any, the toolkit's nvcc is taken if
/// there is one. What nvcc cannot compile is left out with a message to \p Log;
/// only a compiler that was named and cannot be run is an error.
llvm::Error recordNvcc(StoredKernel &S, llvm::StringRef Unit,
                       const std::string &Arch,
                       llvm::ArrayRef<std::string> Flags,
                       llvm::ArrayRef<std::string> Compilers,
                       llvm::raw_ostream &Log);

/// The identity of \p K in \p Unit by the nvcc command \p Compiler, which must
/// compute as clang does with \p Flags. Findings say why there is none.
llvm::Expected<std::string> nvccIdentity(const Kernel &K, llvm::StringRef Unit,
                                         const std::string &Arch,
                                         llvm::ArrayRef<std::string> Flags,
                                         const std::string &Compiler);

} // namespace cupilot

#endif // CUPILOT_DRIVER_NVCCBUILDS_H
