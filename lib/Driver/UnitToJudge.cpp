//===- UnitToJudge.cpp - A source with kernels for the gate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Admission/Admission.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Evaluation/Signature.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"

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
  return UnitToJudge{Path.str(), std::move(*Bitcode), std::move(*Kernels)};
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
                      "'cupilot extract' lists a source's kernels");
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

Expected<std::optional<GateVerdict>> refusedText(StringRef Path,
                                                 ArrayRef<std::string> Flags) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Expected<std::vector<AdmissionFinding>> Findings = admit(*Text, Flags);
  if (!Findings)
    return Findings.takeError();
  if (Findings->empty())
    return std::nullopt;
  GateVerdict V;
  for (const AdmissionFinding &F : *Findings)
    V.Findings.push_back(
        {GateReason::Inadmissible, "",
         F.Rule + ", line " + utostr(F.Line) + ": " + F.Message});
  return V;
}

} // namespace cupilot
