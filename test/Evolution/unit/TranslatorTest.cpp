//===- TranslatorTest.cpp - Models' answers as variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/KernelRevisor.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Evolution/SceManager.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/LLM/Recording.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace cupilot;

namespace {
/// ns::scale(float *out, const float *in, int n, float f)
Kernel scaleKernel() {
  Kernel K;
  K.Name = "ns::scale(float *, const float *, int, float)";
  K.Symbol = "_ZN2ns5scaleEPfPKfif";
  K.Slice = "namespace ns { __global__ void scale(float *out, const float *in, "
            "int n, float f) {} }\n";
  for (auto [Name, Type] :
       {std::pair("out", "float *"), {"in", "const float *"}}) {
    KernelParam P;
    P.Name = Name;
    P.Type = Type;
    P.Size = 8;
    P.IsPointer = true;
    P.PointeeSize = 4;
    K.Params.push_back(P);
  }
  KernelParam N, F;
  N.Name = "n";
  N.Type = "int";
  N.Size = 4;
  F.Name = "f";
  F.Type = "float";
  F.Size = 4;
  K.Params.push_back(N);
  K.Params.push_back(F);
  K.Scalars.push_back({2, 0, 32, true});
  K.Pointers = {{0, 0}, {1, 0}};
  return K;
}

json::Value answer(StringRef Plan, StringRef Guard,
                   StringRef Source = "int x;\\n") {
  return cantFail(json::parse(
      ("{\"source\": \"" + Source + "\", \"plan\": " + Plan + ", \"guard\": " +
       Guard + ", \"carried_out\": [\"vectorized_access\"], \"notes\": \"n\"}")
          .str()));
}

std::string launch(StringRef Grid, StringRef Kernel = "ns::scale",
                   StringRef More = "\"cluster\": []") {
  return ("{\"kernel\": \"" + Kernel + "\", \"grid\": [\"" + Grid +
          "\", \"gy\", \"1\"], \"block\": [\"256\", \"1\", \"1\"], "
          "\"shared\": \"0\", " +
          More + "}")
      .str();
}

std::string plan(StringRef Launches, StringRef Scratch = "",
                 StringRef Maps = "") {
  return ("{\"launches\": [" + Launches + "], \"scratch\": [" + Scratch +
          "], \"tensor_maps\": [" + Maps + "]}")
      .str();
}

std::string guard(StringRef Conditions, StringRef Align = "",
                  StringRef Disjoint = "") {
  return ("{\"conditions\": [" + Conditions + "], \"align\": [" + Align +
          "], \"disjoint\": [" + Disjoint + "]}")
      .str();
}

/// What is wrong with an answer; always a finding, so that it is repaired.
std::string wrong(const std::string &Plan, const std::string &Guard) {
  Expected<ModelTranslation> T =
      translationFrom(answer(Plan, Guard), scaleKernel(), "sm_90");
  if (T)
    return "nothing";
  std::string Text;
  handleAllErrors(T.takeError(), [&](const ToolError &E) {
    EXPECT_EQ(E.code(), ExitCode::Finding) << E.text();
    Text = E.text();
  });
  return Text;
}
} // namespace

TEST(Translator, PlanAndGuard) {
  Kernel K = scaleKernel();
  ModelTranslation T = cantFail(translationFrom(
      answer(plan(launch("n ceildiv (4 * 256)")),
             guard("\"n mod 4 == 0\", \"n >= 1024\"",
                   "{\"pointer\": \"in\", \"bytes\": 16}",
                   "{\"a\": \"in\", \"a_bytes\": \"n * 4\", \"b\": \"out\", "
                   "\"b_bytes\": \"4 * n\"}")),
      K, "sm_90"));
  EXPECT_EQ(T.Code.Source, "int x;\n");
  EXPECT_EQ(T.CarriedOut, std::vector<std::string>{"vectorized_access"});
  // As people write it.
  EXPECT_TRUE(T.Code.Plan ==
              cantFail(parsePlan("grid=(n ceildiv 1024, gy, 1); block=(256, 1, "
                                 "1); shared=0",
                                 K)));
  EXPECT_TRUE(T.Code.When ==
              cantFail(parseGuard("n mod 4 == 0; n >= 1024; align in 16; "
                                  "disjoint in (n * 4), out (n * 4)",
                                  K, "sm_90")));
  EXPECT_EQ(T.Code.When.Arch, "sm_90");
}

