//===- ConversionRows.cpp - cvt and mov -------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Data Movement and Conversion Instructions".
//
//===----------------------------------------------------------------------===//

#include "Row.h"

namespace ptxrows {

#define ALL_INTEGERS "u8 s8 u16 s16 u32 s32 u64 s64"
#define SCALARS "f16 bf16 f32 f64"
#define NARROW "e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2"

static void add(std::vector<Row> &Rows, std::string Name,
                std::vector<Kind> Inputs, std::vector<Output> Outputs,
                std::string Body) {
  Row R;
  R.Name = std::move(Name);
  R.Inputs = std::move(Inputs);
  R.Outputs = std::move(Outputs);
  R.Body = std::move(Body);
  Rows.push_back(std::move(R));
}

static void addMoves(std::vector<Row> &Rows) {
  addPlain(Rows, "mov (b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64 pred)",
           "T:T");
  for (Row &R : Rows) // What is moved keeps its bits.
    if (R.Name == "mov.f64")
      R.Outputs[0].Open = Mask::None;
  add(Rows, "mov.b32 {b16 b16}", {Kind::Bits16, Kind::Bits16}, {{Kind::Bits32}},
      "mov.b32 %d0, {%a0, %a1};");
  add(Rows, "mov.b32 to {b16 b16}", {Kind::Bits32},
      {{Kind::Bits16}, {Kind::Bits16}}, "mov.b32 {%d0, %d1}, %a0;");
  add(Rows, "mov.b64 {b32 b32}", {Kind::Bits32, Kind::Bits32}, {{Kind::Bits64}},
      "mov.b64 %d0, {%a0, %a1};");
  add(Rows, "mov.b64 to {b32 b32}", {Kind::Bits64},
      {{Kind::Bits32}, {Kind::Bits32}}, "mov.b64 {%d0, %d1}, %a0;");
  add(Rows, "mov.b64 to {_ b32}", {Kind::Bits64}, {{Kind::Bits32}},
      "mov.b64 {_, %d0}, %a0;");
  add(Rows, "mov.b64 {b16 b16 b16 b16}",
      {Kind::Bits16, Kind::Bits16, Kind::Bits16, Kind::Bits16},
      {{Kind::Bits64}}, "mov.b64 %d0, {%a0, %a1, %a2, %a3};");
  add(Rows, "mov.b64 to {b16 b16 b16 b16}", {Kind::Bits64},
      {{Kind::Bits16}, {Kind::Bits16}, {Kind::Bits16}, {Kind::Bits16}},
      "mov.b64 {%d0, %d1, %d2, %d3}, %a0;");
  add(Rows, "mov.b128", {Kind::Bits64, Kind::Bits64},
      {{Kind::Bits64}, {Kind::Bits64}},
      ".reg .b128 %q, %r; mov.b128 %q, {%a0, %a1}; mov.b128 %r, %q; "
      "mov.b128 {%d1, %d0}, %r;");
}

void addConversionRows(std::vector<Row> &Rows) {
  addPlain(Rows, "cvt [sat] (" ALL_INTEGERS ") (" ALL_INTEGERS ")", "F:T");
  addPlain(Rows,
           "cvt (rni rzi rmi rpi) [ftz] [sat] (" ALL_INTEGERS ") (" SCALARS ")",
           "F:T");
  addPlain(Rows, "cvt (rn rz rm rp) [sat] (" SCALARS ") (" ALL_INTEGERS ")",
           "F:T");
  addPlain(Rows,
           "cvt [rn rz rm rp rni rzi rmi rpi] [ftz] [sat] (" SCALARS
           ") (" SCALARS ")",
           "F:T");
  addPlain(Rows, "cvt (rn rz) [relu] [satfinite] (f16 bf16) (f16 bf16 f32 f64)",
           "F:T");
  addPlain(Rows, "cvt (rn rz) [relu] [satfinite] (f16x2 bf16x2) f32", "F:TT");
  addPlain(Rows, "cvt (rn rz rna) [relu] [satfinite] tf32 f32", "F:T");
  addPlain(Rows, "cvt (rn rz rp) [satfinite] [relu] (" NARROW ") f32", "F:TT");
  addPlain(Rows,
           "cvt (rn rz rp) [satfinite] [relu] (" NARROW ") (f16x2 bf16x2)",
           "F:T");
  addPlain(Rows, "cvt rn [relu] (f16x2 bf16x2) (" NARROW ")", "F:T");
  addPlain(Rows, "cvt pack sat (u16 s16) s32", "i:ii");
  addPlain(Rows, "cvt pack sat (u8 s8) s32 b32", "i:iii");
  addPlain(Rows, "cvt pack sat (u2 s2 u4 s4) s32 b32", "i:iii");
  addMoves(Rows);
}

} // namespace ptxrows
