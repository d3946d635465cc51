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
#include "cupilot/Launcher/RecordCommand.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <vector>

using namespace llvm;

static const char RecordVariable[] = "CUPILOT_RECORD_COMMANDS";

static const char Help[] =
    "cupilot-launch " CUPILOT_VERSION
    ": compiles CUDA with the variants of a store\n\n"
    "  cupilot-launch nvcc ARGS       run nvcc, and put the variants into its "
    "object\n"
    "  cupilot-launch clang++ ARGS    run clang++ with -fplugin=cupilot\n"
    "  cupilot-launch ARGS            the same as cupilot-launch nvcc ARGS\n"
    "  cupilot-launch ccache ...      run a compiler through ccache, which "
    "hashes the store, too\n"
    "  cupilot-launch --record-commands FILE COMMAND\n"
    "                                 the same, and put the command into FILE, "
    "a compile_commands.json\n"
    "                                 (or CUPILOT_RECORD_COMMANDS=FILE in the "
    "environment)\n\n"
    "Arguments for cuPilot have the form -fplugin-arg-cupilot-KEY=VALUE, among "
    "ARGS or before\n"
    "the compiler; -fplugin-arg-cupilot-help lists them. -Rpass=cupilot and\n"
    "-Rpass-missed=cupilot report what was replaced, and why the rest was "
    "not.\n"
    "Other compilers run unchanged.\n\n"
    "examples:\n"
    "  make NVCC='cupilot-launch nvcc'\n"
    "  make NVCC='cupilot-launch --record-commands "
    "/src/app/compile_commands.json nvcc'\n"
    "  PYTORCH_NVCC=cupilot-launch CUPILOT_RECORD_COMMANDS="
    "$PWD/compile_commands.json python app.py\n";

/// Takes --record-commands FILE, or --record-commands=FILE, from \p Command.
/// Without it, the environment's word counts: not every build system has room
/// for more than a program's name. Behind a cache, the launcher in front of it
/// has recorded the command.
static Expected<std::string> takeRecord(std::vector<std::string> &Command) {
  StringRef First = Command.front();
  if (!First.consume_front("--record-commands") ||
      !(First.empty() || First.starts_with("="))) {
    const char *File = std::getenv(RecordVariable);
    return File && !std::getenv(cupilot::PassedArguments.data()) &&
                   !std::getenv(cupilot::NamedNvcc.data())
               ? File
               : "";
  }
  const bool Joined = First.consume_front("=");
  std::string File = Joined               ? First.str()
                     : Command.size() > 1 ? Command[1]
                                          : "";
  const size_t Words = Joined ? 1 : 2;
  if (File.empty() || Command.size() <= Words)
    return cupilot::usageError("--record-commands needs a file and a command",
                               "cupilot-launch --help");
  Command.erase(Command.begin(), Command.begin() + Words);
  return File;
}

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
  Expected<std::string> Record = takeRecord(Command);
  if (!Record)
    return cupilot::reportError(Record.takeError(), "cupilot-launch");
  if (!Record->empty())
    if (Error E = cupilot::recordCommand(*Record, Command))
      return cupilot::reportError(std::move(E), "cupilot-launch");
  return cupilot::launch(Command);
}
