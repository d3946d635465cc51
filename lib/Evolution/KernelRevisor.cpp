//===- KernelRevisor.cpp - Variants repaired by language models -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/KernelRevisor.h"
#include "cupilot/Evolution/PlanText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

/// An expression with the names of the scalars in the place of s0, s1, ...
static std::string words(const Expr &E, ArrayRef<std::string> Names) {
  std::string Text = E.str(), Result;
  for (size_t I = 0; I < Text.size();) {
    size_t End = I;
    while (End < Text.size() && (isAlnum(Text[End]) || Text[End] == '_'))
      ++End;
    StringRef Word = StringRef(Text).slice(I, End);
    unsigned Number;
    if (Word.empty())
      Result += Text[I++];
    else if (StringRef Digits = Word; Digits.consume_front("s") &&
                                      !Digits.getAsInteger(10, Number) &&
                                      Number < Names.size())
      Result += Names[Number];
    else
      Result += Word;
    I = std::max(I, End);
  }
  return Result;
}

static std::string words(ArrayRef<Expr> List, ArrayRef<std::string> Names) {
  return "[" +
         join(map_range(List, [&](const Expr &E) { return words(E, Names); }),
              ", ") +
         "]";
}

/// A tensor map as PlanText.cpp reads it.
static std::string words(const TensorMapPlan &M, const Kernel &K,
                         ArrayRef<std::string> Names) {
  auto List = [&](ArrayRef<Expr> Of) {
    return "(" + StringRef(words(Of, Names)).drop_front().drop_back().str() +
           ")";
  };
  auto Numbers = [](ArrayRef<unsigned> Of) {
    return "(" +
           join(map_range(Of, [](unsigned N) { return utostr(N); }), ", ") +
           ")";
  };
  std::string Text = K.Params[M.Base.Param].Name + " " +
                     tensorTypeWords()[M.Type].str() + " extents" +
                     List(M.Extents) + " strides" + List(M.Strides) + " box" +
                     Numbers(M.Box);
  if (!M.Steps.empty())
    Text += " steps" + Numbers(M.Steps);
  if (M.Swizzle)
    Text += (" swizzle(" + tensorSwizzleWords()[M.Swizzle] + ")").str();
  if (M.Promotion)
    Text += (" promotion(" + tensorPromotionWords()[M.Promotion] + ")").str();
  return Text + (M.FillNan ? " fill(nan)" : "");
}

std::string planWords(const LaunchPlan &Plan, const Kernel &K) {
  std::vector<std::string> Names = scalarNames(K);
  std::string Text;
  for (const Launch &L : Plan.Launches) {
    Text += (Text.empty() ? "" : "; ") + L.Symbol + ": grid " +
            words(L.Grid, Names) + ", block " + words(L.Block, Names) +
            ", shared " + words(L.Shared, Names);
    if (L.Cluster)
      Text += ", cluster " + words(*L.Cluster, Names);
  }
  if (!Plan.Scratch.empty())
    Text += "; scratch " + words(Plan.Scratch, Names);
  for (const TensorMapPlan &M : Plan.TensorMaps)
    Text += "; tensor map " + words(M, K, Names);
  return Text;
}

std::string guardWords(const Guard &When, const Kernel &K) {
  std::vector<std::string> Names = scalarNames(K);
  std::vector<std::string> Parts;
  Parts.reserve(When.Constraints.size() + When.Alignments.size());
  auto Pointer = [&](PointerRef P) {
    return K.Params[P.Param].Name + (P.Offset ? "+" + utostr(P.Offset) : "");
  };
  for (const Constraint &C : When.Constraints)
    Parts.push_back(words(C.E, Names) + (C.IsEq ? " == 0" : " >= 0"));
  for (const Alignment &A : When.Alignments)
    Parts.push_back(Pointer(A.Pointer) + " aligned to " + utostr(A.Bytes));
  for (const Disjoint &D : When.Disjoints)
    Parts.push_back(Pointer(D.A) + " [" + words(D.ExtentA, Names) +
                    "] disjoint from " + Pointer(D.B) + " [" +
                    words(D.ExtentB, Names) + "]");
  return Parts.empty() ? "none" : join(Parts, "; ");
}

