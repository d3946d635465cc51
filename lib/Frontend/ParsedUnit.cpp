//===- ParsedUnit.cpp - A translation unit, parsed for the device -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/ParsedUnit.h"
#include "DeviceCode.h"
#include "cupilot/Admission/DeviceHeaders.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Compile/Prefix.h"
#include "cupilot/Compile/Repairs.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Options/Options.h"
#include "clang/Tooling/Syntax/Tokens.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace cupilot {

static std::string realFolder(StringRef Path) {
  SmallString<256> Real;
  if (sys::fs::real_path(Path, Real))
    Real = Path;
  return (Real + "/").str();
}

ParsedUnit::ParsedUnit(ASTContext &Ctx, Preprocessor &PP,
                       syntax::TokenBuffer &Tokens, const PreprocessorLog &Log,
                       std::vector<std::string> Folders, std::string CudaPath)
    : Ctx(Ctx), SM(Ctx.getSourceManager()), PP(PP), Tokens(Tokens), Log(Log),
      UserFolders(std::move(Folders)) {
  CudaInclude = realFolder(std::move(CudaPath) + "/include");
  if (CudaInclude == "/usr/include/")
    // Debian's toolkit lies among everybody's headers.
    CudaInclude = "/usr/include/cuda";
  for (std::string &Folder : UserFolders)
    Folder = realFolder(Folder);
  for (unsigned I = 0; I < Log.Includes.size(); ++I)
    if (Log.Includes[I].Target.isValid())
      IncludeTargets[Log.Includes[I].Target] = I;
}

bool ParsedUnit::isUserFile(FileID File) const {
  bool Broken = false;
  const SrcMgr::SLocEntry &Entry = SM.getSLocEntry(File, &Broken);
  OptionalFileEntryRef Ref = SM.getFileEntryRefForID(File);
  if (Broken || !Entry.isFile() || !Ref)
    return false;
  StringRef Path = Ref->getFileEntry().tryGetRealPathName();
  if (Path.empty())
    Path = Ref->getName();
  if (Path.starts_with(CudaInclude) || Path == nvccHeader())
    return false;
  for (const std::string &Folder : UserFolders)
    if (Path.starts_with(Folder))
      return true;
  return !SrcMgr::isSystem(Entry.getFile().getFileCharacteristic());
}

bool ParsedUnit::isUser(SourceLocation Loc) const {
  if (Loc.isInvalid())
    return false;
  FileID File = SM.getFileID(SM.getExpansionLoc(Loc));
  auto [It, New] = UserFiles.try_emplace(File, false);
  if (New)
    It->second = isUserFile(File);
  return It->second;
}

bool ParsedUnit::isCommandLine(SourceLocation Loc) const {
  if (Loc.isInvalid())
    return false;
  SourceLocation At = SM.getExpansionLoc(Loc);
  // The one macro that clang's driver defines by itself is no program's: every
  // compilation has it.
  return SM.isWrittenInCommandLineFile(At) &&
         !isMacroOfDriver(SM.getCharacterData(At));
}

const IncludeDirective *ParsedUnit::includeOf(SourceLocation Loc) const {
  if (Loc.isInvalid())
    return nullptr;
  FileID File = SM.getFileID(SM.getExpansionLoc(Loc));
  // What came through a header that variants may not include is in one that
  // they may: NULL through <memory>.
  const IncludeDirective *Inner = nullptr;
  // clang's wrapper includes these and nvcc's headers do not.
  const IncludeDirective *Wrappers = nullptr;
  while (File.isValid()) {
    auto It = IncludeTargets.find(File);
    if (It == IncludeTargets.end())
      return nullptr;
    const IncludeDirective &Include = Log.Includes[It->second];
    bool Admitted = isDeviceHeader(Include.Name);
    if (isUser(Include.Hash))
      return Admitted || !Inner ? &Include : Inner;
    if (Admitted)
      Inner = &Include;
    if (Include.Name == "stdint.h" || Include.Name == "math_constants.h")
      Wrappers = &Include;
    FileID Includer = SM.getFileID(Include.Hash);
    if (SM.getIncludeLoc(Includer).isInvalid())
      // The predefined buffer: -include, or the compiler's own wrapper.
      return isOfEveryText(Include.Name) ? Wrappers : &Include;
    File = Includer;
  }
  return nullptr;
}

