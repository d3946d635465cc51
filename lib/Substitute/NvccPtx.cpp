//===- NvccPtx.cpp - Kernels as nvcc's PTX shows them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

/// Splits the text into tokens and module-level items.
class NvccPtxReader {
public:
  explicit NvccPtxReader(NvccPtx &M) : M(M), Text(M.Text) {}
  Error run();

private:
  Error tokenise();
  Error readItems();
  Error readItem(unsigned &At);
  Error broken(unsigned Offset, const Twine &What) const;
  StringRef word(unsigned Token) const {
    return Token < M.Tokens.size() ? M.spelling(M.Tokens[Token]) : StringRef();
  }
  /// The token after the bracket that closes the one at \p At.
  Expected<unsigned> skipGroup(unsigned At) const;

  NvccPtx &M;
  StringRef Text;
};

Error NvccPtxReader::broken(unsigned Offset, const Twine &What) const {
  return usageError("cannot parse the PTX at line " +
                    Twine(Text.take_front(Offset).count('\n') + 1) + ": " +
                    What);
}

static bool isWordCharacter(char C) {
  return isAlnum(C) || C == '_' || C == '$' || C == '.' || C == '%';
}

Error NvccPtxReader::tokenise() {
  size_t At = 0, Size = Text.size();
  auto EndOfLine = [&](size_t From) {
    size_t End = Text.find('\n', From);
    return End == StringRef::npos ? Size : End;
  };
  while (At < Size) {
    char C = Text[At];
    if (isSpace(C)) {
      ++At;
      continue;
    }
    StringRef Rest = Text.substr(At);
    if (Rest.starts_with("//")) {
      At = EndOfLine(At);
      continue;
    }
    if (Rest.starts_with("/*")) {
      size_t End = Text.find("*/", At + 2);
      if (End == StringRef::npos)
        return broken(At, "unterminated comment");
      At = End + 2;
      continue;
    }
    size_t End = At + 1;
    if (C == '"') {
      while (End < Size && Text[End] != '"' && Text[End] != '\n')
        End += Text[End] == '\\' ? 2 : 1;
      if (End >= Size || Text[End] != '"')
        return broken(At, "unterminated string");
      ++End;
    } else if (isWordCharacter(C)) {
      while (End < Size && isWordCharacter(Text[End]))
        ++End;
    }
    StringRef Word = Text.slice(At, End);
    // Lines for the debugger end with the line.
    if (Word == ".loc" || Word == ".file") {
      At = EndOfLine(At);
      continue;
    }
    bool IsName = isAlpha(C) || C == '_' || C == '$';
    M.Tokens.push_back({static_cast<unsigned>(At), static_cast<unsigned>(End),
                        IsName && Word != "_"});
    At = End;
  }
  return Error::success();
}

Expected<unsigned> NvccPtxReader::skipGroup(unsigned At) const {
  SmallVector<char> Open;
  for (unsigned I = At; I < M.Tokens.size(); ++I) {
    StringRef W = word(I);
    if (W == "(" || W == "[" || W == "{")
      Open.push_back(W == "(" ? ')' : W == "[" ? ']' : '}');
    else if (W == ")" || W == "]" || W == "}") {
      if (Open.empty() || Open.pop_back_val() != W.front())
        break;
      if (Open.empty())
        return I + 1;
    }
  }
  return broken(M.Tokens[At].Begin, "unclosed bracket");
}

Error NvccPtxReader::readItem(unsigned &At) {
  unsigned First = At;
  NvccPtx::Item Item;
  Item.First = First;
  bool Named = false, Function = false, Shared = false, Ended = false;
  while (At < M.Tokens.size() && !Ended) {
    StringRef W = word(At);
    if (W == ";") {
      Ended = true;
    } else if (W == "(" || W == "[" || W == "{") {
      Item.Defined |= W == "{";
      bool Body = W == "{" && Function;
      Expected<unsigned> After = skipGroup(At);
      if (!After)
        return After.takeError();
      At = *After;
      if (Body)
        break;
      continue;
    } else if (W == ".func" || W == ".entry") {
      if (Named || Function)
        return broken(M.Tokens[At].Begin, "'" + W + "' after a name");
      Function = true;
      Item.Defined = false;
      Item.K = W == ".func" ? NvccPtx::Item::Kind::Function
                            : NvccPtx::Item::Kind::Kernel;
    } else if (W == ".shared") {
      Shared = true;
    } else if (W == ".extern" || W == ".alias") {
      Item.External = true; // What an alias stands for is not followed.
    } else if (!Named && M.Tokens[At].IsName) {
      Item.Name = At;
      Named = true;
    }
    ++At;
  }
  Item.Last = At;
  if (!Named)
    return broken(M.Tokens[First].Begin,
                  "'" + word(First) +
                      "' does not begin a function or a variable");
  if (!Function && Shared)
    Item.K = NvccPtx::Item::Kind::Shared;
  StringRef Name = word(Item.Name);
  auto Number = static_cast<unsigned>(M.Items.size());
  M.Items.push_back(Item);
  auto [It, New] = M.Index.try_emplace(Name, Number);
  // Of a declaration and a definition, the latter.
  if (!New && (Item.Defined || !M.Items[It->second].Defined))
    It->second = Number;
  if (Item.K == NvccPtx::Item::Kind::Kernel && Item.Defined)
    M.Kernels.push_back(Name.str());
  return Error::success();
}

/// What may stand behind ".target" (PTX ISA, "PTX Module Directives: .target").
static bool isTarget(StringRef Word) {
  return Word.starts_with("sm_") || Word.starts_with("compute_") ||
         Word.starts_with("texmode_") || Word == "debug" ||
         Word == "map_f64_to_f32";
}

Error NvccPtxReader::readItems() {
  unsigned At = 0;
  while (At < M.Tokens.size()) {
    StringRef W = word(At);
    if (W == ".version" || W == ".address_size") {
      At += 2;
    } else if (W == ".target") {
      // A list: ".target sm_90, debug".
      do {
        StringRef W = word(++At);
        if (!isTarget(W))
          return broken(M.Tokens[At - 1].Begin,
                        "the target '" + W + "' is not known");
        M.TargetLine += (M.TargetLine.empty() ? "" : ",") + W.str();
        ++At;
      } while (word(At) == ",");
      M.Target = StringRef(M.TargetLine).split(',').first.str();
    } else if (W == ".section") {
      while (At < M.Tokens.size() && word(At) != "{")
        ++At;
      if (At == M.Tokens.size())
        break;
      Expected<unsigned> After = skipGroup(At);
      if (!After)
        return After.takeError();
      At = *After;
    } else if (W == ".pragma") {
      // Of the whole file, as the target is.
      M.TargetLine += " .pragma";
      for (++At; At < M.Tokens.size() && word(At) != ";"; ++At)
        if (StringRef W = word(At); W == "," || W.starts_with("\""))
          M.TargetLine += " " + W.str();
        else
          return broken(M.Tokens[At].Begin,
                        "the argument of a pragma is not a string");
    } else if (W == ";") {
      ++At;
    } else if (Error E = readItem(At)) {
      return E;
    }
  }
  if (M.Target.empty())
    return usageError("cannot parse the PTX: it has no .target");
  return Error::success();
}

Error NvccPtxReader::run() {
  if (Error E = tokenise())
    return E;
  return readItems();
}

Expected<NvccPtx> NvccPtx::parse(std::string Text) {
  NvccPtx M;
  M.Text = std::move(Text);
  if (Error E = NvccPtxReader(M).run())
    return std::move(E);
  return std::move(M);
}

std::string NvccPtx::sourceName(StringRef Symbol) {
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
