//===- DriverTest.cpp - What the commands decide --------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/BuildCommand.h"
#include "cupilot/Driver/BuildCompilers.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/Evolve.h"
#include "cupilot/Driver/GpuFacts.h"
#include "cupilot/Driver/Judge.h"
#include "cupilot/Driver/RecordedWorkloads.h"
#include "cupilot/Driver/Refresh.h"
#include "cupilot/Driver/SearchProgress.h"
#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Support/Error.h"
#include "gtest/gtest.h"

using namespace cupilot;
using llvm::Error;

using Words = std::vector<std::string>;

/// "2: text (hint)" of an error, "" of success.
static std::string textOf(Error E) {
  std::string Text;
  llvm::handleAllErrors(std::move(E), [&](const ToolError &T) {
    Text = std::to_string(int(T.code())) + ": " + T.text();
    if (!T.hint().empty())
      Text += " (" + T.hint() + ")";
  });
  return Text;
}

template <typename T> static std::string textOf(llvm::Expected<T> E) {
  return E ? "" : textOf(E.takeError());
}

static Kernel named(std::string Name, std::string Symbol) {
  Kernel K;
  K.Name = std::move(Name);
  K.Symbol = std::move(Symbol);
  return K;
}

static const std::vector<Kernel> Three = {
    named("a::scale(float *)", "_Z1a"), named("scale<int>(int *)", "_Z1b"),
    named("scale<float>(float *)", "_Z1c")};

//===----------------------------------------------------------------------===//
// The kernels of a command
//===----------------------------------------------------------------------===//

TEST(Choice, TakesKernelsByAPartOfTheName) {
  auto Found = chooseKernels(Three, "k.cu", "scale<");
  ASSERT_TRUE(bool(Found));
  EXPECT_EQ(Found->size(), 2u);
  EXPECT_EQ(textOf(chooseKernels(Three, "k.cu", "blur")),
            "2: no kernel of 'k.cu' is named 'blur' ('cupilot extract' lists "
            "a source's kernels)");
  EXPECT_EQ(textOf(chooseKernels(std::vector<Kernel>(), "k.cu", "")),
            "2: 'k.cu' defines no kernel ('cupilot extract' lists a source's "
            "kernels)");
}

TEST(Choice, KnowsWhoIsLaunched) {
  Workload W;
  W.Symbol = "_Z1b";
  WorkloadSet Set{{W, W}, "."};
  EXPECT_FALSE(Set.launches(Three[0]));
  EXPECT_TRUE(Set.launches(Three[1]));
  EXPECT_EQ(Set.of(Three[1]).size(), 2u);
}

TEST(UnitToJudge, FindsAKernelByTheShortestNameThatIsClear) {
  UnitToJudge U{"k.cu", "", Three};
  auto Symbol = [&](llvm::StringRef Name) {
    auto K = U.find(Name);
    return K ? (*K)->Symbol : textOf(K.takeError());
  };
  EXPECT_EQ(Symbol("a::scale"), "_Z1a");
  EXPECT_EQ(Symbol("scale<int>"), "_Z1b");
  EXPECT_EQ(Symbol("scale<int>(int *)"), "_Z1b");
  EXPECT_EQ(Symbol("_Z1c"), "_Z1c");
  EXPECT_EQ(Symbol("scale"),
            "2: 'k.cu' has several kernels named 'scale' (give the "
            "whole name: 'scale<int>(int *)' or "
            "'scale<float>(float *)')");
  EXPECT_EQ(Symbol("sca"), "2: 'k.cu' has no kernel 'sca' ('cupilot extract' "
                           "lists a source's kernels)");
}

//===----------------------------------------------------------------------===//
// Commands of compilers
//===----------------------------------------------------------------------===//

TEST(CompilerCommand, LaunchersAreNotTheCompiler) {
  EXPECT_EQ(
      withoutLaunchers(Words{"/opt/bin/ccache", "cupilot-launch",
                             "-fplugin-arg-cupilot-store=s", "nvcc", "-c"})
          .vec(),
      (Words{"nvcc", "-c"}));
  EXPECT_TRUE(withoutLaunchers(Words{"ccache"}).empty());
}

