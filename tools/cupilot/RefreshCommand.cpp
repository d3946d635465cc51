//===- RefreshCommand.cpp - cupilot refresh -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Driver/Refresh.h"

using namespace llvm;
using namespace cupilot;

namespace refresh_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  SourceOption Input{Sub};
  StoreOption StoreDir{Sub};
  cl::opt<std::string> WorkloadFile{
      "workloads", In, cl::value_desc("W.mlir"),
      cl::desc("Workloads to judge on (default: those in the store)")};
  OnlyOption Only{Sub};
  cl::opt<uint64_t> Seed{"seed", In, cl::init(1), cl::value_desc("N"),
                         cl::desc("Seed of the inputs (default 1)")};
};
} // namespace

static const char Examples[] =
    "  cupilot refresh heat.cu --store .cupilot -- clang++-22 -O2 "
    "--cuda-gpu-arch=sm_90 -ffp-contract=off\n"
    "  cupilot refresh heat.cu --store .cupilot -- nvcc -arch=sm_90 "
    "-fmad=false\n\n"
    "The command after -- builds the source. If the source of a kernel has not "
    "changed since the\n"
    "search, and its variants also pass the gate with the flags of this "
    "command, builds with these\n"
    "flags use the variants from now on. Exit status 1: nothing could be "
    "added.\n";

static Error run(const Options &O, const TrailingArgs &Trailing) {
  Expected<BuildCommand> Command = readBuildCommand(Trailing.Args, O.Input);
  if (!Command)
    return Command.takeError();
  return refresh({O.Input, std::move(*Command), O.StoreDir, O.WorkloadFile,
                  O.Only, O.Seed},
                 errs());
}

static const Command
    Registered("refresh", "Prove a store's variants for other compiler flags",
               "COMPILER FLAGS", Examples, run);

} // namespace refresh_command
