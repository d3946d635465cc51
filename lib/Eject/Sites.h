//===- Sites.h - Launches in the source, and their edits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EJECT_SITES_H
#define CUPILOT_LIB_EJECT_SITES_H

#include "Text.h"
#include "cupilot/Frontend/Pieces.h"
#include <map>

namespace clang {
class CallExpr;
class DeclRefExpr;
class Expr;
} // namespace clang

namespace cupilot {

/// A launch of a kernel that the compiler knows.
struct SourceLaunch {
  const clang::CallExpr *Call = nullptr;
  const clang::FunctionDecl *Kernel = nullptr;  ///< Or the instance.
  const clang::FunctionDecl *Pattern = nullptr; ///< What the source has of it.
  const clang::DeclRefExpr *Ref = nullptr;      ///< Null: by a constant.
  EjectForm Form = EjectForm::Chevrons;
  bool InTemplate = false; ///< The source has one text for several.
};

/// What stands for \p F in the source: itself, or its template.
const clang::FunctionDecl *sourceOf(const clang::FunctionDecl *F);

/// The launches of a unit, once for each place and kernel.
std::vector<SourceLaunch> launchesIn(ParsedUnit &Unit);

/// Expanded tokens that something else stands for.
struct TokenEdit {
  unsigned Begin = 0, End = 0; ///< Half open, never empty.
  std::string Text;
  bool WithSpace = false; ///< The white space after them goes too.
};

/// How a launch becomes a call.
struct SiteEdits {
  std::vector<TokenEdit> Tokens; ///< In order.
  unsigned Key = 0;              ///< The token that tells where it is written.
};

/// The edits that make \p L, a launch of \p Host's group, a call of the
/// function that chooses. \p Args are the template arguments of the instance.
/// A finding when it cannot become one.
llvm::Expected<SiteEdits>
editsOf(const ParsedUnit &Unit, const PieceTable &Pieces, const SourceLaunch &L,
        const EjectGroup &Group, llvm::StringRef Args);

/// A token's place in a file, and in whose text: a macro's, or the file's own.
struct TokenPlace {
  clang::FileID Level; ///< The expansion that it is of; invalid: the file.
  clang::FileID File;
  unsigned Begin = 0, End = 0;
};
/// Nothing for a token that stands nowhere, as those that ## makes.
std::optional<TokenPlace> placeOf(const ParsedUnit &Unit,
                                  const clang::syntax::Token &T);

/// The edits of a launch whose tokens all stand in one text, \p Key's; nothing
/// when they do not.
std::optional<std::vector<SourceEdit>> editsInPlace(const ParsedUnit &Unit,
                                                    const PieceTable &Pieces,
                                                    const SiteEdits &Site);

/// The outermost macro call that the token \p Key is of, with \p Edits made in
/// the tokens that it makes. A finding when it cannot be written so.
llvm::Expected<SourceEdit> expandedCall(const ParsedUnit &Unit,
                                        const PieceTable &Pieces, unsigned Key,
                                        llvm::ArrayRef<TokenEdit> Edits);

/// The absolute path of \p File; "" if it is none.
std::string pathOf(const ParsedUnit &Unit, clang::FileID File);

} // namespace cupilot

#endif // CUPILOT_LIB_EJECT_SITES_H
