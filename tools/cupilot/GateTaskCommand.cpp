//===- GateTaskCommand.cpp - cupilot gate-task -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tasks of `evolve --judge slurm` run. Nobody types it.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Evolution/ClusterGate.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace gate_task_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Folder{cl::Positional, In, cl::value_desc("FOLDER"),
                              cl::desc("Candidates of a round")};
  cl::opt<unsigned> Piece{cl::Positional, In, cl::value_desc("N"),
                          cl::desc("Which of them to judge")};
  cl::opt<bool> Facts{"facts", In,
                      cl::desc("Print what verdicts depend on here, as JSON")};
};
} // namespace

static const char Examples[] =
    "'cupilot evolve --judge slurm' calls it on the nodes of a cluster.\n";

static Error run(const Options &O, const TrailingArgs &) {
  if (!O.Facts)
    return judgeOnNode(O.Folder, O.Piece);
  Expected<std::string> Text = gateHostText();
  if (!Text)
    return Text.takeError();
  outs() << *Text << "\n";
  return Error::success();
}

static const Command Registered("gate-task", "", "", Examples, run);

} // namespace gate_task_command
