//===- Shaken.cpp - What a double is off by itself ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The float64 run of a kernel that computes in double is the kernel itself, and
// says nothing of its errors. So the original runs with its roundings drawn by
// coins (RandomRounding.cpp): how far such runs lie from the float64 run is how
// far it may be off, element by element, as the float64 run says of a float.
//
//===----------------------------------------------------------------------===//

#include "Original.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// The largest error of so many runs counts: where a buffer has few numbers,
/// one may be right by chance.
static constexpr unsigned ShakenRuns = 4;

Expected<RunResult> OriginalRuns::runShaken(const GateCase &C, uint8_t Fill,
                                            uint64_t Seed) {
  if (!Shaken.Module)
    if (Error E =
            loadKernel(Setup.Code.Source, RunMode::Shaken, Setup.Arch, {}, Code)
                .moveInto(Shaken))
      return std::move(E);
  if (Error E = Shaken.setRoundingSeed(Seed))
    return std::move(E);
  return run(Shaken, C, Fill);
}

Expected<bool> OriginalRuns::findShaken(const JudgedCase &J) {
  auto IsDouble = [](const LayoutField &F) {
    return F.Kind == ElementKind::Double;
  };
  if (!J.Shaken.empty() || inOwnPrecision() ||
      kernel().Contract.K == PrecisionContract::Kind::Exact ||
      none_of(J.Case.Layouts,
              [&](const Layout &L) { return any_of(L.Fields, IsDouble); }))
    return false;
  std::vector<std::vector<double>> Off;
  for (const Bytes &B : J.Reference)
    Off.emplace_back(B.size());
  for (unsigned Run = 0; Run < ShakenRuns; ++Run) {
    Expected<RunResult> R = runShaken(J.Case, J.Fill, Run + 1);
    if (!R)
      return R.takeError();
    for (size_t I = 0; !R->Fault && I < Off.size(); ++I)
      for (const LayoutField &F : J.Case.Layouts[I].Fields)
        for (uint64_t At = F.Offset; IsDouble(F) && At + 8 <= Off[I].size();
             At += J.Case.Layouts[I].Stride) {
          double E = std::fabs(readElement(F.Kind, R->Buffers[I].data() + At) -
                               readElement(F.Kind, J.Reference[I].data() + At));
          if (std::isfinite(E))
            Off[I][At] = std::max(Off[I][At], E);
        }
  }
  J.Shaken = std::move(Off);
  return true;
}

} // namespace cupilot
