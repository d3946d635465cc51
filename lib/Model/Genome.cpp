//===- Genome.cpp - Genomes as text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Genome.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

std::string Gene::str() const {
  std::string Text = Strategy + "{";
  for (const GeneParam &P : Params)
    Text += (Text.back() == '{' ? "" : ", ") + P.Name + "=" +
            (P.Word.empty() ? itostr(P.Value) : P.Word);
  return Text + "}";
}

std::string genomeText(const Genome &G) {
  return join(map_range(G, [](const Gene &Each) { return Each.str(); }), ", ");
}

std::optional<Genome> parseGenome(StringRef Text) {
  Genome G;
  Text = Text.trim();
  while (!Text.empty()) {
    auto [Name, Rest] = Text.split('{');
    auto [Params, Behind] = Rest.split('}');
    if (Name.size() == Text.size() || Params.size() == Rest.size())
      return std::nullopt;
    Gene Each{Name.trim().str(), {}};
    SmallVector<StringRef> Parts;
    Params.split(Parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef Part : Parts) {
      auto [Key, Value] = Part.split('=');
      GeneParam P{Key.trim().str(), 0, ""};
      if (Value.trim().getAsInteger(10, P.Value))
        P.Word = Value.trim().str();
      Each.Params.push_back(std::move(P));
    }
    G.push_back(std::move(Each));
    Text = Behind.ltrim(", +");
  }
  return G;
}

} // namespace cupilot
