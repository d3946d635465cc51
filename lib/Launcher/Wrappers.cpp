//===- Wrappers.cpp - Compilers behind other launchers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cache must not run around us: what the store holds decides the object. So
// the cache comes first, hashes the store's files too, and runs us where it
// would have run nvcc. ccache does that by its prefix command. sccache knows no
// such thing, but takes us for nvcc, which we answer for.
//
//===----------------------------------------------------------------------===//

#include "BareCommand.h"
#include "ToolName.h"
#include "cupilot/Launcher/Child.h"
#include "cupilot/Launcher/Launch.h"
#include "cupilot/Launcher/NvccBuild.h"
#include "cupilot/Launcher/NvccOptions.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Options.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

static std::string variable(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

static std::string selfPath() {
  return sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&launch));
}

/// A clang command that compiles CUDA, with the plugin; others as they are.
static std::vector<std::string> withPlugin(ArrayRef<std::string> Command,
                                           ArrayRef<std::string> Own) {
  std::vector<std::string> Args = Command.vec();
  bool Cuda = any_of(Args, [](StringRef Arg) {
    return Arg == "cuda" || Arg == "-xcuda" ||
           sys::path::extension(Arg).lower() == ".cu";
  });
  if (!Cuda)
    return Args;
  Args.insert(Args.begin() + 1, Own.begin(), Own.end());
  if (none_of(Args, isPlugin))
    Args.insert(Args.begin() + 1,
                "-fplugin=" + installedPath("lib/cupilot.so"));
  return Args;
}

/// NAME=VALUE that adds the files of the store that \p Args and the environment
/// name for \p Input, and ours, to those that a cache hashes; nothing when
/// there is no store.
static Expected<std::optional<std::string>>
extraFiles(const char *Name, ArrayRef<std::string> Args, StringRef Input) {
  PluginArguments P;
  for (StringRef Arg : Args)
    if (Arg.consume_front("-fplugin-arg-cupilot-"))
      if (Error E = parsePluginArgument(Arg, P))
        return std::move(E);
  bool Explicit = false;
  std::string Root = resolveStore(P.Store, Input, Explicit);
  if (Root.empty() || P.isOff())
    return std::nullopt;
  Expected<BuildStore> Store = BuildStore::open(Root);
  if (!Store && !Explicit) {
    consumeError(Store.takeError());
    return std::nullopt;
  }
  if (!Store)
    return Store.takeError();
  Expected<std::vector<std::string>> Files = Store->decidingFiles();
  if (!Files)
    return Files.takeError();
  std::string Value = Name + ("=" + variable(Name));
  for (const std::string &File : *Files)
    if (!sys::fs::is_directory(File))
      Value += (StringRef(Value).ends_with("=") ? "" : ":") + File;
  return Value + ":" + selfPath();
}

/// Of the program that runs us; "" where that cannot be told.
static std::string nameOfParent() {
  // Files there have no size.
  ErrorOr<std::unique_ptr<MemoryBuffer>> Name =
      MemoryBuffer::getFileAsStream("/proc/" + Twine(getppid()) + "/comm");
  return Name ? (*Name)->getBuffer().trim().str() : "";
}

static StringRef inputOf(ArrayRef<std::string> Args) {
  for (StringRef Arg : Args)
    if (sys::path::extension(Arg).lower() == ".cu")
      return Arg;
  return "";
}

