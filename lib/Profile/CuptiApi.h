//===- CuptiApi.h - CUPTI, found at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PROFILE_CUPTIAPI_H
#define CUPILOT_LIB_PROFILE_CUPTIAPI_H

#ifdef CUPILOT_HAVE_CUPTI

#include <cstdint>
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <string>

namespace cupilot {

#define CUPILOT_CUPTI_FUNCTIONS(F)                                             \
  F(cuptiGetResultString)                                                      \
  F(cuptiDeviceGetChipName)                                                    \
  F(cuptiProfilerInitialize)                                                   \
  F(cuptiProfilerDeInitialize)                                                 \
  F(cuptiProfilerDeviceSupported)                                              \
  F(cuptiProfilerGetCounterAvailability)                                       \
  F(cuptiProfilerHostInitialize)                                               \
  F(cuptiProfilerHostDeinitialize)                                             \
  F(cuptiProfilerHostGetMetricProperties)                                      \
  F(cuptiProfilerHostGetSubMetrics)                                            \
  F(cuptiProfilerHostConfigAddMetrics)                                         \
  F(cuptiProfilerHostGetConfigImageSize)                                       \
  F(cuptiProfilerHostGetConfigImage)                                           \
  F(cuptiProfilerHostGetNumOfPasses)                                           \
  F(cuptiProfilerHostEvaluateToGpuValues)                                      \
  F(cuptiRangeProfilerEnable)                                                  \
  F(cuptiRangeProfilerDisable)                                                 \
  F(cuptiRangeProfilerSetConfig)                                               \
  F(cuptiRangeProfilerStart)                                                   \
  F(cuptiRangeProfilerStop)                                                    \
  F(cuptiRangeProfilerPushRange)                                               \
  F(cuptiRangeProfilerPopRange)                                                \
  F(cuptiRangeProfilerDecodeData)                                              \
  F(cuptiRangeProfilerGetCounterDataSize)                                      \
  F(cuptiRangeProfilerCounterDataImageInitialize)

/// A step that failed: the rest is skipped.
struct ProfilerFailure {
  std::string Reason;
};

/// The functions of CUPTI and of the driver that the profiler calls.
struct CuptiApi {
#define F(NAME) decltype(&::NAME) NAME = nullptr;
  CUPILOT_CUPTI_FUNCTIONS(F)
#undef F
  CUresult (*CtxGetCurrent)(CUcontext *) = nullptr;
  CUresult (*CtxSynchronize)() = nullptr;

  /// Loads \p Library, or where it is "" the one of CUDA 13; false: \p Reason
  /// says why there is none. Without a driver its functions stay null.
  bool load(const std::string &Library, std::string &Reason);
  /// Throws a ProfilerFailure that names \p What, unless \p Code is success.
  void check(CUptiResult Code, const char *What) const;
};

/// Parameters with their size filled in.
template <typename T> T sized(size_t Size) {
  T P = {};
  P.structSize = Size;
  return P;
}
#define CUPILOT_PARAMS(TYPE) sized<TYPE>(TYPE##_STRUCT_SIZE)

} // namespace cupilot

#endif // CUPILOT_HAVE_CUPTI
#endif // CUPILOT_LIB_PROFILE_CUPTIAPI_H
