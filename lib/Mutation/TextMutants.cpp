//===- TextMutants.cpp - Mutants of a source's text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evolution/NvccCode.h"
#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Mutation/MutantMaker.h"
#include "cupilot/Mutation/TextMutations.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

namespace {
class TextMutants : public MutantMaker {
public:
  TextMutants(MutatedSource Source, StringRef Symbol,
              ArrayRef<Workload> Recorded)
      : Source(std::move(Source)), Symbol(Symbol.str()),
        Recorded(Recorded.vec()) {}

  Expected<std::vector<Mutation>> list() override {
    if (Error E = enumerate())
      return std::move(E);
    std::vector<Mutation> Found;
    for (const TextMutation &One : *All)
      Found.push_back(One.M);
    return Found;
  }

  Expected<MutantCode> original() override {
    if (Original)
      return *Original;
    Expected<MutantCode> Code = compile(Source.Text);
    if (!Code)
      return Code.takeError();
    if (!Code->Refusal.empty())
      return usageError("'" + Source.Path +
                        "' does not compile: " + Code->Refusal);
    Original = std::move(*Code);
    return *Original;
  }

  Expected<MutantCode> make(unsigned Index) override {
    Expected<std::string> Text = text(Index);
    if (!Text)
      return Text.takeError();
    return compile(*Text);
  }

  Expected<std::string> text(unsigned Index) override {
    if (Error E = enumerate())
      return std::move(E);
    if (Index >= All->size())
      return usageError("'" + Symbol + "' has " + Twine(All->size()) +
                        " mutations, but no number " + Twine(Index));
    return withMutation(Source.Text, (*All)[Index]);
  }

private:
  Error enumerate() {
    if (All)
      return Error::success();
    return listTextMutations(Source.Path, Source.Flags, Symbol, Recorded)
        .moveInto(All);
  }
  Expected<MutantCode> compile(StringRef Text) const;
  Error build(StringRef Text, MutantCode &Code) const;

  MutatedSource Source;
  std::string Symbol;
  std::vector<Workload> Recorded;
  std::optional<std::vector<TextMutation>> All;
  std::optional<MutantCode> Original;
};
} // namespace

/// What a compiler says of a text that it refuses goes to \p Refusal; other
/// errors come back.
static Error absorbRefusal(Error E, std::string &Refusal) {
  return handleErrors(std::move(E),
                      [&](std::unique_ptr<ToolError> Tool) -> Error {
                        if (Tool->code() == ExitCode::Resource)
                          return Error(std::move(Tool));
                        Refusal = Tool->text();
                        return Error::success();
                      });
}

/// nvcc reads files: the text lies in another folder under its own name, and
/// headers beside the source are found there.
Error TextMutants::build(StringRef Text, MutantCode &Code) const {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-mutant");
  if (!Dir)
    return Dir.takeError();
  std::string File = Dir->file(sys::path::filename(Source.Path));
  if (Error E = writeFileAtomic(File, Text))
    return E;
  SmallString<256> Folder(Source.Path);
  if (std::error_code EC = sys::fs::make_absolute(Folder))
    return resourceError("cannot find '" + Source.Path + "': " + EC.message());
  sys::path::remove_filename(Folder);
  std::vector<std::string> Flags = withLineInfo(Source.Nvcc->UnitFlags);
  Flags.push_back("-I");
  Flags.push_back(Folder.str().str());
  Expected<NvccPtx> Ptx =
      compileNvccPtx(Source.Nvcc->Nvcc, File, Source.Arch, Flags);
  if (!Ptx)
    return absorbRefusal(Ptx.takeError(), Code.Refusal);
  Expected<NvccCode> Built =
      nvccCodeOf(*Ptx, *Source.Nvcc, Code.Code.Source, Symbol);
  if (!Built)
    return Built.takeError();
  Code.Code.Built = std::move(Built->Bitcode);
  Code.Digest = std::move(Built->Identity);
  return Error::success();
}

Expected<MutantCode> TextMutants::compile(StringRef Text) const {
  MutantCode Code;
  std::vector<std::string> WithLines = Source.Flags;
  WithLines.push_back("-gline-tables-only");
  Expected<std::string> Unit =
      compileDeviceBitcode(Source.Path, Source.Arch, WithLines, Text);
  if (!Unit) {
    if (Error E = absorbRefusal(Unit.takeError(), Code.Refusal))
      return std::move(E);
    return Code;
  }
  if (Error E = onlyKernel(*Unit, Symbol).moveInto(Code.Code.Source))
    return std::move(E);
  if (Source.Nvcc) {
    if (Error E = build(Text, Code))
      return std::move(E);
    return Code;
  }
  Expected<std::string> Ptx = generatePtx(Code.Code.Source, Source.Arch);
  if (!Ptx)
    return Ptx.takeError();
  Code.Digest = deviceCodeDigest(*Ptx);
  return Code;
}

std::unique_ptr<MutantMaker> textMutants(MutatedSource Source, StringRef Symbol,
                                         ArrayRef<Workload> Recorded) {
  return std::make_unique<TextMutants>(std::move(Source), Symbol, Recorded);
}

} // namespace cupilot
