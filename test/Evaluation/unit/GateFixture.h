//===- GateFixture.h - A gate and kernels by their bodies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_EVALUATION_GATEFIXTURE_H
#define CUPILOT_TEST_EVALUATION_GATEFIXTURE_H

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"
#include <cstring>

namespace cupilot {

/// A gate for a kernel that gets "const float *in, float *out, int n" with n =
/// 1000, in 4 blocks of 256 threads.
class GateTest : public testing::Test {
protected:
  static constexpr char Original[] = R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2.0f + (i > 0 ? in[i - 1] : 0.0f);
})";

  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      llvm::consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    Dir.emplace(llvm::cantFail(TemporaryDirectory::create("gate")));
    K.Name = "k(const float *, float *, int)";
    K.Symbol = "k";
    K.Params = {{"in", "const float *", 8, true, true, false, "float", 4},
                {"out", "float *", 8, true, false, false, "float", 4},
                {"n", "int", 4, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}};
    K.Pointers = {{0, 0}, {1, 0}};
    W.Name = "w0";
    W.Symbol = "k";
    W.Shape = {{4, 1, 1}, {256, 1, 1}, 0};
    int32_t N = 1000;
    W.Args = {std::vector<uint8_t>(8), std::vector<uint8_t>(8),
              std::vector<uint8_t>(4)};
    std::memcpy(W.Args[2].data(), &N, 4);
    W.Pointers = {{0, 0, 0, 0}, {1, 0, 1, 0}};
    std::vector<float> In(N);
    for (int I = 0; I < N; ++I)
      In[I] = float(I % 37) / 8 - 2;
    llvm::StringRef Bytes(reinterpret_cast<const char *>(In.data()),
                          In.size() * 4);
    std::string Zero(N * 4, '\0');
    llvm::cantFail(writeFileAtomic(Dir->file("in.bin"), Bytes));
    llvm::cantFail(writeFileAtomic(Dir->file("out.bin"), Zero));
    W.Buffers = {{uint64_t(N) * 4, 256, digest(Bytes), "in.bin"},
                 {uint64_t(N) * 4, 256, digest(Zero), "out.bin"}};
    W.Count = 1;
    gateOf(Original);
  }

  void gateOf(llvm::StringRef Source, const ProcessLimits &Limits = {}) {
    GateSetup Setup{&K, compile(Source), {W}, Dir->path().str(), "sm_90", 1};
    Setup.Limits = Limits;
    TheGate = llvm::cantFail(Gate::create(std::move(Setup)));
  }

  /// Makes \p Content what buffer \p I holds before the launch.
  void hold(unsigned I, llvm::StringRef Content) {
    llvm::cantFail(writeFileAtomic(Dir->file(W.Buffers[I].File), Content));
    W.Buffers[I].Digest = digest(Content);
  }

  /// The whole kernel around \p Body.
  std::string kernel(llvm::StringRef Body) {
    return ("extern \"C\" __global__ void k(const float *in, float *out, "
            "int n" +
            More + ") {\nint i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            Body + "}")
        .str();
  }

  std::string compile(llvm::StringRef Source) {
    llvm::cantFail(writeFileAtomic(Dir->file("k.cu"), Source));
    return llvm::cantFail(
        compileDeviceBitcode(Dir->file("k.cu"), "sm_90", {"-O2"}));
  }

  /// The reason why \p Body is rejected; "" when it passes.
  std::string judge(llvm::StringRef Body, Guard When = {}) {
    return judgeCode(compile(kernel(Body)), std::move(When));
  }
  /// The same of bitcode.
  std::string judgeCode(const std::string &Bitcode, Guard When = {}) {
    LaunchPlan Plan;
    Plan.Launches.push_back({});
    Plan.Launches[0].Symbol = "k";
    When.Arch = "sm_90";
    GateVerdict V =
        llvm::cantFail(TheGate->judge(Bitcode, Plan, When, GateDepth::Search));
    Evidence = V.Passed ? "" : V.Findings.front().Evidence;
    EXPECT_EQ(V.Passed, V.Findings.empty());
    return V.Passed ? "" : wordOf(V.Findings.front().Reason).str();
  }

  std::optional<TemporaryDirectory> Dir;
  Kernel K;
  Workload W;
  llvm::StringRef More; ///< Parameters after n.
  std::unique_ptr<Gate> TheGate;
  std::string Evidence; ///< Of the last rejection.
};

} // namespace cupilot

#endif // CUPILOT_TEST_EVALUATION_GATEFIXTURE_H
