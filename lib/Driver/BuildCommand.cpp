//===- BuildCommand.cpp - The command that builds a source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/BuildCommand.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include <cstdlib>

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

/// What nvcc reads from the variable \p Name.
static std::vector<std::string> wordsIn(const char *Name) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *> Words;
  const char *Value = std::getenv(Name);
  cl::TokenizeGNUCommandLine(Value ? Value : "", Saver, Words);
  return {Words.begin(), Words.end()};
}

Expected<BuildCommand> readBuildCommand(ArrayRef<std::string> Args,
                                        StringRef Input) {
  Args = withoutLaunchers(Args);
  if (Args.empty() || StringRef(Args.front()).starts_with("-"))
    return usageError(
        "no compiler was given",
        "end the command with '-- clang++-22 FLAGS' or '-- nvcc FLAGS'");
  Expected<std::vector<std::string>> Flags = clangFlagsFor(Input, Args, "");
  if (!Flags)
    return Flags.takeError();
  BuildCommand C;
  if (sys::path::filename(Args.front()).starts_with("nvcc")) {
    // One line, that says what the variables say too.
    std::vector<std::string> Whole = {Args.front()};
    append_range(Whole, wordsIn("NVCC_PREPEND_FLAGS"));
    append_range(Whole, sourceFlags(Args.drop_front(), Input));
    append_range(Whole, wordsIn("NVCC_APPEND_FLAGS"));
    C.Nvcc = shellQuoted(Whole);
  }
  C.Archs = gpuArchitectures(*Flags);
  C.Flags = withoutArchitectures(*Flags);
  // The first architecture is the one that device code is seen as.
  C.Flags.push_back("--cuda-gpu-arch=" + C.Archs.front());
  return C;
}

} // namespace cupilot
