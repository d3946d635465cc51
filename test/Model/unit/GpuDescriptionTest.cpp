//===- GpuDescriptionTest.cpp - Tests of the GPUs' descriptions ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Portable/Failure.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <fstream>
#include <nlohmann/json.hpp>

using namespace cupilot;
using nlohmann::json;

namespace {
/// What NVIDIA publishes of a GPU, written down once more.
struct Published {
  const char *Driver, *Short, *Arch;
  unsigned Multiprocessors;
  double DramGBs, Fp32Tflops;
  double L2Megabytes;
};
} // namespace

static constexpr Published Gpus[] = {
    {"NVIDIA A100-SXM4-80GB", "A100", "sm_80", 108, 2039, 19.5, 40},
    {"NVIDIA A100 80GB PCIe", "A100-PCIE-80GB", "sm_80", 108, 1935, 19.5, 40},
    {"NVIDIA A10", "a10", "sm_86", 72, 600, 31.2, 6},
    {"NVIDIA L4", "L4", "sm_89", 58, 300, 30.3, 48},
    {"NVIDIA L40S", "L40S", "sm_89", 142, 864, 91.6, 96},
    {"NVIDIA GeForce RTX 4090", "RTX-4090", "sm_89", 128, 1008, 82.6, 72},
    {"NVIDIA GeForce RTX 5090", "RTX 5090", "sm_120", 170, 1792, 104.8, 96},
    {"NVIDIA H100 80GB HBM3", "H100", "sm_90", 132, 3352, 66.9, 50},
    {"NVIDIA H100 PCIe", "H100-PCIE", "sm_90", 114, 2039, 51.2, 50},
    {"NVIDIA H200", "H200", "sm_90", 132, 4800, 67, 60},
    {"NVIDIA B200", "B200", "sm_100", 148, 7700, 75, 126.5}};

TEST(GpuDescription, EveryFileHasWhatNvidiaPublishes) {
  EXPECT_EQ(knownGpus().size(), std::size(Gpus));
  for (const Published &P : Gpus) {
    const GpuDescription *G = findGpu(P.Driver);
    ASSERT_TRUE(G) << P.Driver;
    EXPECT_EQ(findGpu(P.Short), G) << P.Short;
    EXPECT_EQ(G->Name, P.Driver);
    EXPECT_FALSE(G->OtherNames.empty()) << P.Driver;
    EXPECT_EQ(G->Arch, P.Arch);
    EXPECT_EQ(G->Multiprocessors, P.Multiprocessors) << P.Driver;
    EXPECT_EQ(G->PeakDramGBs, P.DramGBs) << P.Driver;
    EXPECT_EQ(G->L2Bytes, P.L2Megabytes * (1 << 20)) << P.Driver;
    EXPECT_EQ(G->PeakFp32Tflops, P.Fp32Tflops) << P.Driver;
    EXPECT_NEAR(G->fp32Peak() / P.Fp32Tflops, 1, 0.02) << P.Driver;
    EXPECT_NEAR(G->DramGBs / P.DramGBs, 0.9, 0.02) << P.Driver;
    for (const auto &[Word, Source] : G->Sources)
      EXPECT_GT(Source.Text.size(), 10u) << P.Driver;
    // Nobody publishes latencies: outside of the H200 they are marked.
    bool Derived = G->Sources.at(G->SourceOf.at("dramLatencyNs")).From ==
                   GpuFigureSource::Basis::Derived;
    EXPECT_EQ(Derived, G != &defaultGpu()) << P.Driver;
    EXPECT_EQ(G->derivedFigures(), Derived ? 10u : 0u) << P.Driver;
  }
}

