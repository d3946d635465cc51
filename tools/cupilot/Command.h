//===- Command.h - Subcommands of cupilot -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_COMMAND_H
#define CUPILOT_TOOLS_CUPILOT_COMMAND_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// What follows "--" on the command line: compiler flags, or a command.
struct TrailingArgs {
  bool Given = false;
  std::vector<std::string> Args;
};

/// A subcommand: its LLVM SubCommand (name and summary), its examples for
/// --help, and what it does. One static object per command registers it:
///
///   static cl::SubCommand Sub("extract", "Print the kernels of a unit");
///   static cl::opt<std::string> File(cl::Positional, cl::sub(Sub), ...);
///   static Error run(const TrailingArgs &Flags) { ... }
///   static Command Registered(Sub, Examples, run);
class Command {
public:
  using RunFunction = llvm::Error (*)(const TrailingArgs &);
  Command(llvm::cl::SubCommand &Sub, llvm::StringRef Examples, RunFunction Run);

  llvm::cl::SubCommand &Sub;
  llvm::StringRef Examples;
  RunFunction Run;

  static std::vector<Command *> &all();
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_COMMAND_H
