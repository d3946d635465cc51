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
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Frontend/CompilerInvocation.h"

using namespace llvm;

namespace cupilot {

Expected<std::string> compileDeviceBitcode(StringRef Source, StringRef Arch,
                                           ArrayRef<std::string> Flags) {
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
  return std::move(*Code);
}

Expected<std::string> compileTextToBitcode(StringRef Source, StringRef Arch,
                                           ArrayRef<std::string> Flags) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-cc");
  if (!Dir)
    return Dir.takeError();
  std::string File = Dir->file("variant.cu");
  if (Error E = writeFileAtomic(File, Source))
    return std::move(E);
  return compileDeviceBitcode(File, Arch, Flags);
}

} // namespace cupilot
