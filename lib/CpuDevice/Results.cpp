//===- Results.cpp - What a launch reports -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

std::string DeviceFault::str() const {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << Kind << " in " << Kernel << ", block (" << Block[0] << "," << Block[1]
     << "," << Block[2] << "), thread (" << Thread[0] << "," << Thread[1] << ","
     << Thread[2] << ")";
  if (Address)
    OS << ", address 0x" << Twine::utohexstr(Address);
  if (!Location.empty())
    OS << ", at " << Location;
  OS << ": " << Detail;
  if (Other) {
    auto Triple = [&](const std::array<uint64_t, 3> &V) {
      OS << "(" << V[0] << "," << V[1] << "," << V[2] << ")";
    };
    OS << "; not ordered with the " << Other->Access << " by ";
    if (Other->KnowsThread) {
      OS << "block ";
      Triple(Other->Block);
      OS << ", thread ";
      Triple(Other->Thread);
    } else {
      OS << "another thread";
    }
    if (!Other->Location.empty())
      OS << ", at " << Other->Location;
  }
  return Text;
}

} // namespace cupilot
