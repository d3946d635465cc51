//===- PrecisionTest.cpp - Narrower arithmetic is found -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Precision.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {
class Precision : public testing::Test {
protected:
  static void SetUpTestSuite() {
    auto Tools = Toolchain::find({});
    bool Found = Tools && !Tools->CudaPath.empty();
    if (!Tools)
      consumeError(Tools.takeError());
    if (!Found)
      return;
    TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("precision"));
    cantFail(writeFileAtomic(Dir.file("k.cu"), Source));
    Bitcode = cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90",
                                            {"-O2", "-gline-tables-only"}));
  }
  void SetUp() override {
    if (Bitcode.empty())
      GTEST_SKIP() << "no CUDA toolkit";
  }
  /// What is narrower in \p Variant than in \p Original; "" for nothing.
  static std::string compare(StringRef Original, StringRef Variant) {
    DeviceArithmetic Own = cantFail(DeviceArithmetic::of(Bitcode, Original)),
                     Its = cantFail(DeviceArithmetic::of(Bitcode, Variant));
    Last = findNarrowerFormats(Own, Its);
    if (!Last)
      Last = findApproximateArithmetic(Own, Its);
    return Last ? Last->Format : "";
  }
  static const char Source[];
  static std::string Bitcode;
  static std::optional<NarrowerArithmetic> Last;
};
} // namespace

std::string Precision::Bitcode;
std::optional<NarrowerArithmetic> Precision::Last;

const char Precision::Source[] = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <mma.h>
#define K extern "C" __global__ void
K single(const float *x, float *y) { *y = *x * *x + expf(*x); }
K single2(const float *x, float *y) { *y = fmaf(*x, *x, expf(*x)) + 1.0f / sqrtf(*x); }
K reciprocalRoot(const float *x, float *y) { *y = *x * rsqrtf(*x); }
K fastExp(const float *x, float *y) { *y = *x * *x + __expf(*x); }
K fastDivide(const float *x, float *y) { *y = __fdividef(*x, y[1]); }
K asmExp(const float *x, float *y) {
  float r; asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(*x * 1.4f)); *y = r; }
K half1(const float *x, float *y) { *y = __half2float(__hmul(__float2half(*x), __float2half(*x))); }
K throughHalf(const float *x, float *y) { float v = __half2float(__float2half(*x)); *y = v * v; }
K throughBf16(const float *x, float *y) { float v = __bfloat162float(__float2bfloat16(*x)); *y = v * v; }
K throughF8(const float *x, float *y) { __nv_fp8_e4m3 v(*x); *y = float(v) * 2; }
K masked(const float *x, float *y) { *y = __uint_as_float(__float_as_uint(*x) & 0xffffe000u) * 2; }
K signOnly(const float *x, float *y) { *y = __uint_as_float(__float_as_uint(*x) & 0x7fffffffu) * 2; }
K tensor(const float *x, float *y) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, x, 8);
  wmma::load_matrix_sync(b, x, 8);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}
K asmTensor(const unsigned *x, float *y) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(y[0]), "+f"(y[1]), "+f"(y[2]), "+f"(y[3])
    : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]));
}
K twice(const double *x, double *y) { *y = *x * *x; }
K twiceInSingle(const double *x, double *y) { float v = float(*x); *y = double(v * v); }
K mixed(const float *x, double *y) { *y = *y + double(*x) * *x; }
K mixedInSingle(const float *x, double *y) { *y = *y + double(*x * *x); }
K halfData(const __half *x, __half *y) { *y = __float2half(__half2float(*x) * 3.0f); }
K halfData2(const __half *x, __half *y) { *y = __float2half(__half2float(*x) * 1.5f * 2.0f); }
K halfArithmetic(const __half *x, __half *y) { *y = __hmul(*x, __float2half(3.0f)); }
__device__ __noinline__ float helper(float v) { return __half2float(__float2half(v)); }
K inHelper(const float *x, float *y) { *y = helper(*x) * *x; }
K maskedTwice(const double *x, double *y) { *y = __longlong_as_double(__double_as_longlong(*x) & ~0xfffffll) * 3; }
K maskedMore(const double *x, double *y) { *y = __longlong_as_double(__double_as_longlong(*x) & ~0xffffffffll) * 3; }
K moves(const float *x, float *y) { *y = *x; }
K movesBetter(const float *x, float *y) { *y = fmaxf(*x, -1e30f); }
K movesHalf(const float *x, float *y) { *y = __half2float(__float2half(*x)); }
)";

TEST_F(Precision, EqualFormatsAreNotNarrower) {
  EXPECT_EQ(compare("single", "single2"), "");
  EXPECT_EQ(compare("single2", "single"), "");
  EXPECT_EQ(compare("single", "reciprocalRoot"), "");
  EXPECT_EQ(compare("single", "signOnly"), "");
  EXPECT_EQ(compare("halfData", "halfData2"), "");
  EXPECT_EQ(compare("halfArithmetic", "halfData"), "");
  EXPECT_EQ(compare("moves", "movesBetter"), "");
  EXPECT_EQ(compare("half1", "throughHalf"), "");
  EXPECT_EQ(compare("fastExp", "fastExp"), "");
  EXPECT_EQ(compare("twiceInSingle", "twice"), "");
}

TEST_F(Precision, HalfAndSmallerAreFound) {
  EXPECT_EQ(compare("single", "half1"), "f16");
  EXPECT_EQ(compare("single", "throughHalf"), "f16");
  EXPECT_EQ(compare("single", "throughBf16"), "bf16");
  EXPECT_EQ(compare("single", "throughF8"), "f8");
  EXPECT_EQ(compare("single", "inHelper"), "f16");
  EXPECT_EQ(compare("moves", "movesHalf"), "f16");
  EXPECT_EQ(compare("halfData", "halfArithmetic"), "f16");
  EXPECT_EQ(compare("single", "masked"), "f32 (mantissa masked)");
  EXPECT_EQ(compare("twice", "maskedTwice"), "f32");
  EXPECT_EQ(compare("twice", "maskedMore"), "f32 (mantissa masked)");
  EXPECT_EQ(compare("single", "maskedTwice"), "");
}

TEST_F(Precision, SingleInPlaceOfDoubleIsFound) {
  EXPECT_EQ(compare("twice", "twiceInSingle"), "f32");
  EXPECT_EQ(compare("mixed", "mixedInSingle"), "f32");
}

TEST_F(Precision, TensorCoresAreFound) {
  EXPECT_EQ(compare("single", "tensor"), "tf32");
  EXPECT_EQ(compare("single", "asmTensor"), "bf16");
  EXPECT_EQ(compare("tensor", "tensor"), "");
}

TEST_F(Precision, ApproximationsAreFound) {
  for (StringRef Kernel : {"fastExp", "fastDivide", "asmExp"})
    EXPECT_EQ(compare("single", Kernel), "f32 (approximate)") << Kernel.str();
}

TEST_F(Precision, AFindingNamesItsPlace) {
  EXPECT_EQ(compare("single", "half1"), "f16");
  EXPECT_NE(
      Last->str().find("computes in f16; the original's narrowest is f32"),
      std::string::npos)
      << Last->str();
  EXPECT_NE(Last->Function, "");
  EXPECT_NE(Last->Location, "");
  Expected<DeviceArithmetic> Unknown =
      DeviceArithmetic::of(Bitcode, {"single", "none"});
  ASSERT_FALSE(static_cast<bool>(Unknown));
  EXPECT_EQ(toString(Unknown.takeError()),
            "the device code has no kernel 'none'");
}
