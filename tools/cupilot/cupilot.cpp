//===- cupilot.cpp - The cupilot program -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits the command line at "--", finds the subcommand, runs it, and turns its
// error into a diagnostic and an exit status.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <new>
#include <unistd.h>

using namespace llvm;
using namespace cupilot;

std::vector<const Command *> &Command::all() {
  static std::vector<const Command *> Commands;
  return Commands;
}

static std::vector<const Command *> sortedCommands() {
  std::vector<const Command *> Sorted = Command::all();
  llvm::sort(Sorted, [](const Command *A, const Command *B) {
    return A->Name < B->Name;
  });
  return Sorted;
}

static void printOverview(raw_ostream &OS) {
  OS << "cupilot " CUPILOT_VERSION
        ": feedback-directed kernel evolution for CUDA builds\n\n"
        "usage: cupilot COMMAND [OPTIONS] [-- FLAGS]\n\n"
        "commands:\n";
  for (const Command *C : sortedCommands())
    if (!C->Summary.empty()) // What cuPilot itself calls is not shown.
      OS << "  " << left_justify(C->Name, 12) << C->Summary << "\n";
  OS << "\n"
        "'cupilot COMMAND --help' shows its options, with examples.\n"
        "Exit status: 0 done, 1 a finding, 2 wrong use or broken input, 3 an "
        "outside\n"
        "resource failed.\n";
}

/// Only the options of the subcommand, and --help: libLLVM registers hundreds.
static void hideForeignOptions(cl::SubCommand &Sub) {
  for (auto &Entry : Sub.OptionsMap) {
    StringRef Description = Entry.second->HelpStr;
    if (!is_contained(Entry.second->Subs, &Sub) &&
        !Description.contains("available options"))
      Entry.second->setHiddenFlag(cl::ReallyHidden);
  }
}

static int runProgram(int Argc, char **Argv) {
  std::vector<const char *> Own(Argv, Argv + Argc);
  TrailingArgs Trailing;
  auto Dashes =
      llvm::find_if(Own, [](const char *A) { return StringRef(A) == "--"; });
  if (Dashes != Own.end()) {
    Trailing.Given = true;
    Trailing.Args.assign(std::next(Dashes), Own.end());
    Own.erase(Dashes, Own.end());
  }
  StringRef First = Own.size() > 1 ? StringRef(Own[1]) : StringRef();
  if (First.empty() || First == "--help" || First == "-h" || First == "help") {
    printOverview(First.empty() ? errs() : outs());
    return First.empty() ? static_cast<int>(ExitCode::Usage) : 0;
  }
  if (First == "--version") {
    outs() << "cupilot " CUPILOT_VERSION " (LLVM " CUPILOT_LLVM_VERSION ")\n";
    return 0;
  }
  auto It = llvm::find_if(Command::all(),
                          [&](const Command *C) { return C->Name == First; });
  if (It == Command::all().end())
    return reportError(usageError("unknown command '" + First + "'",
                                  "'cupilot --help' lists the commands"),
                       "cupilot");
  const Command &Chosen = **It;
  cl::SubCommand Sub(Chosen.Name, Chosen.Summary);
  std::unique_ptr<Command::Call> Call = Chosen.Make(Sub);
  for (const char *Arg : Own)
    if (StringRef(Arg) == "--help" || StringRef(Arg) == "-h") {
      printHelp(Chosen, Sub);
      return 0;
    }
  hideForeignOptions(Sub);
  std::string Diagnostics;
  raw_string_ostream DiagnosticStream(Diagnostics);
  if (!cl::ParseCommandLineOptions(Own.size(), Own.data(), "",
                                   &DiagnosticStream)) {
    errs() << Diagnostics;
    return reportError(
        usageError("wrong use of 'cupilot " + First + "'",
                   "'cupilot " + First + " --help' shows its options"),
        "cupilot");
  }
  return reportError(Call->run(Trailing), ("cupilot " + First).str());
}

/// Says so and ends the program; allocates nothing.
static void outOfMemory() {
  static constexpr char Message[] =
      "cupilot: error: out of memory\n"
      "cupilot: note: the input is too large for this machine, or for the "
      "limit that it sets (ulimit -v)\n";
  (void)!::write(STDERR_FILENO, Message, sizeof(Message) - 1);
  ::_exit(static_cast<int>(ExitCode::Resource));
}

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  std::set_new_handler(outOfMemory);
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { outOfMemory(); });
  int Status = runProgram(Argc, Argv);
  outs().flush();
  if (std::error_code EC = outs().error()) {
    outs().clear_error(); // Or its destructor would end the program.
    Status = reportError(
        resourceError("cannot write to standard output: " + EC.message(),
                      "is the disk full?"),
        "cupilot");
  }
  return Status;
}
