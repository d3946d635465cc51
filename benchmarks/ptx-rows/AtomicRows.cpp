//===- AtomicRows.cpp - atom and red ----------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "atom", "red": each thread at a place of its own, where the result
// and what is left are compared; and all threads of a block at one place, where
// the order of operations does not matter.
//
//===----------------------------------------------------------------------===//

#include "Row.h"

namespace ptxrows {

/// \p Count: numbers of a vector; 1 for none.
static void addOwnPlace(std::vector<Row> &Rows, const std::string &Opcode,
                        unsigned Count) {
  const std::string Type = typesOf(Opcode).back();
  const Kind K = kindOf(Type);
  const bool Result = Opcode[0] == 'a',
             Swap = Opcode.find(".cas") != std::string::npos;
  bool Shared = Opcode.find(".shared") != std::string::npos,
       Generic = !Shared && Opcode.find(".global") == std::string::npos;
  const unsigned Bytes = bitsOf(K) / 8;
  Row R;
  R.Name = Opcode;
  R.Shared = Shared;
  // Before, operand, second operand; the result, and what is left.
  R.Inputs.assign(Count * (Swap ? 3 : 2), K);
  R.Outputs.assign(Count * (Result ? 2 : 1), {K});
  if (K == Kind::F64)
    for (Output &O : R.Outputs)
      O.Open = Mask::AnyNan;
  std::string B = ".b" + std::to_string(bitsOf(K));
  // The place: 16 bytes of shared memory, or the first words of the results,
  // which are overwritten at last.
  std::string Space = Shared ? ".shared" : ".global",
              Place = Shared ? "%s" : "%to", At = Generic ? "%g" : Place;
  if (Shared)
    R.Body +=
        ".reg .b32 %s; mov.u32 %s, memory; mad.lo.u32 %s, %thread, 16, %s; ";
  if (Generic)
    R.Body += ".reg .b64 %g; cvta.global.u64 %g, %to; ";
  if (Swap) // Half of the swaps find what they look for.
    R.Body += ".reg .pred %q; and.b32 %word, %i, 1; setp.eq.u32 %q, %word, 0; "
              "@%q mov" +
              B + " %a1, %a0; ";
  std::string Suffix = Space + B;
  for (unsigned I = 0; I < Count; ++I)
    R.Body += "st" + Suffix + " [" + Place + "+" + std::to_string(I * Bytes) +
              "], %a" + std::to_string(I) + "; ";
  std::string Old = registers('d', 0, Count),
              Operand = registers('a', Count, Count);
  if (Count > 1) {
    Old = "{" + Old + "}";
    Operand = "{" + Operand + "}";
  }
  R.Body += Opcode + " " + (Result ? Old + ", " : "") + "[" + At + "], " +
            Operand + (Swap ? ", %a2" : "") + "; ";
  for (unsigned I = 0; I < Count; ++I)
    R.Body += "ld" + Suffix + " %d" + std::to_string(I + (Result ? Count : 0)) +
              ", [" + Place + "+" + std::to_string(I * Bytes) + "]; ";
  Rows.push_back(std::move(R));
}

/// All threads of a block at one place of shared memory that begins as zero, or
/// as all ones for and and min.
static void addOnePlace(std::vector<Row> &Rows, const std::string &Opcode) {
  const std::string Type = typesOf(Opcode).back();
  const Kind K = kindOf(Type);
  std::string B = ".b" + std::to_string(bitsOf(K));
  bool Result = Opcode[0] == 'a';
  bool Ones = Opcode.find(".and") != std::string::npos ||
              Opcode.find(".min") != std::string::npos ||
              Opcode.find(".dec") != std::string::npos;
  Row R;
  R.Name = Opcode + " by all threads";
  R.Inputs = {K};
  R.Outputs = {{K}};
  R.Shared = true;
  R.Body = ".reg .pred %q; .reg .b32 %s; .reg " + B +
           " %old; mov.u32 %s, memory; setp.eq.u32 %q, %thread, 0; @%q "
           "st.shared" +
           B + " [%s], " + (Ones ? "-1" : "0") + "; bar.sync 0; ";
  // One operand for all of these: their results depend on no order.
  if (Opcode.find(".inc") != std::string::npos ||
      Opcode.find(".dec") != std::string::npos)
    R.Body += "mov.b32 %a0, 100; ";
  R.Body += Opcode + " " + (Result ? "%old, " : "") +
            "[%s], %a0; bar.sync 0; ld.shared" + B + " %d0, [%s];";
  Rows.push_back(std::move(R));
}

/// exch and cas of 128 bits.
static void addWide(std::vector<Row> &Rows) {
  for (std::string Space : {"global", "shared", ""})
    for (bool Swap : {false, true}) {
      Row R;
      R.Name = std::string("atom") + (Space.empty() ? "" : "." + Space) +
               (Swap ? ".cas.b128" : ".exch.b128");
      R.Shared = Space == "shared";
      R.Inputs.assign(6, Kind::Bits64);
      R.Outputs.assign(4, {Kind::Bits64});
      std::string Place = R.Shared ? "%s" : Space.empty() ? "%g" : "%to";
      R.Body = ".reg .b128 %x, %y, %z; .reg .pred %q; .reg .b64 %g; .reg .b32 "
               "%s; cvta.global.u64 %g, %to; ";
      if (R.Shared)
        R.Body += "mov.u32 %s, memory; mad.lo.u32 %s, %thread, 16, %s; ";
      // Half of the swaps find what they look for.
      R.Body += "and.b32 %word, %i, 1; setp.eq.u32 %q, %word, 0; @%q mov.b64 "
                "%a2, %a0; @%q mov.b64 %a3, %a1; ";
      std::string Memory = R.Shared        ? ".shared"
                           : Space.empty() ? ""
                                           : ".global";
      R.Body += "st" + Memory + ".v2.b64 [" + Place + "], {%a0, %a1}; " +
                "mov.b128 %x, {%a2, %a3}; mov.b128 %y, {%a4, %a5}; " + R.Name +
                " %z, [" + Place + "], " + (Swap ? "%x, %y; " : "%y; ") +
                "mov.b128 {%d0, %d1}, %z; ld" + Memory +
                ".v2.b64 {%d2, %d3}, [" + Place + "];";
      Rows.push_back(std::move(R));
    }
}

void addAtomicRows(std::vector<Row> &Rows) {
#define SPACES "[global shared]"
  for (std::string Op : {"atom", "red"}) {
    for (const std::string &Tail : expand(SPACES " add (u32 s32 u64 f32 f64)"))
      addOwnPlace(Rows, Op + "." + Tail, 1);
    for (const std::string &Tail : expand(SPACES " (inc dec) u32"))
      addOwnPlace(Rows, Op + "." + Tail, 1);
    for (const std::string &Tail :
         expand(SPACES " (min max) (u32 s32 u64 s64)"))
      addOwnPlace(Rows, Op + "." + Tail, 1);
    for (const std::string &Tail : expand(SPACES " (and or xor) (b32 b64)"))
      addOwnPlace(Rows, Op + "." + Tail, 1);
    for (const std::string &Tail :
         expand(SPACES " add noftz (f16 f16x2 bf16 bf16x2)"))
      addOwnPlace(Rows, Op + "." + Tail, 1);
    for (const std::string &Tail :
         expand("(relaxed acquire release acq_rel) (cta cluster gpu sys) "
                "[global shared shared::cta shared::cluster] add u32"))
      addOwnPlace(Rows, Op + "." + Tail, 1);
    // Vectors exist in global memory.
    for (std::string V : {"v2", "v4"})
      addOwnPlace(Rows, Op + ".global.add." + V + ".f32", V == "v2" ? 2 : 4);
    for (std::string V : {"v2", "v4", "v8"})
      for (std::string Do : {"add", "min", "max"})
        for (std::string T : {"f16", "bf16"})
          addOwnPlace(Rows, Op + ".global." + Do + ".noftz." + V + "." + T,
                      static_cast<unsigned>(V[1] - '0'));
    for (std::string V : {"v2", "v4"})
      for (std::string Do : {"add", "min", "max"})
        for (std::string T : {"f16x2", "bf16x2"})
          addOwnPlace(Rows, Op + ".global." + Do + ".noftz." + V + "." + T,
                      static_cast<unsigned>(V[1] - '0'));
    for (const std::string &Tail : expand("shared (add min max) (u32 s32 u64)"))
      addOnePlace(Rows, Op + "." + Tail);
    for (const std::string &Tail : expand("shared (and or xor) (b32 b64)"))
      addOnePlace(Rows, Op + "." + Tail);
    for (const std::string &Tail : expand("shared (inc dec) u32"))
      addOnePlace(Rows, Op + "." + Tail);
  }
  for (const std::string &Tail : expand(SPACES " exch (b32 b64)"))
    addOwnPlace(Rows, "atom." + Tail, 1);
  for (const std::string &Tail : expand(SPACES " cas (b16 b32 b64)"))
    addOwnPlace(Rows, "atom." + Tail, 1);
  addWide(Rows);
}

} // namespace ptxrows
