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
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

Command::Command(cl::SubCommand &Sub, StringRef Examples, RunFunction Run)
    : Sub(Sub), Examples(Examples), Run(Run) {
  all().push_back(this);
}

std::vector<Command *> &Command::all() {
  static std::vector<Command *> Commands;
  return Commands;
}

static std::vector<Command *> sortedCommands() {
  std::vector<Command *> Sorted = Command::all();
  llvm::sort(Sorted, [](Command *A, Command *B) {
    return A->Sub.getName() < B->Sub.getName();
  });
  return Sorted;
}

static void printOverview(raw_ostream &OS) {
  OS << "cupilot " CUPILOT_VERSION
        ": feedback-directed kernel evolution for CUDA builds\n\n"
        "usage: cupilot COMMAND [OPTIONS] [-- FLAGS]\n\ncommands:\n";
  for (Command *C : sortedCommands())
    OS << "  " << left_justify(C->Sub.getName(), 12) << C->Sub.getDescription()
       << "\n";
  OS << "\n'cupilot COMMAND --help' tells more, with examples.\n"
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

static void printHelp(Command &C, StringRef Program) {
  outs() << "usage: cupilot " << C.Sub.getName() << " [OPTIONS]";
  for (cl::Option *Option : C.Sub.PositionalOpts)
    outs() << " "
           << (Option->ValueStr.empty() ? StringRef("ARG") : Option->ValueStr);
  outs() << " [-- FLAGS]\n\n" << C.Sub.getDescription() << "\n\noptions:\n";
  SmallVector<std::pair<StringRef, cl::Option *>> Options;
  for (auto &Entry : C.Sub.OptionsMap)
    if (is_contained(Entry.second->Subs, &C.Sub))
      Options.push_back({Entry.first, Entry.second});
  llvm::sort(Options, less_first());
  for (auto &[Name, Option] : Options) {
    std::string Left = (Name.size() == 1 ? "-" : "--") + Name.str();
    if (!Option->ValueStr.empty())
      Left += (Name.size() == 1 ? " " : "=") + Option->ValueStr.str();
    outs() << "  " << left_justify(Left, 28) << " " << Option->HelpStr << "\n";
  }
  outs() << "  " << left_justify("--help", 28) << " Print this text\n";
  if (!C.Examples.empty())
    outs() << "\nexamples:\n" << C.Examples;
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
  auto It = llvm::find_if(
      Command::all(), [&](Command *C) { return C->Sub.getName() == First; });
  if (It == Command::all().end())
    return reportError(usageError("there is no command '" + First + "'",
                                  "'cupilot --help' lists the commands"),
                       "cupilot");
  Command &Chosen = **It;
  for (const char *Arg : Own)
    if (StringRef(Arg) == "--help" || StringRef(Arg) == "-h") {
      printHelp(Chosen, "cupilot");
      return 0;
    }
  hideForeignOptions(Chosen.Sub);
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
  return reportError(Chosen.Run(Trailing), ("cupilot " + First).str());
}

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
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
