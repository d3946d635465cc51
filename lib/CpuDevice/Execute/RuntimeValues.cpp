//===- RuntimeValues.cpp - Values that compiled device code asks for -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

extern "C" {

/// PTX ISA, "fns": the bit that is the \p Offset-th set one from \p Base on.
uint32_t cupilot_rt_fns(uint32_t Mask, uint32_t Base, int32_t Offset) {
  // Which has no opposite. An H200 answers so, whatever the others are.
  if (Offset == std::numeric_limits<int32_t>::min())
    return 0;
  if (Base > 31)
    return ~0u;
  if (Offset == 0)
    return Mask >> Base & 1 ? Base : ~0u;
  int Step = Offset < 0 ? -1 : 1;
  for (int I = static_cast<int>(Base), Left = std::abs(Offset);
       I >= 0 && I < 32; I += Step)
    if ((Mask >> I & 1) && --Left == 0)
      return static_cast<uint32_t>(I);
  return ~0u;
}

/// What the code generator calls to make bfloat16, of which not every host's
/// library has the first: the bits come back in a vector register.
static float roundToBfloat(float X) {
  uint32_t Bits = std::bit_cast<uint32_t>(X);
  if (std::isnan(X))
    return std::bit_cast<float>(Bits >> 16 | 0x40);
  Bits += 0x7fff + (Bits >> 16 & 1);
  return std::bit_cast<float>(Bits >> 16);
}
float cupilot_rt_truncsfbf2(float X) { return roundToBfloat(X); }
float cupilot_rt_truncdfbf2(double X) {
  float Near = static_cast<float>(X);
  if (std::isfinite(X) && static_cast<double>(Near) != X) {
    uint32_t Bits = std::bit_cast<uint32_t>(Near);
    Bits -= std::fabs(static_cast<double>(Near)) > std::fabs(X);
    Near = std::bit_cast<float>(Bits | 1);
  }
  return roundToBfloat(Near);
}

} // extern "C"
