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
  ReportKernel K;
  K.Name = "step<float>(const float *, int)";
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
  return K;
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
      std::regex_search(Html, std::regex("src=|href=|url\\(|https?:")));
}

TEST(Report, PointsLieOnTheDrawing) {
  ReportKernel K = kernel();
  K.Variants[0].Operations = 1e20; // Beyond every roof.
  K.Variants[1].Operations = 1e-3;
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

TEST(Report, WithoutKernelsItSaysSo) {
  EXPECT_NE(renderReport("Title", C, {}).find("There is no kernel"),
            std::string::npos);
}