TEST(Translator, SeveralKernelsAndScratch) {
  ModelTranslation T = cantFail(translationFrom(
      answer(
          plan(launch("n ceildiv 4096", "partial") + ", " +
                   launch("1", "scale", "\"cluster\": [\"2\", \"1\", \"1\"]"),
               "\"gx * 4\"",
               "\"in f32 extents(n, 4) strides(n * 4) box(32, 4) "
               "swizzle(128B)\""),
          guard("")),
      scaleKernel(), "sm_90"));
  ASSERT_EQ(T.Code.Plan.Launches.size(), 2u);
  EXPECT_EQ(T.Code.Plan.extraParams(), 2u);
  EXPECT_TRUE(T.Code.Plan.Launches[1].Cluster.has_value());
  // With more parameters even "scale" is another function.
  EXPECT_EQ(T.Code.Plan.Launches[1].Symbol, "scale");
  std::vector<std::string> Symbols = {"_Z7partialPfPKfifPv11CUtensorMap",
                                      "_ZN2ns5scaleEPfPKfifPv11CUtensorMap"};
  cantFail(nameKernels(T.Code.Plan, Symbols));
  EXPECT_EQ(T.Code.Plan.Launches[0].Symbol, Symbols[0]);
  EXPECT_EQ(T.Code.Plan.Launches[1].Symbol, Symbols[1]);
}

TEST(Translator, NamesOfKernels) {
  for (const char *Name :
       {"scale", "ns::scale", "_ZN2ns5scaleEPfPKfif", "ns::scale<4>"}) {
    Expected<ModelTranslation> T = translationFrom(
        answer(plan(launch("gx", Name)), guard("")), scaleKernel(), "sm_90");
    EXPECT_EQ(cantFail(std::move(T)).Code.Plan.Launches[0].Symbol,
              "_ZN2ns5scaleEPfPKfif")
        << Name;
  }
  auto Named = [](std::string Name, std::vector<std::string> Symbols) {
    LaunchPlan P;
    P.Launches.emplace_back();
    P.Launches[0].Symbol = std::move(Name);
    if (Error E = nameKernels(P, Symbols))
      return toString(std::move(E));
    return P.Launches[0].Symbol;
  };
  std::vector<std::string> Instances = {"_Z1kILi4EEvPf", "_Z1kILi8EEvPf"};
  EXPECT_EQ(Named("k<8>", Instances), Instances[1]);
  EXPECT_EQ(Named("k<16>", Instances).find("the plan launches 'k<16>'"), 0u);
  EXPECT_NE(Named("k", Instances)
                .find("several of the source's kernels: void "
                      "k<4>(float*), void k<8>(float*)"),
            std::string::npos)
      << Named("k", Instances);
  EXPECT_NE(Named("gone", Instances).find("none of"), std::string::npos);
}

TEST(Translator, WhatMeansNothingIsSaid) {
  std::string Fine = plan(launch("gx"));
  EXPECT_EQ(wrong(Fine, guard("\"n > 4\"")),
            "guard.conditions: 'n > 4': use ==, >= or <=");
  EXPECT_EQ(wrong(Fine, guard("\"n % 4 == 0\"")),
            "guard.conditions: 'n % 4 == 0': there is no '%': use mod");
  EXPECT_EQ(wrong(Fine, guard("\"n\"")),
            "guard.conditions: 'n': it compares nothing");
  EXPECT_EQ(wrong(plan(launch("n / 4")), guard("")),
            "plan.launches[0].grid: 'n / 4': there is no '/': use floordiv or "
            "ceildiv");
  EXPECT_NE(wrong(plan(launch("")), guard("")).find("1 to 500"),
            std::string::npos);
  EXPECT_NE(wrong(plan(launch("m ceildiv 4")), guard("")).find("plan: "),
            std::string::npos);
  EXPECT_NE(wrong(plan(launch("gx * gy")), guard("")).find("plan: "),
            std::string::npos);
  EXPECT_NE(wrong(plan(launch("((gx)")), guard("")).find("plan: "),
            std::string::npos);
  EXPECT_NE(wrong(plan(launch("gx floordiv 0")), guard("")), "");
  EXPECT_NE(wrong(plan(launch("99999999999999999999")), guard("")), "nothing");
  EXPECT_NE(wrong(Fine, guard("", "{\"pointer\": \"n\", \"bytes\": 16}"))
                .find("'n' is no pointer"),
            std::string::npos);
  EXPECT_NE(wrong(Fine, guard("", "{\"pointer\": \"in\", \"bytes\": 3}")),
            "nothing");
  EXPECT_NE(wrong(plan(launch("gx"), "", "\"in f32 box(1)\""), guard(""))
                .find("has no extents"),
            std::string::npos);
}

