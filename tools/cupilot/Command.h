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
#include <memory>
#include <string>
#include <vector>

namespace cupilot {

/// What follows "--" on the command line: compiler flags, or a command.
struct TrailingArgs {
  bool Given = false;
  std::vector<std::string> Args;
};

/// Base of a command's options. They are made when the command is the one that
/// was called, so that no other command pays for them.
struct CommandOptions {
  explicit CommandOptions(llvm::cl::SubCommand &Sub) : In(Sub), Sub(Sub) {}

  llvm::cl::sub In; ///< For each option.
  llvm::cl::SubCommand &Sub;
};

/// A subcommand: name, summary, what may follow "--" ("FLAGS"; empty: nothing),
/// the end of its help text, and what it does. One static object per command
/// registers it:
///
///   struct ExtractOptions : CommandOptions {
///     using CommandOptions::CommandOptions;
///     cl::opt<std::string> File{cl::Positional, In, cl::value_desc("F.cu")};
///   };
///   static Error run(const ExtractOptions &O, const TrailingArgs &Flags);
///   static const Command Registered("extract", "Print the kernels ...",
///                                   "FLAGS", Examples, run);
class Command {
public:
  /// The options of one call, and the call itself.
  class Call {
  public:
    virtual ~Call() = default;
    virtual llvm::Error run(const TrailingArgs &Trailing) const = 0;
  };

  template <typename OptionsT>
  Command(llvm::StringRef Name, llvm::StringRef Summary,
          llvm::StringRef Follows, llvm::StringRef Examples,
          llvm::Error (*Run)(const OptionsT &, const TrailingArgs &))
      : Name(Name), Summary(Summary), Follows(Follows), Examples(Examples),
        Make([Run](llvm::cl::SubCommand &Sub) -> std::unique_ptr<Call> {
          return std::make_unique<CallOf<OptionsT>>(Sub, Run);
        }) {
    all().push_back(this);
  }

  const llvm::StringRef Name, Summary, Follows, Examples;
  /// Declares the command's options in \p Sub.
  const std::function<std::unique_ptr<Call>(llvm::cl::SubCommand &Sub)> Make;

  static std::vector<const Command *> &all();

private:
  template <typename OptionsT> class CallOf : public Call {
  public:
    using RunFunction = llvm::Error (*)(const OptionsT &, const TrailingArgs &);
    CallOf(llvm::cl::SubCommand &Sub, RunFunction Run)
        : Options(Sub), Run(Run) {}
    llvm::Error run(const TrailingArgs &Trailing) const override {
      return Run(Options, Trailing);
    }

  private:
    OptionsT Options;
    RunFunction Run;
  };
};

/// Prints the usage, all options of \p Sub by group, and the examples.
void printHelp(const Command &C, llvm::cl::SubCommand &Sub);

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_COMMAND_H
