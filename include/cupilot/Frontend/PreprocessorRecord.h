//===- PreprocessorRecord.h - What the preprocessor did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_PREPROCESSORRECORD_H
#define CUPILOT_FRONTEND_PREPROCESSORRECORD_H

#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/DenseMap.h"
#include <string>
#include <vector>

namespace clang {
class MacroInfo;
class Preprocessor;
} // namespace clang

namespace cupilot {

/// An #include that a file of the user, or the command line, makes.
struct IncludeDirective {
  clang::SourceLocation Hash;
  std::string Name;     ///< As it can be written between < and >.
  clang::FileID Target; ///< Invalid when the file was skipped.
};

/// A macro's life: defined once, perhaps undefined.
struct MacroDefinitionRecord {
  std::string Name;
  const clang::MacroInfo *Info = nullptr;
  clang::SourceLocation Undef; ///< Of its name in #undef; invalid if none.
};

/// A macro is expanded or tested at a place in a file.
struct MacroUse {
  clang::SourceLocation At; ///< In a file, never in a macro.
  const clang::MacroInfo *Info = nullptr;
  std::string Name;
};

/// #if and its kin, for balance.
struct ConditionalDirective {
  clang::SourceLocation At;
  enum class Kind { Open, Middle, Close } K = Kind::Open;
};

/// A #pragma or _Pragma.
struct PragmaUse {
  clang::SourceLocation At; ///< May be in a macro for _Pragma.
  bool IsOperator = false;  ///< _Pragma.
};

/// Everything the preprocessor did that slices and identities need.
struct PreprocessorLog {
  std::vector<IncludeDirective> Includes;
  std::vector<MacroDefinitionRecord> Macros; ///< Those not of system headers.
  llvm::DenseMap<const clang::MacroInfo *, unsigned> MacroIndex;
  std::vector<MacroUse> Uses;
  /// The uses of "__LINE__" and the like, by where they are expanded in a file.
  llvm::DenseMap<clang::SourceLocation, std::vector<clang::SourceLocation>>
      FragileUses;
  std::vector<ConditionalDirective> Conditionals;
  std::vector<PragmaUse> Pragmas;
};

/// Makes \p PP write into \p Log, which must outlive it.
void recordPreprocessing(clang::Preprocessor &PP, PreprocessorLog &Log);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_PREPROCESSORRECORD_H
