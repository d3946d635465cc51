//===- Print.h - PTX as text ------------------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_PRINT_H
#define CUPILOT_PTX_PRINT_H

#include "cupilot/Ptx/Module.h"
#include <functional>

namespace cupilot::ptx {

struct PrintOptions {
  /// What stands for a name (register, label, variable, function); without it,
  /// the name.
  std::function<std::string(std::string_view)> Rename;
  /// .loc, .file and sections for debuggers.
  bool DebugData = true;
};

/// The module as text that reads to an equal module.
std::string print(const Module &M, const PrintOptions &Options = {});
/// One item, a line for each statement.
std::string print(const Item &I, const PrintOptions &Options = {});
/// One statement, without a line's end.
std::string print(const Statement &S, const PrintOptions &Options = {});

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_PRINT_H
