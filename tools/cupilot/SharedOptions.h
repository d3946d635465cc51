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

namespace cupilot {

/// --only=TEXT, for chooseKernels.
class OnlyOption : public llvm::cl::opt<std::string> {
public:
  explicit OnlyOption(llvm::cl::SubCommand &Sub)
      : opt("only", llvm::cl::sub(Sub), llvm::cl::value_desc("TEXT"),
            llvm::cl::desc("Only kernels whose name holds TEXT")) {}
};

/// --store=DIR, of commands that cannot do without one.
class StoreOption : public llvm::cl::opt<std::string> {
public:
  explicit StoreOption(llvm::cl::SubCommand &Sub)
      : opt("store", llvm::cl::sub(Sub), llvm::cl::init(".cupilot"),
            llvm::cl::value_desc("DIR"),
            llvm::cl::desc("The project store (default .cupilot)")) {}
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_SHAREDOPTIONS_H