std::optional<json::Object> planAnswer(const LaunchPlan &Plan,
                                       const Kernel &K) {
  const std::vector<std::string> Names = scalarNames(K);
  auto List = [&](ArrayRef<Expr> Sizes) {
    json::Array All;
    for (const Expr &E : Sizes)
      All.push_back(words(E, Names));
    return All;
  };
  json::Array Launches, Maps;
  for (const Launch &L : Plan.Launches)
    Launches.push_back(json::Object{
        {"kernel", L.Symbol},
        {"grid", List(L.Grid)},
        {"block", List(L.Block)},
        {"shared", words(L.Shared, Names)},
        {"cluster", L.Cluster ? List(*L.Cluster) : json::Array()}});
  for (const TensorMapPlan &M : Plan.TensorMaps) {
    if (M.Base.Offset)
      return std::nullopt;
    Maps.push_back(words(M, K, Names));
  }
  return json::Object{{"launches", std::move(Launches)},
                      {"scratch", List(Plan.Scratch)},
                      {"tensor_maps", std::move(Maps)}};
}

std::optional<json::Object> guardAnswer(const Guard &When, const Kernel &K) {
  const std::vector<std::string> Names = scalarNames(K);
  json::Array Conditions, Align, Disjoints;
  for (const Constraint &C : When.Constraints)
    Conditions.push_back(words(C.E, Names) + (C.IsEq ? " == 0" : " >= 0"));
  for (const Alignment &A : When.Alignments) {
    if (A.Pointer.Offset)
      return std::nullopt;
    Align.push_back(json::Object{{"pointer", K.Params[A.Pointer.Param].Name},
                                 {"bytes", int64_t(A.Bytes)}});
  }
  for (const Disjoint &D : When.Disjoints) {
    if (D.A.Offset || D.B.Offset)
      return std::nullopt;
    Disjoints.push_back(json::Object{{"a", K.Params[D.A.Param].Name},
                                     {"a_bytes", words(D.ExtentA, Names)},
                                     {"b", K.Params[D.B.Param].Name},
                                     {"b_bytes", words(D.ExtentB, Names)}});
  }
  return json::Object{{"conditions", std::move(Conditions)},
                      {"align", std::move(Align)},
                      {"disjoint", std::move(Disjoints)}};
}

static bool givesUp(const json::Value &V) {
  return V.getAsObject()->getString("action") == "give_up";
}

Expected<std::optional<ModelTranslation>>
reviseByModel(Provider &From, const PromptLibrary &Prompts,
              const PromptKernel &P, const RevisionRequest &R, StringRef Step,
              std::string &Why, AnswerCounts *Counts) {
  json::Object O = kernelFacts(P);
  auto Quoted = [](StringRef Label, StringRef Text) {
    return Text.empty() ? json::Value(nullptr) : quotedFact(Label, Text);
  };
  O["genome"] = R.Genome;
  O["variant"] =
      quotedFact(fileName("variant", R.Variant.Language), R.Variant.Source);
  O["plan"] = planWords(R.Variant.Plan, P.K);
  O["guard"] = guardWords(R.Variant.When, P.K);
  O["tunables"] = nullptr;
  if (R.Open) { // It is repaired for all its settings.
    O["variant"] = quotedFact("variant.cu", R.Open->Source);
    O["plan"] = R.Open->Plan;
    O["guard"] = R.Open->Guard;
    O["tunables"] = tunablesText(R.Open->Numbers);
  }
  O["trouble"] = R.Trouble;
  O["errors"] = Quoted("compiler", R.Errors);
  O["verdict"] = Quoted("gate", R.Verdict);
  O["has_profile"] = !R.Profile.empty();
  O["profile"] = textFacts(R.Profile);
  O["earlier"] = textFacts(R.Earlier);
  O["round"] = R.Round;
  O["rounds"] = R.Rounds;
  // One that gives up owes no plan.
  auto Check = [&](const json::Value &V) {
    return givesUp(V)
               ? Error::success()
               : translationFrom(V, P.K, P.Arch, P.Strategies, P.Language)
                     .takeError();
  };
  Expected<StructuredAnswer> A = askStructured(
      From, Prompts, {"kernel-revisor", O, Step.str(), 16384, Check}, Counts);
  if (!A)
    return A.takeError();
  if (givesUp(A->Value)) {
    Why = A->Value.getAsObject()->getString("notes")->str();
    return std::nullopt;
  }
  Expected<ModelTranslation> T =
      translationFrom(A->Value, P.K, P.Arch, P.Strategies, P.Language);
  if (!T)
    return T.takeError();
  T->Prompt = A->Prompt;
  T->Rounds = std::move(A->Rounds);
  return std::optional(std::move(*T));
}

} // namespace cupilot
