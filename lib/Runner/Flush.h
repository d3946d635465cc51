//===- Flush.h - Emptying the L2 cache -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_FLUSH_H
#define CUPILOT_LIB_RUNNER_FLUSH_H

#include "Gpu.h"

namespace cupilot::runner {

/// The kernel that reads it.
const char *flushPtx();

/// Memory of four times the L2 that is read before a run, so that nothing of
/// the run's buffers is left in the cache, and what is there is clean: a cache
/// full of written lines would make the run pay for writing them back.
class CacheFlush {
public:
  explicit CacheFlush(const Gpu &G);
  ~CacheFlush();
  CacheFlush(const CacheFlush &) = delete;
  void enqueue() const;
  /// "read", or "write" where the driver compiles no PTX.
  const char *kind() const { return Function ? "read" : "write"; }

private:
  const Gpu &G;
  DeviceAddress Memory = 0;
  uint64_t Size = 0;
  Handle Module = nullptr, Function = nullptr;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_FLUSH_H