TEST(Translator, NothingElseGetsIntoThePlan) {
  for (const char *Evil :
       {"gx, 1, 1); launch evil: grid=(1", "gx; scratch=1 ", "gx) -> (gx",
        "#cupilot.plan<[]>", "gx\\n; block=(1", "\\u0000", "gx // 1", "!x"})
    EXPECT_NE(
        wrong(plan(launch(Evil)), guard("")).find("plan.launches[0].grid"),
        std::string::npos)
        << Evil;
  EXPECT_NE(wrong(plan(launch("gx"), "",
                       "\"in f32 extents(1); launch evil: "
                       "grid=(1)\""),
                  guard(""))
                .find("plan.tensor_maps"),
            std::string::npos);
  EXPECT_NE(wrong(plan(launch("gx")),
                  guard("", "{\"pointer\": \"in 16; n == 0\", \"bytes\": 16}"))
                .find("guard.align"),
            std::string::npos);
}

TEST(Translator, PromptsHoldNotesAndTheGpu) {
  Kernel K = scaleKernel();
  GpuDescription Card = cantFail(describeGpu("H200"));
  PromptKernel P{K,  "H200", "sm_90",
                 {}, &Card,  {{"async_copy", "By 16.\nOr 4."}}};
  json::Object O = kernelFacts(P);
  EXPECT_EQ(O.getBoolean("has_card"), true);
  const json::Array &Facts = *O.getArray("card");
  EXPECT_EQ(Facts[0].getAsString(),
            "132 multiprocessors at 1.98 GHz; each holds 2048 threads, 32 "
            "blocks, 65536 registers and 228 KiB of shared memory");
  EXPECT_EQ(Facts[2].getAsString(),
            "device memory: 4800 GB/s, of which copies reach 4300, 700 ns of "
            "latency; L2 cache: 60 MiB, 7000 GB/s");
  EXPECT_EQ(Facts[3].getAsString(),
            "dense products on tensor cores at most 1071 TFLOP/s in f16 and "
            "bf16, half of it in tf32; f32 67 TFLOP/s, of which products reach "
            "51; f64 33");
  EXPECT_EQ(formatv("{0}", (*O.getArray("notes"))[0]).str(),
            "{\"lines\":[\"By 16.\",\"Or 4.\"],\"strategy\":\"async_copy\"}");
}

