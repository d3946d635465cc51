//===- SourceIdentity.cpp - The source identity of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceIdentity.h"
#include "Lambdas.h"
#include "SliceCuts.h"
#include "SliceWriter.h"
#include "cupilot/Frontend/SystemMacro.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/Digest.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace cupilot {

namespace {
/// Writes tokens so that only their meaning counts.
class TokenWriter {
public:
  TokenWriter(const ParsedUnit &Unit, SourceIdentity &Identity)
      : Unit(Unit), SM(Unit.SM), Identity(Identity) {}

  void add(const syntax::Token &T) {
    SystemMacro Macro = systemMacroOf(Unit, T.location());
    if (Macro.Name.empty()) {
      Last = SourceLocation();
      Text += T.text(SM).str() + "\n";
    } else if (Macro.Call != Last) {
      Last = Macro.Call;
      Text += "macro " + Macro.Name + "\n";
    }
    // The others stand in slices with the value that they have in the unit.
    bool IsTime =
        StringRef(Macro.Name).contains("TIME") || Macro.Name == "__DATE__";
    if (Macro.IsFragile && IsTime && Identity.FragileMacro.empty()) {
      Identity.FragileMacro = Macro.Name;
      Identity.FragileAt = Unit.at(T.location());
    }
  }
  void add(StringRef Plain) { Text += (Plain + "\n").str(); }
  std::string take() { return std::exchange(Text, std::string()); }

private:
  const ParsedUnit &Unit;
  const SourceManager &SM;
  SourceIdentity &Identity;
  std::string Text;
  SourceLocation Last;
};
} // namespace

SourceIdentity identifySource(StringRef Name, const PrecisionContract &Contract,
                              const ParsedUnit &Unit, const Closure &C,
                              const PieceTable &Pieces,
                              const KernelLambdas &Lambdas) {
  SourceIdentity Identity;
  TokenWriter Writer(Unit, Identity);
  std::set<std::string> Parts = C.meanings();
  for (unsigned I : C.pieces()) {
    const Piece &P = Pieces.pieces()[I];
    for (const Decl *D : P.Context) {
      const auto *Namespace = dyn_cast<NamespaceDecl>(D);
      Writer.add(Namespace ? "namespace " + Namespace->getNameAsString()
                           : std::string("extern \"C\""));
    }
    std::vector<Cut> Cuts = cutsOf(P, C, Pieces);
    unsigned Next = 0;
    for (unsigned T = P.Range.Begin; T < P.Range.End; ++T) {
      if (Next < Cuts.size() && T == Cuts[Next].Range.Begin) {
        if (!Cuts[Next].Instead.empty())
          Writer.add(Cuts[Next].Instead);
        T = Cuts[Next++].Range.End - 1;
        continue;
      }
      Writer.add(Pieces.token(T));
    }
    for (const std::string &Pragma : pragmasInside(Unit, Pieces, P))
      Writer.add(Pragma);
    Parts.insert(digest(Writer.take()));
  }
  if (!Lambdas.empty())
    for (TokenRange Range : rangesOf(Lambdas, Pieces)) {
      for (unsigned T = Range.Begin; T < Range.End; ++T)
        Writer.add(Pieces.token(T));
      Parts.insert(digest(Writer.take()));
    }
  for (const VarDecl *V : Lambdas.Locals)
    if (const clang::Expr *Init = constantOf(V))
      if (const APValue *Value = V->evaluateValue())
        Parts.insert("constant " + V->getNameAsString() + " " +
                     Value->getAsString(Unit.Ctx, Init->getType()));
  // Whether other code writes a variable decides whether it can be folded.
  for (const VarDecl *V : C.hostVariables())
    Parts.insert("host writes " + describe(V));
  for (const VarDecl *V : C.sharedVariables())
    Parts.insert("unit writes " + describe(V));
  DigestBuilder All;
  All.add("cupilot source identity 1").add(Name);
  All.add(static_cast<uint64_t>(Contract.K));
  if (Contract.K == PrecisionContract::Kind::Relaxed)
    All.add(contractText(Contract));
  All.add(Unit.macroValue("CUDART_VERSION"));
  if (C.usesStandardLibrary())
    All.add(Unit.macroValue("__GLIBCXX__") +
            Unit.macroValue("_LIBCPP_VERSION"));
  for (const std::string &Pragma : pragmasAround(Unit, Pieces, C))
    All.add(Pragma);
  for (const std::string &Part : Parts)
    All.add(Part);
  Identity.Digest = All.str();
  return Identity;
}

} // namespace cupilot
