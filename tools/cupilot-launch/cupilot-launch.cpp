//===- cupilot-launch.cpp - A compiler launcher -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In front of a compiler's command, as CMAKE_CUDA_COMPILER_LAUNCHER, or as
// PYTORCH_NVCC.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/Launch.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace llvm;

static const char Help[] =
    "cupilot-launch " CUPILOT_VERSION
    ": compiles CUDA with the variants of a store\n\n"
    "  cupilot-launch nvcc ARGS       run nvcc, and put the variants into its "
    "object\n"
    "  cupilot-launch clang++ ARGS    run clang++ with -fplugin=cupilot\n"
    "  cupilot-launch ARGS            the same as cupilot-launch nvcc ARGS\n"
    "  cupilot-launch ccache ...      run a compiler through ccache, which "
    "hashes the store, too\n\n"
    "Arguments for cuPilot have the form -fplugin-arg-cupilot-KEY=VALUE, among "
    "ARGS or before\n"
    "the compiler; -fplugin-arg-cupilot-help lists them. -Rpass=cupilot and\n"
    "-Rpass-missed=cupilot report what was replaced, and why the rest was "
    "not.\n"
    "Other compilers run unchanged.\n";

int main(int argc, char **argv) {
  std::vector<std::string> Command(argv + 1, argv + argc);
  if (Command.empty())
    return cupilot::reportError(
        cupilot::usageError("no compiler was given", "cupilot-launch --help"),
        "cupilot-launch");
  if (Command.size() == 1 &&
      (Command[0] == "--help" || Command[0] == "--version")) {
    outs() << (Command[0] == "--help" ? StringRef(Help)
                                      : "cupilot-launch " CUPILOT_VERSION
                                        " for LLVM " CUPILOT_LLVM_VERSION "\n");
    return 0;
  }
  return cupilot::launch(Command);
}
