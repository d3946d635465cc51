//===- FloatRows.cpp - Floating-point arithmetic ----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Floating Point Instructions", "Half Precision Floating Point
// Instructions".
//
//===----------------------------------------------------------------------===//

#include "Row.h"

namespace ptxrows {

#define HALVES "f16 f16x2 bf16 bf16x2"

void addFloatRows(std::vector<Row> &Rows) {
  addPlain(Rows, "(add sub mul) [rn rz rm rp] [ftz] [sat] f32", "T:TT");
  addPlain(Rows, "(add sub mul) [rn rz rm rp] f64", "T:TT");
  addPlain(Rows, "(add sub mul) [rn] [ftz] [sat] (" HALVES ")", "T:TT");
  addPlain(Rows, "(fma mad) (rn rz rm rp) [ftz] [sat] f32", "T:TTT");
  addPlain(Rows, "(fma mad) (rn rz rm rp) f64", "T:TTT");
  addPlain(Rows, "fma rn [ftz] [sat relu] (" HALVES ")", "T:TTT");
  addPlain(Rows, "div (rn rz rm rp approx full) [ftz] f32", "T:TT");
  addPlain(Rows, "div (rn rz rm rp) f64", "T:TT");
  addPlain(Rows, "(rcp sqrt) (rn rz rm rp approx) [ftz] f32", "T:T");
  addPlain(Rows, "(rcp sqrt) (rn rz rm rp) f64", "T:T");
  addPlain(Rows, "(rcp rsqrt) approx ftz f64", "T:T");
  addPlain(Rows, "rsqrt approx f64", "T:T");
  addPlain(Rows, "(rsqrt sin cos lg2 ex2) approx [ftz] f32", "T:T");
  addPlain(Rows, "tanh approx (f32 " HALVES ")", "T:T");
  addPlain(Rows, "ex2 approx (f16 f16x2)", "T:T");
  addPlain(Rows, "ex2 approx ftz (bf16 bf16x2)", "T:T");
  addPlain(Rows, "(abs neg) [ftz] (f32 f64 " HALVES ")", "T:T");
  addPlain(Rows, "(min max) [ftz] [NaN] (f32 f64 " HALVES ")", "T:TT");
  addPlain(Rows, "(min max) [ftz] [NaN] xorsign abs (f32 " HALVES ")", "T:TT");
  addPlain(Rows, "copysign (f32 f64)", "T:TT");
  addPlain(Rows,
           "testp (finite infinite number notanumber normal subnormal) "
           "(f32 f64)",
           "p:T");
}

} // namespace ptxrows
