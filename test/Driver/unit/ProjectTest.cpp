//===- ProjectTest.cpp - Units and kernels of a project -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/BudgetSplit.h"
#include "cupilot/Driver/Evolve.h"
#include "cupilot/Driver/ObjectKernels.h"
#include "cupilot/Driver/ProjectUnits.h"
#include "cupilot/Driver/SearchTable.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

namespace {
Workload launch(StringRef Symbol, double Weight) {
  Workload W;
  W.Symbol = Symbol;
  W.Weight = Weight;
  return W;
}

/// A folder with compile_commands.json and empty sources.
struct Project {
  TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("project"));
  void write(StringRef Commands, ArrayRef<StringRef> Sources) {
    cantFail(writeFileAtomic(Dir.file("compile_commands.json"), Commands));
    for (StringRef Source : Sources)
      cantFail(writeFileAtomic(Dir.file(Source), ""));
  }
};
} // namespace

TEST(SearchTable, OrdersKernelsByTheirTime) {
  WorkloadSet Set{{launch("a", 0.1), launch("b", 0.2), launch("c", 0.3),
                   launch("b", 0.25), launch("d", 0.1)},
                  "."};
  Set.All[2].Only = Audience::Gate;
  std::vector<LaunchedKernel> Kernels = launchedKernels(Set);
  ASSERT_EQ(Kernels.size(), 4u);
  EXPECT_EQ(Kernels[0].Symbol, "b");
  EXPECT_DOUBLE_EQ(Kernels[0].Share, 0.45);
  EXPECT_EQ(Kernels[1].Symbol, "a");
  EXPECT_EQ(Kernels[2].Symbol, "d");
  EXPECT_EQ(Kernels[3].Symbol, "c");
  EXPECT_EQ(Kernels[3].Share, 0);
}

TEST(SearchTable, ExpectsWhatAmdahlsLawSays) {
  SearchTable T;
  EXPECT_EQ(T.expected(), 0); // Nothing is known.
  T.Rows = {{"half", 0.5, 2, 2, 2, Basis::Measured}, {"quarter", 0.25}};
  EXPECT_DOUBLE_EQ(T.expected(), 1 / 0.75);
  EXPECT_EQ(T.expectedBasis(), Basis::Modelled); // The shares are.
  T.ShareBasis = Basis::Measured;
  EXPECT_EQ(T.expectedBasis(), Basis::Measured);
  T.Rows[1].Ratio = 5;
  EXPECT_DOUBLE_EQ(T.expected(), 1 / 0.55);
  EXPECT_EQ(T.expectedBasis(), Basis::Modelled);
}

TEST(BudgetSplit, FollowsTheShares) {
  BudgetSplit B(100, {0.5, 0.3, 0.2}, 1);
  EXPECT_EQ(B.next(), 50u);
  B.spend(50);
  EXPECT_EQ(B.next(), 30u);
  // What one does not spend is for those behind it.
  B.spend(10);
  EXPECT_EQ(B.next(), 40u);
  B.spend(40);
  EXPECT_EQ(B.next(), 0u);
  // Those that would get too little get nothing.
  BudgetSplit Small(10, {0.6, 0.3, 0.07, 0.03}, 2);
  EXPECT_EQ(Small.next(), 7u);
  Small.spend(7);
  EXPECT_EQ(Small.next(), 3u);
  Small.spend(3);
  EXPECT_EQ(Small.next(), 0u);
  // Unknown shares are alike, and one kernel gets all there is.
  EXPECT_EQ(BudgetSplit(9, {0, 0, 0}, 1).next(), 3u);
  EXPECT_EQ(BudgetSplit(1, {0.1}, 4).next(), 1u);
  EXPECT_EQ(BudgetSplit(1, {}, 1).next(), 0u);
}

TEST(SearchSize, MakesAsManyCandidatesAsTheBudgetHas) {
  auto Made = [](unsigned Candidates) {
    SearchOptions O;
    SearchSize::limit(O, Candidates);
    return O.Population + (O.Generations - 1) * O.Offspring;
  };
  const SearchOptions Usual;
  EXPECT_EQ(Made(1), 1u);
  EXPECT_EQ(Made(Usual.Population), Usual.Population);
  for (unsigned N : {5u, 28u, 61u, 300u}) {
    EXPECT_LE(Made(N), N);
    EXPECT_GT(Made(N) + Usual.Offspring, N);
  }
}