TEST(GpuDescription, TheH200IsAsItWasMeasured) {
  const GpuDescription &G = defaultGpu();
  EXPECT_EQ(G.Name, "NVIDIA H200");
  EXPECT_EQ(G.MaxThreadsPerSM, 2048u);
  EXPECT_EQ(G.MaxBlocksPerSM, 32u);
  EXPECT_EQ(G.RegistersPerSM, 65536u);
  EXPECT_EQ(G.SharedPerSM, 228u * 1024);
  EXPECT_EQ(G.SharedPerBlock, 227u * 1024);
  EXPECT_EQ(G.ClockGHz, 1.98);
  EXPECT_EQ(G.DramGBs, 4300);
  EXPECT_EQ(G.L2GBs, 7000);
  EXPECT_EQ(G.Fp32Tflops, 51.3);
  EXPECT_EQ(G.LaunchMicroseconds, 2.5);
  EXPECT_EQ(G.DramLatencyNs, 700);
  EXPECT_EQ(G.NearLatencyNs, 50);
  EXPECT_EQ(G.BlockStartNs, 0.614);
  EXPECT_EQ(G.BlockTurnoverNs, 700);
  EXPECT_EQ(G.HotAtomicNs, 0.73);
  EXPECT_EQ(G.L2StoreCost, 2);
  EXPECT_EQ(G.TensorPerCycle, 4096);
}

TEST(GpuDescription, WhatIsWrittenIsRead) {
  for (const GpuDescription &G : knownGpus()) {
    GpuDescription Back = readGpuDescription(toJson(G).dump(), "back");
    EXPECT_EQ(toJson(Back), toJson(G));
    EXPECT_EQ(Back.Sources, G.Sources);
    EXPECT_EQ(Back.ClockGHz, G.ClockGHz);
  }
}

/// The message for \p J; "" where it is a description.
static std::string wrong(const json &J) {
  try {
    readGpuDescription(J.dump(), "gpu.json");
  } catch (const Failure &F) {
    EXPECT_EQ(F.kind(), FailureKind::BadDescription);
    EXPECT_FALSE(F.hint().empty() && J.is_object());
    return F.what();
  }
  return "";
}

TEST(GpuDescription, MissingAndImpossibleFiguresAreNamed) {
  const json Good = toJson(defaultGpu());
  EXPECT_EQ(wrong(Good), "");
  for (const auto &[Key, Figure] : Good.at("figures").items()) {
    json J = Good;
    J["figures"].erase(Key);
    EXPECT_EQ(wrong(J), "'gpu.json' lacks the figure '" + Key + "'");
    for (const json &Value : {json(-1), json(0), json(1e300), json(-0.0)}) {
      J = Good;
      J["figures"][Key]["value"] = Value;
      EXPECT_EQ(wrong(J), "'gpu.json' has an impossible figure '" + Key +
                              "': " + Value.dump());
    }
    for (const json &Value : {json(), json("132"), json(NAN)}) {
      J = Good;
      J["figures"][Key]["value"] = Value;
      EXPECT_EQ(wrong(J), "'gpu.json' does not have a number for the figure '" +
                              Key + "'");
    }
    J = Good;
    J["figures"][Key]["source"] = "rumour";
    EXPECT_NE(wrong(J).find("unknown source 'rumour'"), std::string::npos);
  }
  json J = Good;
  J["figures"]["multiprocessors"]["value"] = 131.5;
  EXPECT_NE(wrong(J).find("'multiprocessors': 131.5"), std::string::npos);
  J = Good;
  J["figures"]["clock"] = J["figures"]["clockGHz"];
  EXPECT_NE(wrong(J).find("unknown figure 'clock'"), std::string::npos);
}

TEST(GpuDescription, ContradictionsAreNamed) {
  const json Good = toJson(defaultGpu());
  auto With = [&](const char *Key, double Value) {
    json J = Good;
    J["figures"][Key]["value"] = Value;
    return wrong(J);
  };
  EXPECT_NE(With("sharedPerBlock", 1 << 20).find("'sharedPerBlock'"),
            std::string::npos);
  EXPECT_NE(With("dramGBs", 5000).find("'dramGBs'"), std::string::npos);
  EXPECT_NE(With("multiprocessors", 114).find("'peakFp32Tflops'"),
            std::string::npos);
  EXPECT_NE(With("fp32Tflops", 67).find("'fp32Tflops'"), std::string::npos);
}

