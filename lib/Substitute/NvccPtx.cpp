//===- NvccPtx.cpp - Kernels as nvcc's PTX shows them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Ptx/GridWait.h"
#include "cupilot/Ptx/Module.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

/// Makes words and module-level items of what the reader of PTX finds.
class NvccPtxReader {
public:
  explicit NvccPtxReader(NvccPtx &M) : M(M) {}
  Error run();

private:
  Error readTarget(const ptx::Module &Read);
  void readTokens(const ptx::Module &Read);
  void readItem(const ptx::Module &Read, const ptx::Item &Each);
  /// The first token that begins at \p Offset or behind it.
  unsigned tokenAt(size_t Offset) const {
    auto It =
        lower_bound(M.Tokens, Offset, [](const NvccPtx::Token &T, size_t At) {
          return T.Begin < At;
        });
    return static_cast<unsigned>(It - M.Tokens.begin());
  }

  NvccPtx &M;
};

/// What may stand behind ".target" (PTX ISA, "PTX Module Directives: .target").
static bool isTarget(StringRef Word) {
  return Word.starts_with("sm_") || Word.starts_with("compute_") ||
         Word.starts_with("texmode_") || Word == "debug" ||
         Word == "map_f64_to_f32";
}

Error NvccPtxReader::readTarget(const ptx::Module &Read) {
  for (StringRef Word : Read.Target) {
    if (!isTarget(Word))
      return ptxError(
          ptx::diagnosticAt(Read.text(), Word.data() - Read.text().data(),
                            "the target '" + Word.str() + "' is not known"));
    M.TargetLine += (M.TargetLine.empty() ? "" : ",") + Word.str();
  }
  M.Target = Read.Target.front();
  // Of the whole file, as the target is.
  for (const ptx::Item &Each : Read.Items)
    if (const auto *P = Each.as<ptx::Pragma>()) {
      M.TargetLine += " .pragma ";
      M.TargetLine +=
          join(map_range(P->Strings, [](StringRef S) { return S; }), " , ");
    }
  return Error::success();
}

/// All but lines for a debugger.
void NvccPtxReader::readTokens(const ptx::Module &Read) {
  std::vector<ptx::Place> Lines;
  for (const ptx::Item &Each : Read.Items)
    if (const auto *F = Each.as<ptx::Function>())
      for (const ptx::Statement &S : F->Body)
        if (S.as<ptx::Location>())
          Lines.push_back(S.At);
  ptx::Diagnostic Why;
  auto Words = ptx::lex(Read.text(), Why);
  assert(Words && "a module consists of words");
  auto Line = Lines.begin();
  for (const ptx::Token &T : *Words) {
    while (Line != Lines.end() && Line->End <= T.Begin)
      ++Line;
    if (T.Kind == ptx::TokenKind::End ||
        (Line != Lines.end() && T.Begin >= Line->Begin))
      continue;
    StringRef Word = T.in(Read.text());
    bool IsName =
        T.Kind == ptx::TokenKind::Name && Word != "_" && !Word.starts_with("%");
    M.Tokens.push_back({T.Begin, T.End, IsName});
  }
}

void NvccPtxReader::readItem(const ptx::Module &Read, const ptx::Item &Each) {
  using Kind = NvccPtx::Item::Kind;
  NvccPtx::Item Item;
  std::string_view Name;
  if (const auto *F = Each.as<ptx::Function>()) {
    Name = F->Name;
    Item.K = F->IsKernel ? Kind::Kernel : Kind::Function;
    Item.Defined = F->HasBody;
    Item.External = F->Link == ptx::Linkage::Extern;
    Item.Weak = F->Link == ptx::Linkage::Weak;
  } else if (const auto *D = Each.as<ptx::Declaration>()) {
    const ptx::Variable &V = D->Variables.front();
    Name = V.Name;
    Item.K = V.In == ptx::Space::Shared ? Kind::Shared : Kind::Variable;
    Item.External = V.Link == ptx::Linkage::Extern;
  } else if (const auto *A = Each.as<ptx::Alias>()) {
    Name = A->Name;
    Item.External = true; // What an alias stands for is not followed.
  } else {
    return;
  }
  Item.First = tokenAt(Each.At.Begin);
  Item.Last = tokenAt(Each.At.End);
  Item.Name = tokenAt(Name.data() - Read.text().data());
  auto Number = static_cast<unsigned>(M.Items.size());
  M.Items.push_back(Item);
  auto [It, New] = M.Index.try_emplace(Name, Number);
  // Of a declaration and a definition, the latter.
  if (!New && (Item.Defined || !M.Items[It->second].Defined))
    It->second = Number;
  if (Item.K == Kind::Kernel && Item.Defined)
    M.Kernels.emplace_back(Name);
}

