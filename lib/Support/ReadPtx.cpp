//===- ReadPtx.cpp - PTX, with errors for users -----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/ReadPtx.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

Error ptxError(const ptx::Diagnostic &Why) {
  std::string Where;
  if (!Why.Function.empty())
    Where = " (in '" + Why.Function + "'" +
            (Why.Statement.empty() ? "" : ", at '" + Why.Statement + "'") + ")";
  return usageError("cannot parse the PTX at line " + Twine(Why.Line) +
                    ", column " + Twine(Why.Column) + ": " + Why.Message +
                    Where);
}

Expected<ptx::Module> readPtx(std::string Text) {
  ptx::Diagnostic Why;
  if (std::optional<ptx::Module> M = ptx::readModule(std::move(Text), Why))
    return std::move(*M);
  return ptxError(Why);
}

} // namespace cupilot