bool ParsedUnit::isCudaHeader(SourceLocation Loc) const {
  FileID File = SM.getFileID(SM.getExpansionLoc(Loc));
  OptionalFileEntryRef Ref = SM.getFileEntryRefForID(File);
  if (!Ref)
    return true;
  StringRef Path = Ref->getFileEntry().tryGetRealPathName();
  return Path.starts_with(CudaInclude) || Path.contains("/clang/") ||
         Path == nvccHeader();
}

std::string ParsedUnit::at(SourceLocation Loc) const {
  PresumedLoc P = SM.getPresumedLoc(SM.getExpansionLoc(Loc));
  return P.isValid() ? P.getFilename() + (":" + Twine(P.getLine())).str()
                     : "<unknown>";
}

std::string ParsedUnit::macroValue(StringRef Name) const {
  const MacroInfo *Info = PP.getMacroInfo(PP.getIdentifierInfo(Name));
  std::string Value;
  if (Info)
    for (const Token &T : Info->tokens())
      Value += PP.getSpelling(T);
  return Value;
}

static bool concernsOutput(const opt::Option &O) {
  namespace o = clang::options;
  for (o::ID Id : {o::OPT_INPUT,
                   o::OPT_o,
                   o::OPT_c,
                   o::OPT_S,
                   o::OPT_E,
                   o::OPT_x,
                   o::OPT_M_Group,
                   o::OPT_fplugin_EQ,
                   o::OPT_fplugin_arg,
                   o::OPT_fpass_plugin_EQ,
                   o::OPT_save_temps,
                   o::OPT_save_temps_EQ,
                   o::OPT_offload_arch_EQ,
                   o::OPT_no_offload_arch_EQ,
                   o::OPT_offload_device_only,
                   o::OPT_offload_host_only,
                   o::OPT_offload_host_device,
                   o::OPT_fsyntax_only,
                   o::OPT_emit_llvm,
                   o::OPT__HASH_HASH_HASH,
                   o::OPT_v,
                   o::OPT_l,
                   o::OPT_L,
                   o::OPT_Link_Group,
                   o::OPT_cuda_path_EQ,
                   o::OPT_W_Group})
    if (O.matches(Id))
      return true;
  return false;
}

/// \p Flags as clang's driver reads them. They must live as long.
static opt::InputArgList driverArgs(ArrayRef<std::string> Flags) {
  std::vector<const char *> Raw;
  for (const std::string &Flag : Flags)
    Raw.push_back(Flag.c_str());
  unsigned MissingIndex = 0, MissingCount = 0;
  return getDriverOptTable().ParseArgs(
      Raw, MissingIndex, MissingCount,
      opt::Visibility(clang::options::ClangOption));
}

std::vector<std::string> parseFlags(ArrayRef<std::string> Flags) {
  opt::InputArgList Args = driverArgs(Flags);
  opt::ArgStringList Kept;
  std::vector<std::string> Result;
  bool SkipXclang = false;
  for (const opt::Arg *A : Args) {
    if (A->getOption().matches(clang::options::OPT_cuda_path_EQ)) {
      A->render(Args, Kept);
      continue;
    }
    if (A->getOption().matches(clang::options::OPT_Xclang)) {
      // -Xclang -load -Xclang FILE, -Xclang -add-plugin -Xclang NAME, ...
      StringRef Value = A->getValue();
      if (SkipXclang) {
        SkipXclang = false;
        continue;
      }
      if (Value == "-load" || Value == "-add-plugin" || Value == "-plugin" ||
          Value.starts_with("-plugin-arg-") ||
          Value == "-fcuda-include-gpubinary") {
        SkipXclang = true;
        continue;
      }
      if (Value == "-disable-llvm-passes" || Value == "-emit-llvm")
        continue;
    } else if (concernsOutput(A->getOption())) {
      continue;
    }
    A->render(Args, Kept);
  }
  Result.assign(Kept.begin(), Kept.end());
  return Result;
}

