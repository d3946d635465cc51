//===- TextFiles.cpp - What a text of somebody else's may see -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Compile/Prefix.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/TextDiagnostic.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;
using llvm::Twine;
namespace vfs = llvm::vfs;

namespace cupilot {

namespace {
class ToolkitFiles
    : public llvm::RTTIExtends<ToolkitFiles, vfs::ProxyFileSystem> {
public:
  static const char ID;
  explicit ToolkitFiles(llvm::IntrusiveRefCntPtr<vfs::FileSystem> Below)
      : RTTIExtends(std::move(Below)) {}

  void show(StringRef Path) {
    std::optional<std::string> Real = realPath(Path);
    if (!Real || *Real == "/")
      return;
    Shown.push_back(std::move(*Real));
    Named.push_back(Path.rtrim('/').str());
  }

  /// A file that clang looks for by its folder, of which nothing else is shown.
  void showInclude(StringRef Path) {
    show(Path);
    Parents.push_back(llvm::sys::path::parent_path(Path).str());
  }

  llvm::ErrorOr<vfs::Status> status(const Twine &Path) override {
    if (isShown(Path) || llvm::is_contained(Parents, Path.str()))
      return visible(ProxyFileSystem::status(Path));
    return hidden();
  }
  bool exists(const Twine &Path) override { return bool(status(Path)); }
  llvm::ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    // A pipe blocks whoever opens it.
    if (auto Status = status(Path); !Status)
      return Status.getError();
    return ProxyFileSystem::openFileForRead(Path);
  }
  vfs::directory_iterator dir_begin(const Twine &Dir,
                                    std::error_code &EC) override {
    if (auto Status = status(Dir);
        !Status || !isShown(Dir) || Dir.str() == ".") {
      EC = hidden();
      return {};
    }
    return ProxyFileSystem::dir_begin(Dir, EC);
  }
  std::error_code getRealPath(const Twine &Path,
                              llvm::SmallVectorImpl<char> &Out) override {
    if (auto Status = status(Path); !Status)
      return Status.getError();
    return ProxyFileSystem::getRealPath(Path, Out);
  }

private:
  static std::error_code hidden() {
    return std::make_error_code(std::errc::no_such_file_or_directory);
  }
  static llvm::ErrorOr<vfs::Status> visible(llvm::ErrorOr<vfs::Status> S) {
    if (S && !S->isRegularFile() && !S->isDirectory())
      return hidden();
    return S;
  }
  std::optional<std::string> realPath(StringRef Path) {
    llvm::SmallString<256> Real;
    if (ProxyFileSystem::getRealPath(Path, Real))
      return std::nullopt;
    return Real.str().str();
  }
  static bool isInside(llvm::ArrayRef<std::string> Roots, StringRef Path) {
    return llvm::any_of(Roots, [&](StringRef Root) {
      StringRef Rest = Path;
      return Rest.consume_front(Root) && (Rest.empty() || Rest[0] == '/');
    });
  }
  /// Many names are looked for, mostly in vain and in few folders.
  bool isShown(const Twine &Path) {
    std::string Name = Path.str();
    // clang counts on it that there is one; nothing in it is shown.
    if (Name == ".")
      return true;
    auto [It, New] = Known.try_emplace(Name, false);
    if (!New)
      return It->second;
    // A toolkit may be a folder of links: without "..", a name in its folders
    // is one that it chose.
    for (StringRef Root : Named)
      if (StringRef Rest = Name; Rest.consume_front(Root) &&
                                 Rest.starts_with("/") && !Rest.contains(".."))
        return It->second = true;
    if (std::optional<std::string> Real = realPath(Name))
      It->second = isInside(Shown, *Real);
    return It->second;
  }

  std::vector<std::string> Named;   ///< Folders and files, as they were named.
  std::vector<std::string> Shown;   ///< Their real paths.
  std::vector<std::string> Parents; ///< Folders that are there, and no more.
  llvm::StringMap<bool> Known;
};
const char ToolkitFiles::ID = 0;

/// clang's diagnostics as text. Of other files' lines only their numbers.
class OwnLines : public TextDiagnostic {
public:
  using TextDiagnostic::TextDiagnostic;

protected:
  void emitCodeContext(FullSourceLoc Loc, DiagnosticsEngine::Level Level,
                       llvm::SmallVectorImpl<CharSourceRange> &Ranges,
                       llvm::ArrayRef<FixItHint> Hints) override {
    if (Loc.isValid() && Loc.getFileID() == Loc.getManager().getMainFileID())
      TextDiagnostic::emitCodeContext(Loc, Level, Ranges, Hints);
  }
};

class TextMessages : public DiagnosticConsumer {
public:
  TextMessages() : Stream(Said) { Options.IgnoreWarnings = true; }
  void BeginSourceFile(const LangOptions &LO, const Preprocessor *PP) override {
    Lines = std::make_unique<OwnLines>(Stream, LO, Options, PP);
  }
  void EndSourceFile() override { Lines.reset(); }
  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    llvm::SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    if (Info.getLocation().isValid() && Lines) {
      Lines->emitDiagnostic(
          FullSourceLoc(Info.getLocation(), Info.getSourceManager()), Level,
          Message, Info.getRanges(), Info.getFixItHints());
      return;
    }
    TextDiagnostic::printDiagnosticLevel(Stream, Level, /*ShowColors=*/false);
    Stream << Message << '\n';
  }
  std::string text() { return Said; }
  DiagnosticOptions Options;

private:
  std::string Said;
  llvm::raw_string_ostream Stream;
  std::unique_ptr<OwnLines> Lines;
};
} // namespace

