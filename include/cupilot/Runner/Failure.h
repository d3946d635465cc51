//===- Failure.h - What goes wrong while a batch runs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_FAILURE_H
#define CUPILOT_RUNNER_FAILURE_H

#include <stdexcept>
#include <string>

namespace cupilot::runner {

/// Something that went wrong, with a stable word for programs ("timeout",
/// "wrong-arch", ...; docs/Runner.md lists them) and a sentence for people. The
/// runner's code knows no LLVM, hence exceptions; what uses it inside of LLVM
/// code catches them at the border.
class Failure : public std::runtime_error {
public:
  Failure(std::string Reason, const std::string &Message)
      : std::runtime_error(Message), Reason(std::move(Reason)) {}
  const std::string &reason() const { return Reason; }

private:
  std::string Reason;
};

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_FAILURE_H