std::vector<std::string> meaningfulFlags(ArrayRef<std::string> Args,
                                         StringRef Folder) {
  namespace o = clang::options;
  std::vector<std::string> Architectures = withoutArchitectures(Args);
  std::vector<std::string> Kept = parseFlags(Args), Flags;
  for (const std::string &Arg : Args)
    if (!is_contained(Architectures, Arg))
      Kept.push_back(Arg);
  opt::InputArgList Parsed = driverArgs(Kept);
  for (opt::Arg *A : Parsed) {
    bool IsPath =
        any_of(ArrayRef<o::ID>({o::OPT_I, o::OPT_isystem, o::OPT_iquote,
                                o::OPT_idirafter, o::OPT_include}),
               [&](o::ID Id) { return A->getOption().matches(Id); });
    SmallString<256> Path(IsPath ? A->getValue() : "");
    if (IsPath && !Folder.empty() && sys::path::is_relative(Path)) {
      sys::path::make_absolute(Folder, Path);
      Flags.push_back(A->getOption().getPrefixedName().str());
      Flags.push_back(Path.str().str());
      continue;
    }
    opt::ArgStringList Text;
    A->render(Parsed, Text);
    Flags.insert(Flags.end(), Text.begin(), Text.end());
  }
  return Flags;
}

/// The folders that the user names for headers: what lies there is the user's,
/// also behind -isystem.
static std::vector<std::string> userFolders(ArrayRef<std::string> Flags) {
  opt::InputArgList Args = driverArgs(Flags);
  std::vector<std::string> Folders;
  for (const opt::Arg *A :
       Args.filtered(clang::options::OPT_I, clang::options::OPT_isystem,
                     clang::options::OPT_iquote, clang::options::OPT_idirafter))
    // The compiler's own folders stay the compiler's.
    if (StringRef(A->getValue()) != "/usr/include")
      Folders.push_back(A->getValue());
  return Folders;
}

namespace {
/// Parses, and whatever \p Base does with the syntax tree.
template <class Base> class UnitAction : public Base {
public:
  template <class... Args>
  UnitAction(function_ref<Error(ParsedUnit &)> Use,
             std::vector<std::string> Folders, std::string CudaPath,
             Args... ForBase)
      : Base(ForBase...), Use(Use), Folders(std::move(Folders)),
        CudaPath(std::move(CudaPath)) {}
  Error takeResult() { return std::move(Result); }

protected:
  void ExecuteAction() override {
    CompilerInstance &CI = this->getCompilerInstance();
    PreprocessorLog Log;
    recordPreprocessing(CI.getPreprocessor(), Log);
    syntax::TokenCollector Collector(CI.getPreprocessor());
    Base::ExecuteAction();
    if (CI.getDiagnostics().hasErrorOccurred())
      return;
    syntax::TokenBuffer Tokens = std::move(Collector).consume();
    ParsedUnit Unit(CI.getASTContext(), CI.getPreprocessor(), Tokens, Log,
                    Folders, CudaPath);
    Result = joinErrors(std::move(Result), Use(Unit));
  }

private:
  function_ref<Error(ParsedUnit &)> Use;
  std::vector<std::string> Folders;
  std::string CudaPath;
  Error Result = Error::success();
};
} // namespace

