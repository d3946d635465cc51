//===- IntegerRows.cpp - Integers, logic, comparisons -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer
// Arithmetic Instructions", "Comparison and Selection", "Logic and Shift".
//
//===----------------------------------------------------------------------===//

#include "Row.h"

namespace ptxrows {

#define INTEGERS "u16 u32 u64 s16 s32 s64"
#define FLOATS "f16 f16x2 bf16 bf16x2 f32 f64"

/// Two words and a third that takes the last carry.
static void addChains(std::vector<Row> &Rows) {
  for (std::string T : {"u32", "s32", "u64", "s64"}) {
    Kind K = kindOf(T);
    for (std::string Op : {"add", "sub"}) {
      Row R;
      R.Name = Op + ".cc." + T + " " + Op + "c.cc." + T + " " + Op + "c." + T;
      R.Inputs = {K, K, K, K};
      R.Outputs = {{K}, {K}, {K}};
      R.Body = Op + ".cc." + T + " %d0, %a0, %a1; " + Op + "c.cc." + T +
               " %d1, %a2, %a3; " + Op + "c." + T + " %d2, %a0, 0;";
      Rows.push_back(R);
    }
    for (std::string Half : {"lo", "hi"}) {
      Row R;
      R.Name = "mad." + Half + ".cc." + T + " madc." + Half + ".cc." + T +
               " madc." + Half + "." + T;
      R.Inputs = {K, K, K, K};
      R.Outputs = {{K}, {K}, {K}};
      R.Body = "mad." + Half + ".cc." + T + " %d0, %a0, %a1, %a2; madc." +
               Half + ".cc." + T + " %d1, %a1, %a2, %a3; madc." + Half + "." +
               T + " %d2, %a0, %a3, %a1;";
      Rows.push_back(R);
    }
  }
}

/// All 256 functions of three bits, 16 in a row.
static void addLop3(std::vector<Row> &Rows) {
  for (unsigned First = 0; First < 256; First += 16) {
    Row R;
    R.Name = "lop3.b32 " + std::to_string(First);
    R.Inputs = {Kind::Bits32, Kind::Bits32, Kind::Bits32};
    R.Outputs.assign(16, {Kind::Bits32});
    for (unsigned I = 0; I < 16; ++I)
      R.Body += "lop3.b32 %d" + std::to_string(I) + ", %a0, %a1, %a2, " +
                std::to_string(First + I) + "; ";
    Rows.push_back(R);
  }
  for (std::string Op : {"or", "and"}) {
    Row R;
    R.Name = "lop3." + Op + ".b32";
    R.Inputs = {Kind::Bits32, Kind::Bits32, Kind::Bits32, Kind::Predicate};
    R.Outputs = {{Kind::Bits32}, {Kind::Predicate}, {Kind::Predicate}};
    R.Body = "lop3." + Op + ".b32 %d0|%d1, %a0, %a1, %a2, 0x80, %a3; lop3." +
             Op + ".b32 _|%d2, %a0, %a1, %a2, 0x16, !%a3;";
    Rows.push_back(R);
  }
}

/// All comparisons of a type in one row, a bit or a number for each.
static void addComparisons(std::vector<Row> &Rows) {
  const std::vector<std::string> Any = expand("(eq ne lt le gt ge)"),
                                 Unsigned = expand("(lo ls hi hs)"),
                                 Unordered = expand(
                                     "(equ neu ltu leu gtu geu num nan)");
  for (const std::string &Type :
       expand("[ftz] (b16 b32 b64 " INTEGERS " " FLOATS ")")) {
    std::string T = typesOf(Type).back();
    std::vector<std::string> Names = Any;
    if (T[0] == 'u')
      Names.insert(Names.end(), Unsigned.begin(), Unsigned.end());
    if (T[0] == 'b' && T[1] != 'f')
      Names.resize(2);
    if (T[0] == 'f' || T[1] == 'f')
      Names.insert(Names.end(), Unordered.begin(), Unordered.end());
    std::string Flush = Type.size() > T.size() ? ".ftz" : "";
    bool Pair = T == "f16x2" || T == "bf16x2";
    for (const std::string &Name : Names) {
      Row R;
      R.Name = "setp." + Name + Flush + "." + T + " {none and or xor}";
      R.Inputs = {kindOf(T), kindOf(T), Kind::Predicate};
      for (std::string Bool : {"", ".and", ".or", ".xor"}) {
        std::string To = "%d" + std::to_string(R.Outputs.size());
        R.Outputs.push_back({Kind::Predicate});
        if (T != "f16" && T != "bf16") { // They have no second result.
          To += "|%d" + std::to_string(R.Outputs.size());
          R.Outputs.push_back({Kind::Predicate});
        }
        R.Body += "setp." + Name + Bool + Flush + "." + T + " " + To +
                  ", %a0, %a1" + (Bool.empty() ? "; " : ", %a2; ");
      }
      Rows.push_back(R);
      for (const std::string &To :
           expand("(u32 s32 f32 u16 s16 f16 bf16 f16x2 bf16x2)")) {
        if (Pair != (To == "f16x2" || To == "bf16x2") &&
            !(Pair && To[1] == '3'))
          continue;
        Row S;
        S.Name =
            "set." + Name + Flush + "." + To + "." + T + " {none and or xor}";
        S.Inputs = R.Inputs;
        for (std::string Bool : {"", ".and", ".or", ".xor"}) {
          S.Body += "set." + Name + Bool + Flush + "." + To + "." + T + " %d" +
                    std::to_string(S.Outputs.size()) + ", %a0, %a1" +
                    (Bool.empty() ? "; " : ", %a2; ");
          S.Outputs.push_back({kindOf(To)});
        }
        Rows.push_back(S);
      }
    }
  }
}

void addIntegerRows(std::vector<Row> &Rows) {
  addPlain(Rows, "add (u16x2 s16x2 " INTEGERS ")", "T:TT");
  addPlain(Rows, "sub (" INTEGERS ")", "T:TT");
  addPlain(Rows, "add sat s32", "T:TT");
  addPlain(Rows, "sub sat s32", "T:TT");
  addPlain(Rows, "mul (lo hi) (" INTEGERS ")", "T:TT");
  addPlain(Rows, "mul wide (u16 s16 u32 s32)", "W:TT");
  addPlain(Rows, "mad (lo hi) (" INTEGERS ")", "T:TTT");
  addPlain(Rows, "mad wide (u16 s16 u32 s32)", "W:TTW");
  addPlain(Rows, "mad hi sat s32", "T:TTT");
  addPlain(Rows, "mul24 (lo hi) (u32 s32)", "T:TT");
  addPlain(Rows, "mad24 (lo hi) (u32 s32)", "T:TTT");
  addPlain(Rows, "mad24 hi sat s32", "T:TTT");
  addPlain(Rows, "sad (" INTEGERS ")", "T:TTT");
  addPlain(Rows, "div (" INTEGERS ")", "T:TT");
  addPlain(Rows, "rem (" INTEGERS ")", "T:TT");
  addPlain(Rows, "(abs neg) (s16 s32 s64)", "T:T");
  addPlain(Rows, "(min max) (u16x2 s16x2 " INTEGERS ")", "T:TT");
  addPlain(Rows, "(min max) relu (s16x2 s32)", "T:TT");
  addPlain(Rows, "(popc clz) (b32 b64)", "i:T");
  addPlain(Rows, "bfind [shiftamt] (u32 s32 u64 s64)", "i:T");
  addPlain(Rows, "brev (b32 b64)", "T:T");
  addPlain(Rows, "bfe (u32 s32 u64 s64)", "T:Tss");
  addPlain(Rows, "bfi (b32 b64)", "T:TTss");
  addPlain(Rows, "bmsk (clamp wrap) b32", "T:ss");
  addPlain(Rows, "szext (clamp wrap) (u32 s32)", "T:Ts");
  addPlain(Rows, "fns b32", "i:iss");
  addPlain(Rows, "fns b32", "i:isi");
  Rows.back().Name += " far";
  addPlain(Rows, "dp4a (u32 s32) (u32 s32)", "i:iii");
  addPlain(Rows, "dp2a (lo hi) (u32 s32) (u32 s32)", "i:iii");
  addPlain(Rows, "(and or xor) (pred b16 b32 b64)", "T:TT");
  addPlain(Rows, "not (pred b16 b32 b64)", "T:T");
  addPlain(Rows, "cnot (b16 b32 b64)", "T:T");
  addPlain(Rows, "shl (b16 b32 b64)", "T:Ts");
  addPlain(Rows, "shr (b16 b32 b64 " INTEGERS ")", "T:Ts");
  addPlain(Rows, "shf (l r) (clamp wrap) b32", "T:TTs");
  addPlain(Rows, "prmt b32 [f4e b4e rc8 ecl ecr rc16]", "i:iii");
  addPlain(Rows, "selp (b16 b32 b64 f32 f64 " INTEGERS ")", "T:TTp");
  addPlain(Rows, "slct (b16 b32 b64 f32 f64 " INTEGERS ") s32", "F:FFT");
  addPlain(Rows, "slct [ftz] (b16 b32 b64 f32 f64 " INTEGERS ") f32", "F:FFT");
  addChains(Rows);
  addLop3(Rows);
  addComparisons(Rows);
}

} // namespace ptxrows
