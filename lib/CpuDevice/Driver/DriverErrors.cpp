//===- DriverErrors.cpp - Errors of the driver API -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace cupilot;

CUresult cupilot::asDriver(cudaError_t Error) {
  switch (Error) {
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidDevicePointer:
  case cudaErrorInvalidMemcpyDirection:
  case cudaErrorMissingConfiguration:
    return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol:
    return CUDA_ERROR_NOT_FOUND;
  case cudaErrorInvalidDeviceFunction:
    return CUDA_ERROR_INVALID_HANDLE;
  default:
    return static_cast<CUresult>(Error);
  }
}

/// All of cuda.h's.
static constexpr struct {
  CUresult Error;
  const char *Name;
} Names[] = {
#define CUPILOT_DRIVER_ERROR(NAME) {NAME, #NAME},
#include "DriverErrors.def"
#undef CUPILOT_DRIVER_ERROR
};

CUPILOT_DRIVER cuGetErrorName(CUresult Error, const char **Text) {
  if (!Text)
    return CUDA_ERROR_INVALID_VALUE;
  *Text = nullptr;
  for (const auto &N : Names)
    if (N.Error == Error)
      *Text = N.Name;
  return *Text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUPILOT_DRIVER cuGetErrorString(CUresult Error, const char **Text) {
  const char *Name;
  if (CUresult E = cuGetErrorName(Error, &Name)) {
    if (Text)
      *Text = nullptr;
    return E;
  }
  if (!Text)
    return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<unsigned>(Error)) { // Those that the run time has not.
  case 202:
    *Text = "context already current";
    break;
  case 916:
    *Text = "the key rotation failed";
    break;
  default:
    *Text = cudaGetErrorString(static_cast<cudaError_t>(Error));
  }
  return CUDA_SUCCESS;
}
