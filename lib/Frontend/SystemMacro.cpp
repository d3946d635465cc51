//===- SystemMacro.cpp - Tokens that come from system macros -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/SystemMacro.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

bool isFragileMacro(StringRef Name) {
  return llvm::is_contained(
      llvm::ArrayRef<StringRef>(
          {"__LINE__", "__FILE__", "__FILE_NAME__", "__BASE_FILE__", "__DATE__",
           "__TIME__", "__TIMESTAMP__", "__COUNTER__", "__INCLUDE_LEVEL__"}),
      Name);
}

static bool isSystemMacro(const ParsedUnit &Unit, SourceLocation Loc,
                          StringRef Name) {
  SourceLocation Spelled = Unit.SM.getSpellingLoc(Loc);
  if (!Unit.SM.isWrittenInScratchSpace(Spelled))
    return !Unit.isUser(Spelled) && !Unit.isCommandLine(Spelled);
  // Pasted, or made of an argument: ask where the macro is defined.
  const MacroInfo *Info = Unit.PP.getMacroInfo(Unit.PP.getIdentifierInfo(Name));
  return Info && (Info->isBuiltinMacro() ||
                  (!Unit.isUser(Info->getDefinitionLoc()) &&
                   !Unit.isCommandLine(Info->getDefinitionLoc())));
}

SystemMacro systemMacroOf(const ParsedUnit &Unit, SourceLocation Loc) {
  SystemMacro Found;
  while (Loc.isMacroID()) {
    if (Unit.SM.isMacroArgExpansion(Loc)) {
      Loc = Unit.SM.getImmediateSpellingLoc(Loc);
      continue;
    }
    StringRef Name =
        Lexer::getImmediateMacroName(Loc, Unit.SM, Unit.Ctx.getLangOpts());
    SourceLocation Call = Unit.SM.getImmediateExpansionRange(Loc).getBegin();
    if (isSystemMacro(Unit, Loc, Name))
      Found = {Name.str(), Call, isFragileMacro(Name)};
    Loc = Call;
  }
  return Found;
}

} // namespace cupilot