TEST(GpuDescription, OtherFilesAreNoDescriptions) {
  const json Good = toJson(defaultGpu());
  for (const json &J : {json(), json::array(), json::object(),
                        json{{"format", 1}}, json{{"format", "cupilot-gpu"}}})
    EXPECT_NE(wrong(J), "") << J;
  for (const char *Key : {"names", "arch", "sources", "figures"}) {
    json J = Good;
    J.erase(Key);
    EXPECT_NE(wrong(J).find(Key), std::string::npos);
    J[Key] = 1;
    EXPECT_NE(wrong(J).find(Key), std::string::npos);
  }
  json J = Good;
  J["version"] = 2;
  EXPECT_NE(wrong(J).find("version 2"), std::string::npos);
  J = Good;
  J["names"] = json::array();
  EXPECT_NE(wrong(J).find("no name"), std::string::npos);
  for (const char *Arch : {"", "sm_", "sm_9", "sm_90a", "compute_90", "90"}) {
    J = Good;
    J["arch"] = Arch;
    EXPECT_NE(wrong(J).find("impossible architecture"), std::string::npos);
  }
  J = Good;
  J["sources"]["product"]["basis"] = "heard";
  EXPECT_NE(wrong(J).find("'heard'"), std::string::npos);
}

static std::string textOf(llvm::Error E) { return toString(std::move(E)); }

TEST(GpuDescription, UnknownNamesShowTheKnownOnes) {
  llvm::Expected<GpuDescription> G = describeGpu("K80");
  ASSERT_FALSE(static_cast<bool>(G));
  std::string Text = textOf(G.takeError());
  EXPECT_NE(Text.find("'K80'"), std::string::npos);
  for (const char *Name : {"A100", "L40S", "RTX 4090", "H100-PCIE", "B200"})
    EXPECT_NE(Text.find(Name), std::string::npos) << Name;
}

TEST(GpuDescription, FilesAreRead) {
  llvm::SmallString<128> Path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("gpu", "json", Path));
  std::ofstream(Path.c_str()) << toJson(*findGpu("L4"));
  llvm::Expected<GpuDescription> G = describeGpu(Path);
  ASSERT_TRUE(static_cast<bool>(G)) << textOf(G.takeError());
  EXPECT_EQ(G->Name, "NVIDIA L4");
  std::ofstream(Path.c_str()) << "{}";
  G = describeGpu(Path);
  ASSERT_FALSE(static_cast<bool>(G));
  EXPECT_NE(textOf(G.takeError()).find("is not a GPU description"),
            std::string::npos);
  llvm::sys::fs::remove(Path);
  G = describeGpu(Path);
  EXPECT_FALSE(static_cast<bool>(G));
  llvm::consumeError(G.takeError());
}

TEST(GpuDescription, FlagsOfAnotherCapabilityAreRefused) {
  auto On = [](const char *Gpu, std::vector<std::string> Flags) {
    llvm::Expected<std::string> Arch = architectureOn(*findGpu(Gpu), Flags);
    return Arch ? *Arch : "refused: " + textOf(Arch.takeError());
  };
  EXPECT_EQ(On("A100", {"-O2"}), "sm_80");
  EXPECT_EQ(On("H200", {"--cuda-gpu-arch=sm_90a"}), "sm_90a");
  EXPECT_EQ(On("L4", {"--offload-arch=sm_80,sm_89"}), "sm_89");
  std::string Text = On("A100", {"--cuda-gpu-arch=sm_90"});
  EXPECT_NE(Text.find("refused"), std::string::npos);
  EXPECT_NE(Text.find("sm_90"), std::string::npos);
  EXPECT_NE(Text.find("NVIDIA A100-SXM4-80GB is sm_80"), std::string::npos);
}

TEST(GpuDescription, LimitsFollowTheArchitecture) {
  EXPECT_EQ(&gpuOfArch("sm_90a"), &defaultGpu());
  EXPECT_EQ(gpuOfArch("sm_80").SharedPerSM, 164u * 1024);
  EXPECT_EQ(gpuOfArch("sm_86").MaxBlocksPerSM, 16u);
  EXPECT_EQ(gpuOfArch("sm_120").MaxThreadsPerSM, 1536u);
  EXPECT_EQ(&gpuOfArch("sm_70"), &defaultGpu());
}
