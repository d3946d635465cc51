//===- Invocation.h - Clang's frontend in this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPILE_INVOCATION_H
#define CUPILOT_COMPILE_INVOCATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <string>

namespace clang {
class CompilerInvocation;
class FrontendAction;
} // namespace clang

namespace cupilot {

class Repairs;

/// What clang's driver makes of the CUDA source \p File with \p Flags, behind
/// which \p More stands: one frontend's work, so More names the half. Warnings
/// are off. Flags that clang does not take are a usage error. \p File is looked
/// for in \p Files (the real ones if null).
llvm::Expected<std::shared_ptr<clang::CompilerInvocation>>
cudaInvocation(llvm::StringRef File, llvm::ArrayRef<std::string> Flags,
               llvm::ArrayRef<llvm::StringRef> More,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files = nullptr);

/// Whether \p Include, an -include, comes before every text: clang's wrapper of
/// the CUDA run time, and nvccHeader.
bool isOfEveryText(llvm::StringRef Include);

/// Whether \p Folder, where the command looks for headers, is the toolkit's.
bool isToolkitFolder(llvm::StringRef Folder);

/// Whether \p Definition, "NAME VALUE" or "NAME=VALUE", is of the one macro
/// that clang's driver defines by itself: every compilation has it, and CCCL's
/// types have its value in their names.
bool isMacroOfDriver(llvm::StringRef Definition);

/// Makes \p Unit, a compilation of device code, one of a text that stands alone
/// in the file \p Path, to code that no optimisation has seen. What belongs to
/// the unit's own text and outputs is taken out: inputs, macros, folders and
/// files to include, depfiles, records, plugins. What remains may change the
/// code. What build identities are taken of is compiled so, when a variant is
/// found and in every build. nvccHeader comes before the text in both.
void makeStandAlone(clang::CompilerInvocation &Unit, llvm::StringRef Path);

/// Runs \p Action, reading files through \p Files (the real ones if null); that
/// it fails is a usage error with clang's diagnostics. Errors in functions of
/// the host alone do not count: nvcc may see them otherwise, and whoever builds
/// the unit is told of them. Where the command is nvcc's, \p Mending gets what
/// mends the errors.
llvm::Error
runAction(std::shared_ptr<clang::CompilerInvocation> Invocation,
          clang::FrontendAction &Action,
          llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files = nullptr,
          Repairs *Mending = nullptr);

} // namespace cupilot

#endif // CUPILOT_COMPILE_INVOCATION_H