namespace {
/// Device code that is about to be parsed.
struct UnitToParse {
  static Expected<UnitToParse>
  create(StringRef File, ArrayRef<std::string> Flags, bool EmitCode);
  template <class Action>
  Action action(function_ref<Error(ParsedUnit &)> Use, auto... ForBase) const {
    return Action(Use, userFolders(Flags), CudaPath, ForBase...);
  }

  std::vector<std::string> Flags;
  std::string CudaPath;
  std::shared_ptr<CompilerInvocation> Invocation;
};
} // namespace

Expected<UnitToParse> UnitToParse::create(StringRef File,
                                          ArrayRef<std::string> Flags,
                                          bool EmitCode) {
  if (!sys::fs::exists(File))
    return usageError("'" + File + "' does not exist");
  Expected<Toolchain> Tools = Toolchain::findCuda(Flags);
  if (!Tools)
    return Tools.takeError();
  std::vector<std::string> Kept = parseFlags(Flags);
  Expected<std::shared_ptr<CompilerInvocation>> Invocation =
      deviceInvocation(File, Kept, gpuArchitectures(Flags).front(), EmitCode);
  if (!Invocation)
    return Invocation.takeError();
  return UnitToParse{std::move(Kept), std::move(Tools->CudaPath),
                     std::move(*Invocation)};
}

/// What came of an action: \p Failed, that the text does not parse, or what
/// was made of the unit.
static Error resultOf(StringRef File, Error Failed, Error Result) {
  if (!Failed)
    return Result;
  consumeError(std::move(Result));
  return usageError("'" + File + "' does not parse:\n" +
                        toString(std::move(Failed)),
                    "check that it compiles with 'clang++ "
                    "--cuda-device-only' and the same flags; "
                    "docs/Extraction.md, \"Sources as nvcc takes them\", says "
                    "what to write for forms that only nvcc takes");
}

Error withParsedUnit(StringRef File, ArrayRef<std::string> Flags,
                     function_ref<Error(ParsedUnit &)> Use, DeviceCode *Code) {
  Expected<UnitToParse> Unit =
      UnitToParse::create(File, Flags, /*EmitCode=*/Code != nullptr);
  if (!Unit)
    return Unit.takeError();
  Repairs Mending;
  bool Parsed = false;
  auto Run = [&](auto Action, auto Finish) {
    Error Failed = runAction(Unit->Invocation, Action,
                             Mending.over(vfs::getRealFileSystem()), &Mending);
    Parsed = !Failed;
    Finish(Action);
    return resultOf(File, std::move(Failed), Action.takeResult());
  };
  auto Parse = [&] {
    if (!Code)
      return Run(Unit->action<UnitAction<SyntaxOnlyAction>>(Use),
                 [](auto &) {});
    return Run(
        Unit->action<UnitAction<EmitLLVMOnlyAction>>(Use, &Code->Context),
        [&](auto &Action) { Code->Module = Action.takeModule(); });
  };
  Error First = Parse();
  while (!Parsed && Mending.apply()) {
    Error Again = Parse();
    // Of what cannot be mended, the first errors are those of the program.
    consumeError(Parsed ? std::move(First) : std::move(Again));
    if (Parsed)
      return Again;
  }
  return First;
}

Error withParsedText(StringRef File, ArrayRef<std::string> Flags,
                     function_ref<Error(ParsedUnit &)> Use) {
  Expected<UnitToParse> Unit =
      UnitToParse::create(File, Flags, /*EmitCode=*/false);
  if (!Unit)
    return Unit.takeError();
  Error Result = Error::success();
  behindPrefix(*Unit->Invocation, [&](const ParsedPrefix *Prefix) {
    consumeError(std::move(Result));
    auto Action = Unit->action<UnitAction<SyntaxOnlyAction>>(Use);
    Error Failed = runBehind(Prefix, *Unit->Invocation, Action);
    bool Parsed = !Failed;
    Result = resultOf(File, std::move(Failed), Action.takeResult());
    return Parsed;
  });
  return Result;
}

} // namespace cupilot
