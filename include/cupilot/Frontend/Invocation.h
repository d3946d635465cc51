//===- Invocation.h - Clang's frontend in this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_INVOCATION_H
#define CUPILOT_FRONTEND_INVOCATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace clang {
class CompilerInvocation;
class FrontendAction;
} // namespace clang

namespace cupilot {

/// What clang's driver makes of the CUDA source \p File with \p Flags, behind
/// which \p More stands: one frontend's work, so More names the half. Warnings
/// are off. Flags that clang does not take are a usage error.
llvm::Expected<std::shared_ptr<clang::CompilerInvocation>>
cudaInvocation(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
               llvm::ArrayRef<llvm::StringRef> More);

/// Runs \p Action; that it fails is a usage error with clang's diagnostics.
llvm::Error runAction(std::shared_ptr<clang::CompilerInvocation> Invocation,
                      clang::FrontendAction &Action);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_INVOCATION_H
