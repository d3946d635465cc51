//===- StrategyTranslator.cpp - Genomes to code, by language models -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// What else a bound of the norm asks for. Models know that tensor cores take
/// TF32, and rarely that these cut off what is not rounded.
static std::string normFact(const PrecisionContract &C) {
  if (C.NormTolerance <= 0)
    return "";
  return formatv(", and |result - exact| / |exact| (Euclidean norms over each "
                 "output, exact: float64) must stay below {0} on the "
                 "workloads' inputs; tensor cores cut TF32 inputs off, which "
                 "costs 7.7e-4 in sums of products of both signs, 4.6e-4 where "
                 "one factor was rounded before (cvt.rna.tf32.f32), 2.9e-4 "
                 "where both were, those that instructions read from shared "
                 "memory there or in a pass before",
                 format("%g", C.NormTolerance))
      .str();
}

/// What else the author grants, or does not need.
static std::string promiseFact(const PrecisionContract &C) {
  std::string Text;
  for (const MagnitudeRange &R : C.Ranges)
    Text += formatv("; the largest magnitude in {0} lies in {1} to {2} (or is "
                    "0), so that formats of that range will do",
                    R.Buffer.empty() ? "each input buffer" : R.Buffer,
                    format("%g", R.Low), format("%g", R.High));
  if (C.Biased)
    Text += "; errors may lean to one side, as those of operands that are cut "
            "off do";
  else
    Text += "; errors must not lean to one side: sum((result - exact) * exact) "
            "/ sum(exact^2) stays near 0 only if every operand of narrower "
            "products is rounded to nearest (cvt.rna.tf32.f32, "
            "__float2half_rn) instead of cut off, and none is corrected by a "
            "constant factor; where rounding changes no operand, results are "
            "as exact as the original's";
  if (none_of(C.Ranges,
              [](const MagnitudeRange &R) { return R.Buffer.empty(); }))
    Text += "; numbers of every magnitude that float has occur, so narrower "
            "formats keep its range (tf32, bfloat16), and half does not unless "
            "operands are scaled by powers of two";
  return Text;
}

static std::string contractFact(const PrecisionContract &C) {
  switch (C.K) {
  case PrecisionContract::Kind::Exact:
    return "every output equals the original's, bit by bit";
  case PrecisionContract::Kind::Same:
    return "no less exact than the original, both against a float64 run, and "
           "no narrower arithmetic than the original's";
  case PrecisionContract::Kind::Relaxed:
    return formatv("results may differ by a share of {0} of their size and "
                   "their root mean square together{1}; narrower arithmetic "
                   "that keeps to that is allowed{2}",
                   format("%g", C.RelativeTolerance), normFact(C),
                   promiseFact(C))
        .str();
  }
  llvm_unreachable("all contracts are named");
}

static std::string threeText(ArrayRef<uint64_t> Sizes) {
  return formatv("[{0}, {1}, {2}]", Sizes[0], Sizes[1], Sizes[2]).str();
}

static std::string workloadText(const Kernel &K, const Workload &W) {
  std::string Text =
      "grid " + threeText(W.Shape.Grid) + ", block " + threeText(W.Shape.Block);
  if (W.Shape.Shared)
    Text += formatv(", {0} bytes of shared memory", W.Shape.Shared).str();
  // "card" is the word of prompts/_rules.md; another one would make recorded
  // searches stop as changed.
  if (W.Only)
    Text += W.isForGpuAlone() ? ", only=card" : ", only=gate";
  Expected<Bindings> B = bindLaunch(W.Shape, K.Scalars, W.Args);
  if (!B) { // The gate says what is wrong with it.
    consumeError(B.takeError());
    return Text;
  }
  for (auto [Name, Value] : zip(scalarNames(K), B->Symbols))
    Text += formatv(", {0} = {1}", Name, Value).str();
  return Text;
}

json::Array textFacts(ArrayRef<std::string> Texts) {
  json::Array List;
  for (const std::string &Text : Texts)
    List.push_back(json::fixUTF8(Text));
  return List;
}

static std::string valuesText(const StrategyInfo::Param &P) {
  if (!P.Words.empty())
    return "[" + join(P.Words, ", ") + "]";
  return "[" +
         join(map_range(P.Values, [](int64_t V) { return std::to_string(V); }),
              ", ") +
         "]";
}

