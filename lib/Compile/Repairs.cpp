//===- Repairs.cpp - Forms that nvcc takes and clang does not -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Repairs.h"
#include "clang/AST/Type.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticAST.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Lexer.h"

using namespace clang;
using namespace llvm;

namespace cupilot {

/// Errors hide others, so that one parse does not show all.
static constexpr unsigned MostRounds = 16;

namespace {
struct Place {
  FileID File;
  unsigned Offset;
};

/// A range of a file's bytes and the text for it.
struct Wanted {
  Place At;
  unsigned Length;
  std::string Text;
};

class Repairer {
public:
  Repairer(const Diagnostic &Info, const CompilerInstance &CI)
      : Info(Info), SM(Info.getSourceManager()), LO(CI.getLangOpts()) {}
  std::optional<Wanted> repair() const;

private:
  SourceLocation loc() const { return SM.getSpellingLoc(Info.getLocation()); }
  std::optional<Wanted> insert(SourceLocation Loc, std::string Text) const {
    auto [File, Offset] = SM.getDecomposedLoc(Loc);
    return Wanted{{File, Offset}, 0, std::move(Text)};
  }
  std::optional<Wanted> percent() const;
  std::optional<Wanted> comma() const;
  std::optional<Wanted> typeOfBraces() const;
  std::optional<Wanted> primaryTemplate() const;