TEST(CompilerCommand, RefusesOtherCompilers) {
  EXPECT_EQ(textOf(clangFlagsFor("k.cu", Words{"gcc", "-O2"}, "")),
            "2: 'gcc' is neither clang nor nvcc (give only clang's flags, or "
            "a command of clang or nvcc)");
  EXPECT_EQ(textOf(readBuildCommand({}, "k.cu")),
            "2: no compiler was given (end the command with '-- clang++-22 "
            "FLAGS' or '-- nvcc FLAGS')");
  EXPECT_EQ(textOf(readBuildCommand(Words{"-O2"}, "k.cu")),
            textOf(readBuildCommand({}, "k.cu")));
}

TEST(BuildCommand, KeepsWhatTheSourceIsCompiledWith) {
  for (bool Nvcc : {false, true})
    EXPECT_EQ(llvm::cantFail(sourceFlags(
                  Words{"-O2", "-c", "k.cu", "-o", "k.o", "-MD", "-MF", "k.d",
                        "-fplugin=cupilot", "-Rpass=cupilot", "-DN=1", "-MP",
                        "-I", "k.cu"},
                  "k.cu", Nvcc)),
              (Words{"-O2", "-DN=1", "-I", "k.cu"}));
}

TEST(BuildCommand, ReadsArchitecturesAndNvccsOwnLine) {
  auto Clang = readBuildCommand(Words{"clang++", "-O2", "--cuda-gpu-arch=sm_80",
                                      "--cuda-gpu-arch=sm_90", "k.cu"},
                                "k.cu");
  ASSERT_TRUE(bool(Clang));
  EXPECT_EQ(Clang->Archs, (Words{"sm_80", "sm_90"}));
  EXPECT_FALSE(Clang->Nvcc);
  EXPECT_TRUE(llvm::is_contained(Clang->Flags, "--cuda-gpu-arch=sm_80"));
  EXPECT_FALSE(llvm::is_contained(Clang->Flags, "--cuda-gpu-arch=sm_90"));
  auto Nvcc = readBuildCommand(
      Words{"ccache", "nvcc", "-arch=sm_90", "-o", "k.o", "k.cu"}, "k.cu");
  ASSERT_TRUE(bool(Nvcc));
  ASSERT_TRUE(Nvcc->Nvcc.has_value());
  EXPECT_EQ(Nvcc->Nvcc->Nvcc, "nvcc");
  EXPECT_EQ(Nvcc->Nvcc->UnitFlags, Words()); // The architecture is said apart.
}

TEST(BuildCompilers, RefusesWhatIsNone) {
  auto Refused = [](const char *Compiler) {
    return textOf(buildCompilers({}, {Compiler}, llvm::nulls()));
  };
  EXPECT_EQ(Refused("gcc -O2"), "2: 'gcc -O2' is neither clang nor nvcc "
                                "(--compiler='nvcc FLAGS')");
  EXPECT_EQ(Refused(""), "2: --compiler does not name a compiler");
  EXPECT_TRUE(llvm::StringRef(Refused("/gone/nvcc"))
                  .starts_with("3: cannot run '/gone/nvcc'"));
}

TEST(BuildCompilers, ClangAloneWhereTheUserNamesIt) {
  auto Compilers =
      buildCompilers({{"-O2"}, std::nullopt}, {"clang++"}, llvm::nulls());
  ASSERT_TRUE(bool(Compilers));
  ASSERT_EQ(Compilers->size(), 1u);
  EXPECT_FALSE(Compilers->front().Nvcc);
}

