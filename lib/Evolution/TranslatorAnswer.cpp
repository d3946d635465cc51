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
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/LLM/Secrets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

namespace {
/// Writes the short forms, and keeps what the first fault was. The names of
/// \p Numbers stand for what they are set to.
class ShortForms {
public:
  ShortForms(ArrayRef<Tunable> Numbers, const Setting &To)
      : Numbers(Numbers), To(To) {}
  std::string expression(StringRef Text, const Twine &Where);
  std::string condition(StringRef Text);
  std::string three(const json::Array *Sizes, const Twine &Where);
  std::string word(StringRef Text, StringRef Pattern, const Twine &Where);
  std::string mapWord(StringRef Text) {
    return inNumbers(word(Text, "^[A-Za-z_][A-Za-z0-9_]* [A-Za-z0-9_ ,()+*-]+$",
                          "plan.tensor_maps"));
  }
  std::optional<std::string> Fault;

private:
  std::string fail(const Twine &Where, StringRef Text, StringRef Why) {
    if (!Fault)
      Fault = (Where + ": '" + excerpt(Text, 80) + "': " + Why).str();
    return "0";
  }
  std::string checked(StringRef Text, StringRef Letters, const Twine &Where);
  std::string inNumbers(StringRef Text) const;

  ArrayRef<Tunable> Numbers;
  const Setting &To;
};
} // namespace

/// \p Text with numbers in the place of tunables' names.
std::string ShortForms::inNumbers(StringRef Text) const {
  std::string Result;
  while (!Text.empty()) {
    const StringRef Word =
        Text.take_while([](char C) { return isAlnum(C) || C == '_'; });
    const auto *T = find_if(
        Numbers, [&](const Tunable &Each) { return Each.Name == Word; });
    if (Word.empty())
      Result += Text.front();
    else if (T != Numbers.end())
      Result += std::to_string(To[T - Numbers.begin()]);
    else
      Result += Word;
    Text = Text.drop_front(std::max<size_t>(Word.size(), 1));
  }
  return Result;
}

