//===- DeviceReferences.cpp - Results of another device
//--------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceReferences.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

/// Beyond this, in instructions of all threads, a launch is not run in float64
/// for this alone.
static constexpr double LargestReference = 1e9;

Expected<ReferenceVerdict>
DeviceReferences::judge(OriginalRuns &O, size_t Index,
                        const DeviceResults &Original,
                        const DeviceResults &Variant) {
  ReferenceVerdict V;
  if (O.inOwnPrecision() || Index >= O.counts().size() ||
      double(O.counts()[Index].WarpInstructions) * 32 > LargestReference)
    return V;
  auto At = Known.find(Index);
  if (At == Known.end()) {
    Expected<GateCase> C = O.captured(Index);
    if (!C)
      return C.takeError();
    Expected<std::unique_ptr<JudgedCase>> J = O.prepare(std::move(*C));
    if (!J)
      return J.takeError();
    At = Known.emplace(Index, std::move(*J)).first;
  }
  if (!At->second)
    return V;
  const JudgedCase &Here = *At->second;
  // The buffers of \p R; those that were not brought back are as before.
  auto Whole = [&](const DeviceResults &R) -> std::optional<RunResult> {
    RunResult To;
    To.Buffers = R.Buffers;
    To.Globals = R.Globals;
    if (To.Buffers.size() != Here.Original.Buffers.size())
      return std::nullopt;
    for (auto [Got, Before] : zip(To.Buffers, Here.Case.Buffers)) {
      if (Got.empty())
        Got = Before;
      if (Got.size() != Before.size())
        return std::nullopt;
    }
    return To;
  };
  std::optional<RunResult> Own = Whole(Original), Mine = Whole(Variant);
  if (!Own || !Mine)
    return findingError(
        "results of another device do not have the buffers of " +
        Here.Case.Name);
  // The original's own results there are the measure, not those made here: its
  // functions may be less exact on that device.
  JudgedCase There;
  There.Case = Here.Case;
  There.Case.Name += " there";
  There.Reference = Here.Reference;
  There.Sensitivity = Here.Sensitivity;
  There.Shaken = Here.Shaken;
  There.Fill = Here.Fill;
  There.Original = std::move(*Own);
  RunResult &Got = *Mine;
  // What the original leaves alone holds the fill here and something else
  // there; both programs were compared with each other about that.
  for (size_t I = 0; I < Got.Buffers.size(); ++I) {
    if (Here.Case.PureOutput.empty() || !Here.Case.PureOutput[I])
      continue;
    const Bytes &Left = Here.Original.Buffers[I];
    uint64_t Width = 4;
    for (const LayoutField &F : Here.Case.Layouts[I].Fields)
      Width = std::min<uint64_t>(Width, sizeOf(F.Kind));
    for (size_t From = 0; From + Width <= Left.size(); From += Width)
      if (std::all_of(Left.begin() + From, Left.begin() + From + Width,
                      [&](uint8_t B) { return B == Here.Fill; }))
        for (size_t B = From; B < From + Width; ++B)
          Got.Buffers[I][B] = There.Original.Buffers[I][B] = Left[B];
  }
  ErrorRange Errors;
  V.Compared = true;
  V.Finding = compareRuns(There, Got, O.kernel().Contract, Errors);
  if (V.Finding) {
    Expected<bool> Found = O.findShaken(Here);
    if (!Found)
      return Found.takeError();
    There.Shaken = Here.Shaken;
    if (*Found)
      V.Finding = compareRuns(There, Got, O.kernel().Contract, Errors);
  }
  if (V.Finding && There.Sensitivity.empty()) {
    // Where the inputs' last bits decide, so may the order of operations.
    if (Error E = O.findSensitivity(Here))
      return std::move(E);
    There.Sensitivity = Here.Sensitivity;
    V.Finding = compareRuns(There, Got, O.kernel().Contract, Errors);
  }
  V.MaxError = Errors.Mine;
  V.OriginalError = Errors.Own;
  return V;
}

} // namespace cupilot
