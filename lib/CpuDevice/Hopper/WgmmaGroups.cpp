//===- WgmmaGroups.cpp - Products that have begun -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.fence, commit_group and wait_group (PTX ISA, "Asynchronous Warpgroup
// Level Matrix Instructions"). Each is executed by a warp together.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "OpRuntime.h"
#include "Wgmma.h"

using namespace llvm;

namespace cupilot {

static ThreadProducts &productsOf(const ThreadContext &T) {
  return asyncOf(*T.Block, T.Linear).Products;
}

void beginProduct(const OpCall &Call, const Product &P) {
  for (const OpLane &Lane : Call.Lanes) {
    ThreadProducts &Mine = productsOf(*Lane.Thread);
    Mine.Open.push_back(P);
    Mine.Open.back().Number = ++Mine.Issued;
    Mine.Open.back().Group = Mine.Groups;
  }
}

void runWgmmaFence(const OpCall &Call) {
  for (const OpLane &Lane : Call.Lanes)
    productsOf(*Lane.Thread).Fenced = true;
}

void runWgmmaCommit(const OpCall &Call) {
  for (const OpLane &Lane : Call.Lanes)
    ++productsOf(*Lane.Thread).Groups;
}

/// wgmma.wait_group N: all but the newest N groups are done.
void runWgmmaWait(const OpCall &Call) {
  uint64_t Left = static_cast<uint32_t>(Call.Lanes.front().Inputs[0]);
  // Until now the warp may have read the matrices.
  ThreadContext &First = *Call.Lanes.front().Thread;
  if (First.Checks)
    for (const Product &P : productsOf(First).Open)
      if (P.Group + Left < productsOf(First).Groups)
        readOperands({Call.Block, *P.Op, {}}, First, P, /*Ends=*/true);
  for (const OpLane &Lane : Call.Lanes) {
    ThreadProducts &Mine = productsOf(*Lane.Thread);
    while (!Mine.Open.empty() && Mine.Open.front().Group + Left < Mine.Groups) {
      Mine.Done = Mine.Open.front().Number;
      Mine.Open.pop_front();
      Mine.Fenced = false;
    }
  }
}

} // namespace cupilot

using namespace cupilot;

static void leave(ThreadContext *T, FaultKind Kind, const char *Detail,
                  uint32_t Where) {
  T->Block->recordFault(*T, Kind, 0, nullptr, Detail, Where);
  T->Block->escape(*T);
}

extern "C" {

/// The number of the product that the thread has just begun.
uint64_t cupilot_rt_wgmma_number(ThreadContext *T) {
  return productsOf(*T).Issued;
}

/// An accumulator of product \p Number, or none when that is 0, is used.
void cupilot_rt_wgmma_use(ThreadContext *T, uint64_t Number, uint32_t Where) {
  if (Number > productsOf(*T).Done)
    leave(T, FaultKind::UseBeforeWgmmaWait,
          "the accumulator belongs to a wgmma that has not been waited for",
          Where);
}

/// Registers that product \p Number left, or none when that is 0, go into a
/// product.
void cupilot_rt_wgmma_operand(ThreadContext *T, uint64_t Number,
                              uint32_t Where) {
  if (Number == 0 && !productsOf(*T).Fenced)
    leave(T, FaultKind::MissingWgmmaFence,
          "registers that no wgmma has written go into one, and no "
          "wgmma.fence was executed since they could be changed",
          Where);
}

} // extern "C"
