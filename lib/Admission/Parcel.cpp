//===- Parcel.cpp - Texts and what becomes of them as messages -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parcel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace cupilot {

Parcel toParcel(const TextRequest &Text, const ProcessLimits &Limits) {
  Parcel P = {Text.Source, Text.Arch, Text.Name, utostr(Text.Original.Prints)};
  addLimits(P, Limits);
  addList(P, Text.Flags);
  addList(P, Text.Original.Variables);
  return P;
}

std::optional<TextRequest> requestFrom(const Parcel &P, ProcessLimits &Limits) {
  ParcelReader From(P);
  TextRequest Text;
  Text.Source = From.text();
  Text.Arch = From.text();
  Text.Name = From.text();
  Text.Original.Prints = From.number();
  Limits = limitsFrom(From);
  Text.Flags = From.list();
  Text.Original.Variables = From.list();
  if (!From.isGood())
    return std::nullopt;
  return Text;
}

Parcel toParcel(const CompiledText &Text) {
  Parcel P = {utostr(unsigned(Text.Fate)), Text.Message, Text.Bitcode, Text.Ptx,
              utostr(Text.Findings.size())};
  for (const AdmissionFinding &F : Text.Findings)
    append_range(P, Parcel{F.Rule, utostr(F.Line), F.Message});
  return P;
}

std::optional<CompiledText> answerFrom(const Parcel &P) {
  ParcelReader From(P);
  CompiledText Text;
  uint64_t Fate = From.number();
  if (Fate > unsigned(TextFate::BeyondLimits))
    return std::nullopt;
  Text.Fate = static_cast<TextFate>(Fate);
  // Messages quote texts, which are any bytes.
  Text.Message = json::fixUTF8(From.text());
  Text.Bitcode = From.text();
  Text.Ptx = From.text();
  for (uint64_t I = 0, E = std::min<uint64_t>(From.number(), P.size()); I < E;
       ++I) {
    AdmissionFinding F;
    F.Rule = From.text();
    F.Line = unsigned(From.number());
    F.Message = json::fixUTF8(From.text());
    Text.Findings.push_back(std::move(F));
  }
  if (!From.isGood())
    return std::nullopt;
  return Text;
}

} // namespace cupilot
