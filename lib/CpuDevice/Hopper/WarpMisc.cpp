//===- WarpMisc.cpp - Small instructions of Hopper -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// setmaxnreg, prefetch.tensormap and st.async (PTX ISA).
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "BulkCopy.h"
#include "DeviceOps.h"
#include "Mbarrier.h"
#include "OpRuntime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// Registers are not counted here, and there is no cache to fill.
static void runNothing(const OpCall &) {}

/// st.async [address], values, [mbar]; red.async [address], value, [mbar].
static void runStoreAsync(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  const auto &S = Call.Op.Rule.Shape;
  uint64_t To = sharedAddress(T, Lane.Inputs[0]),
           Barrier = sharedAddress(T, Lane.Inputs[S[0] + 1]);
  if (To % (S[0] * S[1]) != 0)
    fault(Call, T, FaultKind::MisalignedWrite, To,
          "the address must be a multiple of " + Twine(S[0] * S[1]));
  loadMbarrier(Call, T, Barrier);
  AsyncCopy Copy = beginCopy(Call);
  Copy.Data.resize(size_t(S[0]) * S[1]);
  for (unsigned I = 0; I < S[0]; ++I)
    std::memcpy(Copy.Data.data() + size_t(I) * S[1], &Lane.Inputs[1 + I], S[1]);
  Copy.Reduction = static_cast<ReduceOp>(S[2]);
  Copy.Type = static_cast<ReduceType>(S[3]);
  Copy.Pieces.push_back({To, 0, static_cast<uint32_t>(Copy.Data.size())});
  sendToBarrier(Call, std::move(Copy), S[0] * S[1], Barrier, std::nullopt);
}

/// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes
/// .op.type [address], value, [mbar]
static std::optional<OpRule> findReduceAsync(ArrayRef<StringRef> Parts) {
  OpRule Rule;
  std::optional<ReduceOp> Op;
  std::optional<ReduceType> Type = reduceType(Parts.back());
  bool Relaxed = false, Completes = false;
  for (StringRef Part : Parts.slice(2, Parts.size() - 3)) {
    Relaxed |= Part == "relaxed";
    Completes |= Part == "mbarrier::complete_tx::bytes";
    if (Part == "relaxed" || Part == "cluster" || Part == "shared::cluster" ||
        Part == "mbarrier::complete_tx::bytes")
      continue;
    if (Op || !(Op = reduceOp(Part)))
      return std::nullopt;
  }
  if (!Op || !Type || !Relaxed || !Completes || !canReduce(*Op, *Type) ||
      *Type >= ReduceType::F16)
    return std::nullopt;
  Rule.Shape[0] = 1;
  Rule.Shape[1] = reduceSize(*Type);
  Rule.Shape[2] = static_cast<uint32_t>(*Op);
  Rule.Shape[3] = static_cast<uint32_t>(*Type);
  Rule.Run = runStoreAsync;
  Rule.MinInputs = Rule.MaxInputs = 3;
  return Rule;
}

std::optional<OpRule> findWarpMisc(ArrayRef<StringRef> Parts) {
  OpRule Rule;
  if (Parts[0] == "setmaxnreg" && Parts.size() == 5 &&
      (Parts[1] == "inc" || Parts[1] == "dec")) {
    Rule.Run = runNothing;
    Rule.MinInputs = Rule.MaxInputs = 1;
    return Rule;
  }
  if (Parts[0] == "prefetch" && Parts.back() == "tensormap") {
    Rule.Run = runNothing;
    Rule.MinInputs = Rule.MaxInputs = 1;
    return Rule;
  }
  if (Parts[0] == "red" && Parts.size() >= 6 && Parts[1] == "async")
    return findReduceAsync(Parts);
  // st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.vec}.type
  if (Parts[0] != "st" || Parts.size() < 5 || Parts[1] != "async")
    return std::nullopt;
  Rule.Shape[0] = 1;
  for (StringRef Part : Parts.slice(2, Parts.size() - 3))
    if (Part == "v2" || Part == "v4")
      Rule.Shape[0] = Part[1] - '0';
    else if (Part != "weak" && Part != "shared::cluster" &&
             Part != "mbarrier::complete_tx::bytes")
      return std::nullopt;
  if (!Parts.back().ends_with("32") && !Parts.back().ends_with("64"))
    return std::nullopt;
  Rule.Shape[1] = Parts.back().ends_with("64") ? 8 : 4;
  Rule.Run = runStoreAsync;
  Rule.MinInputs = Rule.MaxInputs = 2 + Rule.Shape[0];
  return Rule;
}

} // namespace cupilot
