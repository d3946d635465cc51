//===- UnitToJudge.cpp - A source with kernels for the gate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Evaluation/Signature.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

Expected<UnitToJudge> UnitToJudge::load(StringRef Path, StringRef Arch,
                                        ArrayRef<std::string> Flags) {
  Expected<std::vector<Kernel>> Kernels =
      extractKernels(Path, Flags, {.VerifySlices = false});
  if (!Kernels)
    return Kernels.takeError();
  std::vector<std::string> WithLines = Flags.vec(); // For the evidence.
  WithLines.push_back("-gline-tables-only");
  Expected<std::string> Bitcode = compileDeviceBitcode(Path, Arch, WithLines);
  if (!Bitcode)
    return Bitcode.takeError();
  return UnitToJudge{Path.str(), std::move(*Bitcode), std::move(*Kernels),
                     Path.str()};
}

Expected<const Kernel *> UnitToJudge::find(StringRef Name) const {
  const Kernel *Found = nullptr;
  for (const Kernel &K : Kernels) {
    StringRef Short = StringRef(K.Name).split('(').first;
    if (K.Name == Name || K.Symbol == Name)
      return &K;
    if (Short != Name && Short.split('<').first != Name)
      continue;
    if (Found)
      return usageError(
          "'" + Path + "' has several kernels named '" + Name + "'",
          "give the whole name: '" + Found->Name + "' or '" + K.Name + "'");
    Found = &K;
  }
  if (!Found)
    return usageError("'" + Path + "' has no kernel '" + Name + "'",
                      isPtxFile(Path)
                          ? "'cupilot ptx' lists a file's kernels"
                          : "'cupilot extract' lists a source's kernels");
  return Found;
}

Expected<LaunchPlan> UnitToJudge::resolve(LaunchPlan Plan,
                                          const Kernel &Original,
                                          StringRef Variant) const {
  for (Launch &L : Plan.Launches) {
    Expected<const Kernel *> K =
        find(L.Symbol == Original.Symbol ? Variant : L.Symbol);
    if (!K)
      return K.takeError();
    if (Error E = checkParameters(Original, **K, Plan))
      return std::move(E);
    L.Symbol = (*K)->Symbol;
  }
  return Plan;
}

static GateVerdict refusal(const CompiledText &Text) {
  GateVerdict V;
  switch (Text.Fate) {
  case TextFate::Compiles:
    break;
  case TextFate::Inadmissible:
    for (const AdmissionFinding &F : Text.Findings)
      V.Findings.push_back(
          {GateReason::Inadmissible, "",
           F.Rule + ", line " + utostr(F.Line) + ": " + F.Message});
    break;
  case TextFate::DoesNotCompile:
    V.Findings.push_back({GateReason::CompileError, "",
                          "the variant does not parse:\n" + Text.Message});
    break;
  case TextFate::Crashes:
    V.Findings.push_back(
        {GateReason::CompilerCrash, "", "the compiler crashes on the text"});
    break;
  case TextFate::BeyondLimits:
    V.Findings.push_back({GateReason::CompilerLimits, "", Text.Message});
    break;
  }
  return V;
}

Expected<TextToJudge> loadText(StringRef Path, StringRef Arch,
                               ArrayRef<std::string> Flags,
                               const OriginalCode &Original,
                               TextCompiler &Compiler, StringRef Folder) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  TextRequest Request{*Text, Arch.str(), sys::path::filename(Path).str(),
                      Flags.vec(), Original};
  Request.Flags.push_back("-gline-tables-only"); // For the evidence.
  Expected<CompiledText> Compiled = Compiler.compile(Request);
  if (!Compiled)
    return Compiled.takeError();
  if (Compiled->Fate != TextFate::Compiles)
    return TextToJudge{std::nullopt, refusal(*Compiled)};
  std::string Copy = (Folder + "/" + Request.Name).str();
  if (Error E = writeFileAtomic(Copy, *Text))
    return std::move(E);
  Expected<std::vector<Kernel>> Kernels = std::vector<Kernel>();
  // It was parsed elsewhere, with limits; still it is parsed once more.
  if (!runGuarded([&] {
        Kernels =
            extractKernels(Copy, variantFlags(Flags), {.VerifySlices = false});
      })) {
    Compiled->Fate = TextFate::Crashes;
    return TextToJudge{std::nullopt, refusal(*Compiled)};
  }
  if (!Kernels)
    return Kernels.takeError();
  return TextToJudge{UnitToJudge{Path.str(), std::move(Compiled->Bitcode),
                                 std::move(*Kernels), std::move(Copy)},
                     {}};
}

} // namespace cupilot
