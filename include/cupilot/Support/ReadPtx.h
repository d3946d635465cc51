//===- ReadPtx.h - PTX, with errors for users -------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_READPTX_H
#define CUPILOT_SUPPORT_READPTX_H

#include "cupilot/Ptx/Module.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// Reads a module. Text that is no PTX is a usage error that names the line.
llvm::Expected<ptx::Module> readPtx(std::string Text);

/// What is wrong with a PTX text, as a usage error.
llvm::Error ptxError(const ptx::Diagnostic &Why);

} // namespace cupilot

#endif // CUPILOT_SUPPORT_READPTX_H
