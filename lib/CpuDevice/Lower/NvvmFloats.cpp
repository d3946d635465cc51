//===- NvvmFloats.cpp - NVVM's floating-point intrinsics by their parts ---===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NvvmFloats.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace cupilot {

// A row is one intrinsic, the macros below are families of them.
#define ROW(Name, ...)                                                         \
  case Intrinsic::nvvm_##Name:                                                 \
    return FloatForm{FloatOp::__VA_ARGS__};
#define MODES(Family, Name, Op)                                                \
  Family(Name##_rn, Op, Rounding::Nearest)                                     \
      Family(Name##_rz, Op, Rounding::Zero)                                    \
          Family(Name##_rm, Op, Rounding::Down)                                \
              Family(Name##_rp, Op, Rounding::Up)
#define ONE(Name, Op, Mode) ROW(Name, Op, Mode)
#define FLUSHED(Name, Op, Mode)                                                \
  ROW(Name, Op, Mode)                                                          \
  ROW(Name##_ftz, Op, Mode, FloatForm::Flush)
#define SINGLE_OR_DOUBLE(Name, Op, Mode)                                       \
  ROW(Name##_d, Op, Mode)                                                      \
  ROW(Name##_f, Op, Mode)                                                      \
  ROW(Name##_ftz_f, Op, Mode, FloatForm::Flush)
#define SATURATING(Name, Op, Mode)                                             \
  SINGLE_OR_DOUBLE(Name, Op, Mode)                                             \
  ROW(Name##_sat_f, Op, Mode, FloatForm::Saturate)                             \
  ROW(Name##_ftz_sat_f, Op, Mode, FloatForm::Flush | FloatForm::Saturate)
#define HALVES(Name, Op, Modifiers)                                            \
  ROW(Name##_f16, Op, Rounding::Nearest, Modifiers)                            \
  ROW(Name##_f16x2, Op, Rounding::Nearest, Modifiers)                          \
  ROW(Name##_bf16, Op, Rounding::Nearest, Modifiers)                           \
  ROW(Name##_bf16x2, Op, Rounding::Nearest, Modifiers)
#define EXTREMES(Name, Op, Modifiers)                                          \
  ROW(Name##_f, Op, Rounding::Nearest, Modifiers)                              \
  HALVES(Name, Op, Modifiers)
#define NARROWING(Name, Op, Mode)                                              \
  ROW(Name, Op, Mode)                                                          \
  ROW(Name##_relu, Op, Mode, FloatForm::Relu)                                  \
  ROW(Name##_satfinite, Op, Mode, FloatForm::Finite)                           \
  ROW(Name##_relu_satfinite, Op, Mode, FloatForm::Relu | FloatForm::Finite)

std::optional<FloatForm> floatFormOf(Intrinsic::ID Id) {
  using F = FloatForm;
  constexpr Rounding Near = Rounding::Nearest;
  switch (Id) {
  case Intrinsic::tanh: // NVPTX has no other than tanh.approx.
    return FloatForm{FloatOp::Tanh, Near, F::Approx};
    MODES(SATURATING, add, Add)
    MODES(SATURATING, fma, Fma)
    MODES(SINGLE_OR_DOUBLE, mul, Mul)
    MODES(SINGLE_OR_DOUBLE, div, Div)
    MODES(SINGLE_OR_DOUBLE, rcp, Rcp)
    MODES(SINGLE_OR_DOUBLE, sqrt, Sqrt)
    HALVES(fma_rn, Fma, 0)
    HALVES(fma_rn_ftz, Fma, F::Flush)
    HALVES(fma_rn_sat, Fma, F::Saturate)
    HALVES(fma_rn_ftz_sat, Fma, F::Flush | F::Saturate)
    HALVES(fma_rn_relu, Fma, F::Relu)
    HALVES(fma_rn_ftz_relu, Fma, F::Flush | F::Relu)
    // Division by .approx and .full has no direction.
    ROW(div_full, Div, Near, F::Full)
    ROW(div_full_ftz, Div, Near, F::Flush | F::Full)
    ROW(div_approx_f, Div, Near, F::Approx)
    ROW(div_approx_ftz_f, Div, Near, F::Flush | F::Approx)
    ROW(rcp_approx_ftz_f, Rcp, Near, F::Flush | F::Approx)
    ROW(rcp_approx_ftz_d, Rcp, Near, F::Approx)
    ROW(sqrt_f, Sqrt)
    ROW(sqrt_approx_f, Sqrt, Near, F::Approx)
    ROW(sqrt_approx_ftz_f, Sqrt, Near, F::Flush | F::Approx)
    ROW(rsqrt_approx_d, Rsqrt)
    ROW(rsqrt_approx_ftz_d, Rsqrt, Near, F::Approx)
    ROW(rsqrt_approx_f, Rsqrt, Near, F::Approx)
    ROW(rsqrt_approx_ftz_f, Rsqrt, Near, F::Flush | F::Approx)
    ROW(sin_approx_f, Sin, Near, F::Approx)
    ROW(sin_approx_ftz_f, Sin, Near, F::Flush | F::Approx)
    ROW(cos_approx_f, Cos, Near, F::Approx)
    ROW(cos_approx_ftz_f, Cos, Near, F::Flush | F::Approx)
    ROW(lg2_approx_d, Log2)
    ROW(lg2_approx_f, Log2, Near, F::Approx)
    ROW(lg2_approx_ftz_f, Log2, Near, F::Flush | F::Approx)
    ROW(ex2_approx, Exp2, Near, F::Approx)
    ROW(ex2_approx_ftz, Exp2, Near, F::Flush | F::Approx)
    ROW(neg_bf16, Neg)
    ROW(neg_bf16x2, Neg)
    FLUSHED(fabs, Abs, Near)
    SINGLE_OR_DOUBLE(floor, Floor, Near)
    SINGLE_OR_DOUBLE(ceil, Ceil, Near)
    SINGLE_OR_DOUBLE(trunc, Trunc, Near)
    SINGLE_OR_DOUBLE(round, Round, Near)
    SINGLE_OR_DOUBLE(saturate, Clamp, Near)
    ROW(fmax_d, Max)
    ROW(fmin_d, Min)
    EXTREMES(fmax, Max, 0)
    EXTREMES(fmax_ftz, Max, F::Flush)
    EXTREMES(fmax_nan, Max, F::Nan)
    EXTREMES(fmax_ftz_nan, Max, F::Flush | F::Nan)
    EXTREMES(fmax_xorsign_abs, Max, F::XorSign)
    EXTREMES(fmax_ftz_xorsign_abs, Max, F::Flush | F::XorSign)
    EXTREMES(fmax_nan_xorsign_abs, Max, F::Nan | F::XorSign)
    EXTREMES(fmax_ftz_nan_xorsign_abs, Max, F::Flush | F::Nan | F::XorSign)
    EXTREMES(fmin, Min, 0)
    EXTREMES(fmin_ftz, Min, F::Flush)
    EXTREMES(fmin_nan, Min, F::Nan)
    EXTREMES(fmin_ftz_nan, Min, F::Flush | F::Nan)
    EXTREMES(fmin_xorsign_abs, Min, F::XorSign)
    EXTREMES(fmin_ftz_xorsign_abs, Min, F::Flush | F::XorSign)
    EXTREMES(fmin_nan_xorsign_abs, Min, F::Nan | F::XorSign)
    EXTREMES(fmin_ftz_nan_xorsign_abs, Min, F::Flush | F::Nan | F::XorSign)

    MODES(FLUSHED, f2i, ToSigned)
    MODES(FLUSHED, f2ll, ToSigned)
    MODES(ONE, d2i, ToSigned)
    MODES(ONE, d2ll, ToSigned)
    MODES(FLUSHED, f2ui, ToUnsigned)
    MODES(FLUSHED, f2ull, ToUnsigned)
    MODES(ONE, d2ui, ToUnsigned)
    MODES(ONE, d2ull, ToUnsigned)
    MODES(ONE, i2f, FromSigned)
    MODES(ONE, ll2f, FromSigned)
    MODES(ONE, i2d, FromSigned)
    MODES(ONE, ll2d, FromSigned)
    MODES(ONE, ui2f, FromUnsigned)
    MODES(ONE, ull2f, FromUnsigned)
    MODES(ONE, ui2d, FromUnsigned)
    MODES(ONE, ull2d, FromUnsigned)
    MODES(FLUSHED, d2f, ToFloat)
    NARROWING(f2f16_rn, ToHalf, Near)
    NARROWING(f2f16_rz, ToHalf, Rounding::Zero)
    NARROWING(f2bf16_rn, ToHalf, Near)
    NARROWING(f2bf16_rz, ToHalf, Rounding::Zero)
    NARROWING(ff2f16x2_rn, ToHalves, Near)
    NARROWING(ff2f16x2_rz, ToHalves, Rounding::Zero)
    NARROWING(ff2bf16x2_rn, ToHalves, Near)
    NARROWING(ff2bf16x2_rz, ToHalves, Rounding::Zero)
    FLUSHED(f2h_rn, ToHalfBits, Near)
  default:
    return std::nullopt;
  }
}

} // namespace cupilot