TEST(NvccUse, SaysForClangsFlagsWhatNvccIsTold) {
  auto Use = nvccUseFor("nvcc", Words{"-O2", "-std=gnu++20", "-DN=4",
                                      "-ffast-math", "-ffp-contract=off",
                                      "-Xcuda-ptxas", "-maxrregcount=32"});
  ASSERT_TRUE(bool(Use));
  EXPECT_EQ(Use->Device.Flags, (Words{"-std=c++20", "--use_fast_math",
                                      "-fmad=false", "-maxrregcount=32"}));
  EXPECT_EQ(Use->UnitFlags.back(), "-maxrregcount=32");
  EXPECT_EQ(Use->Device.Ptxas, (Words{"-maxrregcount=32"}));
  EXPECT_EQ(Use->ptxasFlags(), (Words{"-Xcuda-ptxas", "-maxrregcount=32"}));
  EXPECT_EQ(textOf(nvccUseFor("nvcc", Words{"-mllvm", "-unroll-count=4"})),
            "1: '-mllvm' has no equivalent in nvcc; name the command with "
            "--compiler");
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

TEST(SearchSize, ReplacesThePresets) {
  SearchOptions Options;
  SearchSize().applyTo(Options);
  EXPECT_EQ(Options.Population, SearchOptions().Population);
  EXPECT_EQ(Options.Generations, SearchOptions().Generations);
  EXPECT_EQ(Options.Offspring, SearchOptions().Offspring);
  SearchSize{4, 2}.applyTo(Options);
  EXPECT_EQ(Options.Population, 4u);
  EXPECT_EQ(Options.Generations, 2u);
  EXPECT_EQ(Options.Offspring, 8u);
}

TEST(SearchSize, ModelsMakeNoMoreOffspringThanThereAreParents) {
  AgentOptions Agents;
  SearchOptions Options;
  Options.Agents = &Agents;
  SearchSize{3, 2}.applyTo(Options);
  EXPECT_EQ(Options.Offspring, 3u);
}

TEST(SearchSize, SteadyMakesAsManyTwoAtATime) {
  SearchOptions Options;
  Options.Offspring = 7;
  SearchSize{4, 3, /*Steady=*/true}.applyTo(Options);
  EXPECT_EQ(Options.Offspring, 2u);
  EXPECT_EQ(Options.Generations, 8u); // The start, and 14 in pairs.
  SearchOptions Start;
  SearchSize{4, 1, /*Steady=*/true}.applyTo(Start);
  EXPECT_EQ(Start.Generations, 1u);
}

TEST(SearchSize, RefusesNumbersThatAreNone) {
  EXPECT_EQ(textOf(SearchSize{1, 10000}.check()), "");
  EXPECT_EQ(textOf(SearchSize{0, 3}.check()),
            "2: --population=0 is out of range (give a number from 1 "
            "to 10000)");
  EXPECT_EQ(textOf(SearchSize{{}, 10001}.check()),
            "2: --generations=10001 is out of range (give a number "
            "from 1 to 10000)");
}

TEST(Evolve, RefusesBeforeItTouchesTheStore) {
  EvolveRequest R;
  R.Store = "/gone/store";
  R.Device = "fpga";
  EXPECT_EQ(textOf(evolve(R, llvm::nulls(), llvm::nulls())),
            "2: unknown device 'fpga' (--device=cpu, cuda, spool:DIR, "
            "ssh:HOST or slurm[:OPTIONS])");
  R.Device = "cpu";
  R.Size.Population = 0;
  EXPECT_EQ(textOf(evolve(R, llvm::nulls(), llvm::nulls())).substr(0, 15),
            "2: --population");
}

TEST(AgentSettings, RefusesSharesAndRepairsOutOfRange) {
  AgentSettings S;
  S.Within = 1;
  EXPECT_EQ(textOf(S.check()),
            "2: --within must be at least 0 and less than 1 (for 5 %, use "
            "--within=0.05)");
  S.Within = 0;
  S.Repairs = 21;
  EXPECT_EQ(textOf(S.check()), "2: --repairs must be at most 20");
}

TEST(SearchProgress, SaysWhatBecameOfACandidate) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  SearchProgress Progress(
      SearchOptions(), /*OnGpu=*/false, /*Verbose=*/false, [] { return 0.12; },
      OS);
  CandidateRecord R;
  R.Genome = "unroll{factor=4}";
  R.Ratio = 1.5;
  Progress.candidate(2, R, 1.75);
  EXPECT_NE(Text.find("  generation 2, candidate  1, "), std::string::npos);
  EXPECT_NE(Text.find(", spent 0.1200, best 1.75x modelled: "),
            std::string::npos);
  EXPECT_NE(Text.find(" 1.50x unroll{factor=4}\n"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Judging by hand
//===----------------------------------------------------------------------===//

TEST(Judge, RefusesWhatCannotBeJudgedOrKept) {
  auto Refused = [](const JudgeRequest &R) {
    return textOf(
        judgeVariants(R, [](const JudgedVariant &) {}, llvm::nulls()));
  };
  JudgeRequest R;
  EXPECT_EQ(Refused(R), "2: no variant was given (use --variant=NAME or "
                        "--variant-file=V.cu)");
  R.Variants = {"v"};
  R.Store = "s";
  EXPECT_EQ(Refused(R), "2: --store needs --variant-file: only variants in "
                        "files of their own can be stored");
  R.VariantFiles = {"v.cu"};
  R.Device = "cpu";
  EXPECT_EQ(Refused(R), "2: unknown device 'cpu' (cuda, spool:DIR, ssh:HOST or "
                        "slurm[:OPTIONS])");
}

TEST(Judge, AGpuRejectsWhatTheGatePassed) {
  Judgement J;
  J.Variants.resize(3);
  J.Variants[0].Verdict.Passed = J.Variants[1].Verdict.Passed = true;
  GpuOutcome Right, Wrong;
  Right.Same = true;
  J.Variants[0].OnGpu.push_back(std::move(Right));
  EXPECT_EQ(J.rejected(), 1u);
  J.Variants[1].OnGpu.push_back(std::move(Wrong));
  EXPECT_EQ(J.rejected(), 2u);
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

static capture::Launch recorded(std::string Kernel, double Cost, bool Kept) {
  capture::Launch L;
  L.Kernel = std::move(Kernel);
  L.Cost = Cost;
  L.Kept = Kept;
  return L;
}

TEST(RecordedWorkloads, ShareTheTimeOfTheirKernel) {
  capture::Record R;
  R.Measured = true;
  R.Launches = {recorded("k", 10, true), recorded("k", 30, true),
                recorded("k", 40, false), recorded("m", 20, true)};
  std::vector<std::string> LeftOut;
  auto All = recordedWorkloads(R, ".", "data", /*WithDescribed=*/true, LeftOut);
  ASSERT_TRUE(bool(All));
  ASSERT_EQ(All->size(), 3u);
  EXPECT_DOUBLE_EQ((*All)[0].Weight, 0.2);
  EXPECT_DOUBLE_EQ((*All)[1].Weight, 0.6);
  EXPECT_DOUBLE_EQ((*All)[2].Weight, 0.2);
  EXPECT_EQ((*All)[2].Name, "w2");
  EXPECT_EQ((*All)[2].WeightBasis, Basis::Measured);
  EXPECT_TRUE(LeftOut.empty());
}

TEST(RecordedWorkloads, LeaveOutWhatAReplayDidNotRepeat) {
  capture::Record R;
  R.Launches = {recorded("k", 1, true), recorded("k", 1, true),
                recorded("k", 1, true)};
  R.Launches[0].Replay = {capture::ReplayResult::Differs, ""};
  R.Launches[1].Obstacles = {"it writes to memory of the host"};
  R.Launches[2].Obstacles = {"a suspicion"};
  R.Launches[2].Replay = {capture::ReplayResult::Same, ""};
  std::vector<std::string> LeftOut;
  auto All = recordedWorkloads(R, ".", "data", /*WithDescribed=*/true, LeftOut);
  ASSERT_TRUE(bool(All));
  EXPECT_EQ(All->size(), 1u);
  EXPECT_EQ(LeftOut, (Words{"a launch of k: a replay differs",
                            "a launch of k: it writes to memory of the host"}));
}

TEST(RecordedWorkloads, FailuresKeepTheirExitStatus) {
  EXPECT_EQ(textOf(asError({FailureKind::ProgramFailed, "a"})), "1: a");
  EXPECT_EQ(textOf(asError({FailureKind::WrongUse, "a", "b"})), "2: a (b)");
  EXPECT_EQ(textOf(asError({FailureKind::Disk, "a", "b"})), "3: a (b)");
}