std::string ShortForms::checked(StringRef Text, StringRef Letters,
                                const Twine &Where) {
  Text = Text.trim();
  if (Text.contains('/'))
    return fail(Where, Text, "there is no '/': use floordiv or ceildiv");
  if (Text.contains('%'))
    return fail(Where, Text, "there is no '%': use mod");
  if (Text.empty() || Text.size() > 500)
    return fail(Where, Text, "an expression has 1 to 500 characters");
  // Arguments of MLIR have names with dots, "arg0.size1".
  auto IsOfName = [&](size_t I) {
    return Text[I] == '.' && I + 1 < Text.size() && isAlpha(Text[I + 1]);
  };
  if (any_of(seq(Text.size()), [&](size_t I) {
        const char C = Text[I];
        return !isAlnum(C) && C != '_' && C != ' ' && !Letters.contains(C) &&
               !IsOfName(I);
      }))
    return fail(Where, Text,
                "an expression has names, integers, + - * ( ), floordiv, "
                "ceildiv and mod alone");
  return inNumbers(Text);
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
    Text += "tensormap=" + Forms.mapWord(Map.getAsString()->trim()) + "; ";
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

/// An ordinary variant of \p Source and of an answer's plan and guard, in which
/// \p Numbers are set to \p To.
static Expected<Translation>
codeFrom(StringRef Source, const json::Object &PlanObject,
         const json::Object &GuardObject, ArrayRef<Tunable> Numbers,
         const Setting &To, const Kernel &K, StringRef Arch) {
  ShortForms Forms(Numbers, To);
  std::string PlanForm = planText(PlanObject, Forms),
              GuardForm = guardText(GuardObject, Forms);
  if (Forms.Fault)
    return findingError(*Forms.Fault);
  Expected<LaunchPlan> Plan = parsePlan(PlanForm, K);
  if (!Plan)
    return asFinding(Plan.takeError(), "plan");
  Expected<Guard> When = parseGuard(GuardForm, K, Arch);
  if (!When)
    return asFinding(When.takeError(), "guard");
  Translation Code;
  for (auto [T, Value] : zip_equal(Numbers, To))
    Code.Source +=
        ("constexpr int " + T.Name + " = " + Twine(Value) + ";\n").str();
  Code.Source += Source;
  Code.Plan = std::move(*Plan);
  Code.When = std::move(*When);
  for (auto [L, Value] :
       zip(Code.Plan.Launches, *PlanObject.getArray("launches"))) {
    StringRef Name = *Value.getAsObject()->getString("kernel");
    // With more parameters it is another function.
    bool Original = Name == K.Symbol || Name == K.Name ||
                    (bareName(Name) == bareName(K.Name)) ||
                    bareName(Name) == lastPart(bareName(K.Name));
    L.Symbol = Original && Code.Plan.extraParams() == 0 ? K.Symbol : Name.str();
  }
  return Code;
}

Expected<Translation> codeWith(const TunableCode &Code, const Setting &To,
                               const Kernel &K, StringRef Arch) {
  Expected<json::Value> Plan = json::parse(Code.Plan);
  if (!Plan)
    return Plan.takeError();
  Expected<json::Value> When = json::parse(Code.Guard);
  if (!When)
    return When.takeError();
  if (!Plan->getAsObject() || !When->getAsObject())
    return resourceError("the journal contains a damaged plan",
                         "delete it to start a new search");
  return codeFrom(Code.Source, *Plan->getAsObject(), *When->getAsObject(),
                  Code.Numbers, To, K, Arch);
}

StringRef strategyIn(StringRef Text) {
  return Text.take_until([](char C) { return C == '{' || C == '('; })
      .trim(" \t`'\"@");
}

/// The tunables of \p Answer, which are parameters of genes that it names.
static Expected<std::vector<Tunable>>
tunablesIn(const json::Object &Answer, const Kernel &K,
           ArrayRef<std::string> CarriedOut,
           ArrayRef<LibraryStrategy> Strategies) {
  std::vector<Tunable> All;
  const json::Array *List = Answer.getArray("tunables");
  if (!List || Strategies.empty())
    return All;
  for (const json::Value &V : *List) {
    const json::Object &O = *V.getAsObject();
    Tunable &T = All.emplace_back();
    T.Name = O.getString("name")->str();
    T.Strategy = strategyIn(*O.getString("strategy")).str();
    T.Param = O.getString("param")->trim().str();
    T.Value = *O.getInteger("value");
    for (const json::Value &Each : *O.getArray("values"))
      if (!is_contained(T.Values, *Each.getAsInteger()))
        T.Values.push_back(*Each.getAsInteger());
    if (none_of(CarriedOut,
                [&](StringRef Text) { return strategyIn(Text) == T.Strategy; }))
      return findingError("tunables: '" + T.Name +
                          "': carried_out does not "
                          "name its strategy '" +
                          excerpt(T.Strategy, 80) + "'");
  }
  if (Error E = checkTunables(All, K, Strategies))
    return std::move(E);
  return All;
}

Expected<ModelTranslation> translationFrom(const json::Value &Answer,
                                           const Kernel &K, StringRef Arch,
                                           ArrayRef<LibraryStrategy> Strategies,
                                           SourceLanguage Usual) {
  const json::Object &O = *Answer.getAsObject();
  ModelTranslation T;
  const StringRef Source = *O.getString("source");
  if (Source.trim().empty())
    return findingError("source: there is none");
  T.Notes = O.getString("notes")->str();
  for (const json::Value &Name : *O.getArray("carried_out"))
    T.CarriedOut.push_back(Name.getAsString()->str());
  const json::Object &Plan = *O.getObject("plan"),
                     &When = *O.getObject("guard");
  if (Plan.getArray("launches")->empty())
    return findingError("plan.launches: there is none");
  Expected<std::vector<Tunable>> Numbers =
      tunablesIn(O, K, T.CarriedOut, Strategies);
  if (!Numbers)
    return Numbers.takeError();
  if (Error E = codeFrom(Source, Plan, When, *Numbers, presentSetting(*Numbers),
                         K, Arch)
                    .moveInto(T.Code))
    return std::move(E);
  T.Code.Language =
      sourceLanguage(O.getString("language").value_or("")).value_or(Usual);
  auto Print = [](const json::Object &Each) {
    return formatv("{0}", json::Value(json::Object(Each))).str();
  };
  if (!Numbers->empty())
    T.Open = {std::move(*Numbers), Source.str(), Print(Plan), Print(When)};
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