  const Diagnostic &Info;
  const SourceManager &SM;
  const LangOptions &LO;
};
} // namespace

/// asm("mov.u32 %0, %laneid;" : ...): nvcc leaves alone what is no operand.
/// clang's place is behind the sign and what may be an operand's modifier.
std::optional<Wanted> Repairer::percent() const {
  const char *At = SM.getCharacterData(loc());
  unsigned Offset = SM.getFileOffset(loc());
  for (unsigned Back = 0; Back <= 2 && Back <= Offset; ++Back)
    if (At[-int(Back)] == '%')
      return insert(loc().getLocWithOffset(-int(Back)), "%");
  return std::nullopt;
}

/// asm("..." :: "r"(a) "l"(b)): nvcc's parser does without the comma.
std::optional<Wanted> Repairer::comma() const {
  if (Info.getArgKind(0) != DiagnosticsEngine::ak_tokenkind ||
      tok::TokenKind(Info.getRawArg(0)) != tok::r_paren)
    return std::nullopt;
  Token At;
  if (Lexer::getRawToken(loc(), At, SM, LO) || At.isNot(tok::string_literal))
    return std::nullopt;
  std::optional<Token> Before = Lexer::findPreviousToken(loc(), SM, LO, false),
                       Behind = Lexer::findNextToken(loc(), SM, LO);
  if (!Before || Before->isNot(tok::r_paren) || !Behind ||
      Behind->isNot(tok::l_paren))
    return std::nullopt;
  return insert(loc(), ", ");
}

/// x = {a, b} of __half2 and __nv_bfloat162, which have an operator for the
/// type and one for its bits: nvcc takes the type.
std::optional<Wanted> Repairer::typeOfBraces() const {
  if (Info.getArgKind(1) != DiagnosticsEngine::ak_qualtype)
    return std::nullopt;
  std::optional<Token> Behind = Lexer::findNextToken(loc(), SM, LO);
  if (!Behind || Behind->isNot(tok::l_brace))
    return std::nullopt;
  QualType Type =
      QualType::getFromOpaquePtr(reinterpret_cast<void *>(Info.getRawArg(1)));
  PrintingPolicy Policy(LO);
  return insert(Behind->getLocation(), Type.getNonReferenceType()
                                           .getUnqualifiedType()
                                           .getCanonicalType()
                                           .getAsString(Policy));
}

/// template <class T> void f<T>(...) {}: to nvcc, the template itself.
std::optional<Wanted> Repairer::primaryTemplate() const {
  if (Info.getRanges().empty())
    return std::nullopt;
  CharSourceRange Range = Info.getRange(0);
  SourceLocation Begin = Range.getBegin(), End = Range.getEnd();
  if (Begin.isMacroID() || End.isMacroID())
    return std::nullopt;
  if (Range.isTokenRange())
    End = End.getLocWithOffset(Lexer::MeasureTokenLength(End, SM, LO));
  auto [File, From] = SM.getDecomposedLoc(Begin);
  auto [EndFile, To] = SM.getDecomposedLoc(End);
  if (File != EndFile || To <= From || *SM.getCharacterData(Begin) != '<')
    return std::nullopt;
  return Wanted{{File, From}, To - From, ""};
}

std::optional<Wanted> Repairer::repair() const {
  if (Info.getLocation().isInvalid())
    return std::nullopt;
  switch (Info.getID()) {
  case diag::err_asm_invalid_escape:
    return percent();
  case diag::err_expected:
    return comma();
  case diag::err_ovl_ambiguous_oper_binary:
    return typeOfBraces();
  case diag::err_function_template_partial_spec:
    return primaryTemplate();
  default:
    return std::nullopt;
  }
}

void Repairs::note(const Diagnostic &Info, const CompilerInstance &CI) {
  if (!Info.hasSourceManager())
    return;
  std::optional<Wanted> Change = Repairer(Info, CI).repair();
  if (!Change)
    return;
  const SourceManager &SM = Info.getSourceManager();
  OptionalFileEntryRef Entry = SM.getFileEntryRefForID(Change->At.File);
  std::optional<StringRef> Text = SM.getBufferDataOrNone(Change->At.File);
  // Headers of the system are as nvcc's.
  if (!Entry || !Text ||
      SrcMgr::isSystem(
          SM.getFileCharacteristic(SM.getLocForStartOfFile(Change->At.File))))
    return;
  ChangedFile &File = Files[Entry->getUniqueID()];
  if (!File.Text)
    File.Text = std::make_shared<const std::string>(Text->str());
  File.Noted.push_back({Change->At.Offset, Change->Length, Change->Text});
}

bool Repairs::apply() {
  bool Changed = false;
  for (auto &[Id, File] : Files) {
    // From the end, so that offsets hold. An instance repeats its template's.
    sort(File.Noted,
         [](const Change &A, const Change &B) { return A.Offset > B.Offset; });
    std::string Text = *File.Text;
    unsigned Last = ~0u;
    for (const Change &C : File.Noted) {
      if (C.Offset + C.Length > Last || C.Offset == Last ||
          C.Offset + C.Length > Text.size())
        continue;
      Text.replace(C.Offset, C.Length, C.Text);
      Last = C.Offset;
      Changed = true;
    }
    File.Noted.clear();
    File.Text = std::make_shared<const std::string>(std::move(Text));
  }
  return Changed && ++Rounds <= MostRounds;
}

namespace {
/// A file with another text. It keeps its name.
class RepairedFile : public vfs::File {
public:
  RepairedFile(std::unique_ptr<vfs::File> Real,
               std::shared_ptr<const std::string> Text)
      : Real(std::move(Real)), Text(std::move(Text)) {}
  ErrorOr<vfs::Status> status() override {
    ErrorOr<vfs::Status> S = Real->status();
    return S ? vfs::Status::copyWithNewSize(*S, Text->size()) : S;
  }
  ErrorOr<std::string> getName() override { return Real->getName(); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name, int64_t,
                                                   bool, bool) override {
    return MemoryBuffer::getMemBufferCopy(*Text, Name);
  }
  std::error_code close() override { return Real->close(); }

private:
  std::unique_ptr<vfs::File> Real;
  std::shared_ptr<const std::string> Text;
};
} // namespace

/// Files are known by what they are, not by one of their names.
class Repairs::Layer : public vfs::ProxyFileSystem {
public:
  Layer(IntrusiveRefCntPtr<vfs::FileSystem> Below, FileMap Files)
      : ProxyFileSystem(std::move(Below)), Files(std::move(Files)) {}

  ErrorOr<vfs::Status> status(const Twine &Path) override {
    ErrorOr<vfs::Status> S = ProxyFileSystem::status(Path);
    const ChangedFile *Changed = S ? changed(*S) : nullptr;
    return Changed ? vfs::Status::copyWithNewSize(*S, Changed->Text->size())
                   : S;
  }
  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    ErrorOr<std::unique_ptr<vfs::File>> Real =
        ProxyFileSystem::openFileForRead(Path);
    if (!Real)
      return Real;
    ErrorOr<vfs::Status> S = (*Real)->status();
    if (const ChangedFile *Changed = S ? changed(*S) : nullptr)
      return std::make_unique<RepairedFile>(std::move(*Real), Changed->Text);
    return Real;
  }

private:
  const ChangedFile *changed(const vfs::Status &S) const {
    auto It = Files.find(S.getUniqueID());
    return It == Files.end() ? nullptr : &It->second;
  }

  FileMap Files;
};

IntrusiveRefCntPtr<vfs::FileSystem>
Repairs::over(IntrusiveRefCntPtr<vfs::FileSystem> Below) const {
  if (Files.empty())
    return Below;
  return makeIntrusiveRefCnt<Layer>(std::move(Below), Files);
}

} // namespace cupilot
