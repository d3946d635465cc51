//===- LaunchCount.cpp - What a program says of its launches ----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/LaunchCount.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cupilot {

/// In the order of the enumerators. State.c writes the last two.
static constexpr StringLiteral Words[] = {"variant", "outside", "original",
                                          "begin", "end"};

std::string textOf(const LaunchCount &C) {
  switch (C.Kind) {
  case LaunchCountKind::Variant:
    return C.Kernel + " " + C.Variant;
  case LaunchCountKind::Outside:
    return C.Kernel + " outside of the domain of " + C.Variant + ": " +
           C.Clause;
  case LaunchCountKind::Original:
    return "originals instead of variants of " + C.Kernel;
  case LaunchCountKind::Begin:
  case LaunchCountKind::End:
    break;
  }
  return Words[static_cast<size_t>(C.Kind)].str();
}

json::Value toJSON(const LaunchCount &C) {
  json::Object O{{"kind", Words[static_cast<size_t>(C.Kind)]},
                 {"kernel", C.Kernel},
                 {"symbol", C.Symbol}};
  if (!C.Variant.empty())
    O["variant"] = C.Variant;
  if (!C.Clause.empty())
    O["clause"] = C.Clause;
  if (!C.VariantSymbols.empty())
    O["kernels"] = json::Array(C.VariantSymbols);
  return O;
}

Expected<LaunchCount> parseLaunchCount(StringRef Line) {
  Expected<json::Value> Parsed = parseJson(Line);
  if (!Parsed)
    return Parsed.takeError();
  const json::Object *O = Parsed->getAsObject();
  const auto *Word = O ? find(Words, textIn(*O, "kind")) : std::end(Words);
  if (Word == std::end(Words))
    return usageError("a line is no record of launches");
  LaunchCount C;
  C.Kind = static_cast<LaunchCountKind>(Word - Words);
  C.Kernel = textIn(*O, "kernel");
  C.Symbol = textIn(*O, "symbol");
  C.Variant = textIn(*O, "variant");
  C.Clause = textIn(*O, "clause");
  if (const json::Array *Symbols = O->getArray("kernels"))
    for (const json::Value &Each : *Symbols)
      C.VariantSymbols.push_back(Each.getAsString().value_or("").str());
  if (const json::Value *Launches = O->get("launches"))
    C.Launches = Launches->getAsUINT64().value_or(0);
  C.Process = O->getInteger("process").value_or(0);
  return C;
}

} // namespace cupilot
