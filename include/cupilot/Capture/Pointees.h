//===- Pointees.h - What kernels' pointers point to -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_POINTEES_H
#define CUPILOT_CAPTURE_POINTEES_H

#include "cupilot/Runner/Numbers.h"

namespace cupilot::capture {

/// What a parameter points to, as the mangled name of its kernel says.
struct Pointee {
  runner::NumberKind Numbers; ///< Side by side; those of a vector, too.
  bool Const = false;
};

/// By parameter; nothing for what is no pointer to numbers. Empty where the
/// name tells nothing of parameters.
std::vector<std::optional<Pointee>> pointeesOf(const std::string &Symbol);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_POINTEES_H
