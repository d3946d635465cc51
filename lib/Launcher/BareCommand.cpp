//===- BareCommand.cpp - Commands that name no compiler -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BareCommand.h"
#include "cupilot/Launcher/NvccOptions.h"
#include "cupilot/Support/Options.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

using namespace llvm;

namespace cupilot {

bool isPlugin(StringRef Arg) {
  return Arg.consume_front("-fplugin=") &&
         (sys::path::filename(Arg) == "cupilot" ||
          sys::path::filename(Arg) == "cupilot.so");
}

std::vector<std::string> ownArguments(ArrayRef<std::string> Args) {
  std::vector<std::string> Own;
  auto Take = [&](const opt::Arg &A, size_t, size_t) {
    const std::string &Word = Args[A.getIndex()];
    if (A.getOption().matches(nvcc::OPT_OwnGroup) || isPlugin(Word))
      Own.push_back(Word);
    return Error::success();
  };
  // nvcc says which value is missing.
  consumeError(readOptions(nvccOptions(), Args, Take));
  return Own;
}

static std::string variable(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

std::vector<std::string> takeOwnArguments(ArrayRef<std::string> &Command) {
  std::vector<std::string> Own;
  while (!Command.empty() && !ownArguments(Command.front()).empty()) {
    Own.push_back(Command.front());
    Command = Command.drop_front();
  }
  return Own;
}

bool namesNoCompiler(ArrayRef<std::string> Command) {
  return Command.empty() || StringRef(Command.front()).starts_with("-");
}

std::string defaultNvcc() {
  for (const char *Name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string Nvcc = variable(Name) + "/bin/nvcc";
        !variable(Name).empty() && sys::fs::can_execute(Nvcc))
      return Nvcc;
  if (!sys::findProgramByName("nvcc") &&
      sys::fs::can_execute("/usr/local/cuda/bin/nvcc"))
    return "/usr/local/cuda/bin/nvcc";
  return "nvcc";
}

} // namespace cupilot
