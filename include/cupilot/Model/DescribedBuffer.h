//===- DescribedBuffer.h - Contents that are described -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_DESCRIBEDBUFFER_H
#define CUPILOT_MODEL_DESCRIBEDBUFFER_H

#include "cupilot/Model/Workload.h"

namespace cupilot {

/// Of a recorded content that is described, too, leaves what the gate makes:
/// the file is for GPUs of who recorded it. Others stay as they are.
inline void leaveDescription(WorkloadBuffer &B) {
  if (B.File.empty() || B.Generator.empty())
    return;
  B.File.clear();
  B.Digest.clear();
}

} // namespace cupilot

#endif // CUPILOT_MODEL_DESCRIBEDBUFFER_H
