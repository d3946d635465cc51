//===- SuiteUnit.cpp - A compiled file of kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/SuiteUnit.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

Expected<SuiteUnit> SuiteUnit::load(StringRef Path, StringRef Arch,
                                    ArrayRef<std::string> Flags,
                                    bool WithCode) {
  SuiteUnit U;
  U.Path = Path.str();
  if (WithCode) {
    std::vector<std::string> WithLines = Flags.vec();
    WithLines.push_back("-gline-tables-only");
    if (Error E =
            compileDeviceBitcode(Path, Arch, WithLines).moveInto(U.Bitcode))
      return std::move(E);
  }
  Expected<std::vector<Kernel>> Kernels =
      extractKernels(Path, Flags, {.VerifySlices = false});
  if (!Kernels)
    return Kernels.takeError();
  U.Kernels = std::move(*Kernels);
  return U;
}

Expected<const Kernel *> SuiteUnit::kernel(StringRef Name) const {
  const Kernel *Found = nullptr;
  for (const Kernel &K : Kernels) {
    if (K.Name == Name)
      return &K;
    if (StringRef(K.Name).split('(').first != Name)
      continue;
    if (Found)
      return usageError("'" + Path + "' has several kernels named '" + Name +
                            "'",
                        "give the whole name, '" + K.Name + "'");
    Found = &K;
  }
  if (Found)
    return Found;
  return usageError("'" + Path + "' has no kernel '" + Name + "'",
                    "'cupilot extract' lists the kernels of a source");
}

} // namespace cupilot
