//===- GpuAnswersTest.cpp - What a GPU answers and a host does not --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDeviceFixture.h"
#include <bit>
#include <cmath>

using namespace cupilot;

namespace {
class GpuAnswersTest : public CpuDeviceFixture {
protected:
  static CpuDeviceOptions gpuOptions() {
    CpuDeviceOptions Options;
    Options.CanonicalNans = true;
    return Options;
  }
  /// The words that `answers(const unsigned *in, unsigned *out, int n)` makes
  /// of \p In, one thread for each.
  std::vector<uint32_t> answers(llvm::StringRef Body, std::vector<uint32_t> In,
                                CpuDeviceOptions Options = gpuOptions()) {
    compile(("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
             "extern \"C\" __global__ void answers(const unsigned *in, "
             "unsigned *out, int n) { int i = blockIdx.x * blockDim.x + "
             "threadIdx.x; if (i >= n) return; float x = "
             "__uint_as_float(in[i]);" +
             Body + "}")
                .str(),
            Options);
    std::vector<uint32_t> Out(In.size());
    const uint32_t *From = buffer(In);
    uint32_t *To = buffer(Out);
    int N = static_cast<int>(In.size());
    LaunchShape Shape;
    Shape.Grid = {(In.size() + 127) / 128, 1, 1};
    Shape.Block = {128, 1, 1};
    LaunchResult R = launch("answers", Shape, From, To, N);
    EXPECT_FALSE(R.Fault) << R.Fault->str();
    Memory->removeBuffer(In.data());
    Memory->removeBuffer(Out.data());
    return Out;
  }
};

constexpr uint32_t Infinity = 0x7f800000, Nan = 0x7fffffff,
                   Payload = 0x7fc12345, Negative = 0xffd00001;
} // namespace

TEST_F(GpuAnswersTest, ComputedNanHasAGpusBits) {
  using Words = std::vector<uint32_t>;
  const Words In = {Infinity, Payload, Negative};
  for (const char *Body :
       {"out[i] = __float_as_uint(x - x);", "((float *)out)[i] = x - x;",
        "((float *)out)[i] = sqrtf(-1 - x * x);", "((float *)out)[i] = 0 * x;",
        "((float *)out)[i] = __shfl_xor_sync(__activemask(), x - x, 0);",
        "float a = 0; for (int k = 0; k < n; ++k) a += x - x * k; "
        "((float *)out)[i] = a;",
        "((float *)out)[i] = i % 2 ? x * 2 - x * 2 : x - x;"})
    EXPECT_EQ(answers(Body, In), Words(3, Nan)) << Body;
  EXPECT_EQ(answers("__half h = __float2half(x - x); out[i] = "
                    "__half_as_ushort(__hadd(h, h));",
                    In),
            Words(3, 0x7fff));
}

TEST_F(GpuAnswersTest, CopiedNanKeepsItsBits) {
  using Words = std::vector<uint32_t>;
  const Words In = {Payload, Negative, 0x7f812345};
  EXPECT_EQ(answers("((float *)out)[i] = x;", In), In);
  EXPECT_EQ(answers("((float *)out)[i] = i == 1 ? x - x : x;", In),
            Words({Payload, Nan, 0x7f812345}));
  // Numbers are what they were.
  const Words Numbers = {0x3f800000, 0x80000000, 1, 0xff800000};
  EXPECT_EQ(answers("((float *)out)[i] = x * 1;", Numbers), Numbers);
}

TEST_F(GpuAnswersTest, BitsOfNanAreAnOption) {
  uint32_t Got = answers("((float *)out)[i] = x - x;", {Infinity}, {})[0];
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(Got)));
  EXPECT_NE(Got, Nan);
}

TEST_F(GpuAnswersTest, SpecialUnitsApproximate) {
  std::vector<uint32_t> In;
  for (unsigned K = 0; K < 4000; ++K)
    In.push_back(std::bit_cast<uint32_t>(1.0f + static_cast<float>(K) / 977));
  struct {
    const char *Instruction;
    double (*Exact)(double);
  } Cases[] = {{"ex2.approx.ftz.f32", [](double X) { return std::exp2(X); }},
               {"ex2.approx.f32", [](double X) { return std::exp2(X); }},
               {"lg2.approx.f32", [](double X) { return std::log2(X); }},
               {"rcp.approx.f32", [](double X) { return 1 / X; }},
               {"rcp.approx.ftz.f32", [](double X) { return 1 / X; }},
               {"rsqrt.approx.f32", [](double X) { return 1 / std::sqrt(X); }},
               {"sqrt.approx.f32", [](double X) { return std::sqrt(X); }}};
  for (const auto &C : Cases) {
    std::string Body = std::string("asm(\"") + C.Instruction +
                       " %0, %1;\" : \"=f\"(x) : \"f\"(x)); ((float *)out)[i] "
                       "= x;";
    std::vector<uint32_t> Out = answers(Body, In);
    unsigned Off = 0;
    for (size_t K = 0; K < In.size(); ++K) {
      auto Right = std::bit_cast<int32_t>(static_cast<float>(
          C.Exact(static_cast<double>(std::bit_cast<float>(In[K])))));
      int32_t Distance = static_cast<int32_t>(Out[K]) - Right;
      EXPECT_LE(std::abs(Distance), 2) << C.Instruction << ' ' << In[K];
      Off += Distance != 0;
    }
    EXPECT_GT(Off, 100u) << C.Instruction;
    EXPECT_LT(Off, 2000u) << C.Instruction;
    EXPECT_EQ(answers(Body, In), Out) << "other answers to the same arguments";
  }
}

TEST_F(GpuAnswersTest, ShortResultsAreExact) {
  std::vector<uint32_t> In;
  for (float X : {0.0f, 1.0f, 2.0f, -3.0f, 16.0f, 64.0f})
    In.push_back(std::bit_cast<uint32_t>(X));
  std::vector<uint32_t> Out = answers(
      "asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(x) : \"f\"(x)); ((float "
      "*)out)[i] = x;",
      In);
  for (size_t K = 0; K < In.size(); ++K)
    EXPECT_EQ(std::bit_cast<float>(Out[K]),
              std::exp2(std::bit_cast<float>(In[K])));
}
