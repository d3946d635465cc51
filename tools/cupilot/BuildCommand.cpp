//===- BuildCommand.cpp - The command that builds a source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildCommand.h"
#include "cupilot/Launcher/NvccToClang.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

std::vector<std::string> sourceFlags(ArrayRef<std::string> Args,
                                     StringRef Input) {
  std::vector<std::string> Kept;
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    if (is_contained({"-o", "-MF", "-MT", "-MQ", "--output-file", "-odir",
                      "--output-directory"},
                     Arg)) {
      ++I;
      continue;
    }
    if (is_contained(
            {"-c", "-S", "-dc", "--compile", "-M", "-MM", "-MD", "-MMD", "-MP"},
            Arg) ||
        Arg.starts_with("-fplugin") || Arg.starts_with("-Rpass") ||
        Arg.starts_with("-MF") || Arg.starts_with("-MT") ||
        Arg.starts_with("-fsave-optimization-record") ||
        Arg.starts_with("-foptimization-record"))
      continue;
    if (!Arg.starts_with("-") &&
        (Arg == Input || sys::fs::equivalent(Arg, Input)))
      continue;
    Kept.push_back(Arg.str());
  }
  return Kept;
}

Expected<BuildCommand> readBuildCommand(ArrayRef<std::string> Args,
                                        StringRef Input) {
  auto NameOf = [&] { return sys::path::filename(Args.front()); };
  while (!Args.empty() &&
         (is_contained({"cupilot-launch", "ccache", "sccache"}, NameOf()) ||
          StringRef(Args.front()).starts_with("-fplugin")))
    Args = Args.drop_front();
  if (Args.empty())
    return usageError("no compiler was given",
                      "end the command with -- clang++-22 FLAGS, or -- nvcc "
                      "FLAGS");
  BuildCommand C;
  std::vector<std::string> Rest = sourceFlags(Args.drop_front(), Input);
  if (NameOf().starts_with("nvcc")) {
    std::vector<std::string> Whole = {Args.front()};
    Whole.insert(Whole.end(), Rest.begin(), Rest.end());
    C.Nvcc = shellQuoted(Whole);
    Expected<std::vector<std::string>> Flags = clangFlagsOfNvcc(Rest, "", "");
    if (!Flags)
      return Flags.takeError();
    C.Flags = std::move(*Flags);
  } else if (NameOf().starts_with("clang") ||
             NameOf().starts_with("cupilot-cpucc")) {
    C.Flags = std::move(Rest);
  } else {
    return usageError("'" + Args.front() + "' is neither clang nor nvcc",
                      "end the command with -- clang++-22 FLAGS, or -- nvcc "
                      "FLAGS");
  }
  C.Archs = gpuArchitectures(C.Flags);
  C.Flags = withoutArchitectures(C.Flags);
  // The first architecture is the one that device code is seen as.
  C.Flags.push_back("--cuda-gpu-arch=" + C.Archs.front());
  return C;
}

} // namespace cupilot
