//===- Attributes.cpp - Attributes that stay inside the kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// clang drops attributes that it does not know, or knows and ignores, before
// there is an AST; nvcc and its host compiler may know them. So names are read
// from the tokens that reach the parser. These are counted here, too: a text of
// a few lines can make macros give the parser any number of them.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "cupilot/Compile/TextFiles.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

static bool isHarmless(StringRef Name) {
  static constexpr llvm::StringLiteral Words =
      " aligned alloc_size always_inline artificial assume assume_aligned "
      "block_size carries_dependency cluster_dims cold const constant "
      "convergent deprecated device ext_vector_type fallthrough flatten "
      "forceinline global gnu_inline grid_constant host hot "
      "launch_bounds leaf lifetimebound likely local_maxnreg maxnreg "
      "may_alias maybe_unused mode no_unique_address nodiscard noinline "
      "nonnull noreturn nothrow nv_pure packed pure returns_nonnull "
      "shared unavailable unlikely unused vector_size warn_unused_result ";
  return Words.contains((" " + Name + " ").str());
}

namespace {
/// Follows __attribute__((name(...), name)) and [[scope::name(...), name]].
class AttributeWatcher {
public:
  explicit AttributeWatcher(AdmissionState &S) : S(S) {}
  void operator()(const Token &T) {
    if (!S.Nesting.admits(T.getKind(), T.getLocation().isMacroID())) {
      if (!std::exchange(Beyond, true))
        S.add("nesting", T.getLocation(), nestingMessage().str());
      stopText();
    }
    if (T.isAnnotation())
      return;
    switch (Where) {
    case Place::Code:
      if (T.is(tok::kw___attribute)) {
        Where = Place::Gnu;
        Depth = 0;
      } else if (T.is(tok::kw___declspec)) {
        report("__declspec", T.getLocation());
      } else if (T.is(tok::l_square) && Last == tok::l_square) {
        Where = Place::Square;
        Depth = 0;
        NameNext = true;
      }
      break;
    case Place::Gnu:
      gnu(T);
      break;
    case Place::Square:
      square(T);
      break;
    }
    Last = T.getKind();
  }

private:
  enum class Place { Code, Gnu, Square };

  void gnu(const Token &T) {
    if (T.is(tok::l_paren)) {
      NameNext = ++Depth == 2;
    } else if (T.is(tok::r_paren)) {
      if (--Depth <= 0)
        Where = Place::Code;
    } else if (Depth == 2 && T.is(tok::comma)) {
      NameNext = true;
    } else if (Depth == 2 && NameNext) {
      NameNext = false;
      name(T);
    } else if (Depth == 0) {
      Where = Place::Code;
    }
  }

  void square(const Token &T) {
    if (T.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      ++Depth;
    } else if (T.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) {
      if (--Depth < 0) {
        flush();
        Where = Place::Code;
        Last = tok::unknown;
      }
    } else if (Depth > 0) {
      return;
    } else if (T.isOneOf(tok::comma, tok::colon)) {
      // "using gnu:" names no attribute.
      if (T.is(tok::comma))
        flush();
      Pending.clear();
      NameNext = true;
    } else if (T.is(tok::coloncolon)) {
      NameNext = true;
    } else if (NameNext && T.getIdentifierInfo() && T.isNot(tok::kw_using)) {
      Pending = T.getIdentifierInfo()->getName().str();
      PendingAt = T.getLocation();
      NameNext = false;
    }
  }
  void flush() {
    if (!Pending.empty())
      report(Pending, PendingAt);
    Pending.clear();
  }
  void name(const Token &T) {
    if (const IdentifierInfo *II = T.getIdentifierInfo())
      report(II->getName(), T.getLocation());
  }
  void report(StringRef Name, SourceLocation At) {
    if (!S.own(At))
      return;
    StringRef Plain = Name;
    if (Plain.size() > 4 && Plain.starts_with("__") && Plain.ends_with("__"))
      Plain = Plain.drop_front(2).drop_back(2);
    if (!isHarmless(Plain))
      S.add("attribute", At,
            "the attribute '" + Name.str() +
                "' is not on the list of those that stay inside of the kernel");
  }

  AdmissionState &S;
  Place Where = Place::Code;
  int Depth = 0;
  bool NameNext = false;
  bool Beyond = false; ///< The limits of nesting.
  std::string Pending;
  SourceLocation PendingAt;
  tok::TokenKind Last = tok::unknown;
};
} // namespace

void watchAttributes(AdmissionState &S) {
  S.PP.setTokenWatcher(AttributeWatcher(S));
}

} // namespace cupilot