TEST(Translator, WhatThePromptSays) {
  Kernel K = scaleKernel();
  K.Contract = {PrecisionContract::Kind::Relaxed, 1e-3};
  Workload W;
  W.Shape.Grid = {64, 1, 1};
  W.Shape.Block = {256, 1, 1};
  W.Weight = 0.82;
  W.Args = {std::vector<uint8_t>(8),
            std::vector<uint8_t>(8),
            {0x00, 0x40, 0, 0},
            std::vector<uint8_t>(4)};
  json::Object O = kernelFacts({K, "H200", "sm_90", W});
  EXPECT_EQ(O.getBoolean("has_card"), false);
  EXPECT_EQ(O.getBoolean("has_notes"), false);
  json::Value Workloads = *O.get("workloads");
  EXPECT_EQ(formatv("{0}", Workloads).str(),
            "[{\"text\":\"grid [64, 1, 1], block [256, 1, 1], n = "
            "16384\",\"weight\":\"82%\"}]");
  EXPECT_EQ(formatv("{0}", (*O.getArray("parameters"))[2]).str(),
            "{\"integer\":\"n\",\"name\":\"n\",\"type\":\"int\"}");
  auto Says = [&K, &W] {
    return kernelFacts({K, "H200", "sm_90", W}).getString("contract")->str();
  };
  EXPECT_TRUE(StringRef(Says()).starts_with(
      "results may differ by a share of 0.001 of their size and their root "
      "mean square together; narrower arithmetic that keeps to that is "
      "allowed; errors must not lean to one side: "))
      << Says();
  EXPECT_TRUE(StringRef(Says()).contains("numbers of every magnitude"));
  K.Contract.Biased = true;
  EXPECT_TRUE(StringRef(Says()).contains("; errors may lean to one side"));
  K.Contract.Biased = false;
  K.Contract.Ranges = {{"", 1e-3, 100}};
  EXPECT_TRUE(StringRef(Says()).contains("lies in 0.001 to 100"));
  EXPECT_FALSE(StringRef(Says()).contains("numbers of every magnitude"));
  K.Contract.Ranges.clear();
  K.Contract.NormTolerance = 4e-4;
  json::Object Norm = kernelFacts({K, "H200", "sm_90", W});
  std::string Contract = Norm.getString("contract")->str();
  EXPECT_TRUE(StringRef(Contract).contains("|result - exact| / |exact|"))
      << Contract;
  EXPECT_TRUE(StringRef(Contract).contains("must stay below 0.0004 on"))
      << Contract;
}

TEST(Translator, FromARecordedAnswer) {
  // The first answer has a plan that means nothing; its repair is good.
  class Recorded : public Provider {
  public:
    Expected<ChatAnswer> ask(const ChatRequest &R) override {
      ChatAnswer A;
      bool First = R.Messages.size() == 1;
      A.Text =
          "```json\n" +
          formatv("{0}",
                  answer(plan(launch(First ? "n / 1024" : "n ceildiv 1024")),
                         guard(""), ""))
              .str() +
          "\n```\n```cuda\n__global__ void scale() {}\n```\n";
      return A;
    }
    std::string describe(const ChatRequest &) const override { return ""; }
  } Model;
  TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("cupilot-rec"));
  Kernel K = scaleKernel();
  PromptLibrary Prompts =
      cantFail(PromptLibrary::open(PromptLibrary::shippedFolder(), ""));
  AnswerCounts Counts;
  auto Translate = [&](Provider &From) {
    return translateByModel(From, Prompts, {K, "H200", "sm_90", {}},
                            {{PromptGene{"unroll{factor=4}", "Unroll"}},
                             {"it has 32 registers"},
                             {},
                             std::nullopt},
                            "g0/c0", &Counts);
  };
  {
    auto To = cantFail(Recording::open(Dir.path(), true));
    cantFail(Translate(*recordCalls(Model, *To, false)));
  }
  auto From = cantFail(Recording::open(Dir.path(), false));
  std::string Told;
  ModelTranslation T = cantFail(Translate(*replayCalls(
      *From, true, [&](StringRef Step, StringRef) { Told += Step; })));
  EXPECT_EQ(Told, "");
  EXPECT_EQ(T.Code.Source, "__global__ void scale() {}\n");
  EXPECT_EQ(T.Rounds.size(), 2u);
  EXPECT_EQ(Counts.all()["strategy-translator"].Repaired, 2u);
  EXPECT_TRUE(StringRef(T.Prompt).starts_with("strategy-translator 6 b3:"));
  EXPECT_EQ(T.Code.Plan.Launches[0].Symbol, K.Symbol);
}

namespace {
/// Always says the same.
class OneAnswer : public Provider {
public:
  explicit OneAnswer(std::string Text) : Text(std::move(Text)) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override {
    Asked = R.Messages.front().Text;
    ChatAnswer A;
    A.Text = Text;
    A.Finish = "stop";
    return A;
  }
  std::string describe(const ChatRequest &) const override { return ""; }
  std::string Text, Asked;
};
} // namespace

