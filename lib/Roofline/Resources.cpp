//===- Resources.cpp - What ptxas says of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"

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
  Expected<Toolchain> Tools = Toolchain::find(Flags);
  if (!Tools)
    return Tools.takeError();
  if (Tools->Ptxas.empty())
    return resourceError("no ptxas was found",
                         "install a CUDA toolkit, or name it with "
                         "--cuda-path=");
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-ptxas");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("k.ptx"), Ptx))
    return std::move(E);
  Expected<ProcessResult> Result =
      runProcess({Tools->Ptxas, "-v", "-arch=" + Arch.str(), "-o",
                  Dir->file("k.cubin"), Dir->file("k.ptx")},
                 120);
  if (!Result)
    return Result.takeError();
  if (Result->Status != 0)
    return usageError("ptxas refuses the code for " + Arch + ":\n" +
                      Result->Err);
  // "ptxas info : Compiling entry function 'k' for 'sm_90'", then a line with
  // the stack and one with registers and shared memory.
  StringRef Rest = StringRef(Result->Err);
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
