//===- Resources.cpp - What ptxas says of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Assemble.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

/// The number before \p Unit in \p Text: "12 bytes stack frame".
static uint64_t numberBefore(StringRef Text, StringRef Unit) {
  size_t At = Text.find(Unit);
  if (At == StringRef::npos)
    return 0;
  StringRef Before = Text.take_front(At).rtrim();
  StringRef Digits = Before.take_back(
      Before.size() - (Before.find_last_not_of("0123456789") + 1));
  uint64_t Value = 0;
  Digits.getAsInteger(10, Value);
  return Value;
}

Expected<KernelResources> kernelResources(StringRef Ptx, StringRef Symbol,
                                          StringRef Arch,
                                          ArrayRef<std::string> Flags) {
  Expected<std::optional<AssembledPtx>> Made = assemblePtx(Ptx, Arch, Flags);
  if (!Made)
    return Made.takeError();
  if (!*Made)
    return resourceError("no ptxas was found",
                         "install a CUDA toolkit, or name it with "
                         "--cuda-path=");
  // "ptxas info : Compiling entry function 'k' for 'sm_90'", then a line with
  // the stack and one with registers and shared memory.
  StringRef Rest = (*Made)->Figures;
  size_t At = Rest.find(("entry function '" + Symbol + "'").str());
  if (At == StringRef::npos)
    return usageError("ptxas did not see the kernel '" + Symbol + "'");
  Rest = Rest.drop_front(At);
  Rest = Rest.take_front(Rest.find("entry function", 16));
  KernelResources R;
  R.Registers = numberBefore(Rest, "registers");
  R.StaticShared = numberBefore(Rest, "bytes smem");
  R.StackBytes = numberBefore(Rest, "bytes stack frame");
  R.SpillBytes = numberBefore(Rest, "bytes spill stores");
  return R;
}

} // namespace cupilot