// What is proved of the fastest parent goes for a reason, or for a gene that
// excludes it; of one that is not proved anything may go.
TEST(Manager, ProvedGenesStay) {
  std::vector<LibraryStrategy> Library(4);
  Library[0].Info = {"tile", {{"size", {16, 32}, {}}}, {}, {}};
  Library[1].Info = {"pad", {}, {}, {"swizzle"}};
  Library[2].Info = {"swizzle", {}, {}, {}};
  Library[3].Info = {"unroll", {{"factor", {2, 4}, {}}}, {}, {}};
  Standing So;
  Genome Fast = *parseGenome("tile{size=32}, pad{}");
  So.Population = {{"g0_v0", *parseGenome("unroll{factor=2}"), 1.2, true, ""},
                   {"g0_v1", Fast, 2, true, "2.00 x"},
                   {"g1_i0", Fast, 0.9, false, "slower, 0.90 x"}};
  So.Tried = {{"g0_v1", "x", "2.00 x"}, {"g0_v7", "y", "gate: race"}};
  auto Proposal = [](std::vector<std::string> Parents, StringRef Name,
                     json::Array Dropped) {
    return json::Object{
        {"genes", json::Array{json::Object{{"strategy", Name},
                                           {"params", json::Array()}}}},
        {"parents", json::Array(Parents)},
        {"dropped", std::move(Dropped)},
        {"reason", "why"}};
  };
  json::Array Genomes;
  Genomes.push_back(Proposal({"g0_v0", "g0_v1"}, "unroll", {}));
  json::Array Drop;
  Drop.push_back(
      json::Object{{"strategy", "pad{}"}, {"reason", "no bank conflicts"}});
  Genomes.push_back(Proposal({"g0_v1"}, "unroll", std::move(Drop)));
  Genomes.push_back(Proposal({"g0_v1"}, "swizzle", {}));
  Genomes.push_back(Proposal({"g1_i0", "nobody"}, "swizzle", {}));
  Genomes.push_back(Proposal({}, "unroll", {}));
  OneAnswer Model(
      formatv("{0}", json::Value(json::Object{{"new_strategies", json::Array()},
                                              {"genomes", std::move(Genomes)}}))
          .str());
  PromptLibrary Prompts =
      cantFail(PromptLibrary::open(PromptLibrary::shippedFolder(), ""));
  Kernel K = scaleKernel();
  PromptKernel Of{K, "H200", "sm_90", {}};
  std::vector<ProposedGenome> All =
      cantFail(askManager(Model, Prompts, {Of, nullptr, Library, 0, &So}, 5, {},
                          "manager1"))
          .Genomes;
  std::vector<std::string> Texts, Reasons;
  for (const ProposedGenome &P : All) {
    Texts.push_back(genomeText(P.Genes));
    Reasons.push_back(P.Reason);
  }
  ASSERT_EQ(Texts,
            (std::vector<std::string>{"unroll{factor=2}, tile{size=32}, pad{}",
                                      "unroll{factor=2}, tile{size=32}",
                                      "swizzle{}, tile{size=32}", "swizzle{}",
                                      "unroll{factor=2}"}));
  EXPECT_EQ(Reasons,
            (std::vector<std::string>{
                "why", "why; without pad: no bank conflicts",
                "why; without pad: swizzle conflicts with it", "why", "why"}));
  EXPECT_EQ(All[0].Parents, (std::vector<std::string>{"g0_v0", "g0_v1"}));
  EXPECT_EQ(All[3].Parents, (std::vector<std::string>{"g1_i0"}));
  // Who lives on is listed once.
  StringRef Asked(Model.Asked);
  EXPECT_EQ(Asked.count("g0_v1"), 1u) << Model.Asked;
  EXPECT_NE(Asked.find("- g0_v7, y: gate: race"), StringRef::npos)
      << Model.Asked;
}