json::Array strategyFacts(ArrayRef<LibraryStrategy> Library) {
  json::Array All;
  for (const LibraryStrategy &S : Library) {
    json::Array Params;
    for (const StrategyInfo::Param &P : S.Info.Params)
      Params.push_back(
          json::Object{{"name", P.Name}, {"values", valuesText(P)}});
    All.push_back(json::Object{{"name", S.Info.Name},
                               {"bottleneck", S.Bottleneck},
                               {"summary", S.Summary},
                               {"params", std::move(Params)},
                               {"requires", json::Array(S.Info.Requires)},
                               {"conflicts", json::Array(S.Info.Conflicts)},
                               {"record", nullptr}});
  }
  return All;
}

json::Array triedFacts(ArrayRef<TriedVariant> Tried) {
  json::Array All;
  for (const TriedVariant &T : Tried)
    All.push_back(
        json::Object{{"name", T.Name},
                     {"genome", T.Genome.empty() ? json::Value("no strategy")
                                                 : json::Value(T.Genome)},
                     {"outcome", json::fixUTF8(T.Outcome)}});
  return All;
}

/// What bounds code on a GPU, by its description.
static json::Array cardFacts(const GpuDescription &G) {
  json::Array Facts;
  auto Add = [&](std::string Text) { Facts.push_back(std::move(Text)); };
  Add(formatv("{0} multiprocessors at {1:f2} GHz; each holds {2} threads, {3} "
              "blocks, {4} registers and {5} KiB of shared memory",
              G.Multiprocessors, G.ClockGHz, G.MaxThreadsPerSM,
              G.MaxBlocksPerSM, G.RegistersPerSM, G.SharedPerSM >> 10));
  Add(formatv("a block has at most 1024 threads and {0} KiB of shared memory, "
              "a thread at most 255 registers",
              G.SharedPerBlock >> 10));
  Add(formatv(
      "device memory: {0:f0} GB/s, of which copies reach {1:f0}, {2:f0} "
      "ns of latency; L2 cache: {3} MiB, {4:f0} GB/s",
      G.PeakDramGBs, G.DramGBs, G.DramLatencyNs, G.L2Bytes >> 20, G.L2GBs));
  // Operations, a fused one counts as two.
  const double PerCycle = G.Multiprocessors * G.ClockGHz * 1e-3;
  Add(formatv("dense products on tensor cores at most {0:f0} TFLOP/s in f16 "
              "and bf16, half of it in tf32; f32 {1:f0} TFLOP/s, of which "
              "products reach {2:f0}; f64 {3:f0}",
              PerCycle * G.TensorPerCycle, G.fp32Peak(), G.Fp32Tflops,
              2 * PerCycle * G.Fp64PerCycle));
  Add(formatv("per cycle and multiprocessor {0:f0} integer and {1:f0} special "
              "(exp, rsqrt, sin) operations; a launch takes about {2:f1} us",
              G.IntegerPerCycle, G.SpecialPerCycle, G.LaunchMicroseconds));
  return Facts;
}

std::string fileName(StringRef Name, SourceLanguage L) {
  return (Name + extensionOf(L)).str();
}

json::Object kernelFacts(const PromptKernel &P) {
  std::vector<std::string> Names = scalarNames(P.K);
  json::Array Parameters, Workloads;
  for (auto [I, Param] : enumerate(P.K.Params)) {
    std::string Integers;
    for (auto [Name, S] : zip(Names, P.K.Scalars))
      if (S.Param == I)
        Integers += (Integers.empty() ? "" : ", ") + Name;
    json::Object O{{"name", Param.Name}, {"type", Param.Type}};
    O["integer"] =
        Integers.empty() ? json::Value(nullptr) : json::Value(Integers);
    Parameters.push_back(std::move(O));
  }
  for (const Workload &W : P.Workloads)
    Workloads.push_back(
        json::Object{{"weight", formatv("{0:P0}", W.Weight).str()},
                     {"text", workloadText(P.K, W)}});
  const bool IsCuda = P.Language == SourceLanguage::Cuda;
  json::Array Unasked;
  if (P.Strategies.empty())
    Unasked.push_back("tunables");
  if (IsCuda)
    Unasked.push_back("language");
  json::Array Notes;
  for (const PromptNote &N : P.Notes) {
    json::Array Lines; // A fact is a line.
    for (StringRef Line : split(N.Text, '\n'))
      Lines.push_back(Line);
    json::Object O{{"lines", std::move(Lines)}};
    O["strategy"] =
        N.Strategy.empty() ? json::Value(nullptr) : json::Value(N.Strategy);
    Notes.push_back(std::move(O));
  }
  return json::Object{
      {"gpu", P.Gpu},
      {"has_card", P.Card != nullptr},
      {"card", P.Card ? cardFacts(*P.Card) : json::Array()},
      {"has_notes", !P.Notes.empty()},
      {"notes", std::move(Notes)},
      {"arch", P.Arch},
      {"kernel_name", P.K.Name},
      {"kernel", quotedFact(fileName("kernel", P.Language), P.K.Slice)},
      {"has_mlir", !IsCuda},
      {"parameters", std::move(Parameters)},
      {"workloads", std::move(Workloads)},
      {"has_tunables", !P.Strategies.empty()},
      {"unasked", std::move(Unasked)},
      {"contract", contractFact(P.K.Contract)}};
}

