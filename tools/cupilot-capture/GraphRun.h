//===- GraphRun.h - A graph's nodes on copies of memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_GRAPHRUN_H
#define CUPILOT_TOOLS_CAPTURE_GRAPHRUN_H

#include "Recorder.h"
#include <set>

namespace cupilot::capture {

/// Runs a graph's nodes one by one, and keeps the kernels' launches that are
/// wanted. Puts back what it changed when it goes.
class Recorder::GraphRun {
public:
  GraphRun(Recorder &R, CUstream Own) : R(R), Own(Own) {}
  ~GraphRun();
  GraphRun(const GraphRun &) = delete;
  /// Whether a kernel's node has a class that is to be kept.
  bool wanted(CUgraph Graph);
  /// Runs the nodes in an order that the edges allow; says why it ended.
  Obstacle run(CUgraph Graph);
  /// The classes that nothing could be kept of, because it ended.
  const std::set<uint32_t> &missed() const { return Missed; }

private:
  bool nodesOf(CUgraph Graph, std::vector<CUgraphNode> &Nodes) const;
  Obstacle step(CUgraphNode Node);
  Obstacle kernel(CUgraphNode Node);
  Obstacle set(CUgraphNode Node);
  Obstacle copy(CUgraphNode Node);
  /// The copy of what lies at \p Address, made where there is none yet.
  Obstacle copyOf(uint64_t Address, CUdeviceptr &To);
  Obstacle copyOf(const Range &Found, CUdeviceptr &To);
  Obstacle saveVariables(const std::vector<Range> &Variables);
  Obstacle good(CUresult Result, const char *What) const {
    if (Result == CUDA_SUCCESS)
      return std::nullopt;
    return std::string(What) + ": " + R.Cuda.errorName(Result);
  }

  Recorder &R;
  CUstream Own;
  std::vector<std::pair<Range, CUdeviceptr>> Copies;
  std::vector<std::pair<Range, std::string>> Variables; ///< As they were.
  std::set<uint32_t> Missed;
  uint64_t Bytes = 0;
  bool ToHost = false; ///< A node would have written to the host.
};

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_GRAPHRUN_H
