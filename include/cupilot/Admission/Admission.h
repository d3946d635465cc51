//===- Admission.h - What a variant's text may hold -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ADMISSION_ADMISSION_H
#define CUPILOT_ADMISSION_ADMISSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace clang {
class ASTConsumer;
class CompilerInstance;
class Preprocessor;
} // namespace clang

namespace cupilot {

/// Raised with every change of the rules: verdicts are kept in caches.
constexpr unsigned AdmissionVersion = 4;

/// One rule that a variant's text breaks.
struct AdmissionFinding {
  /// Stable word: "host-function", "host-variable", "dynamic-init", "state",
  /// "include", "embed", "pragma", "file-asm", "asm", "attribute", "launch",
  /// "environment", "conditional", "macro", "line", "timing", "extern".
  std::string Rule;
  unsigned Line = 0;
  std::string Message; ///< What and why, in a sentence.
};

/// Collects findings while \p CI parses a variant: installs preprocessor
/// callbacks (includes, pragmas, #embed) and returns a consumer that looks at
/// every declaration of the main file. Serves `admit` and the plugin's own
/// compilation of variants, so that nothing is parsed twice.
std::unique_ptr<clang::ASTConsumer>
createAdmissionConsumer(clang::CompilerInstance &CI,
                        std::vector<AdmissionFinding> &Findings);

/// Parses \p Source for the device with \p Flags and returns what breaks a rule
/// (empty: admitted). \p Constants, if given, gets the qualified names of the
/// device variables that are constants of the language: const through and
/// through. Text that does not parse is a usage error.
llvm::Expected<std::vector<AdmissionFinding>>
admit(llvm::StringRef Source, llvm::ArrayRef<std::string> Flags,
      std::vector<std::string> *Constants = nullptr);

} // namespace cupilot

#endif // CUPILOT_ADMISSION_ADMISSION_H
