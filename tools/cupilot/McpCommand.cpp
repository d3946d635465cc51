//===- McpCommand.cpp - cupilot mcp -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Mcp/Server.h"
#include "cupilot/Support/Error.h"
#include <unistd.h>

using namespace llvm;
using namespace cupilot;

namespace mcp_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{
      cl::Positional, cl::Optional, In, cl::value_desc("[F.cu|K.mlir]"),
      cl::desc("The CUDA source, or a file written by cupilot extract -o; "
               "without it, the sources of the project that -p names")};

  cl::OptionCategory Program{"The program"};
  cl::opt<std::string> Workloads{
      "workloads", In, cl::cat(Program), cl::value_desc("W.mlir"),
      cl::desc("Workloads recorded by cupilot capture; without them, the store "
               "can be looked at, and nothing can be judged")};
  cl::opt<std::string> BuildFolder{
      "p", In, cl::cat(Program), cl::value_desc("DIR"),
      cl::desc("Take the source's command, or the sources themselves, from "
               "DIR/compile_commands.json")};
  ContractOption Contract{Sub, Program};
  cl::list<std::string> Compilers{
      "compiler", In, cl::cat(Program), cl::value_desc("CMD"),
      cl::desc("As of cupilot evolve: also judge what is submitted as this "
               "command builds it; may be repeated")};
  StoreOption StoreDir{Sub, Program};

  cl::OptionCategory Device{"GPU"};
  cl::opt<std::string> DeviceName{
      "device",
      In,
      cl::cat(Device),
      cl::init("cpu"),
      cl::value_desc("cpu|cuda|spool:DIR|ssh:HOST"),
      cl::desc("Where variants are timed (default cpu: modelled)")};
  cl::opt<std::string> GpuName{
      "gpu",
      In,
      cl::cat(Device),
      cl::init("H200"),
      cl::value_desc("NAME"),
      cl::desc("The GPU whose time is modelled: a name that cupilot doctor "
               "lists, or a file that describes one (default H200)")};
  LargeLaunchOption Large{Sub, Device};
  cl::opt<bool> AcceptEstimates{
      "accept-estimates", In, cl::cat(Device),
      cl::desc("Without a GPU: keep what the modelled time calls faster, also "
               "where a GPU may well measure the contrary")};

  cl::OptionCategory Limits{"Limits"};
  cl::opt<unsigned> MaxCalls{
      "max-calls", In, cl::cat(Limits), cl::value_desc("N"),
      cl::desc("Calls of tools at most, by all clients of the store together "
               "and since its journal began")};
  cl::opt<double> MaxGpuSeconds{
      "max-gpu-seconds", In, cl::cat(Limits), cl::value_desc("N"),
      cl::desc("GPU time at most, counted in the same way")};
  cl::opt<unsigned> Jobs{
      "jobs",
      In,
      cl::cat(Limits),
      cl::init(2),
      cl::value_desc("N"),
      cl::desc("Pieces of work at a time (default 2); more wait")};
  cl::opt<unsigned> WorkSeconds{
      "work-seconds",
      In,
      cl::cat(Limits),
      cl::init(3600),
      cl::value_desc("N"),
      cl::desc("Seconds for one piece of work without a GPU elsewhere (default "
               "3600; 0: no limit)")};
  CompileTimeoutOption Timeout{Sub, Limits};
};
} // namespace

static const char Examples[] =
    "  cupilot mcp heat.cu --workloads heat.workloads.mlir -- -O2\n"
    "  cupilot mcp -p build --workloads app.mlir --device cuda "
    "--max-gpu-seconds 3600\n"
    "  claude mcp add cupilot -- cupilot mcp -p build --workloads app.mlir\n\n"
    "A server of the Model Context Protocol (2026-07-28 and 2025-11-25) over "
    "standard input and\n"
    "output, for coding agents: they look at kernels, have variants judged and "
    "timed, and submit\n"
    "them. Only what passes the gate reaches the store. docs/Agents.md shows "
    "how clients are set up.\n";

static Error run(const Options &O, const TrailingArgs &Trailing) {
  McpOptions M;
  EvolveRequest &R = M.Bench;
  R.Input = O.Input;
  R.Workloads = O.Workloads;
  R.Store = O.StoreDir;
  R.Compilers.assign(O.Compilers.begin(), O.Compilers.end());
  if (Error E =
          GpuDevice::besideStore(O.DeviceName, O.StoreDir).moveInto(R.Device))
    return E;
  R.Gpu = O.GpuName;
  R.LargeBytes = O.Large.bytes();
  R.AcceptEstimates = O.AcceptEstimates;
  if (Error E = O.Timeout.limits().moveInto(R.Compilation))
    return E;
  if (R.Device != "cpu" && !GpuDevice::isOne(R.Device))
    return usageError("unknown device '" + R.Device + "'",
                      "--device=cpu, cuda, spool:DIR or ssh:HOST");
  if (O.Input.empty()) {
    R.Project = O.BuildFolder;
    R.Trailing = Trailing.Args;
  } else if (Error E = unitCommandFor(O.Input, Trailing.Args, O.BuildFolder)
                           .moveInto(R.Command)) {
    return E;
  }
  const bool HasSource = !R.Input.empty() || !R.Project.empty();
  if (HasSource && R.Workloads.empty())
    return usageError("a source without workloads: nothing can be judged",
                      "record a run (cupilot capture), and name it with "
                      "--workloads=W.mlir");
  if (!HasSource && !R.Workloads.empty())
    return usageError("workloads without a source",
                      "name a source, or the folder of compile_commands.json "
                      "with -p");
  Expected<std::optional<PrecisionContract>> Granted = O.Contract.granted();
  if (!Granted)
    return Granted.takeError();
  R.Contract = *Granted;
  if (O.MaxCalls.getNumOccurrences())
    M.Budget.Calls = O.MaxCalls;
  if (O.MaxGpuSeconds.getNumOccurrences())
    M.Budget.GpuSeconds = O.MaxGpuSeconds;
  if (O.Jobs == 0 || O.Jobs > 1024)
    return usageError("--jobs must be between 1 and 1024");
  M.Work.AtOnce = O.Jobs;
  // A GPU elsewhere may take days.
  M.Work.Seconds = R.Device == "cpu" || R.Device == "cuda" ? O.WorkSeconds : 0;
  return serveMcp(M, STDIN_FILENO, STDOUT_FILENO);
}

static const Command Registered("mcp",
                                "Serve coding agents: the bench as tools (MCP)",
                                "FLAGS", Examples, run);

} // namespace mcp_command
