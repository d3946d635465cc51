//===- EjectCommand.cpp - cupilot eject -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Driver/EjectPatch.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"

using namespace llvm;
using namespace cupilot;

namespace eject_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  SourceOption Input{Sub};
  StoreOption StoreDir{Sub};
  cl::opt<std::string> Output{
      "o", In, cl::value_desc("PATCH"),
      cl::desc("Output file (default: standard output)")};
  OnlyOption Only{Sub};
};
} // namespace

static const char Examples[] =
    "  cupilot eject heat.cu --store .cupilot -o heat.patch -- -O2 "
    "--cuda-gpu-arch=sm_90\n"
    "  git apply heat.patch\n\n"
    "FLAGS are those of the compilation by clang++. The variants must have "
    "been proved for them\n"
    "(cupilot refresh). Before the patch is printed, the changed source is "
    "compiled, and the device\n"
    "code of each variant is compared with the code that was proved. Kernels "
    "and launches that are\n"
    "left out are listed on standard error. Exit status 1: no variant could be "
    "put into the source.\n";

static Error run(const Options &O, const TrailingArgs &Trailing) {
  std::vector<std::string> Whole = Trailing.Args;
  // Flags alone are clang's.
  if (Whole.empty() || StringRef(Whole.front()).starts_with("-"))
    Whole.insert(Whole.begin(), "clang++");
  Expected<BuildCommand> Command = readBuildCommand(Whole, O.Input);
  if (!Command)
    return Command.takeError();
  if (Command->Nvcc)
    return usageError("'cupilot eject' takes clang's flags",
                      "cupilot eject F.cu --store DIR -- -O2 "
                      "--cuda-gpu-arch=sm_90");
  Expected<std::string> Patch =
      ejectPatch({O.Input, std::move(*Command), O.StoreDir, O.Only}, errs());
  if (!Patch)
    return Patch.takeError();
  if (!O.Output.empty() && O.Output != "-")
    return writeFileAtomic(O.Output, *Patch);
  outs() << *Patch;
  return Error::success();
}

static const Command
    Registered("eject", "Print the patch that puts variants into a source",
               "FLAGS", Examples, run);

} // namespace eject_command
