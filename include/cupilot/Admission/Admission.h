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

namespace llvm {
class Module;
} // namespace llvm

namespace cupilot {

/// Raised with every change of the rules: verdicts are kept in caches.
constexpr unsigned AdmissionVersion = 6;

/// One rule that a variant's text breaks.
struct AdmissionFinding {
  /// Stable word: "host-function", "host-variable", "dynamic-init", "state",
  /// "include", "embed", "pragma", "file-asm", "asm", "attribute", "launch",
  /// "environment", "conditional", "macro", "line", "timing", "extern", "size",
  /// "spelling", "nesting", "overload", "device-memory", "output".
  std::string Rule;
  unsigned Line = 0;
  std::string Message; ///< What and why, in a sentence.
};

/// What of an original's device code its variants may have too.
struct OriginalCode {
  /// Variables that are no constants, by symbol or by qualified name.
  std::vector<std::string> Variables;
  bool Prints = false;

  static OriginalCode of(const llvm::Module &M);
  /// The same of bitcode; what cannot be read is a usage error.
  static llvm::Expected<OriginalCode> ofBitcode(llvm::StringRef Bitcode);
};

/// A device variable of a text.
struct TextVariable {
  std::string Symbol, Name; ///< Mangled, qualified.
  unsigned Line = 0;
  uint64_t Bytes = 0;
};

/// What the rules must know beside the text.
struct AdmissionOptions {
  /// Null: nobody knows; what depends on it is admitted.
  const OriginalCode *Original = nullptr;
  /// Gets the text's device variables and, where it prints, the first line that
  /// does.
  std::vector<TextVariable> *Variables = nullptr;
  unsigned *PrintLine = nullptr;
};

/// What can be said of \p Text before a compiler opens anything for it: its
/// length, its bytes, directives, nesting. A text with findings is not to be
/// compiled. \p Folder, if given, is where another compiler will look for what
/// the text includes in quotes.
std::vector<AdmissionFinding> checkText(llvm::StringRef Text,
                                        llvm::StringRef Folder = "");

/// Collects findings while \p CI parses a variant: installs preprocessor
/// callbacks (includes, pragmas, #embed) and returns a consumer that looks at
/// every declaration of the main file. Serves `admit` and the plugin's own
/// compilation of variants, so that nothing is parsed twice. A text beyond the
/// limits of nesting ends the runText that it is part of.
std::unique_ptr<clang::ASTConsumer>
createAdmissionConsumer(clang::CompilerInstance &CI,
                        std::vector<AdmissionFinding> &Findings,
                        const AdmissionOptions &Options = {});

/// Parses \p Source for the device with \p Flags, in this process, and returns
/// what breaks a rule (empty: admitted). \p Constants, if given, gets the
/// qualified names of the device variables that are constants of the language:
/// const through and through. \p Folder is checkText's. Text that does not
/// parse is a usage error.
llvm::Expected<std::vector<AdmissionFinding>>
admit(llvm::StringRef Source, llvm::ArrayRef<std::string> Flags,
      std::vector<std::string> *Constants = nullptr,
      const OriginalCode *Original = nullptr, llvm::StringRef Folder = "");

} // namespace cupilot

#endif // CUPILOT_ADMISSION_ADMISSION_H
