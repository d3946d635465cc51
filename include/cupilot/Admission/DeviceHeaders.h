//===- DeviceHeaders.h - Headers for device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ADMISSION_DEVICEHEADERS_H
#define CUPILOT_ADMISSION_DEVICEHEADERS_H

#include "llvm/ADT/StringRef.h"

namespace cupilot {

/// Headers that device code may need; none of them defines host behaviour:
/// of the C++ library those of constexpr functions and templates alone, which
/// put no object of static storage into a unit.
inline bool isDeviceHeader(llvm::StringRef Name) {
  static const char *const Exact[] = {"cmath",
                                      "math.h",
                                      "cstdint",
                                      "stdint.h",
                                      "cfloat",
                                      "float.h",
                                      "climits",
                                      "limits.h",
                                      "cstddef",
                                      "stddef.h",
                                      "cassert",
                                      "assert.h",
                                      "cstdio",
                                      "stdio.h",
                                      "type_traits",
                                      "utility",
                                      "limits",
                                      "algorithm",
                                      "array",
                                      "bit",
                                      "complex",
                                      "functional",
                                      "initializer_list",
                                      "iterator",
                                      "numeric",
                                      "tuple",
                                      "mma.h",
                                      "cuda.h",
                                      "cuda_runtime.h",
                                      "cuda_runtime_api.h",
                                      "device_launch_parameters.h",
                                      "cooperative_groups.h",
                                      "vector_types.h",
                                      "vector_functions.h",
                                      "math_constants.h",
                                      "math_functions.h",
                                      "device_functions.h",
                                      "device_atomic_functions.h",
                                      "cuComplex.h"};
  for (llvm::StringRef Each : Exact)
    if (Name == Each)
      return true;
  for (llvm::StringRef Prefix :
       {"cuda_fp", "cuda_bf16", "cuda_pipeline", "cuda_awbarrier",
        "cooperative_groups/", "cuda/", "cub/", "curand_", "thrust/"})
    if (Name.starts_with(Prefix))
      return !Name.contains("..");
  return false;
}

} // namespace cupilot

#endif // CUPILOT_ADMISSION_DEVICEHEADERS_H
