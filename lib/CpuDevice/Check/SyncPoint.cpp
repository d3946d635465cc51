//===- SyncPoint.cpp - What threads tell each other through memory -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncPoint.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cupilot {

void Knowledge::learn(SyncView View) {
  for (SyncView &Own : Views)
    if (Own.Point == View.Point) {
      Own.Length = std::max(Own.Length, View.Length);
      return;
    }
  Views.push_back(View);
}

void Knowledge::learn(const Knowledge &Other) {
  for (SyncView View : Other.Views)
    learn(View);
}

static uint64_t keyOf(uint64_t Block, uint32_t Thread) {
  return Block << 11 | Thread;
}

void SyncPoint::tell(uint64_t Block, uint32_t Thread, uint64_t Clock,
                     bool Device) {
  auto &List = Single[keyOf(Block, Thread)];
  // Clocks rise, so what is new is newer than the last two.
  for (size_t I = List.size(); I > 0 && I + 2 > List.size(); --I)
    if (List[I - 1].Clock >= Clock && List[I - 1].Device >= Device)
      return;
  List.push_back({Length++, Device, Clock});
}

void SyncPoint::tell(uint64_t Block, ThreadClocks Clocks, bool Device) {
  auto &List = Many[Block];
  for (const ManyEntry &E : List)
    if (E.Clocks == Clocks && E.Device >= Device)
      return;
  List.push_back({Length++, Device, std::move(Clocks)});
}

void SyncPoint::tell(const Knowledge &Known) {
  for (SyncView View : Known.views()) {
    if (View.Point == this)
      continue;
    auto &List = Views[View.Point];
    if (List.empty() || List.back().Length < View.Length)
      List.push_back({Length++, View.Length});
  }
}

bool SyncPoint::told(uint32_t Limit, uint64_t Reader, uint64_t Block,
                     uint32_t Thread, uint64_t Clock) const {
  bool Near = Reader == Block;
  for (uint32_t Which : {Thread, AllThreads})
    if (auto It = Single.find(keyOf(Block, Which)); It != Single.end())
      for (const Entry &E : reverse(It->second)) {
        if (E.Clock <= Clock)
          break; // The earlier ones are older still.
        if (E.Position < Limit && (E.Device || Near))
          return true;
      }
  if (auto It = Many.find(Block); It != Many.end())
    for (const ManyEntry &E : It->second)
      if (E.Position < Limit && (E.Device || Near) &&
          Thread < E.Clocks->size() && (*E.Clocks)[Thread] > Clock)
        return true;
  return false;
}

bool Knowledge::covers(uint64_t Reader, uint64_t Block, uint32_t Thread,
                       uint64_t Clock) const {
  // Through sync points to those that they had read themselves.
  SmallVector<SyncView, 8> Work(Views.begin(), Views.end());
  SmallDenseMap<const SyncPoint *, uint32_t, 8> Seen;
  while (!Work.empty()) {
    SyncView View = Work.pop_back_val();
    uint32_t &Done = Seen[View.Point];
    if (Done >= View.Length)
      continue;
    Done = View.Length;
    if (View.Point->told(View.Length, Reader, Block, Thread, Clock))
      return true;
    for (const auto &[Point, List] : View.Point->Views) {
      uint32_t Length = 0;
      for (const SyncPoint::ViewEntry &E : List)
        if (E.Position < View.Length)
          Length = std::max(Length, E.Length);
      if (Length > 0)
        Work.push_back({Point, Length});
    }
  }
  return false;
}

} // namespace cupilot
