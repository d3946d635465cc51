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

static std::optional<ParsedPrefix> prefixOf(StringRef Source, StringRef Arch,
                                            ArrayRef<std::string> Flags) {
  std::string Target = ("--cuda-gpu-arch=" + Arch).str();
  Expected<std::shared_ptr<clang::CompilerInvocation>> Invocation =
      cudaInvocation(Source, withoutArchitectures(Flags),
                     {"--cuda-device-only", Target, "-fsyntax-only"});
  if (Invocation)
    return parsedPrefix(**Invocation);
  consumeError(Invocation.takeError());
  return std::nullopt;
}

Expected<std::string> compileDeviceBitcode(StringRef Source, StringRef Arch,
                                           ArrayRef<std::string> Flags) {
  if (std::optional<ParsedPrefix> Prefix = prefixOf(Source, Arch, Flags)) {
    std::vector<StringRef> Behind = bitcodeOutput().vec();
    for (StringRef Arg : {StringRef("-Xclang"), StringRef("-include-pch"),
                          StringRef("-Xclang"), StringRef(Prefix->Path)})
      Behind.push_back(Arg);
    Expected<std::string> Code = compileDevice(Source, Arch, Flags, Behind);
    if (Code)
      return Code;
    // No text is refused, and no message another one, for what was kept.
    consumeError(Code.takeError());
  }
  return compileDevice(Source, Arch, Flags, bitcodeOutput());
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
