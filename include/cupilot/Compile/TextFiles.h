//===- TextFiles.h - What a text of somebody else's may see -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPILE_TEXTFILES_H
#define CUPILOT_COMPILE_TEXTFILES_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>

namespace clang {
class CompilerInvocation;
class FrontendAction;
} // namespace clang

namespace cupilot {

struct ParsedPrefix;

/// \p Below as the text that \p Invocation compiles may see it: regular files
/// in the folders where the compiler's command looks for headers, which are the
/// toolkit's and the compiler's, and the files that the command itself names.
/// Nothing else is there: links and ".." are followed before it is decided,
/// devices and pipes are never opened.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
toolkitFiles(const clang::CompilerInvocation &Invocation,
             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Below);

/// \p Files and a file \p Path with the content \p Text. Both must outlive it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
withText(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,
         llvm::StringRef Path, llvm::StringRef Text);

/// Runs \p Work with a stack that no admitted text fills; false if it crashed,
/// which ends the work and not the process. What it used is then in no state to
/// be destroyed.
bool runGuarded(llvm::function_ref<void()> Work);

/// How clang came through a text. After Crashed and Stopped, what the action
/// used (contexts, modules) is in no state to be destroyed.
enum class TextRun { Done, Failed, Crashed, Stopped };

/// Runs \p Action on \p Text, which \p Invocation names \p Path: in memory,
/// with nothing to see of \p Below but toolkitFiles. \p Prefix, if given,
/// stands for what comes before it. A crash of clang ends the run, not the
/// process. \p Said gets clang's errors, with no line of another file in them.
TextRun runText(const clang::CompilerInvocation &Invocation,
                llvm::StringRef Path, llvm::StringRef Text,
                const ParsedPrefix *Prefix, clang::FrontendAction &Action,
                std::string &Said,
                llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Below =
                    llvm::vfs::getRealFileSystem());

/// Ends the runText that the caller is part of, as Stopped; returns where there
/// is none.
void stopText();

} // namespace cupilot

#endif // CUPILOT_COMPILE_TEXTFILES_H
