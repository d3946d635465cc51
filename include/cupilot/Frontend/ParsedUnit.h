//===- ParsedUnit.h - A translation unit, parsed for the device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_PARSEDUNIT_H
#define CUPILOT_FRONTEND_PARSEDUNIT_H

#include "cupilot/Frontend/PreprocessorRecord.h"
#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class Decl;
class Preprocessor;
class SourceManager;
namespace syntax {
class TokenBuffer;
} // namespace syntax
} // namespace clang

namespace cupilot {

/// A translation unit that is parsed for the device, while it lives.
struct ParsedUnit {
  ParsedUnit(clang::ASTContext &Ctx, clang::Preprocessor &PP,
             clang::syntax::TokenBuffer &Tokens, const PreprocessorLog &Log,
             std::vector<std::string> UserFolders, std::string CudaPath);

  clang::ASTContext &Ctx;
  clang::SourceManager &SM;
  clang::Preprocessor &PP;
  clang::syntax::TokenBuffer &Tokens;
  const PreprocessorLog &Log;

  /// True when the file of \p Loc (of its expansion) is the program's own: not
  /// of the toolkit, the compiler or the standard library.
  bool isUser(clang::SourceLocation Loc) const;
  /// True for macros and includes of the command line.
  bool isCommandLine(clang::SourceLocation Loc) const;
  /// The #include of the user through which the system header of \p Loc came,
  /// or, where variants may not have that, the next inside of it that they may;
  /// null when the compiler itself includes it, and nvcc does, too.
  const IncludeDirective *includeOf(clang::SourceLocation Loc) const;
  /// True when \p Loc is in a header of the CUDA toolkit or the compiler.
  bool isCudaHeader(clang::SourceLocation Loc) const;
  /// "file:line" for people.
  std::string at(clang::SourceLocation Loc) const;
  /// Replacement text of the object-like macro \p Name; "" if undefined.
  std::string macroValue(llvm::StringRef Name) const;

private:
  bool isUserFile(clang::FileID File) const;
  std::vector<std::string> UserFolders;
  std::string CudaInclude;
  mutable llvm::DenseMap<clang::FileID, bool> UserFiles;
  llvm::DenseMap<clang::FileID, unsigned> IncludeTargets;
};

/// \p Flags without what concerns outputs, dependency files, plugins, input
/// language, and architectures: what decides about meaning stays.
std::vector<std::string> parseFlags(llvm::ArrayRef<std::string> Flags);

struct DeviceCode;

/// Parses \p File for the device (first architecture of \p Flags) and calls
/// \p Use. \p Code, if given, gets the unit's device code before optimisation.
/// Text that does not parse is a usage error with the diagnostics.
llvm::Error withParsedUnit(llvm::StringRef File,
                           llvm::ArrayRef<std::string> Flags,
                           llvm::function_ref<llvm::Error(ParsedUnit &)> Use,
                           DeviceCode *Code = nullptr);

/// withParsedUnit for a text of which \p Use asks nothing about the headers:
/// those of CUDA come parsed, from the machine cache.
llvm::Error withParsedText(llvm::StringRef File,
                           llvm::ArrayRef<std::string> Flags,
                           llvm::function_ref<llvm::Error(ParsedUnit &)> Use);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_PARSEDUNIT_H
