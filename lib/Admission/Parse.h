//===- Parse.h - Texts as the admission parses them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_ADMISSION_PARSE_H
#define CUPILOT_LIB_ADMISSION_PARSE_H

#include "cupilot/Admission/Admission.h"
#include "cupilot/Compile/Prefix.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInvocation.h"
#include <memory>
#include <string>
#include <vector>

namespace cupilot {

/// How texts are called while they are compiled: no file of the machine.
inline constexpr llvm::StringLiteral TextPath = "/cupilot/variant.cu";

/// clang's command for the text \p Text, with admit's \p Flags.
llvm::Expected<std::shared_ptr<clang::CompilerInvocation>>
textInvocation(llvm::ArrayRef<std::string> Flags, llvm::StringRef Text);

/// Parses \p Text, for which \p Invocation was made, and judges it as admit
/// does. \p Prefix, if given, stands for what comes before it; the verdict must
/// be the same.
llvm::Expected<std::vector<AdmissionFinding>>
judgeText(const clang::CompilerInvocation &Invocation, llvm::StringRef Text,
          const ParsedPrefix *Prefix, std::vector<std::string> *Constants,
          const OriginalCode *Original = nullptr);

/// Gives \p Names the qualified names of device variables that are constants of
/// the language, in the text and in what it includes.
std::unique_ptr<clang::ASTConsumer>
createConstantsConsumer(std::vector<std::string> &Names);

} // namespace cupilot

#endif // CUPILOT_LIB_ADMISSION_PARSE_H
