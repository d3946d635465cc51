//===- VideoRows.cpp - Video instructions -----------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Video Instructions": of one number, and of two or four in a word.
// There are too many combinations of selectors: a row has some for each form.
//
//===----------------------------------------------------------------------===//

#include "Row.h"

namespace ptxrows {

/// Adds an instruction whose result is the next word.
static void emit(Row &R, const std::string &Opcode, const std::string &Select,
                 const std::string &Sources) {
  R.Body += Opcode + " %d" + std::to_string(R.Outputs.size()) + Select + ", " +
            Sources + "; ";
  R.Outputs.push_back({Kind::Bits32});
}

/// Pairs of selectors, in which each stands on both sides.
static constexpr const char *Selectors[][2] = {
    {"", ""},       {".b0", ".b3"}, {".b1", ".h1"}, {".b2", ""},
    {".b3", ".b1"}, {".h0", ".b0"}, {".h1", ".b2"}, {"", ".h0"}};

static void addScalar(std::vector<Row> &Rows, const std::string &Opcode,
                      bool Shift) {
  Row R;
  R.Name = Opcode;
  R.Inputs = {Kind::Bits32, Shift ? Kind::Amount : Kind::Bits32, Kind::Bits32};
  for (const auto &[A, B] : Selectors)
    emit(R, Opcode, "", std::string("%a0") + A + ", %a1" + B);
  for (std::string Second : {".add", ".min", ".max"})
    emit(R, Opcode + Second, "", "%a0.h1, %a1, %a2");
  for (std::string Into : {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"})
    emit(R, Opcode, Into, "%a0, %a1, %a2");
  emit(R, Opcode, ".b2", "%a0.b1, %a1.h1, %a2");
  Rows.push_back(std::move(R));
}

static void addMad(std::vector<Row> &Rows, const std::string &Opcode) {
  Row R;
  R.Name = Opcode + " {all signs}";
  R.Inputs = {Kind::Bits32, Kind::Bits32, Kind::Bits32};
  for (const auto &[A, B] : Selectors)
    emit(R, Opcode, "", std::string("%a0") + A + ", %a1" + B + ", %a2");
  // Only of signed numbers; others have rows without signs.
  for (std::string Sources :
       {"-%a0, %a1, %a2", "%a0, -%a1, %a2", "%a0, %a1, -%a2",
        "-%a0.h1, %a1.b2, %a2", "%a0.b0, %a1.h1, -%a2"})
    emit(R, Opcode, "", Sources);
  Rows.push_back(R);
  R.Name = Opcode;
  R.Body.clear();
  R.Outputs.clear();
  for (const auto &[A, B] : Selectors)
    emit(R, Opcode, "", std::string("%a0") + A + ", %a1" + B + ", %a2");
  Rows.push_back(std::move(R));
}

static void addLanes(std::vector<Row> &Rows, const std::string &Opcode,
                     bool Four) {
  Row R;
  R.Name = Opcode;
  R.Inputs = {Kind::Bits32, Kind::Bits32, Kind::Bits32};
  emit(R, Opcode, "", "%a0, %a1, %a2");
  // Sums do not saturate.
  bool Sums = Opcode.find(".sat") == std::string::npos;
  if (Sums)
    emit(R, Opcode + ".add", "", "%a0, %a1, %a2");
  if (Four) {
    emit(R, Opcode, "", "%a0.b7531, %a1.b0246, %a2");
    emit(R, Opcode, ".b2", "%a0, %a1, %a2");
    emit(R, Opcode, ".b310", "%a0.b0123, %a1.b3345, %a2");
    emit(R, Opcode, ".b3210", "%a0.b3210, %a1.b7654, %a2");
    if (Sums)
      emit(R, Opcode + ".add", ".b31", "%a0.b4021, %a1, %a2");
  } else {
    emit(R, Opcode, "", "%a0.h31, %a1.h02, %a2");
    emit(R, Opcode, ".h0", "%a0, %a1, %a2");
    emit(R, Opcode, ".h1", "%a0.h11, %a1.h03, %a2");
    emit(R, Opcode, ".h10", "%a0.h01, %a1.h32, %a2");
    if (Sums)
      emit(R, Opcode + ".add", ".h1", "%a0.h20, %a1, %a2");
  }
  Rows.push_back(std::move(R));
}

void addVideoRows(std::vector<Row> &Rows) {
#define SIGNS "(u32 s32) (u32 s32)"
  for (const std::string &Opcode : expand("(vadd vsub vabsdiff vmin vmax) "
                                          "(u32 s32) " SIGNS " [sat]"))
    addScalar(Rows, Opcode, false);
  for (const std::string &Opcode :
       expand("(vshl vshr) (u32 s32) (u32 s32) u32 [sat] (clamp wrap)"))
    addScalar(Rows, Opcode, true);
  for (const std::string &Opcode : expand("vset " SIGNS " (eq ne lt le gt ge)"))
    addScalar(Rows, Opcode, false);
  for (const std::string &Opcode :
       expand("vmad (u32 s32) " SIGNS " [sat] [shr7 shr15]"))
    addMad(Rows, Opcode);
  for (const std::string &Opcode :
       expand("vmad (u32 s32) " SIGNS " po [sat] [shr7 shr15]")) {
    Row R;
    R.Name = Opcode;
    R.Inputs = {Kind::Bits32, Kind::Bits32, Kind::Bits32};
    for (const auto &[A, B] : Selectors)
      emit(R, Opcode, "", std::string("%a0") + A + ", %a1" + B + ", %a2");
    Rows.push_back(std::move(R));
  }
  for (std::string Lanes : {"2", "4"}) {
    for (std::string Op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
      for (const std::string &Types : expand("(u32 s32) " SIGNS " [sat]"))
        addLanes(Rows, Op + Lanes + "." + Types, Lanes == "4");
    for (const std::string &Types : expand(SIGNS " (eq ne lt le gt ge)"))
      addLanes(Rows, "vset" + Lanes + "." + Types, Lanes == "4");
  }
}

} // namespace ptxrows
