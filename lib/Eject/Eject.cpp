//===- Eject.cpp - Variants into the source -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Eject/Eject.h"
#include "Entry.h"
#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/MacroInfo.h"
#include <set>

using namespace clang;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

namespace {
/// Launches that are written at one place.
struct SharedPlace {
  std::set<const FunctionDecl *> Patterns;
  std::vector<const SourceLaunch *> Launches;
};

/// A macro's call that is replaced by what it makes.
struct Expansion {
  unsigned Key = 0;
  std::vector<TokenEdit> Edits;
  std::vector<std::pair<EjectEntry *, const SourceLaunch *>> Launches;
};

class Ejector {
public:
  Ejector(ParsedUnit &Unit, llvm::ArrayRef<std::string> Flags)
      : Unit(Unit), SM(Unit.SM), Flags(Flags), Pieces(Unit) {}
  Error run(llvm::ArrayRef<EjectKernel> All);
  Ejection Result;

private:
  Error addKernel(const EjectKernel &E, const FunctionDecl *F);
  Error findName(EjectEntry &E);
  void findSites();
  void launch(EjectEntry &E, const SourceLaunch &L);
  bool launchesAlways(const TokenPlace &Key, const SharedPlace &Shared) const;
  Error inPlace(EjectEntry &E, const SourceLaunch &L, const SiteEdits &Site);
  Error checkReach(const EjectEntry &E, const SourceLaunch &L) const;
  void reach(EjectEntry &E, const SourceLaunch &L);
  void expand(Expansion &X);
  void finish(EjectEntry &E);
  void include(const EjectEntry &E, const std::string &Header);
  void note(const std::string &Kernel, const llvm::Twine &Why,
            std::string At = "") {
    Result.Notes.push_back({Kernel, std::move(At), Why.str()});
  }
  void note(const EjectEntry &E, const SourceLaunch &L, Error Why) {
    note(E.name(), toString(std::move(Why)) + ": it stays as it is",
         Unit.at(L.Call->getBeginLoc()));
  }

  ParsedUnit &Unit;
  SourceManager &SM;
  llvm::ArrayRef<std::string> Flags;
  PieceTable Pieces;
  std::vector<SourceLaunch> Launches;
  std::vector<std::unique_ptr<EjectEntry>> Entries;
  std::map<const FunctionDecl *, EjectEntry *> ByPattern;
  std::map<std::pair<FileID, unsigned>, SharedPlace> Places;
  std::map<unsigned, std::set<const FunctionDecl *>> ByToken;
  std::map<SourceLocation, Expansion> Expansions;
  std::set<std::string> Names; ///< That were given away.
  std::set<std::pair<FileID, std::string>> Included;
};
} // namespace

static const char Elsewhere[] =
    "the same text launches another kernel elsewhere";

/// Gives the entry a name of its own; a finding when there is none.
Error Ejector::findName(EjectEntry &E) {
  std::string Stem = E.Group.Stem;
  for (unsigned I = 2; !Names.insert(E.Group.Stem).second; ++I)
    E.Group.Stem = Stem + "_" + std::to_string(I);
  std::vector<std::string> Wanted = {E.Group.chooser(), E.Group.launcher(),
                                     E.Group.choice()};
  for (const EjectMember &M : E.Members)
    for (const EjectCode &C : M.Codes)
      Wanted.push_back(ejectNamespace(E.Group, C));
  for (const std::string &Name : Wanted)
    if (Unit.Ctx.Idents.find(Name) != Unit.Ctx.Idents.end())
      return findingError("the source has something called '" + Name + "'");
  return Error::success();
}

