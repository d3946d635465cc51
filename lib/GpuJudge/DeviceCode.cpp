//===- DeviceCode.cpp - What PTX says of itself -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Ptx/Lexer.h"
#include "cupilot/Ptx/Types.h"
#include "cupilot/Support/ReadPtx.h"

using namespace llvm;

namespace cupilot {

/// The directive that \p Line begins with.
static std::optional<ptx::Directive> directiveIn(StringRef Line) {
  if (!Line.consume_front("."))
    return std::nullopt;
  StringRef Word =
      Line.take_until([](char C) { return C == ' ' || C == '\t'; });
  return ptx::directiveOf(std::string_view(Word));
}

/// The token behind the section that begins at \p I. Sections hold what
/// debuggers read, in braces. Names of functions in there hold the unit's, and
/// that hangs on the folder in which it was compiled.
static size_t behindSection(ArrayRef<ptx::Token> Tokens, StringRef Ptx,
                            size_t I) {
  for (; Tokens[I].Kind != ptx::TokenKind::End; ++I)
    if (Tokens[I].Kind == ptx::TokenKind::Mark && Ptx[Tokens[I].Begin] == '}')
      return I + 1;
  return I;
}

std::string deviceCodeDigest(StringRef Ptx) {
  DigestBuilder Builder;
  ptx::Diagnostic Why;
  auto Tokens = ptx::lex(std::string_view(Ptx), Why);
  // What is no PTX is equal to itself.
  if (!Tokens) {
    Builder.add(Ptx);
    return Builder.str();
  }
  // Lines that hold words, from the first to the last.
  for (size_t I = 0; Tokens->at(I).Kind != ptx::TokenKind::End;) {
    const size_t First = I;
    size_t Begin = Tokens->at(I).Begin, End = Begin;
    size_t Newline = std::min(Ptx.find('\n', Begin), Ptx.size());
    for (; Tokens->at(I).Kind != ptx::TokenKind::End &&
           Tokens->at(I).Begin < Newline;
         ++I)
      End = Tokens->at(I).End;
    const StringRef Line = Ptx.slice(Begin, End);
    const std::optional<ptx::Directive> D = directiveIn(Line);
    if (D == ptx::Directive::Section)
      I = behindSection(*Tokens, Ptx, First);
    else if (D != ptx::Directive::File && D != ptx::Directive::Loc)
      Builder.add(Line);
  }
  return Builder.str();
}

Expected<std::vector<std::string>> kernelsOf(StringRef Ptx) {
  Expected<ptx::Module> M = readPtx(Ptx.str());
  if (!M)
    return M.takeError();
  std::vector<std::string> Symbols;
  for (const ptx::Function *Kernel : M->kernels())
    Symbols.emplace_back(Kernel->Name);
  return Symbols;
}

} // namespace cupilot
