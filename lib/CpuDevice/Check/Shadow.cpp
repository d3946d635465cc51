//===- Shadow.cpp - Checks for what the run time does to memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/Error.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace cupilot {

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

uint32_t siteOf(const CallBase &Call) {
  if (MDNode *Node = Call.getMetadata("cupilot.site"))
    return mdconst::extract<ConstantInt>(Node->getOperand(0))->getZExtValue();
  return NoSite;
}

} // namespace cupilot