Error Ejector::addKernel(const EjectKernel &E, const FunctionDecl *F) {
  if (Error Why = checkKernel(Unit, F)) {
    note(E.K.Name, toString(std::move(Why)));
    return Error::success();
  }
  EjectEntry *&Known = ByPattern[sourceOf(F)];
  if (!Known) {
    Entries.push_back(std::make_unique<EjectEntry>());
    Known = Entries.back().get();
    Known->Group = ejectGroup(Unit, F);
  }
  EjectHost Host = ejectHost(Unit, F, E, Known->Group);
  EjectBodies Bodies(E.K, Flags);
  EjectMember Member;
  for (const EjectVariant &V : E.Variants) {
    Error Refused = checkVariant(Host, V);
    if (!Refused) {
      Expected<EjectCode> Code = Bodies.codeOf(V);
      if (Code) {
        Member.Codes.push_back(std::move(*Code));
        continue;
      }
      Refused = Code.takeError();
    }
    if (Error Failed = absorbFinding(std::move(Refused), [&](StringRef Why) {
          note(E.K.Name, "variant " + V.Name + ": " + Why);
        }))
      return Failed;
  }
  if (Member.Codes.empty())
    return Error::success();
  Known->Hosts.push_back(std::move(Host));
  Known->Members.push_back(std::move(Member));
  return Error::success();
}

/// A finding when the function that chooses cannot be called at \p L.
Error Ejector::checkReach(const EjectEntry &E, const SourceLaunch &L) const {
  SourceLocation Here = SM.getExpansionLoc(L.Call->getBeginLoc());
  if (!Unit.isUser(Here))
    return findingError("the launch is not in a file of the project");
  if (isBefore(Unit, E.Definitions, Here) || isBefore(Unit, E.Before, Here))
    return Error::success();
  return findingError("the launch stands before the kernel's definition");
}

void Ejector::reach(EjectEntry &E, const SourceLaunch &L) {
  E.Declared |=
      !isBefore(Unit, E.Definitions, SM.getExpansionLoc(L.Call->getBeginLoc()));
  E.Forms.insert(L.Form);
  E.Launches.insert(L.Call->getBeginLoc());
}

/// True when each use of the macro whose definition holds \p Key is one of the
/// launches \p Shared: none is in a template that nobody instantiates.
bool Ejector::launchesAlways(const TokenPlace &Key,
                             const SharedPlace &Shared) const {
  SourceLocation At = SM.getComposedLoc(Key.File, Key.Begin);
  std::set<SourceLocation> Known;
  for (const SourceLaunch *L : Shared.Launches) {
    Known.insert(SM.getExpansionLoc(L->Call->getBeginLoc()));
    // In the argument of another macro.
    Known.insert(SM.getFileLoc(L->Call->getBeginLoc()));
  }
  return llvm::all_of(Unit.Log.Uses, [&](const MacroUse &Use) {
    SourceLocation Begin = Use.Info->getDefinitionLoc(),
                   End = Use.Info->getDefinitionEndLoc();
    return SM.getFileID(Begin) != Key.File ||
           SM.isBeforeInTranslationUnit(At, Begin) ||
           SM.isBeforeInTranslationUnit(End, At) || Known.count(Use.At);
  });
}

/// Changes \p L where it is written; a finding when that cannot be.
Error Ejector::inPlace(EjectEntry &E, const SourceLaunch &L,
                       const SiteEdits &Site) {
  static const char Macro[] = "a macro makes the launch";
  auto Edits = editsInPlace(Unit, Pieces, Site);
  if (!Edits)
    return findingError(Macro);
  auto Key = placeOf(Unit, Pieces.token(Site.Key));
  const SharedPlace &Shared = Places[{Key->File, Key->Begin}];
  if (Shared.Patterns.size() > 1)
    return findingError(Key->Level.isValid() ? Macro : Elsewhere);
  if (Key->Level.isValid()) {
    // Units that see the macro must see the function, at each of its uses.
    if ((Key->File != E.Definitions.File && Key->File != SM.getMainFileID()) ||
        !launchesAlways(*Key, Shared))
      return findingError(Macro);
    for (const SourceLaunch *Other : Shared.Launches) {
      Expected<SiteEdits> Same = editsOf(Unit, Pieces, *Other, E.Group,
                                         templateArgumentsOf(Other->Kernel));
      if (!Same)
        return Same.takeError();
      auto There = editsInPlace(Unit, Pieces, *Same);
      if (!There || *There != *Edits)
        return findingError(Macro);
      if (Error Why = checkReach(E, *Other))
        return Why;
    }
  }
  llvm::append_range(E.Sites, *Edits);
  return Error::success();
}

