//===- Prefix.h - What the compiler reads before a text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ADMISSION_PREFIX_H
#define CUPILOT_LIB_ADMISSION_PREFIX_H

#include "cupilot/Admission/Admission.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/DeclBase.h"
#include "clang/Frontend/CompilerInvocation.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// clang's wrapper of the CUDA run time, which comes before every text and
/// takes most of a parse, as a precompiled header.
struct ParsedPrefix {
  std::string Path;  ///< The name that it goes by; Bytes are what counts.
  std::string Bytes; ///< clang's AST file.
};

/// The prefix that \p Invocation reads, from the machine cache, or parsed now
/// and kept there. Nothing without a cache, without a wrapper, or when anything
/// goes wrong: a text can always be parsed with all that comes before it.
std::optional<ParsedPrefix>
parsedPrefix(const clang::CompilerInvocation &Invocation);

/// clang's command for the text in the file \p Path, with admit's \p Flags.
llvm::Expected<std::shared_ptr<clang::CompilerInvocation>>
textInvocation(llvm::ArrayRef<std::string> Flags, const std::string &Path);

/// Parses what \p Invocation names and judges it as admit does. \p Prefix, if
/// given, stands for what comes before it; the verdict must be the same.
llvm::Expected<std::vector<AdmissionFinding>>
judgeText(const clang::CompilerInvocation &Invocation,
          const ParsedPrefix *Prefix, std::vector<std::string> *Constants);

/// Whether nothing behind the function \p D could tell if its body was parsed:
/// bodies of templates are, since instances have their declarations. clang
/// itself keeps those that decide about values and types.
bool canSkipBody(const clang::Decl &D);

/// Gives \p Names the qualified names of device variables that are constants of
/// the language, in the text and in what it includes.
std::unique_ptr<clang::ASTConsumer>
createConstantsConsumer(std::vector<std::string> &Names);

} // namespace cupilot

#endif // CUPILOT_LIB_ADMISSION_PREFIX_H
