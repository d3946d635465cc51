//===- GpuDescription.cpp - The GPUs that are described -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

static Expected<GpuDescription> describedBy(StringRef File) {
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  try {
    return readGpuDescription(*Text, File.str());
  } catch (const Failure &F) {
    return usageError(F.what(), F.hint());
  }
}

Expected<GpuDescription> describeGpu(StringRef Name) {
  if (Name.ends_with(".json"))
    return describedBy(Name);
  if (const GpuDescription *Known = findGpu(Name))
    return *Known;
  std::string Names;
  for (const GpuDescription &G : knownGpus())
    Names += (Names.empty() ? "" : ", ") + G.OtherNames.front();
  return usageError("unknown GPU '" + Name + "'",
                    "known: " + Names +
                        "; for another GPU, name the file that 'cupilot-runner "
                        "--ceilings' writes on its machine");
}

const GpuDescription &defaultGpu() {
  static const GpuDescription &H200 = *findGpu("H200");
  return H200;
}

const GpuDescription &gpuOfArch(StringRef Arch) {
  const unsigned Number = capabilityNumber(Arch);
  if (Number != defaultGpu().capability())
    for (const GpuDescription &G : knownGpus())
      if (G.capability() == Number)
        return G;
  return defaultGpu();
}

Expected<std::string> architectureOn(const GpuDescription &Gpu,
                                     ArrayRef<std::string> Flags, bool Loaded) {
  const bool Names = withoutArchitectures(Flags).size() != Flags.size();
  const std::vector<std::string> Archs = gpuArchitectures(Flags);
  if (Names && none_of(Archs, [&](StringRef Arch) {
        return capabilityNumber(Arch) == Gpu.capability();
      })) {
    // Code with features of one architecture runs on no other.
    StringRef Older;
    for (const std::string &Arch : Archs)
      if (isDigit(Arch.back()) && capabilityNumber(Arch) < Gpu.capability() &&
          (Older.empty() || capabilityNumber(Arch) > capabilityNumber(Older)))
        Older = Arch;
    if (Loaded && !Older.empty())
      return Older.str();
    return usageError("the flags compile for " + join(Archs, ", ") +
                          ", but the " + Gpu.Name + " is " + Gpu.Arch,
                      "give --cuda-gpu-arch=" + Gpu.Arch +
                          ", or name another GPU with --gpu");
  }
  return architectureFor(Gpu.Arch, Archs);
}

} // namespace cupilot
