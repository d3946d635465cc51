//===- Ranges.cpp - How large the numbers in buffers are ------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ranges.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

const MagnitudeRange *rangeOfBuffer(const Kernel &K, const GateCase &C,
                                    size_t Buffer) {
  const MagnitudeRange *Found = nullptr;
  for (const WorkloadPointer &P : C.Pointers)
    if (P.Buffer == Buffer && P.Param < K.Params.size())
      if (const MagnitudeRange *R = K.Contract.rangeOf(K.Params[P.Param].Name);
          R && (!Found || Found->Buffer.empty()))
        Found = R;
  return Found;
}

std::optional<Magnitudes> magnitudesOf(ArrayRef<uint8_t> Content,
                                       const Layout &L) {
  std::optional<Magnitudes> Result;
  for (const LayoutField &F : L.Fields)
    for (size_t At = F.Offset;
         isFloating(F.Kind) && At + sizeOf(F.Kind) <= Content.size();
         At += L.Stride) {
      double V = std::fabs(readElement(F.Kind, Content.data() + At));
      if (!std::isfinite(V) || V == 0)
        continue;
      if (!Result)
        Result = {V, V};
      Result->Least = std::min(Result->Least, V);
      Result->Largest = std::max(Result->Largest, V);
    }
  return Result;
}

void moveIntoRange(const Kernel &K, GateCase &C) {
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const MagnitudeRange *R = rangeOfBuffer(K, C, I);
    std::optional<Magnitudes> Held;
    if (R)
      Held = magnitudesOf(C.Buffers[I], C.Layouts[I]);
    if (!Held)
      continue;
    double Largest = Held->Largest, Factor = 1;
    if (Largest > R->High)
      Factor = std::exp2(std::floor(std::log2(R->High / Largest)));
    else if (Largest < R->Low)
      Factor = std::exp2(std::ceil(std::log2(R->Low / Largest)));
    if (Largest * Factor < R->Low || Largest * Factor > R->High)
      Factor = R->High / Largest;
    if (Factor != 1)
      transformFloats(C.Buffers[I], C.Layouts[I],
                      [&](uint64_t, double V) { return V * Factor; });
  }
}

Error checkRangeNames(const Kernel &K) {
  for (const MagnitudeRange &R : K.Contract.Ranges) {
    SmallVector<StringRef> Names;
    for (const KernelParam &P : K.Params)
      if (P.IsPointer)
        Names.push_back(P.Name);
    if (R.Buffer.empty() || is_contained(Names, R.Buffer))
      continue;
    return usageError("the contract '" + contractText(K.Contract) +
                          "' has a range for '" + R.Buffer +
                          "', which is no pointer parameter of " + K.Name,
                      "its pointer parameters are " + join(Names, ", "));
  }
  return Error::success();
}

Error checkRecordedRanges(const Kernel &K, const GateCase &C,
                          ArrayRef<bool> Pure) {
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    const MagnitudeRange *R = rangeOfBuffer(K, C, I);
    bool Input = !mayBeWritten(K, C, I) || (I < Pure.size() && !Pure[I]);
    if (!R || !Input)
      continue;
    std::optional<Magnitudes> Held = magnitudesOf(C.Buffers[I], C.Layouts[I]);
    if (!Held || (R->Low <= Held->Largest && Held->Largest <= R->High))
      continue;
    std::string Largest;
    raw_string_ostream(Largest) << format("%.4g", Held->Largest);
    return usageError("the contract '" + contractText(K.Contract) +
                          "' does not hold for " + C.Name +
                          ": the largest magnitude in buffer " + Twine(I) +
                          " is " + Largest,
                      "widen the range; 'cupilot capture' tells those of "
                      "recorded launches");
  }
  return Error::success();
}

} // namespace cupilot
