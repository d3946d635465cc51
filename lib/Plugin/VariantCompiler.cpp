//===- VariantCompiler.cpp - Variants compiled as the unit is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VariantCompiler.h"
#include "TextErrors.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/MachineCache.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/Utils.h"

using namespace clang;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// Where the machine cache keeps the bitcode that \p V becomes.
static MachineCacheEntry cacheEntry(const CompilerInvocation &Invocation,
                                    const BuildVariant &V,
                                    const OriginalCode &Original) {
  // Where the store lies does not matter, and the compiler's own identity is
  // in the version and in the files.
  DigestBuilder Key;
  Key.add(getClangFullVersion())
      .add(CUPILOT_VERSION)
      .add(uint64_t(AdmissionVersion))
      .add(V.SourceDigest)
      .add(uint64_t(Original.Prints));
  for (const std::string &Name : Original.Variables)
    Key.add(Name);
  CompilerInvocation Normal(Invocation);
  Normal.getFrontendOpts().Inputs.clear();
  Normal.getCodeGenOpts().MainFileName.clear();
  Normal.getLangOpts().MacroPrefixMap.clear();
  for (const std::string &Arg : Normal.getCC1CommandLine())
    Key.add(Arg);
  return {"variants", ".bc", Key};
}

Expected<std::string> compileVariant(CompilerInstance &Unit,
                                     const OriginalCode &Original,
                                     const BuildVariant &V, StringRef Path) {
  Expected<std::string> Text = readVariant(V, Path);
  if (!Text)
    return Text.takeError();
  auto Invocation = std::make_shared<CompilerInvocation>(Unit.getInvocation());
  makeStandAlone(*Invocation, Path);
  MachineCacheEntry Cache = cacheEntry(*Invocation, V, Original);
  if (std::optional<CachedBytes> Known = Cache.load())
    return std::move(Known->Bytes);

  std::vector<AdmissionFinding> AtOnce = checkText(*Text);
  std::vector<std::string> Files;
  AdmissionOptions Options;
  Options.Original = &Original;
  CompiledText Code;
  if (AtOnce.empty())
    Code = emitText(*Invocation, Path, *Text, /*Prefix=*/nullptr, Options,
                    Unit.getVirtualFileSystemPtr(), &Files);
  else
    Code = {TextFate::Inadmissible, std::move(AtOnce)};
  if (llvm::Error E = errorOf(Code))
    return std::move(E);
  llvm::sort(Files);
  Cache.store({Code.Bitcode, {}}, Files);
  return std::move(Code.Bitcode);
}

} // namespace cupilot
