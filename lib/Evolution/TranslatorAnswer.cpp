//===- TranslatorAnswer.cpp - Models' launch plans and guards -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An answer's plan and guard are written out in the short forms that people
// use, so that one parser and the dialect's verifiers judge both. Only what
// belongs into an expression gets there.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/LLM/Secrets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

namespace {
/// Writes the short forms, and keeps what the first fault was.
class ShortForms {
public:
  std::string expression(StringRef Text, const Twine &Where);
  std::string condition(StringRef Text);
  std::string three(const json::Array *Sizes, const Twine &Where);
  std::string word(StringRef Text, StringRef Pattern, const Twine &Where);
  std::optional<std::string> Fault;

private:
  std::string fail(const Twine &Where, StringRef Text, StringRef Why) {
    if (!Fault)
      Fault = (Where + ": '" + excerpt(Text, 80) + "': " + Why).str();
    return "0";
  }
  std::string checked(StringRef Text, StringRef Letters, const Twine &Where);
};
} // namespace

std::string ShortForms::checked(StringRef Text, StringRef Letters,
                                const Twine &Where) {
  Text = Text.trim();
  if (Text.contains('/'))
    return fail(Where, Text, "there is no '/': use floordiv or ceildiv");
  if (Text.contains('%'))
    return fail(Where, Text, "there is no '%': use mod");
  if (Text.empty() || Text.size() > 500)
    return fail(Where, Text, "an expression has 1 to 500 characters");
  if (any_of(Text, [&](char C) {
        return !isAlnum(C) && C != '_' && C != ' ' && !Letters.contains(C);
      }))
    return fail(Where, Text,
                "an expression has names, integers, + - * ( ), floordiv, "
                "ceildiv and mod alone");
  return Text.str();
}

std::string ShortForms::expression(StringRef Text, const Twine &Where) {
  return checked(Text, "+-*()", Where);
}

std::string ShortForms::condition(StringRef Text) {
  std::string Good = checked(Text, "+-*()=<>", "guard.conditions");
  // Integer sets have no strict comparisons.
  Regex Strict("[<>]([^=]|$)");
  if (Strict.match(Good))
    return fail("guard.conditions", Text, "use ==, >= or <=");
  if (!StringRef(Good).contains("=") && !Fault)
    return fail("guard.conditions", Text, "it compares nothing");
  return Good;
}

std::string ShortForms::three(const json::Array *Sizes, const Twine &Where) {
  std::string Text = "(";
  for (auto [I, Size] : enumerate(*Sizes))
    Text += (I ? ", " : "") + expression(*Size.getAsString(), Where);
  return Text + ")";
}

std::string ShortForms::word(StringRef Text, StringRef Pattern,
                             const Twine &Where) {
  if (!Regex(Pattern).match(Text))
    return fail(Where, Text, "it is not what belongs there");
  return Text.str();
}

/// "launch k0: grid=...", where k0 is the first launch.
static std::string planText(const json::Object &Plan, ShortForms &Forms) {
  std::string Text;
  for (const json::Value &Bytes : *Plan.getArray("scratch"))
    Text +=
        "scratch=" + Forms.expression(*Bytes.getAsString(), "plan.scratch") +
        "; ";
  for (const json::Value &Map : *Plan.getArray("tensor_maps"))
    Text += "tensormap=" +
            Forms.word(Map.getAsString()->trim(),
                       "^[A-Za-z_][A-Za-z0-9_]* [A-Za-z0-9_ ,()+*-]+$",
                       "plan.tensor_maps") +
            "; ";
  for (auto [I, Value] : enumerate(*Plan.getArray("launches"))) {
    const json::Object &L = *Value.getAsObject();
    std::string Where = "plan.launches[" + utostr(I) + "]";
    Text += "launch k" + utostr(I) +
            ": grid=" + Forms.three(L.getArray("grid"), Where + ".grid") +
            "; block=" + Forms.three(L.getArray("block"), Where + ".block") +
            "; shared=" +
            Forms.expression(*L.getString("shared"), Where + ".shared") + "; ";
    if (!L.getArray("cluster")->empty())
      Text +=
          "cluster=" + Forms.three(L.getArray("cluster"), Where + ".cluster") +
          "; ";
  }
  return Text;
}

