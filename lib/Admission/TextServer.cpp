//===- TextServer.cpp - Where texts are compiled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what is the same for many texts (flags, parsed headers) once, and
// compiles each in a copy of the process.
//
//===----------------------------------------------------------------------===//

#include "Parcel.h"
#include "Parse.h"
#include "cupilot/Compile/Invocation.h"
#include "cupilot/Compile/Prefix.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace cupilot {

namespace {
/// What is the same for all texts with the same flags.
struct Prepared {
  std::string Path; ///< Of the text.
  std::shared_ptr<clang::CompilerInvocation> Invocation;
  std::optional<ParsedPrefix> Prefix;
};

class TextServer {
public:
  int run();

private:
  Expected<const Prepared *> prepared(const TextRequest &Text);
  Expected<Parcel> answer(const TextRequest &Text, const ProcessLimits &Limits);

  /// By folder and name, architecture, flags.
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>,
           Prepared>
      Known;
};
} // namespace

Expected<const Prepared *> TextServer::prepared(const TextRequest &Text) {
  std::string Path =
      (sys::path::parent_path(TextPath) + "/" + sys::path::filename(Text.Name))
          .str();
  auto [It, New] = Known.try_emplace({Path, Text.Arch, Text.Flags});
  if (!New)
    return &It->second;
  auto Files = withText(vfs::getRealFileSystem(), Path, "");
  std::vector<std::string> Flags =
      withoutArchitectures(variantFlags(Text.Flags));
  std::string Arch = "--cuda-gpu-arch=" + Text.Arch;
  std::vector<StringRef> Output = bitcodeOutput().vec();
  append_range(Output,
               ArrayRef<StringRef>({"--cuda-device-only", StringRef(Arch)}));
  auto Code = cudaInvocation(Path, Flags, Output, Files);
  // As for compileDeviceBitcode, so that both have one prefix.
  auto Parse = cudaInvocation(
      Path, Flags, {"--cuda-device-only", StringRef(Arch), "-fsyntax-only"},
      Files);
  if (!Code || !Parse) {
    Known.erase(It);
    return joinErrors(Code.takeError(), Parse.takeError());
  }
  It->second = {Path, std::move(*Code), parsedPrefix(**Parse)};
  // The driver lets processes end without freeing; so does this one.
  return &It->second;
}

/// In the copy: no way back.
static CompiledText compileHere(const Prepared &P, const TextRequest &Text) {
  CompiledText Result;
  Result.Findings = checkText(Text.Source);
  if (!Result.Findings.empty()) {
    Result.Fate = TextFate::Inadmissible;
    return Result;
  }
  std::vector<TextVariable> Variables;
  unsigned PrintLine = 0;
  AdmissionOptions Options{&Text.Original, &Variables, &PrintLine};
  const ParsedPrefix *Prefixes[] = {P.Prefix ? &*P.Prefix : nullptr, nullptr};
  for (const ParsedPrefix *Prefix : ArrayRef(Prefixes).drop_front(!P.Prefix)) {
    Variables.clear();
    PrintLine = 0;
    Result = emitText(*P.Invocation, P.Path, Text.Source, Prefix, Options,
                      vfs::getRealFileSystem());
    // No text fails, and no message is another one, for what was kept.
    if (Result.Fate == TextFate::Compiles || Result.Fate == TextFate::Crashes)
      break;
  }
  if (Result.Fate != TextFate::Compiles)
    return Result;
  Expected<std::string> Ptx =
      generatePtx(Result.Bitcode, Text.Arch, [&](const llvm::Module &M) {
        Result.Findings = checkCode(M, Options);
      });
  if (!Ptx) {
    Result.Fate = TextFate::DoesNotCompile;
    Result.Message = toString(Ptx.takeError());
  } else if (!Result.Findings.empty()) {
    Result.Fate = TextFate::Inadmissible;
  } else {
    Result.Ptx = std::move(*Ptx);
  }
  return Result;
}

static CompiledText fateOf(const CopyResult &Copy) {
  CompiledText Text;
  Text.Fate = Copy.Fate == CopyFate::BeyondLimits ? TextFate::BeyondLimits
                                                  : TextFate::Crashes;
  Text.Message = Copy.Message;
  return Text;
}

Expected<Parcel> TextServer::answer(const TextRequest &Text,
                                    const ProcessLimits &Limits) {
  Expected<const Prepared *> P = prepared(Text);
  if (!P)
    return P.takeError();
  Expected<CopyResult> Copy = runInCopy(
      Limits, [&] { return toParcel(compileHere(**P, Text)); },
      [](const Parcel &Answer) { return answerFrom(Answer).has_value(); });
  if (!Copy)
    return Copy.takeError();
  return Copy->Fate == CopyFate::Answers ? std::move(Copy->Answer)
                                         : toParcel(fateOf(*Copy));
}

int TextServer::run() {
  return serveRequests(
      [&](const Parcel &Request) -> Expected<std::optional<Parcel>> {
        ProcessLimits Limits;
        std::optional<TextRequest> Text = requestFrom(Request, Limits);
        if (!Text)
          return std::nullopt;
        return answer(*Text, Limits);
      });
}

int serveTexts() { return TextServer().run(); }

} // namespace cupilot