Expected<ModelTranslation>
askForCode(Provider &From, const PromptLibrary &Prompts, StringRef Prompt,
           const json::Object &Facts, const PromptKernel &P, StringRef Step,
           AnswerCounts *Counts) {
  // What the schema cannot say, the repair round shall hear, too.
  auto Check = [&](const json::Value &V) {
    return translationFrom(V, P.K, P.Arch, P.Strategies, P.Language)
        .takeError();
  };
  Expected<StructuredAnswer> A = askStructured(
      From, Prompts, {Prompt, Facts, Step.str(), 16384, Check}, Counts);
  if (!A)
    return A.takeError();
  Expected<ModelTranslation> T =
      translationFrom(A->Value, P.K, P.Arch, P.Strategies, P.Language);
  if (!T)
    return T.takeError();
  T->Prompt = A->Prompt;
  T->Rounds = std::move(A->Rounds);
  return T;
}

static json::Object parentFacts(const PromptParent &P, StringRef Name) {
  return json::Object{
      {"parent_genome",
       P.Genome.empty() ? json::Value(nullptr) : json::Value(P.Genome)},
      {"parent_outcome", P.Outcome},
      {"parent_plan", P.Plan},
      {"parent_guard", P.Guard},
      {"parent_tunables",
       P.Tunables.empty() ? json::Value(nullptr) : json::Value(P.Tunables)},
      {"parent_figures", textFacts(P.Figures)},
      {"source", quotedFact(fileName(Name, P.Language), P.Source)}};
}

Expected<ModelTranslation>
translateByModel(Provider &From, const PromptLibrary &Prompts,
                 const PromptKernel &P, const TranslationRequest &R,
                 StringRef Step, AnswerCounts *Counts) {
  json::Object O = kernelFacts(P);
  json::Array Genes, Examples, Parents;
  for (const PromptGene &G : R.Genes)
    Genes.push_back(json::Object{
        {"gene", G.Gene.empty() ? json::Value(nullptr) : json::Value(G.Gene)},
        {"summary", G.Summary}});
  for (const PromptExample &E : R.Examples)
    if (!E.Source.empty())
      Examples.push_back(
          json::Object{{"example_kernel", E.Kernel},
                       {"genome", E.Genome},
                       {"outcome", E.Outcome},
                       {"source", quotedFact("variant.cu", E.Source)}});
  if (R.Parent)
    Parents.push_back(parentFacts(*R.Parent, "parent"));
  O["genes"] = std::move(Genes);
  O["has_facts"] = !R.Facts.empty();
  O["facts"] = textFacts(R.Facts);
  O["examples"] = std::move(Examples);
  O["parent"] = std::move(Parents);
  return askForCode(From, Prompts, "strategy-translator", O, P, Step, Counts);
}

json::Object improvementFacts(const PromptKernel &P,
                              const ImprovementRequest &R) {
  json::Object O = kernelFacts(P);
  json::Array Strategies = strategyFacts(R.Library);
  if (!R.Typed)
    for (json::Value &S : Strategies) {
      (*S.getAsObject())["name"] = nullptr;
      (*S.getAsObject())["params"] = json::Array();
    }
  O["strategies"] = std::move(Strategies);
  O["has_facts"] = !R.Facts.empty();
  O["facts"] = textFacts(R.Facts);
  O["variant"] = json::Array{parentFacts(R.Variant, "variant")};
  O["tried"] = triedFacts(R.Order.Tried);
  O["has_tried"] = !R.Order.Tried.empty();
  O["several"] = R.Order.Count > 1;
  O["number"] = R.Order.Number;
  O["count"] = R.Order.Count;
  return O;
}

Expected<ModelTranslation>
improveByModel(Provider &From, const PromptLibrary &Prompts,
               const PromptKernel &P, const ImprovementRequest &R,
               StringRef Step, AnswerCounts *Counts) {
  return askForCode(From, Prompts, "improve", improvementFacts(P, R), P, Step,
                    Counts);
}

} // namespace cupilot