static std::string guardText(const json::Object &When, ShortForms &Forms) {
  const StringRef Name = "^[A-Za-z_][A-Za-z0-9_]*$";
  std::string Text;
  for (const json::Value &C : *When.getArray("conditions"))
    Text += Forms.condition(*C.getAsString()) + "; ";
  for (const json::Value &Value : *When.getArray("align")) {
    const json::Object &A = *Value.getAsObject();
    Text += "align " +
            Forms.word(*A.getString("pointer"), Name, "guard.align") + " " +
            std::to_string(*A.getInteger("bytes")) + "; ";
  }
  for (const json::Value &Value : *When.getArray("disjoint")) {
    const json::Object &D = *Value.getAsObject();
    auto Side = [&](StringRef Pointer, StringRef Bytes) {
      return Forms.word(*D.getString(Pointer), Name, "guard.disjoint") + " (" +
             Forms.expression(*D.getString(Bytes), "guard.disjoint") + ")";
    };
    Text +=
        "disjoint " + Side("a", "a_bytes") + ", " + Side("b", "b_bytes") + "; ";
  }
  return Text;
}

/// What a parser finds wrong is wrong with the answer, not with a command.
static Error asFinding(Error E, StringRef What) {
  return handleErrors(std::move(E), [&](const ToolError &T) {
    return findingError(What + ": " + excerpt(T.text(), 500));
  });
}

/// "ns::scale" of "ns::scale<4>(float *, int)".
static StringRef bareName(StringRef Name) {
  if (Name.starts_with("void ")) // Demangled instances have their type.
    Name = Name.drop_front(5);
  return Name.split('(').first.split('<').first.trim();
}

static StringRef lastPart(StringRef Name) {
  return Name.contains("::") ? Name.rsplit("::").second : Name;
}

Expected<ModelTranslation> translationFrom(const json::Value &Answer,
                                           const Kernel &K, StringRef Arch) {
  const json::Object &O = *Answer.getAsObject();
  ModelTranslation T;
  T.Code.Source = O.getString("source")->str();
  if (StringRef(T.Code.Source).trim().empty())
    return findingError("source: there is none");
  T.Notes = O.getString("notes")->str();
  for (const json::Value &Name : *O.getArray("carried_out"))
    T.CarriedOut.push_back(Name.getAsString()->str());
  if (O.getObject("plan")->getArray("launches")->empty())
    return findingError("plan.launches: there is none");
  ShortForms Forms;
  const json::Object &PlanObject = *O.getObject("plan");
  std::string PlanForm = planText(PlanObject, Forms),
              GuardForm = guardText(*O.getObject("guard"), Forms);
  if (Forms.Fault)
    return findingError(*Forms.Fault);
  Expected<LaunchPlan> Plan = parsePlan(PlanForm, K);
  if (!Plan)
    return asFinding(Plan.takeError(), "plan");
  Expected<Guard> When = parseGuard(GuardForm, K, Arch);
  if (!When)
    return asFinding(When.takeError(), "guard");
  T.Code.Plan = std::move(*Plan);
  T.Code.When = std::move(*When);
  for (auto [L, Value] :
       zip(T.Code.Plan.Launches, *PlanObject.getArray("launches"))) {
    StringRef Name = *Value.getAsObject()->getString("kernel");
    // With more parameters it is another function.
    bool Original = Name == K.Symbol || Name == K.Name ||
                    (bareName(Name) == bareName(K.Name)) ||
                    bareName(Name) == lastPart(bareName(K.Name));
    L.Symbol =
        Original && T.Code.Plan.extraParams() == 0 ? K.Symbol : Name.str();
  }
  return T;
}

Error nameKernels(LaunchPlan &Plan, ArrayRef<std::string> Symbols) {
  for (Launch &L : Plan.Launches) {
    if (is_contained(Symbols, L.Symbol))
      continue;
    std::vector<std::string> Found, All;
    for (const std::string &Symbol : Symbols) {
      std::string Whole = demangle(Symbol);
      All.push_back(Whole);
      StringRef Bare = bareName(Whole);
      if (Whole == L.Symbol || Bare == bareName(L.Symbol) ||
          lastPart(Bare) == bareName(L.Symbol))
        Found.push_back(Symbol);
    }
    // An instance by its arguments, where the name alone fits several.
    if (Found.size() > 1)
      erase_if(Found, [&](const std::string &Symbol) {
        return !StringRef(demangle(Symbol)).contains(L.Symbol);
      });
    if (Found.size() != 1)
      return findingError(
          "the plan launches '" + excerpt(L.Symbol, 100) + "', which is " +
          (Found.empty() ? "none" : "several") +
          " of the source's kernels: " + excerpt(join(All, ", "), 500));
    L.Symbol = Found.front();
  }
  return Error::success();
}

} // namespace cupilot
