//===- CpuProgram.h - Programs of nvcc on the cpu device --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_CPUPROGRAM_H
#define CUPILOT_DRIVER_CPUPROGRAM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// Whether the driver of this machine finds a GPU.
bool hasGpu();

/// The folder with the cpu device's libcudart and libcuda, which is put on the
/// loader's path of a program; "" where this cuPilot was built without them.
std::string cudaLibraryFolder();

/// The libraries of CUDA that an executable names (DT_NEEDED), its run time
/// left out; none for what is no executable, a script for instance.
std::vector<std::string> cudaLibrariesOf(llvm::StringRef Program);

/// What is put on the loader's path of \p Program: cudaLibraryFolder() where
/// this machine has no GPU, else "". An error of checkRuntimeOf.
llvm::Expected<std::string> cudaFolderFor(llvm::StringRef Program);

/// An error where a program that ended with status 127 on the cpu device needs
/// libraries whose code is for GPUs alone; it says what to do by \p WayOut.
llvm::Error checkLibrariesOf(llvm::StringRef Program, llvm::StringRef WayOut);

/// An error where \p Program is linked with a run time of a version that this
/// cuPilot was not built for: a resource error that says what to do.
llvm::Error checkRuntimeOf(llvm::StringRef Program);

} // namespace cupilot

#endif // CUPILOT_DRIVER_CPUPROGRAM_H
