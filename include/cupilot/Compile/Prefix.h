//===- Prefix.h - What the compiler reads before a text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPILE_PREFIX_H
#define CUPILOT_COMPILE_PREFIX_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <optional>
#include <string>

namespace clang {
class CompilerInvocation;
class Decl;
class FrontendAction;
} // namespace clang

namespace cupilot {

/// clang's wrapper of the CUDA run time, which comes before every text and
/// takes most of a parse, as a precompiled header.
struct ParsedPrefix {
  std::string Path;  ///< The name that it goes by; Bytes are what counts.
  std::string Bytes; ///< clang's AST file.
};

/// The prefix that \p Invocation reads, from the machine cache, or parsed now
/// and kept there; if it skips bodies, without those that canSkipBody names.
/// Nothing without a cache, without a wrapper, or when anything goes wrong: a
/// text can always be parsed with all that comes before it.
std::optional<ParsedPrefix>
parsedPrefix(const clang::CompilerInvocation &Invocation);

/// Calls \p Run with the prefix that \p Invocation reads and, where there is
/// none or \p Run returns false, with null: no text fails, and no message is
/// another one, for what was kept. A prefix that alone made it fail goes.
void behindPrefix(const clang::CompilerInvocation &Invocation,
                  llvm::function_ref<bool(const ParsedPrefix *)> Run);

/// Makes \p Invocation begin with \p Prefix, and returns \p Files with the
/// prefix's bytes, which must outlive it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
putBehind(const ParsedPrefix &Prefix, clang::CompilerInvocation &Invocation,
          llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files);

/// Runs \p Action on what \p Invocation names; \p Prefix, if given, stands for
/// what comes before it. Errors are runAction's.
llvm::Error runBehind(const ParsedPrefix *Prefix,
                      const clang::CompilerInvocation &Invocation,
                      clang::FrontendAction &Action);

/// Whether nothing behind the function \p D could tell if its body was parsed:
/// bodies of templates are, since instances have their declarations. clang
/// itself keeps those that decide about values and types.
bool canSkipBody(const clang::Decl &D);

} // namespace cupilot

#endif // CUPILOT_COMPILE_PREFIX_H
