//===- GpuDescription.h - The GPUs that are described -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_GPUDESCRIPTION_H
#define CUPILOT_MODEL_GPUDESCRIPTION_H

#include "cupilot/Portable/GpuDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// The description of \p Name: a known GPU, as --gpu or the driver names it
/// ("H200", "NVIDIA GeForce RTX 4090"), or the path of a file that describes
/// one, which ends in ".json". A usage error lists the known ones, or says what
/// is wrong with the file.
llvm::Expected<GpuDescription> describeGpu(llvm::StringRef Name);

/// The GPU of those who name none, and the one that the cpu device describes to
/// programs: the H200.
const GpuDescription &defaultGpu();

/// A known GPU of the compute capability of \p Arch ("sm_90a"): what bounds a
/// launch is the same for all of them, but for the multiprocessors. The default
/// one, where there is none.
const GpuDescription &gpuOfArch(llvm::StringRef Arch);

/// The architecture that code for \p Gpu is compiled for with \p Flags:
/// "sm_90a" where they name that one. Flags that name only others mean the
/// newest of those that are older, if \p Loaded: the driver makes code for the
/// GPU of PTX. Otherwise they are a usage error.
llvm::Expected<std::string> architectureOn(const GpuDescription &Gpu,
                                           llvm::ArrayRef<std::string> Flags,
                                           bool Loaded = false);

} // namespace cupilot

#endif // CUPILOT_MODEL_GPUDESCRIPTION_H
