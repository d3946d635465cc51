//===- ReportTest.cpp - The page of cupilot report ----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Report/Report.h"
#include "gtest/gtest.h"
#include <regex>

using namespace cupilot;

static const Ceilings C = ceilingsOf(llvm::cantFail(describeGpu("H200")));

static ReportKernel kernel() {
  ReportKernel Kernel;
  Kernel.Name = "step<float>(const float *, int)";
  Kernel.Contract = "same";
  ReportRoofline &K = Kernel.Rooflines.emplace_back();
  K.Workload = "w0: grid 16x1x1";
  Opinion Memory, Compute;
  Memory.Class = Bottleneck::Memory;
  Compute.Class = Bottleneck::Compute;
  K.Opinions = {{"code", Memory}, {"counts", Compute}};
  ReportVariant V;
  V.Name = V.Verdict = "original";
  V.Intensity = 0.5;
  V.Operations = 1e6;
  V.Modelled = 20;
  V.Measured = 25;
  K.Variants.push_back(V);
  V.Name = "v_1";
  V.Genome = "unroll{factor=4}";
  V.Verdict = "accepted";
  V.Measured.reset();
  K.Variants.push_back(V);
  V.Verdict = "gate";
  V.Reason = "mismatch: <b>1 & 2</b>";
  V.Intensity.reset();
  K.Variants.push_back(V);
  return Kernel;
}

static size_t count(const std::string &Text, const std::string &Part) {
  size_t Count = 0;
  for (size_t At = 0; (At = Text.find(Part, At)) != std::string::npos; ++At)
    ++Count;
  return Count;
}

TEST(Report, DrawsEveryTimeAndListsEveryVariant) {
  std::string Html = renderReport("Title", C, kernel());
  EXPECT_EQ(count(Html, "<svg"), 1u);
  EXPECT_EQ(count(Html, "<circle"), 3u); // Two modelled, one measured.
  EXPECT_EQ(count(Html, "class=\"original measured\""), 1u);
  EXPECT_EQ(count(Html, "<tr><td class=\"n\">"), 3u);
  EXPECT_NE(Html.find("unroll{factor=4}"), std::string::npos);
  EXPECT_NE(Html.find("The sources disagree"), std::string::npos);
  EXPECT_NE(Html.find("1 of them could not be counted"), std::string::npos);
}

TEST(Report, NamesAreTextAndNothingIsLoaded) {
  std::string Html = renderReport("<script>", C, kernel());
  EXPECT_EQ(count(Html, "<script"), 0u);
  EXPECT_EQ(count(Html, "<b>"), 0u);
  EXPECT_NE(Html.find("step&lt;float&gt;"), std::string::npos);
  EXPECT_FALSE(
      std::regex_search(Html, std::regex("src=|href=\"[^#]|url\\(|https?:")));
}

TEST(Report, PointsLieOnTheDrawing) {
  ReportKernel K = kernel();
  K.Rooflines[0].Variants[0].Operations = 1e20; // Beyond every roof.
  K.Rooflines[0].Variants[1].Operations = 1e-3;
  std::string Html = renderReport("Title", C, K);
  std::regex Circle("cx=\"([-0-9.]+)\" cy=\"([-0-9.]+)\"");
  unsigned Seen = 0;
  for (std::sregex_iterator At(Html.begin(), Html.end(), Circle), End;
       At != End; ++At, ++Seen) {
    EXPECT_GE(std::stod((*At)[1]), 0);
    EXPECT_LE(std::stod((*At)[1]), 920);
    EXPECT_GE(std::stod((*At)[2]), 0);
    EXPECT_LE(std::stod((*At)[2]), 460);
  }
  EXPECT_EQ(Seen, 3u);
}

TEST(Report, BeginsWithTheAnswer) {
  std::vector<ReportKernel> All(2, kernel());
  All[0].Share = 0.75;
  ReportBest B;
  B.Compiler = "clang-22";
  B.Arch = "sm_90";
  B.Variant = "v_1";
  B.Ratio = 1.5;
  B.Basis = Basis::Measured;
  B.OriginalUs = 30;
  B.VariantUs = 20;
  B.OriginalAtCeiling = 0.25;
  B.VariantAtCeiling = 0.375;
  B.Gate = "proved";
  B.Device = "NVIDIA H200";
  All[0].Best = {B, B};
  All[0].Best[1].Compiler = "nvcc-13.0";
  All[0].Best[0].Low = 1.4;
  All[0].Best[0].High = 1.6;
  // What is not known is not shown.
  All[0].Best[1].OriginalUs.reset();
  All[0].Best[1].VariantUs.reset();
  All[1].Why = "no variant was kept";
  All[1].Rooflines.clear();
  std::string Html =
      renderReport("Title", C, All, {{"All run 1.33 times"}, "Not the host."});
  size_t Table = Html.find("<table class=\"answer\">");
  ASSERT_NE(Table, std::string::npos);
  EXPECT_LT(Html.find("All run 1.33 times"), Html.find("<h2"));
  EXPECT_LT(Html.find("Not the host."), Html.find("<h2"));
  EXPECT_LT(Html.find("</table>", Table), Html.find("All run 1.33 times"));
  auto Rows = Html.substr(Table, Html.find("</table>", Table) - Table);
  EXPECT_NE(Rows.find("<td class=\"n\" rowspan=\"2\">75.0 %</td>"),
            std::string::npos);
  EXPECT_NE(
      Rows.find("<td class=\"n\">30.00</td><td class=\"n\">20.00</td>"
                "<td class=\"n\">1.50x<div><small>1.40 to 1.60</small></div>"
                "</td><td>measured<div><small>NVIDIA H200</small></div></td>"
                "<td class=\"n\">25 % \u2192 38 %</td><td>proved"),
      std::string::npos);
  EXPECT_NE(Rows.find("nvcc-13.0, sm_90</td><td class=\"n\"></td>"
                      "<td class=\"n\"></td><td class=\"n\">1.50x</td>"),
            std::string::npos);
  EXPECT_NE(Rows.find("no variant was kept"), std::string::npos);
  // A kernel without figures has no section that its name could lead to.
  EXPECT_EQ(count(Rows, "href=\"#k"), 1u);
  EXPECT_EQ(count(Html, "<h2 id=\"k1\">"), 1u);
  EXPECT_EQ(count(Html, "<h2"), 1u);
}

TEST(Report, LongListsFold) {
  ReportKernel K = kernel();
  std::string Short = renderReport("Title", C, K);
  EXPECT_EQ(count(Short, "<details"), 0u);
  ReportVariant V = K.Rooflines[0].Variants[1];
  V.IsCandidate = true;
  for (int I = 0; I < 30; ++I)
    K.Rooflines[0].Variants.push_back(V);
  K.Rooflines.push_back(kernel().Rooflines[0]);
  std::string Html = renderReport("Title", C, std::vector<ReportKernel>(30, K));
  // Kernels behind the twentieth, candidates, and further workloads.
  EXPECT_EQ(count(Html, "<summary>10 more kernels</summary>"), 1u);
  EXPECT_EQ(count(Html, "<summary>30 candidates of searches</summary>"), 30u);
  EXPECT_EQ(count(Html, "<summary>w0: grid 16x1x1</summary>"), 30u);
}

TEST(Report, WithoutKernelsItSaysSo) {
  EXPECT_NE(renderReport("Title", C, {}).find("There is no kernel"),
            std::string::npos);
}