void Ejector::launch(EjectEntry &E, const SourceLaunch &L) {
  if (Error Why = checkReach(E, L))
    return note(E, L, std::move(Why));
  Expected<SiteEdits> Site =
      editsOf(Unit, Pieces, L, E.Group, templateArgumentsOf(L.Kernel));
  if (!Site)
    return note(E, L, Site.takeError());
  if (ByToken[Site->Key].size() > 1)
    return note(E, L, findingError(Elsewhere));
  Error Why = inPlace(E, L, *Site);
  if (!Why)
    return reach(E, L);
  SourceLocation Key = Pieces.token(Site->Key).location();
  if (Key.isFileID())
    return note(E, L, std::move(Why));
  consumeError(std::move(Why));
  Expansion &X = Expansions[SM.getExpansionLoc(Key)];
  X.Key = Site->Key;
  X.Launches.push_back({&E, &L});
  // A template's text comes once for each instance.
  for (const TokenEdit &Edit : Site->Tokens)
    if (llvm::none_of(X.Edits, [&](const TokenEdit &Known) {
          return Known.Begin == Edit.Begin && Known.Text == Edit.Text;
        }))
      X.Edits.push_back(Edit);
}

void Ejector::expand(Expansion &X) {
  llvm::sort(X.Edits, [](const TokenEdit &A, const TokenEdit &B) {
    return A.Begin < B.Begin;
  });
  bool Overlap = false;
  for (size_t I = 1; I < X.Edits.size(); ++I)
    Overlap |= X.Edits[I].Begin < X.Edits[I - 1].End;
  Expected<SourceEdit> Edit = Overlap
                                  ? findingError(Elsewhere)
                                  : expandedCall(Unit, Pieces, X.Key, X.Edits);
  if (Edit) {
    X.Launches.front().first->Sites.push_back(std::move(*Edit));
    for (auto &[E, L] : X.Launches)
      reach(*E, *L);
    return;
  }
  std::string Why = toString(Edit.takeError());
  for (auto &[E, L] : X.Launches)
    note(*E, *L, findingError(Why));
}

void Ejector::findSites() {
  Launches = launchesIn(Unit);
  for (const SourceLaunch &L : Launches) {
    auto It = ByPattern.find(L.Pattern);
    Expected<SiteEdits> Site =
        editsOf(Unit, Pieces, L,
                It == ByPattern.end() ? EjectGroup() : It->second->Group,
                templateArgumentsOf(L.Kernel));
    if (!Site) {
      consumeError(Site.takeError());
      continue;
    }
    ByToken[Site->Key].insert(L.Pattern);
    if (auto Key = placeOf(Unit, Pieces.token(Site->Key))) {
      SharedPlace &Shared = Places[{Key->File, Key->Begin}];
      Shared.Patterns.insert(L.Pattern);
      Shared.Launches.push_back(&L);
    }
  }
  for (const SourceLaunch &L : Launches)
    if (auto It = ByPattern.find(L.Pattern);
        It != ByPattern.end() && !It->second->Members.empty())
      launch(*It->second, L);
  for (auto &[Where, X] : Expansions)
    expand(X);
}

/// Has the file of \p E include \p Header.
void Ejector::include(const EjectEntry &E, const std::string &Header) {
  FileID File = E.Definitions.File;
  if (!Included.insert({File, Header}).second)
    return;
  if (std::optional<unsigned> At = includePlace(Unit, E.Definitions, Header))
    Result.Edits.push_back(
        {pathOf(Unit, File), *At, *At, "#include " + Header + "\n"});
}