Error NvccPtxReader::run() {
  Expected<ptx::Module> Read = readPtx(M.Text);
  if (!Read)
    return Read.takeError();
  if (Error E = readTarget(*Read))
    return E;
  readTokens(*Read);
  for (const ptx::Item &Each : Read->Items)
    readItem(*Read, Each);
  return Error::success();
}

Expected<NvccPtx> NvccPtx::parse(std::string Text) {
  NvccPtx M;
  M.Text = std::move(Text);
  if (Error E = NvccPtxReader(M).run())
    return std::move(E);
  return std::move(M);
}

std::string NvccPtx::sourceName(StringRef Symbol) {
  Symbol = withoutUnitName(Symbol);
  // LLVM's demangler goes down the stack with the name.
  if (Symbol.size() > 8192)
    return Symbol.str();
  std::string Name = demangle(Symbol);
  static const Regex Anonymous("_GLOBAL__N_[A-Za-z0-9_]*");
  for (int I = 0; I < 64 && Anonymous.match(Name); ++I)
    Name = Anonymous.sub("(anonymous namespace)", Name);
  // Static functions, where they are arguments of templates.
  static const Regex Internal("_INTERNAL_[0-9a-f]+_[A-Za-z0-9_]*::");
  for (int I = 0; I < 64 && Internal.match(Name); ++I)
    Name = Internal.sub("", Name);
  return Name;
}

bool NvccPtx::isSameKernel(StringRef A, StringRef B) {
  return A == B || sourceName(A) == sourceName(B);
}

std::string NvccPtx::find(StringRef Symbol) const {
  if (is_contained(Kernels, Symbol))
    return Symbol.str();
  std::string Found, Name = sourceName(Symbol);
  for (const std::string &Kernel : Kernels)
    if (sourceName(Kernel) == Name) {
      if (!Found.empty())
        return "";
      Found = Kernel;
    }
  return Found;
}

KernelIdentity NvccPtx::identify(StringRef Kernel, StringRef Context) const {
  KernelIdentity I;
  I.Symbol = Kernel.str();
  Expected<std::string> Canonical = canonicalText(Kernel, Context);
  if (Canonical)
    I.Digest = digest(*Canonical);
  else
    I.Refusal = noteOf(Canonical.takeError());
  return I;
}

bool NvccPtx::waitsFirst(StringRef Kernel) const {
  Expected<ptx::Module> M = readPtx(Text);
  if (!M) {
    consumeError(M.takeError());
    return false;
  }
  const ptx::Function *F = M->function(Kernel);
  return F && ptx::waitsFirst(*F);
}

std::string
NvccPtx::renamed(ArrayRef<std::pair<std::string, std::string>> Names) const {
  std::string Result;
  unsigned Done = 0;
  for (const Item &I : Items)
    for (const Token &T : ArrayRef(Tokens).slice(I.First, I.Last - I.First)) {
      const auto *Name = T.IsName ? find_if(Names,
                                            [&](const auto &Each) {
                                              return Each.first == spelling(T);
                                            })
                                  : Names.end();
      if (Name == Names.end())
        continue;
      Result += StringRef(Text).slice(Done, T.Begin);
      Result += Name->second;
      Done = T.End;
    }
  Result += StringRef(Text).substr(Done);
  return Result;
}

} // namespace cupilot
