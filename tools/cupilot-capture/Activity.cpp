//===- Activity.cpp - Times of launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include <cstdlib>

namespace cupilot::capture {

static Recorder *Owner = nullptr;
static constexpr size_t BufferSize = 1 << 20;

// Never destroyed: threads of the program may still launch while it exits.
static std::mutex &FreeLock = *new std::mutex;
static std::vector<uint8_t *> &Free = *new std::vector<uint8_t *>;

static void CUPTIAPI request(uint8_t **Buffer, size_t *Size, size_t *Most) {
  std::lock_guard<std::mutex> Guard(FreeLock);
  if (Free.empty()) {
    *Buffer = static_cast<uint8_t *>(std::aligned_alloc(64, BufferSize));
  } else {
    *Buffer = Free.back();
    Free.pop_back();
  }
  *Size = *Buffer ? BufferSize : 0;
  *Most = 0;
}

static void record(const CUpti_Activity *A) {
  if (A->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
      A->kind != CUPTI_ACTIVITY_KIND_KERNEL)
    return;
  // Only fields that CUDA 12.0's records have as well.
  auto *K = reinterpret_cast<const CUpti_ActivityKernel9 *>(A);
  auto Number = [](int64_t N) { return static_cast<uint64_t>(N > 0 ? N : 1); };
  Shape Dims;
  Dims.Grid = {Number(K->gridX), Number(K->gridY), Number(K->gridZ)};
  Dims.Block = {Number(K->blockX), Number(K->blockY), Number(K->blockZ)};
  Dims.Cluster = {Number(K->clusterX), Number(K->clusterY),
                  Number(K->clusterZ)};
  Dims.Shared = static_cast<uint64_t>(std::max(K->dynamicSharedMemory, 0));
  if (K->end > K->start) // Both are 0 where the time is not known.
    Owner->finished(K->name ? K->name : "(unknown)", Dims, K->correlationId,
                    K->graphNodeId != 0, K->end - K->start);
}

static void CUPTIAPI completed(CUcontext Context, uint32_t, uint8_t *Buffer,
                               size_t, size_t Valid) {
  CUpti_Activity *A = nullptr;
  if (Valid && !Owner->disabled())
    while (Owner->Tracer.cuptiActivityGetNextRecord(Buffer, Valid, &A) ==
           CUPTI_SUCCESS)
      record(A);
  size_t Dropped = 0;
  if (Context &&
      Owner->Tracer.cuptiActivityGetNumDroppedRecords(Context, 0, &Dropped) ==
          CUPTI_SUCCESS &&
      Dropped)
    Owner->Log.note("CUPTI dropped the times of some launches: theirs are "
                    "estimated");
  std::lock_guard<std::mutex> Guard(FreeLock);
  Free.push_back(Buffer);
}

Obstacle startActivity(Recorder &R) {
  Owner = &R;
  CUptiResult Result =
      R.Tracer.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (Result == CUPTI_SUCCESS)
    Result = R.Tracer.cuptiActivityRegisterCallbacks(request, completed);
  if (Result == CUPTI_SUCCESS)
    return std::nullopt;
  return R.Tracer.errorText(Result);
}

void flushActivity(Recorder &R, bool Forced) {
  (void)R.Tracer.cuptiActivityFlushAll(Forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
                                              : 0);
}

} // namespace cupilot::capture
