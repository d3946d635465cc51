//===- VerifyCommand.cpp - cupilot verify -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/Verify.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Support/Error.h"

using namespace llvm;
using namespace cupilot;

namespace verify_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  StoreOption StoreDir{Sub};
  cl::opt<std::string> Kernel{
      "kernel", In, cl::value_desc("TEXT"),
      cl::desc("Only kernels whose name contains TEXT")};
  cl::opt<std::string> Device{
      "device", In, cl::value_desc("cuda|spool:DIR|ssh:HOST|slurm[:OPTIONS]"),
      cl::desc("Compare variants on a GPU, too")};
  LargeLaunchOption Large{Sub};
  cl::opt<std::string> Workloads{
      "workloads", In, cl::value_desc("W.mlir"),
      cl::desc("Launches to add to those that the store has: those outside of "
               "a domain widen it. Only their kernels are judged")};
  cl::opt<bool> Check{"check", In,
                      cl::desc("Leave the store as it is: only say what "
                               "passes")};
  cl::opt<uint64_t> Seed{"seed", In, cl::init(1), cl::value_desc("N"),
                         cl::desc("Seed of the inputs (default 1)")};
};
} // namespace

static const char Examples[] =
    "  cupilot verify --store .cupilot\n"
    "  cupilot verify --store .cupilot --check -- -O2 -ffp-contract=off\n"
    "  cupilot verify --kernel heatStep --device ssh:gpu1\n"
    "  cupilot verify --workloads larger.mlir\n\n"
    "Runs the gate over all variants of a store, and writes the domains that "
    "it "
    "finds into the\n"
    "store. The store names the flags under which its variants were proved, "
    "except those of\n"
    "searches: give them, or the build's whole command, after -- if they "
    "change what the\n"
    "kernel computes. Variants that no longer pass stay in the store. Exit "
    "status 1: some no\n"
    "longer pass, or could not be judged.\n";

static Error run(const Options &O, const TrailingArgs &Flags) {
  if (O.Check && !O.Workloads.empty())
    return usageError("--workloads adds launches to the store, and --check "
                      "leaves it as it is",
                      "give one of them, or use a copy of the store");
  // Each build has its own command in the store: these are read by clang.
  Expected<std::vector<std::string>> ForClang =
      clangFlagsFor(/*Source=*/"", Flags.Args, /*BuildFolder=*/"");
  if (!ForClang)
    return ForClang.takeError();
  Expected<std::string> Device = GpuDevice::besideStore(O.Device, O.StoreDir);
  if (!Device)
    return Device.takeError();
  return verify({O.StoreDir, O.Workloads, O.Kernel, std::move(*Device),
                 O.Large.bytes(), O.Check, O.Seed, std::move(*ForClang)},
                outs(), errs());
}

static const Command Registered("verify",
                                "Run the gate over all variants of a store",
                                "FLAGS", Examples, run);

} // namespace verify_command
