//===- CpuDevice.cpp - Options and results of the cpu device ----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

std::string DeviceFault::str() const {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << wordsOf(Kind) << " in " << Kernel << ", block (" << Block[0] << ","
     << Block[1] << "," << Block[2] << "), thread (" << Thread[0] << ","
     << Thread[1] << "," << Thread[2] << ")";
  if (Address)
    OS << ", address 0x" << Twine::utohexstr(Address);
  if (!Location.empty())
    OS << ", at " << Location;
  OS << ": ";
  if (Assertion)
    OS << Assertion->File << ":" << Assertion->Line << ": "
       << Assertion->Function << ": Assertion `" << Assertion->Condition
       << "' failed";
  OS << Detail;
  if (SameValue)
    OS << ", where both write the same value";
  if (Kind == FaultKind::ProxyRace)
    OS << ", by the asynchronous proxy without a fence.proxy.async";
  if (Other) {
    auto Triple = [&](const std::array<uint64_t, 3> &V) {
      OS << "(" << V[0] << "," << V[1] << "," << V[2] << ")";
    };
    OS << "; not ordered with the " << wordsOf(Other->Access) << " by ";
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

Error selectChecks(StringRef Text, CpuDeviceOptions &Options) {
  Options.CheckBounds = Options.CheckRaces = Options.CheckWritten =
      Options.CheckDivergence = false;
  SmallVector<StringRef> Names;
  Text.split(Names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Name : Names) {
    Name = Name.trim();
    bool All = Name == "all";
    if (!All && Name != "none" && Name != "bounds" && Name != "races" &&
        Name != "written" && Name != "divergence")
      return usageError(
          "there is no check '" + Name + "'",
          "the checks are bounds, races, written, divergence, all, none");
    Options.CheckBounds |= All || Name == "bounds";
    Options.CheckRaces |= All || Name == "races";
    Options.CheckWritten |= All || Name == "written";
    Options.CheckDivergence |= All || Name == "divergence";
  }
  return Error::success();
}

} // namespace cupilot