TEST(SearchTable, SharesThatNobodyKnowsAreNone) {
  SearchTable T;
  T.Rows = {{"k", 0, 2, 1.5, 2.25, Basis::Modelled}};
  std::string Text;
  raw_string_ostream OS(Text);
  T.print(OS);
  EXPECT_EQ(Text, "  share   ratio  interval      basis     kernel\n"
                  "      -   2.00x  1.50 to 2.25  modelled  k\n");
}

TEST(ProjectUnits, AreThoseOfNvccAndClang) {
  Project P;
  P.write(R"([
  {"directory": "/", "file": "DIR/a.cu", "command": "nvcc -c DIR/a.cu -o a.o"},
  {"directory": "DIR", "file": "b.cc", "command": "ccache clang++ -x cuda -c b.cc"},
  {"directory": "DIR", "file": "c.cpp", "command": "clang++ -c c.cpp -o c.o"},
  {"directory": "DIR", "file": "d.cpp", "command": "nvcc -x cu -c d.cpp --output-file sub/d.o"},
  {"directory": "DIR", "file": "a.cu", "command": "g++ -x c++ -c a.cu"},
  {"directory": "DIR", "file": "e.cu", "command": "nvcc -c e.cu"}
])",
          {"a.cu", "b.cc", "c.cpp", "d.cpp"});
  std::string Text = cantFail(readFile(P.Dir.file("compile_commands.json")));
  for (size_t At; (At = Text.find("DIR")) != std::string::npos;)
    Text.replace(At, 3, P.Dir.path());
  P.write(Text, {});
  ProjectUnits Units = cantFail(readProject(P.Dir.path()));
  EXPECT_EQ(Units.Commands, 6u);
  ASSERT_EQ(Units.Gone.size(), 1u);
  EXPECT_EQ(Units.Gone[0], P.Dir.file("e.cu"));
  ASSERT_EQ(Units.Units.size(), 3u);
  EXPECT_EQ(Units.Units[0].Source, P.Dir.file("a.cu"));
  EXPECT_EQ(Units.Units[0].Object, "/a.o");
  EXPECT_EQ(Units.Units[1].Source, P.Dir.file("b.cc"));
  EXPECT_EQ(Units.Units[1].Object, P.Dir.file("b.o"));
  EXPECT_EQ(Units.Units[1].Command.back(), P.Dir.file("b.cc"));
  EXPECT_EQ(Units.Units[2].Object, P.Dir.file("sub/d.o"));
}

/// CMake writes a unit's folders of headers into a file in the command's
/// folder.
TEST(ProjectUnits, FilesOfOptionsLieInTheCommandsFolder) {
  Project P;
  P.write(
      (Twine(R"([{"directory": ")") + P.Dir.path() +
       R"(", "file": "a.cu", "command": "nvcc --options-file a.rsp -c a.cu"},
  {"directory": ")" +
       P.Dir.path() +
       R"(", "file": "b.cu", "command": "nvcc -optf=b.rsp,/c.rsp -c b.cu"}])")
          .str(),
      {"a.cu", "b.cu"});
  ProjectUnits Units = cantFail(readProject(P.Dir.path()));
  ASSERT_EQ(Units.Units.size(), 2u);
  EXPECT_EQ(Units.Units[0].Command[2], P.Dir.file("a.rsp"));
  EXPECT_EQ(Units.Units[1].Command[1],
            "-optf=" + P.Dir.file("b.rsp") + ",/c.rsp");
}

TEST(ObjectKernels, DamagedObjectsAreFindings) {
  Project P;
  cantFail(writeFileAtomic(P.Dir.file("k.o"), "no object"));
  std::string Text;
  EXPECT_FALSE(
      bool(absorbFinding(registeredNames(P.Dir.file("k.o")).takeError(),
                         [&](StringRef Why) { Text = Why.str(); })));
  EXPECT_TRUE(StringRef(Text).starts_with("cannot read"));
}
