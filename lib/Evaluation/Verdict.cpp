//===- Verdict.cpp - Verdicts as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

static constexpr StringLiteral PassedWord = "passed", KeptOutWord = "guard";

static StringRef outcomeWord(const GateRecord &R) {
  if (R.Rejected)
    return wordOf(*R.Rejected);
  return R.KeptOut ? KeptOutWord : PassedWord;
}

std::string shapeText(const LaunchShape &S) {
  auto Dims = [](const std::array<uint64_t, 3> &D) {
    std::string Text = utostr(D[0]);
    if (D[1] != 1 || D[2] != 1)
      Text += "x" + utostr(D[1]);
    if (D[2] != 1)
      Text += "x" + utostr(D[2]);
    return Text;
  };
  return "grid " + Dims(S.Grid) + " block " + Dims(S.Block) +
         (S.Shared ? " shared " + utostr(S.Shared) : "");
}

/// The reverse; false for other text.
static bool readShape(StringRef Text, LaunchShape &S) {
  auto Dims = [](StringRef Text, std::array<uint64_t, 3> &D) {
    SmallVector<StringRef, 3> Parts;
    Text.split(Parts, 'x');
    for (auto [I, Part] : enumerate(Parts))
      if (I >= D.size() || Part.getAsInteger(10, D[I]))
        return false;
    return true;
  };
  SmallVector<StringRef, 6> Words;
  Text.split(Words, ' ');
  return (Words.size() == 4 || Words.size() == 6) && Dims(Words[1], S.Grid) &&
         Dims(Words[3], S.Block) &&
         (Words.size() == 4 || !Words[5].getAsInteger(10, S.Shared));
}

json::Object toJSON(const GateVerdict &V) {
  json::Array Findings, Cases, Choices, Ends;
  for (const DomainEnd &E : V.Ends)
    Ends.push_back(json::Object{{"reason", wordOf(E.Reason)},
                                {"case", E.Case},
                                {"evidence", E.Evidence}});
  for (const GateFinding &F : V.Findings)
    Findings.push_back(json::Object{{"reason", wordOf(F.Reason)},
                                    {"workload", F.Workload},
                                    {"evidence", F.Evidence}});
  for (const GateRecord &R : V.Cases)
    Cases.push_back(json::Object{{"case", R.Case},
                                 {"shape", shapeText(R.Shape)},
                                 {"outcome", outcomeWord(R)},
                                 {"beyond", R.Beyond}});
  for (const std::string &Text : V.Choices)
    Choices.push_back(Text);
  json::Object O{{"verdict", V.Passed ? "passed" : "rejected"},
                 {"gate", GateVersion},
                 {"checks", V.Checks},
                 {"guard_misses", V.GuardMisses},
                 {"skipped", V.Skipped},
                 {"error", numberJson(V.MaxError)},
                 {"original_error", numberJson(V.OriginalError)},
                 {"findings", std::move(Findings)},
                 {"choices", std::move(Choices)},
                 {"ends", std::move(Ends)},
                 {"outside", json::Array(V.Outside)},
                 {"cases", std::move(Cases)}};
  if (V.Where)
    O["domain"] = toJSON(*V.Where);
  if (!V.Findings.empty()) {
    const GateFinding &F = V.Findings.front();
    O["reason"] = wordOf(F.Reason);
    O["workload"] = F.Workload;
    O["evidence"] = F.Evidence;
  }
  return O;
}

bool fromJSON(const json::Object &O, GateVerdict &V) {
  V.Passed = textIn(O, "verdict") == PassedWord;
  auto Count = [&](StringRef Key) {
    return unsigned(O.getInteger(Key).value_or(0));
  };
  V.Checks = Count("checks");
  V.GuardMisses = Count("guard_misses");
  V.Skipped = Count("skipped");
  V.MaxError = numberIn(O, "error");
  V.OriginalError = numberIn(O, "original_error");
  if (const json::Array *Findings = O.getArray("findings"))
    for (const json::Value &Each : *Findings) {
      const json::Object *F = Each.getAsObject();
      auto Reason = F ? reasonOf(textIn(*F, "reason")) : std::nullopt;
      if (!Reason)
        return false;
      V.Findings.push_back(
          {*Reason, textIn(*F, "workload"), textIn(*F, "evidence")});
    }
  if (const json::Array *Choices = O.getArray("choices"))
    for (const json::Value &Each : *Choices)
      V.Choices.push_back(Each.getAsString().value_or("").str());
  if (const json::Array *Ends = O.getArray("ends"))
    for (const json::Value &Each : *Ends) {
      const json::Object *E = Each.getAsObject();
      auto Reason = E ? reasonOf(textIn(*E, "reason")) : std::nullopt;
      if (!Reason)
        return false;
      V.Ends.push_back({textIn(*E, "case"), *Reason, textIn(*E, "evidence")});
    }
  if (const json::Array *Outside = O.getArray("outside"))
    for (const json::Value &Each : *Outside)
      V.Outside.push_back(Each.getAsString().value_or("").str());
  if (const json::Value *Where = O.get("domain")) {
    json::Path::Root Root("domain");
    if (!fromJSON(*Where, V.Where.emplace(), Root))
      return false;
  }
  if (const json::Array *Cases = O.getArray("cases"))
    for (const json::Value &Each : *Cases) {
      const json::Object *C = Each.getAsObject();
      GateRecord R;
      if (!C || !readShape(textIn(*C, "shape"), R.Shape))
        return false;
      R.Case = textIn(*C, "case");
      std::string Word = textIn(*C, "outcome");
      R.Beyond = C->getBoolean("beyond").value_or(false);
      R.KeptOut = Word == KeptOutWord;
      R.Rejected = reasonOf(Word);
      if (!R.KeptOut && !R.Rejected && Word != PassedWord)
        return false;
      V.Cases.push_back(std::move(R));
    }
  return true;
}

json::Object toJSON(const ReferenceVerdict &V) {
  json::Object O{{"compared", V.Compared},
                 {"error", numberJson(V.MaxError)},
                 {"original_error", numberJson(V.OriginalError)}};
  if (V.Finding) {
    O["reason"] = wordOf(V.Finding->Reason);
    O["finding"] = V.Finding->Evidence;
  }
  return O;
}

ReferenceVerdict referenceVerdictFrom(const json::Object &O) {
  ReferenceVerdict V;
  V.Compared = O.getBoolean("compared").value_or(false);
  V.MaxError = numberIn(O, "error");
  V.OriginalError = numberIn(O, "original_error");
  if (std::optional<StringRef> Finding = O.getString("finding")) {
    // Earlier journals have the reason before the evidence.
    StringRef Word = O.getString("reason").value_or("");
    StringRef Evidence = *Finding;
    if (Word.empty())
      std::tie(Word, Evidence) = Finding->split(": ");
    V.Finding = GateFinding{reasonOf(Word).value_or(GateReason::Mismatch), "",
                            Evidence.str()};
  }
  return V;
}

} // namespace cupilot