void Ejector::finish(EjectEntry &E) {
  if (E.Launches.empty())
    return note(E.name(), "the source has no launch of it that could be "
                          "changed");
  std::vector<EjectForm> Forms(E.Forms.begin(), E.Forms.end());
  std::string Text;
  for (const EjectMember &M : E.Members)
    for (const EjectCode &Code : M.Codes) {
      Text += deviceText(E.Group, Code);
      Ejection::Placed P{M.Host->Of->K.Symbol, Code.V->Name, {}};
      for (const std::string &Name : Code.Kernels)
        P.Functions.push_back(ejectNamespace(E.Group, Code) +
                              "::" + StringRef(Name).split('<').first.str());
      Result.Variants.push_back(std::move(P));
      for (const std::string &Header : Code.Includes)
        include(E, Header);
    }
  Text += chooserText(E.Group, E.Members, Forms, E.Declared);
  auto Insert = [&](const EjectPlace &P, std::string New) {
    if (E.Foreign)
      New = "\nextern \"C++\" {\n" + New + "}\n";
    Result.Edits.push_back(
        {pathOf(Unit, P.File), P.Offset, P.Offset, std::move(New)});
  };
  Insert(E.Definitions, "\n" + Text);
  if (E.Declared) {
    std::string Early = chooserDeclarations(E.Group, E.Members, Forms);
    Insert(E.Before, E.Group.IsMember ? Early + "\n" : "\n" + Early);
  }
  Result.Launches += E.Launches.size();
  llvm::append_range(Result.Edits, E.Sites);
}

Error Ejector::run(llvm::ArrayRef<EjectKernel> All) {
  std::map<std::string, const FunctionDecl *> Kernels;
  for (const FunctionDecl *F : kernelsOf(Unit)) {
    Kernel K;
    describeKernel(Unit, F, K);
    Kernels[K.Symbol] = F;
  }
  for (const EjectKernel &E : All) {
    auto It = Kernels.find(E.K.Symbol);
    if (It == Kernels.end())
      note(E.K.Name, "the source does not define it");
    else if (Error Failed = addKernel(E, It->second))
      return Failed;
  }
  for (std::unique_ptr<EjectEntry> &E : Entries) {
    if (E->Members.empty())
      continue;
    std::set<std::string> Ids;
    for (auto [Host, Member] : llvm::zip_equal(E->Hosts, E->Members)) {
      Member.Host = &Host;
      for (EjectCode &Code : Member.Codes) {
        for (char C : Code.V->Name)
          Code.Id += llvm::isAlnum(C) ? C : '_';
        std::string Id = Code.Id;
        for (unsigned I = 2; !Ids.insert(Code.Id).second; ++I)
          Code.Id = Id + "_" + std::to_string(I);
      }
    }
    Error Why = findName(*E);
    if (!Why && !findPlaces(Unit, Pieces, *E))
      Why = findingError("its definition is not in a file of the project, or a "
                         "macro makes more than it");
    if (Why) {
      note(E->name(), toString(std::move(Why)));
      E->Members.clear();
    }
  }
  findSites();
  for (std::unique_ptr<EjectEntry> &E : Entries)
    if (!E->Members.empty())
      finish(*E);
  llvm::sort(Result.Edits, [](const SourceEdit &A, const SourceEdit &B) {
    return std::tie(A.File, A.Begin, A.End, A.Text) <
           std::tie(B.File, B.Begin, B.End, B.Text);
  });
  // What is written once may be launched from several instances.
  Result.Edits.erase(llvm::unique(Result.Edits), Result.Edits.end());
  for (size_t I = 1; I < Result.Edits.size(); ++I)
    if (Result.Edits[I].File == Result.Edits[I - 1].File &&
        Result.Edits[I].Begin < Result.Edits[I - 1].End)
      return findingError("a launch is a part of another's text");
  return Error::success();
}

Expected<Ejection> ejectVariants(StringRef File,
                                 llvm::ArrayRef<std::string> Flags,
                                 llvm::ArrayRef<EjectKernel> All) {
  Ejection Result;
  Error Failed = withParsedUnit(File, Flags, [&](ParsedUnit &Unit) -> Error {
    Ejector E(Unit, Flags);
    if (Error Why = E.run(All))
      return Why;
    Result = std::move(E.Result);
    return Error::success();
  });
  if (Failed)
    return std::move(Failed);
  return Result;
}

} // namespace cupilot