TEST(Standing, OutcomesInAWord) {
  CandidateRecord R;
  R.Outcome = CandidateOutcome::Accepted;
  R.Ratio = 1.826;
  EXPECT_EQ(outcomeText(R), "1.83 x");
  R.Outcome = CandidateOutcome::Slower;
  EXPECT_EQ(outcomeText(R), "slower, 1.83 x");
  R.Ratio = 0;
  R.reject(FoundBy::Gate, {GateReason::Race, "w0", "two\nthreads"});
  EXPECT_EQ(outcomeText(R), "gate: race (w0): two");
  // A candidate's text is not quoted, and nothing is long.
  R.end(CandidateOutcome::CompileError,
        "the variant does not parse:\nv.cu:1:2: error: use of 'x'\n evil();");
  EXPECT_EQ(outcomeText(R), "compile-error: v.cu:1:2: error: use of 'x'");
  R.end(CandidateOutcome::NoAnswer, std::string(5000, 'a'));
  EXPECT_LT(outcomeText(R).size(), 200u);
}

TEST(Revisor, PlansAndGuardsInWords) {
  Kernel K = scaleKernel();
  EXPECT_EQ(planWords(cantFail(parsePlan("grid=(n ceildiv 1024, gy, 1); "
                                         "shared=n * 4; scratch=gx * 8",
                                         K)),
                      K),
            "_ZN2ns5scaleEPfPKfif: grid [n ceildiv 1024, gy, 1], block [bx, "
            "by, bz], shared n * 4; scratch [gx * 8]");
  EXPECT_EQ(guardWords(cantFail(parseGuard("n mod 4 == 0; align in 16; "
                                           "disjoint in (n * 4), out (n * 4)",
                                           K, "sm_90")),
                       K),
            "n mod 4 == 0; in aligned to 16; in [n * 4] disjoint from out [n * "
            "4]");
  EXPECT_EQ(guardWords(Guard(), K), "none");
  EXPECT_EQ(
      planWords(cantFail(parsePlan("tensormap=in f32 extents(n, gx) strides(n "
                                   "* 4) box(32, 8) swizzle(128B)",
                                   K)),
                K),
      "_ZN2ns5scaleEPfPKfif: grid [gx, gy, gz], block [bx, by, bz], shared "
      "shared; tensor map in f32 extents(n, gx) strides(n * 4) box(32, 8) "
      "swizzle(128B)");
}

TEST(Revisor, RepairsOrGivesUp) {
  class Scripted : public Provider {
  public:
    Expected<ChatAnswer> ask(const ChatRequest &R) override {
      Asked = R.Messages[0].Text;
      json::Value V = answer(plan(GiveUp ? "" : launch("gx")), guard(""),
                             GiveUp ? "" : "int y;\\n");
      (*V.getAsObject())["action"] = GiveUp ? "give_up" : "repair";
      ChatAnswer A;
      A.Text = formatv("{0}", V).str();
      return A;
    }
    std::string describe(const ChatRequest &) const override { return ""; }
    bool GiveUp = false;
    std::string Asked;
  } Model;
  Kernel K = scaleKernel();
  PromptLibrary Prompts =
      cantFail(PromptLibrary::open(PromptLibrary::shippedFolder(), ""));
  Translation Variant;
  Variant.Source = "int x;\n";
  Variant.Plan = cantFail(parsePlan("", K));
  RevisionRequest R{"unroll{factor=4}",    Variant, "does not compile",
                    "error: \n>>>>>>>> x", "",      {},
                    {"wider loads"},       2,       3};
  std::string Why;
  auto T = cantFail(reviseByModel(Model, Prompts, {K, "H200", "sm_90", {}}, R,
                                  "g0/c0/r2", Why));
  ASSERT_TRUE(T);
  EXPECT_EQ(T->Code.Source, "int y;\n");
  for (const char *Words :
       {"does not compile. It is repair 2 of 3", "for the genome unroll",
        "\nerror: \n>>>>>>>> x\n>>>>>>>> compiler ", "Its guard: none.",
        "Tried before: wider loads", "<<<<<<<< variant.cu "})
    EXPECT_NE(Model.Asked.find(Words), std::string::npos) << Model.Asked;
  EXPECT_EQ(Model.Asked.find("The gate says"), std::string::npos);
  Model.GiveUp = true;
  EXPECT_FALSE(cantFail(reviseByModel(Model, Prompts, {K, "H200", "sm_90", {}},
                                      R, "g0/c0/r3", Why)));
  EXPECT_EQ(Why, "n");
}
