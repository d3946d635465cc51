//===- SharedOptions.h - Options of several commands -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_SHAREDOPTIONS_H
#define CUPILOT_TOOLS_CUPILOT_SHAREDOPTIONS_H

#include "Command.h"
#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Support/Error.h"

namespace cupilot {

/// F.cu, the source that a command is about.
class SourceOption : public llvm::cl::opt<std::string> {
public:
  explicit SourceOption(llvm::cl::SubCommand &Sub,
                        llvm::StringRef Value = "F.cu",
                        llvm::StringRef What = "The CUDA source")
      : opt(llvm::cl::Positional, llvm::cl::Required, llvm::cl::sub(Sub),
            llvm::cl::value_desc(Value), llvm::cl::desc(What)) {}
};

/// --only=TEXT, for chooseKernels.
class OnlyOption : public llvm::cl::opt<std::string> {
public:
  explicit OnlyOption(
      llvm::cl::SubCommand &Sub,
      llvm::cl::OptionCategory &Group = llvm::cl::getGeneralCategory())
      : opt("only", llvm::cl::sub(Sub), llvm::cl::cat(Group),
            llvm::cl::value_desc("TEXT"),
            llvm::cl::desc("Only kernels whose name contains TEXT")) {}
};

/// --store=DIR, of commands that cannot do without one.
class StoreOption : public llvm::cl::opt<std::string> {
public:
  explicit StoreOption(
      llvm::cl::SubCommand &Sub,
      llvm::cl::OptionCategory &Group = llvm::cl::getGeneralCategory())
      : opt("store", llvm::cl::sub(Sub), llvm::cl::cat(Group),
            llvm::cl::init(".cupilot"), llvm::cl::value_desc("DIR"),
            llvm::cl::desc("The project store (default .cupilot)")) {}
};

/// --compile-timeout=SECONDS, for ProcessLimits.
class CompileTimeoutOption : public llvm::cl::opt<unsigned> {
public:
  CompileTimeoutOption(llvm::cl::SubCommand &Sub, llvm::cl::OptionCategory &In)
      : opt("compile-timeout", llvm::cl::sub(Sub), llvm::cl::cat(In),
            llvm::cl::init(ProcessLimits().CpuSeconds),
            llvm::cl::value_desc("SECONDS"),
            llvm::cl::desc("Processor time that the compiler may take for a "
                           "variant's text (default 60)")) {}

  /// 0 is a usage error.
  llvm::Expected<ProcessLimits> limits() const {
    if (getValue() == 0 || getValue() > 100000)
      return usageError("--compile-timeout must be between 1 and 100000");
    return ProcessLimits{getValue()};
  }
};

/// --large-mb=N: launches beyond the gate's, on a GPU.
class LargeLaunchOption : public llvm::cl::opt<uint64_t> {
public:
  explicit LargeLaunchOption(
      llvm::cl::SubCommand &Sub,
      llvm::cl::OptionCategory &In = llvm::cl::getGeneralCategory())
      : opt("large-mb", llvm::cl::sub(Sub), llvm::cl::cat(In),
            llvm::cl::init(UsualLargeBytes >> 20), llvm::cl::value_desc("N"),
            llvm::cl::desc("With a GPU: compare variants that are about to be "
                           "kept on larger launches than the gate runs, each "
                           "with up to N megabytes of buffers (default 1024; "
                           "0: none)")) {}
  uint64_t bytes() const {
    return std::min(getValue(), UINT64_MAX >> 20) << 20;
  }
};

/// --contract=CONTRACT, for granted().
class ContractOption : public llvm::cl::opt<std::string> {
public:
  explicit ContractOption(
      llvm::cl::SubCommand &Sub,
      llvm::cl::OptionCategory &Group = llvm::cl::getGeneralCategory())
      : opt("contract", llvm::cl::sub(Sub), llvm::cl::cat(Group),
            llvm::cl::value_desc("exact|same|relaxed(R)|relaxed(R, N)"),
            llvm::cl::desc("How exact variants must be (default same; "
                           "docs/Gate.md)")) {}

  /// The contract that was named; none for the kernels' own. Another text is a
  /// usage error.
  llvm::Expected<std::optional<PrecisionContract>> granted() const {
    if (getValue().empty())
      return std::nullopt;
    return parseContract(getValue());
  }
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_SHAREDOPTIONS_H
