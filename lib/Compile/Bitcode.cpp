//===- Bitcode.cpp - Device code as bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Compile/Prefix.h"
#include "cupilot/Compile/Repairs.h"
#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cupilot {

/// The device's half of what clang's driver makes of \p Source.
static Expected<std::shared_ptr<clang::CompilerInvocation>>
deviceHalf(StringRef Source, StringRef Arch, ArrayRef<std::string> Flags) {
  std::string Target = ("--cuda-gpu-arch=" + Arch).str();
  std::vector<StringRef> Output = bitcodeOutput().vec();
  append_range(Output, ArrayRef<StringRef>({"--cuda-device-only", Target}));
  Expected<std::shared_ptr<clang::CompilerInvocation>> Invocation =
      cudaInvocation(Source, withoutArchitectures(Flags), Output);
  if (Invocation)
    (*Invocation)->getFrontendOpts().DisableFree = false;
  return Invocation;
}

/// In this process, errors in host functions do not count.
static Expected<std::string>
compileHere(std::shared_ptr<clang::CompilerInvocation> Invocation,
            StringRef Source,
            IntrusiveRefCntPtr<vfs::FileSystem> Files = nullptr,
            Repairs *Mending = nullptr) {
  LLVMContext Context;
  clang::EmitLLVMOnlyAction Action(&Context);
  if (Error E =
          runAction(std::move(Invocation), Action, std::move(Files), Mending))
    return std::move(E);
  std::unique_ptr<Module> M = Action.takeModule();
  if (!M)
    return usageError("'" + Source + "' gives no code");
  std::string Bitcode;
  raw_string_ostream Stream(Bitcode);
  WriteBitcodeToFile(*M, Stream);
  return Bitcode;
}

static Expected<std::string> compileDespiteHost(StringRef Source,
                                                StringRef Arch,
                                                ArrayRef<std::string> Flags) {
  Expected<std::shared_ptr<clang::CompilerInvocation>> Invocation =
      deviceHalf(Source, Arch, Flags);
  if (!Invocation)
    return Invocation.takeError();
  Repairs Mending;
  auto Compile = [&] {
    return compileHere(
        std::make_shared<clang::CompilerInvocation>(**Invocation), Source,
        Mending.over(vfs::getRealFileSystem()), &Mending);
  };
  Expected<std::string> First = Compile();
  while (!First && Mending.apply()) {
    Expected<std::string> Again = Compile();
    consumeError(Again ? First.takeError() : Again.takeError());
    if (Again)
      return Again;
  }
  return First;
}

Expected<std::string> compileDeviceBitcode(StringRef Source, StringRef Arch,
                                           ArrayRef<std::string> Flags,
                                           StringRef Text) {
  SmallString<256> Path(Source);
  if (std::error_code EC = sys::fs::make_absolute(Path))
    return resourceError("cannot find '" + Source + "': " + EC.message());
  Expected<std::shared_ptr<clang::CompilerInvocation>> Invocation =
      deviceHalf(Path, Arch, Flags);
  if (!Invocation)
    return Invocation.takeError();
  std::optional<Expected<std::string>> Code;
  behindPrefix(**Invocation, [&](const ParsedPrefix *Prefix) {
    auto Own = std::make_shared<clang::CompilerInvocation>(**Invocation);
    auto Files = withText(vfs::getRealFileSystem(), Path, Text);
    if (Prefix)
      Files = putBehind(*Prefix, *Own, std::move(Files));
    if (Code)
      consumeError(Code->takeError());
    Code.emplace(compileHere(std::move(Own), Source, std::move(Files)));
    return bool(*Code);
  });
  return std::move(*Code);
}

Expected<std::string> compileDeviceBitcode(StringRef Source, StringRef Arch,
                                           ArrayRef<std::string> Flags) {
  if (is_contained(Flags, NvccMacroFlag)) // Which no command can say.
    return compileDespiteHost(Source, Arch, Flags);
  std::string Target = ("--cuda-gpu-arch=" + Arch).str();
  Expected<std::shared_ptr<clang::CompilerInvocation>> Invocation =
      cudaInvocation(Source, withoutArchitectures(Flags),
                     {"--cuda-device-only", Target, "-fsyntax-only"});
  std::optional<Expected<std::string>> Code;
  auto Compile = [&](const ParsedPrefix *Prefix) {
    std::vector<StringRef> Output = bitcodeOutput().vec();
    if (Prefix)
      for (StringRef Arg : {StringRef("-Xclang"), StringRef("-include-pch"),
                            StringRef("-Xclang"), StringRef(Prefix->Path)})
        Output.push_back(Arg);
    if (Code)
      consumeError(Code->takeError());
    Code.emplace(compileDevice(Source, Arch, Flags, Output));
    return bool(*Code);
  };
  if (Invocation) {
    behindPrefix(**Invocation, Compile);
  } else {
    consumeError(Invocation.takeError());
    Compile(nullptr);
  }
  if (*Code)
    return std::move(*Code);
  Expected<std::string> Despite = compileDespiteHost(Source, Arch, Flags);
  if (!Despite) {
    consumeError(Despite.takeError());
    return std::move(*Code);
  }
  consumeError(Code->takeError());
  return Despite;
}

Expected<std::string> compileTextToBitcode(StringRef Source, StringRef Arch,
                                           ArrayRef<std::string> Flags) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-cc");
  if (!Dir)
    return Dir.takeError();
  std::string File = Dir->file("variant.cu");
  if (Error E = writeFileAtomic(File, Source))
    return std::move(E);
  // What the command forces upon the unit is in the text.
  return compileDeviceBitcode(File, Arch, variantFlags(Flags));
}

} // namespace cupilot