/// ccache or sccache in front of a compiler.
static int launchCache(ArrayRef<std::string> Command,
                       ArrayRef<std::string> Own) {
  bool Sccache = sys::path::filename(Command.front()).starts_with("sccache");
  const char *Extra = Sccache ? "SCCACHE_EXTRAFILES" : "CCACHE_EXTRAFILES";
  // ccache takes settings, KEY=VALUE, before the compiler.
  size_t At = 1;
  while (At < Command.size() && StringRef(Command[At]).contains('=') &&
         !StringRef(Command[At]).starts_with("-"))
    ++At;
  auto Plain = [&] {
    return reportError(replaceProcess(Command, {}), LauncherName);
  };
  if (At == Command.size())
    return Plain();
  ArrayRef<std::string> Inner = Command.drop_front(At);
  // Caches hash arguments, and no variable of ours.
  std::vector<std::string> WithBasis;
  if (std::string Basis = variable("CUPILOT_BASIS"); !Basis.empty()) {
    WithBasis.push_back("-fplugin-arg-cupilot-basis=" + Basis);
    append_range(WithBasis, Own); // What is said last counts.
    Own = WithBasis;
  }
  std::vector<std::string> Full(Own.begin(), Own.end());
  Full.insert(Full.end(), Inner.begin() + 1, Inner.end());
  std::vector<std::string> Args = Command.take_front(At).vec();
  std::vector<std::string> Environment;
  if (isClang(Inner.front())) {
    Expected<std::optional<std::string>> Files =
        extraFiles(Extra, Full, inputOf(Full));
    if (!Files)
      return reportError(Files.takeError(), LauncherName);
    std::vector<std::string> Compile = withPlugin(Inner, Own);
    Args.insert(Args.end(), Compile.begin(), Compile.end());
    if (*Files)
      Environment.push_back(**Files);
    return reportError(replaceProcess(Args, Environment), LauncherName);
  }
  if (!isNvcc(Inner.front()))
    return Plain();
  Expected<NvccCommand> C = parseNvccCommand(
      Full, variable("NVCC_PREPEND_FLAGS"), variable("NVCC_APPEND_FLAGS"));
  if (!C)
    return reportError(C.takeError(), LauncherName);
  Args.push_back(Inner.front());
  Args.insert(Args.end(), C->Args.begin(), C->Args.end());
  Environment = C->Environment;
  auto PassOn = [&](const std::optional<BuildNote> &Why) {
    if (Why && Regex(C->MissedRemarks).match("cupilot") &&
        !C->MissedRemarks.empty())
      errs() << C->Inputs.front()
             << ": remark: the originals stay: " << Why->text()
             << " [-Rpass-missed=cupilot]\n";
    return reportError(replaceProcess(Args, Environment), LauncherName);
  };
  if (C->Unchanged)
    return PassOn(C->UnchangedRemark ? C->Unchanged : std::nullopt);
  Expected<std::optional<std::string>> Files =
      extraFiles(Extra, Full, C->Inputs.front());
  if (!Files)
    return reportError(Files.takeError(), LauncherName);
  if (!*Files)
    return PassOn(std::nullopt);
  std::string Self = selfPath();
  if (Sccache) {
    Expected<std::string> Nvcc = findProgram(Inner.front());
    if (!Nvcc)
      return reportError(Nvcc.takeError(), LauncherName);
    Args = Command.take_front(At).vec();
    Args.push_back(Self);
    Args.insert(Args.end(), Full.begin(), Full.end());
    return reportError(replaceProcess(Args, {**Files + ":" + *Nvcc,
                                             NamedNvcc.str() + "=" + *Nvcc}),
                       LauncherName);
  }
  if (StringRef(Self).contains(' '))
    return PassOn(BuildNote(BuildReason::CachePrefix));
  std::vector<std::string> Passed = ownArguments(Full);
  DigestBuilder Key;
  for (const std::string &Arg : Passed)
    Key.add(Arg);
  std::string Prefix = variable("CCACHE_PREFIX");
  Environment.push_back(**Files);
  Environment.push_back("CCACHE_PREFIX=" + Self +
                        (Prefix.empty() ? "" : " " + Prefix));
  // Different arguments for us make different objects.
  Environment.push_back("CCACHE_NAMESPACE=" + variable("CCACHE_NAMESPACE") +
                        "cupilot-" + shortDigest(Key.str()));
  Environment.push_back(PassedArguments.str() + "=" + join(Passed, "\n"));
  return reportError(replaceProcess(Args, Environment), LauncherName);
}

int launch(ArrayRef<std::string> Command) {
  std::vector<std::string> Own;
  SmallVector<StringRef> Passed;
  std::string FromCache = variable(PassedArguments.data());
  StringRef(FromCache).split(Passed, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Arg : Passed)
    Own.push_back(Arg.str());
  append_range(Own, takeOwnArguments(Command));
  std::vector<std::string> Full = Command.vec();
  if (namesNoCompiler(Full)) {
    std::string Nvcc = variable(NamedNvcc.data());
    bool Compiles = any_of(
        Full, [](StringRef Arg) { return Arg == "-c" || Arg == "--compile"; });
    std::string Parent = Compiles ? nameOfParent() : "";
    if (Nvcc.empty() && (Parent == "ccache" || Parent == "sccache"))
      return reportError(
          usageError("'" + Parent +
                         "' would mistake cupilot-launch for nvcc, and return "
                         "old objects when the store changes",
                     "cupilot-launch " + Parent + " nvcc ARGS"),
          LauncherName);
    Full.insert(Full.begin(), Nvcc.empty() ? defaultNvcc() : Nvcc);
  }
  StringRef Name = sys::path::stem(Full.front());
  if (Name == "ccache" || Name == "sccache")
    return launchCache(Full, Own);
  if (isClang(Full.front()))
    return reportError(replaceProcess(withPlugin(Full, Own), {}), LauncherName);
  if (!isNvcc(Full.front()))
    return reportError(replaceProcess(Full, {}), LauncherName);
  Full.insert(Full.begin() + 1, Own.begin(), Own.end());
  return launchNvcc(Full);
}

} // namespace cupilot