llvm::IntrusiveRefCntPtr<vfs::FileSystem>
toolkitFiles(const CompilerInvocation &Invocation,
             llvm::IntrusiveRefCntPtr<vfs::FileSystem> Below) {
  auto Files = llvm::makeIntrusiveRefCnt<ToolkitFiles>(std::move(Below));
  const HeaderSearchOptions &Headers = Invocation.getHeaderSearchOpts();
  Files->show(Headers.ResourceDir);
  for (const HeaderSearchOptions::Entry &E : Headers.UserEntries)
    Files->show(!E.IgnoreSysRoot && llvm::sys::path::is_absolute(E.Path) &&
                        Headers.Sysroot != "/"
                    ? Headers.Sysroot + E.Path
                    : E.Path);
  // What the command names is no choice of the text.
  for (const std::string &File : Invocation.getPreprocessorOpts().Includes)
    if (llvm::sys::path::is_absolute(File))
      Files->showInclude(File);
  for (const std::string &File : Headers.VFSOverlayFiles)
    Files->show(File);
  const CodeGenOptions &CodeGen = Invocation.getCodeGenOpts();
  for (const CodeGenOptions::BitcodeFileToLink &File : CodeGen.LinkBitcodeFiles)
    Files->show(File.Filename);
  for (const std::string *File :
       {&CodeGen.ProfileInstrumentUsePath, &CodeGen.SampleProfileFile,
        &CodeGen.ProfileRemappingFile})
    if (!File->empty())
      Files->show(*File);
  const LangOptions &LO = Invocation.getLangOpts();
  for (const auto *Lists : {&LO.NoSanitizeFiles, &LO.ProfileListFiles})
    for (const std::string &File : *Lists)
      Files->show(File);
  return Files;
}

llvm::IntrusiveRefCntPtr<vfs::FileSystem>
withText(llvm::IntrusiveRefCntPtr<vfs::FileSystem> Files, StringRef Path,
         StringRef Text) {
  auto Memory = llvm::makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  Memory->addFileNoOwn(Path, 0, llvm::MemoryBufferRef(Text, Path));
  auto All =
      llvm::makeIntrusiveRefCnt<vfs::OverlayFileSystem>(std::move(Files));
  All->pushOverlay(std::move(Memory));
  return All;
}

static thread_local bool InText = false;

/// A number that no signal and no exit status has.
static constexpr int Stop = 1 << 20;

void stopText() {
  if (InText)
    llvm::CrashRecoveryContext::GetCurrent()->HandleExit(Stop);
}

/// The parser calls itself for what is nested. A text of the greatest length
/// that a compiler is given (see Admission) does not fill this.
static constexpr unsigned StackBytes = 256u << 20;

bool runGuarded(llvm::function_ref<void()> Work) {
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext Guard;
  return Guard.RunSafelyOnThread(Work, StackBytes);
}

TextRun runText(const CompilerInvocation &Invocation, StringRef Path,
                StringRef Text, const ParsedPrefix *Prefix,
                FrontendAction &Action, std::string &Said,
                llvm::IntrusiveRefCntPtr<vfs::FileSystem> Below) {
  auto Own = std::make_shared<CompilerInvocation>(Invocation);
  Own->getPreprocessorOpts().DisablePragmaDebugCrash = true;
  auto Files = withText(toolkitFiles(*Own, std::move(Below)), Path, Text);
  if (Prefix)
    Files = putBehind(*Prefix, *Own, std::move(Files));
  auto Messages = std::make_unique<TextMessages>();
  auto CI = std::make_unique<CompilerInstance>(std::move(Own));
  CI->setVerboseOutputStream(llvm::nulls()); // Or it would count warnings.
  CI->setVirtualFileSystem(std::move(Files));
  CI->createDiagnostics(Messages.get(), /*ShouldOwnClient=*/false);
  bool Good = false;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext Guard;
  bool Ended = Guard.RunSafelyOnThread(
      [&] {
        InText = true;
        Good = CI->ExecuteAction(Action) &&
               !CI->getDiagnostics().hasErrorOccurred();
      },
      StackBytes);
  if (!Ended) {
    (void)Messages.release();
    (void)CI.release();
    return Guard.RetCode == Stop ? TextRun::Stopped : TextRun::Crashed;
  }
  Said = Messages->text();
  return Good ? TextRun::Done : TextRun::Failed;
}

} // namespace cupilot
