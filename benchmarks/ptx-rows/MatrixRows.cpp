//===- MatrixRows.cpp - Products of matrices --------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Warp Level Matrix Instructions", "Asynchronous Warpgroup Level
// Matrix Instructions". Elements are small multiples of a half, so that all
// sums are exact in any order; integers are any.
//
//===----------------------------------------------------------------------===//

#include "Row.h"
#include <algorithm>

namespace ptxrows {

/// A type of elements.
struct Element {
  const char *Name;
  unsigned Bits;
  Kind Of; ///< What a register holds.
};

static constexpr Element F16 = {"f16", 16, Kind::MatrixF16},
                         BF16 = {"bf16", 16, Kind::MatrixBF16},
                         TF32 = {"tf32", 32, Kind::MatrixTF32},
                         F32 = {"f32", 32, Kind::MatrixF32},
                         F64 = {"f64", 64, Kind::MatrixF64},
                         E4M3 = {"e4m3", 8, Kind::MatrixE4M3},
                         E5M2 = {"e5m2", 8, Kind::MatrixE5M2},
                         S8 = {"s8", 8, Kind::Bits32},
                         U8 = {"u8", 8, Kind::Bits32},
                         S4 = {"s4", 4, Kind::Bits32},
                         U4 = {"u4", 4, Kind::Bits32},
                         B1 = {"b1", 1, Kind::Bits32},
                         S32 = {"s32", 32, Kind::Bits32};

/// The kind with infinities and NaN; integers have none.
static Kind wild(Kind K) {
  if (K < Kind::MatrixF16 || K >= Kind::WildF16)
    return K;
  return static_cast<Kind>(static_cast<int>(Kind::WildF16) +
                           static_cast<int>(K) -
                           static_cast<int>(Kind::MatrixF16));
}

/// The last row once more, wild.
static void addWild(std::vector<Row> &Rows) {
  Row R = Rows.back();
  R.Name += " {Inf NaN}";
  bool Differs = false;
  for (Kind &K : R.Inputs) {
    Differs |= wild(K) != K;
    K = wild(K);
  }
  // The largest numbers of 8 bits make sums that a half rounds, in an order of
  // the card's own.
  bool Rounds = (R.Name.find(".f16.e") != std::string::npos);
  if (Differs && !Rounds)
    Rows.push_back(std::move(R));
}

struct Shape {
  unsigned M, N, K;
  std::string str() const {
    return "m" + std::to_string(M) + "n" + std::to_string(N) + "k" +
           std::to_string(K);
  }
};

static unsigned registersOf(unsigned Elements, const Element &E) {
  unsigned Per = E.Bits == 64 ? 1 : 32 / E.Bits;
  return std::max(1U, Elements / 32 / Per);
}

static Output outputOf(const Element &E) {
  Kind K = E.Bits == 64 ? Kind::F64 : Kind::Bits32;
  return {K, E.Bits == 64 ? Mask::AnyNan : Mask::None};
}

static void addMma(std::vector<Row> &Rows, const std::string &Opcode,
                   unsigned A, const Element &TypeA, unsigned B,
                   const Element &TypeB, unsigned C, const Element &TypeC,
                   unsigned D, const Element &TypeD) {
  Row R;
  R.Name = Opcode;
  R.Inputs.assign(A, TypeA.Of);
  R.Inputs.insert(R.Inputs.end(), B, TypeB.Of);
  R.Inputs.insert(R.Inputs.end(), C, TypeC.Of);
  R.Outputs.assign(D, outputOf(TypeD));
  R.Body = Opcode + " {" + registers('d', 0, D) + "}, {" +
           registers('a', 0, A) + "}, {" + registers('a', A, B) + "}, {" +
           registers('a', A + B, C) + "};";
  Rows.push_back(std::move(R));
  addWild(Rows);
}

static void addMmaForm(std::vector<Row> &Rows, Shape S, const Element &D,
                       const Element &A, const Element &B, const Element &C,
                       const std::string &Tail = "") {
  std::string Opcode = "mma.sync.aligned." + S.str() + ".row.col." +
                       (Tail == ".satfinite" ? "satfinite." : "") + D.Name +
                       "." + A.Name + "." + B.Name + "." + C.Name +
                       (Tail == ".satfinite" ? "" : Tail);
  addMma(Rows, Opcode, registersOf(S.M * S.K, A), A, registersOf(S.K * S.N, B),
         B, registersOf(S.M * S.N, C), C, registersOf(S.M * S.N, D), D);
}

static void addMmas(std::vector<Row> &Rows) {
  for (const char *La : {"row", "col"})
    for (const char *Lb : {"row", "col"})
      for (const Element &D : {F16, F32})
        for (const Element &C : {F16, F32})
          addMma(Rows,
                 std::string("mma.sync.aligned.m8n8k4.") + La + "." + Lb + "." +
                     D.Name + ".f16.f16." + C.Name,
                 2, F16, 2, F16, C.Bits / 4, C, D.Bits / 4, D);
  for (Shape S : {Shape{16, 8, 8}, Shape{16, 8, 16}}) {
    for (const Element &D : {F16, F32})
      for (const Element &C : {F16, F32})
        addMmaForm(Rows, S, D, F16, F16, C);
    addMmaForm(Rows, S, F32, BF16, BF16, F32);
  }
  for (Shape S : {Shape{16, 8, 4}, Shape{16, 8, 8}})
    addMmaForm(Rows, S, F32, TF32, TF32, F32);
  for (Shape S : {Shape{16, 8, 16}, Shape{16, 8, 32}})
    for (const Element &A : {E4M3, E5M2})
      for (const Element &B : {E4M3, E5M2})
        for (const Element &C : {F16, F32})
          addMmaForm(Rows, S, C, A, B, C);
  for (Shape S :
       {Shape{8, 8, 4}, Shape{16, 8, 4}, Shape{16, 8, 8}, Shape{16, 8, 16}})
    addMmaForm(Rows, S, F64, F64, F64, F64);
  for (std::string Clamp : {"", ".satfinite"}) {
    for (Shape S : {Shape{8, 8, 16}, Shape{16, 8, 16}, Shape{16, 8, 32}})
      for (const Element &A : {S8, U8})
        for (const Element &B : {S8, U8})
          addMmaForm(Rows, S, S32, A, B, S32, Clamp);
    for (Shape S : {Shape{8, 8, 32}, Shape{16, 8, 32}, Shape{16, 8, 64}})
      for (const Element &A : {S4, U4})
        for (const Element &B : {S4, U4})
          addMmaForm(Rows, S, S32, A, B, S32, Clamp);
  }
  for (Shape S : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}})
    for (std::string Product : {".xor.popc", ".and.popc"})
      addMmaForm(Rows, S, S32, B1, B1, S32, Product);
}

/// Load, product and store of a warp: fragments are nobody's business.
static void addWmma(std::vector<Row> &Rows, Shape S, const Element &A,
                    const Element &C, const Element &D, const std::string &La,
                    const std::string &Lb, const std::string &Ld,
                    unsigned RegistersA, unsigned RegistersB,
                    const std::string &Before, const std::string &Types,
                    const std::string &Behind) {
  // Words of 64 bits that a lane brings of each matrix.
  auto Words = [](unsigned Elements, const Element &E) {
    return std::max(1U, Elements * E.Bits / 32 / 64);
  };
  unsigned WordsA = Words(S.M * S.K, A), WordsB = Words(S.K * S.N, A),
           WordsC = Words(S.M * S.N, C), WordsD = Words(S.M * S.N, D);
  unsigned RegistersC = registersOf(S.M * S.N, C),
           RegistersD = registersOf(S.M * S.N, D);
  Row R;
  R.Name = "wmma." + S.str() + "." + La + "." + Lb + "." + Ld + "." + Before +
           Types + Behind;
  // In memory a word has one register's worth below and one above.
  R.Inputs.assign((WordsA + WordsB + WordsC) * (A.Bits == 64 ? 1 : 2), A.Of);
  std::fill(R.Inputs.end() - WordsC * (A.Bits == 64 ? 1 : 2), R.Inputs.end(),
            C.Of);
  R.Outputs.assign(WordsD, {D.Bits == 64 ? Kind::F64 : Kind::Bits64,
                            D.Bits == 64 ? Mask::AnyNan : Mask::None});
  R.Shared = true;
  R.StoresItself = true;
  // A warp's matrices lie one behind the other in 4 KiB of shared memory.
  R.Body = ".reg .b32 %s, %o; mov.u32 %s, memory; shr.u32 %word, %thread, 5; "
           "mad.lo.u32 %s, %word, 4096, %s; ";
  unsigned At = 0, Input = 0;
  auto Bring = [&](unsigned Count) {
    unsigned Begin = At;
    R.Body += "mad.lo.u32 %o, %lane, " + std::to_string(Count * 8) + ", %s; ";
    for (unsigned I = 0; I < Count; ++I) {
      std::string To = "[%o+" + std::to_string(At + I * 8) + "]";
      if (A.Bits == 64)
        R.Body +=
            "st.shared.b64 " + To + ", %a" + std::to_string(Input++) + "; ";
      else {
        R.Body += "st.shared.v2.b32 " + To + ", {%a" + std::to_string(Input) +
                  ", %a" + std::to_string(Input + 1) + "}; ";
        Input += 2;
      }
    }
    At += Count * 8 * 32;
    return std::to_string(Begin);
  };
  std::string AtA = Bring(WordsA), AtB = Bring(WordsB), AtC = Bring(WordsC);
  std::string W = A.Bits == 64 ? "64" : "32";
  R.Body += ".reg .b" + W + " %x<8>, %y<8>, %u<8>, %v<8>; bar.warp.sync -1; ";
  auto Fragment = [](char Letter, unsigned Count) {
    return "{" + registers(Letter, 0, Count) + "}";
  };
  auto Load = [&](const char *Use, const std::string &Layout, const Element &E,
                  char Letter, unsigned Count, const std::string &From) {
    R.Body += std::string("wmma.load.") + Use + ".sync.aligned." + Layout +
              "." + S.str() + ".shared." + E.Name + " " +
              Fragment(Letter, Count) + ", [%s+" + From + "]; ";
  };
  Load("a", La, A, 'x', RegistersA, AtA);
  Load("b", Lb, A, 'y', RegistersB, AtB);
  Load("c", Ld, C, 'u', RegistersC, AtC);
  R.Body += "wmma.mma." + Before + "sync.aligned." + La + "." + Lb + "." +
            S.str() + "." + Types + Behind + " " + Fragment('v', RegistersD) +
            ", " + Fragment('x', RegistersA) + ", " +
            Fragment('y', RegistersB) + ", " + Fragment('u', RegistersC) +
            "; bar.warp.sync -1; wmma.store.d.sync.aligned." + Ld + "." +
            S.str() + ".shared." + D.Name + " [%s+" + AtC + "], " +
            Fragment('v', RegistersD) + "; bar.warp.sync -1; ";
  R.Body += "mad.lo.u32 %o, %lane, " + std::to_string(WordsD * 8) +
            ", %s; .reg .b64 %w; ";
  for (unsigned I = 0; I < WordsD; ++I) {
    std::string Place = std::to_string(I * 8);
    R.Body += "ld.shared.b64 %w, [%o+" + AtC + "+" + Place +
              "]; st.global.b64 [%to+" + Place + "], %w; ";
  }
  Rows.push_back(std::move(R));
  addWild(Rows);
}

static void addWmmas(std::vector<Row> &Rows) {
  const Shape Usual[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  for (Shape S : Usual)
    for (std::string La : {"row", "col"})
      for (std::string Lb : {"row", "col"}) {
        std::string Ld = La;
        for (const Element &D : {F16, F32})
          for (const Element &C : {F16, F32})
            addWmma(Rows, S, F16, C, D, La, Lb, Ld, 8, 8, "",
                    std::string(D.Name) + "." + C.Name, "");
        addWmma(Rows, S, F16, F16, F16, La, Lb, Ld, 8, 8, "", "f16.f16",
                ".satfinite");
        addWmma(Rows, S, F16, F32, F32, La, Lb, Ld, 8, 8, "", "f32.f32",
                ".satfinite");
        addWmma(Rows, S, BF16, F32, F32, La, Lb, Ld,
                registersOf(S.M * S.K, BF16), registersOf(S.K * S.N, BF16), "",
                "f32.bf16.bf16.f32", "");
        for (const Element &A : {S8, U8})
          for (std::string Clamp : {"", ".satfinite"})
            addWmma(Rows, S, A, S32, S32, La, Lb, Ld, registersOf(S.M * S.K, A),
                    registersOf(S.K * S.N, A), "",
                    std::string("s32.") + A.Name + "." + A.Name + ".s32",
                    Clamp);
      }
  for (std::string La : {"row", "col"})
    for (std::string Lb : {"row", "col"}) {
      addWmma(Rows, {16, 16, 8}, TF32, F32, F32, La, Lb, Lb, 4, 4, "",
              "f32.tf32.tf32.f32", "");
      addWmma(Rows, {8, 8, 4}, F64, F64, F64, La, Lb, Lb, 1, 1, "",
              "f64.f64.f64.f64", "");
    }
  for (const Element &A : {S4, U4})
    for (std::string Clamp : {"", ".satfinite"})
      addWmma(Rows, {8, 8, 32}, A, S32, S32, "row", "col", "row", 1, 1, "",
              std::string("s32.") + A.Name + "." + A.Name + ".s32", Clamp);
  for (std::string Product : {"xor.popc.", "and.popc."})
    addWmma(Rows, {8, 8, 128}, B1, S32, S32, "row", "col", "row", 1, 1, Product,
            "s32.b1.b1.s32", "");
}

static void addMoves(std::vector<Row> &Rows) {
  for (std::string Trans : {"", ".trans"})
    for (unsigned Count : {1U, 2U, 4U}) {
      std::string Form = ".sync.aligned.m8n8.x" + std::to_string(Count) +
                         Trans + ".shared.b16 ";
      // Rows of 16 bytes in the order that the first operand says.
      std::string Begin =
          ".reg .b32 %s, %o; mov.u32 %s, memory; shr.u32 %word, %thread, 5; "
          "mad.lo.u32 %s, %word, 1024, %s; mad.lo.u32 %o, %lane, 16, %s; ";
      Row R;
      R.Name = "ldmatrix" + Form;
      R.Name.pop_back();
      R.Inputs.assign(4, Kind::Bits32);
      R.Inputs.push_back(Kind::Lane);
      R.Outputs.assign(Count, {Kind::Bits32});
      R.Shared = true;
      R.Body = Begin +
               "st.shared.v4.b32 [%o], {%a0, %a1, %a2, %a3}; "
               "bar.warp.sync -1; mad.lo.u32 %o, %a4, 16, %s; "
               "ldmatrix" +
               Form + "{" + registers('d', 0, Count) + "}, [%o];";
      Rows.push_back(R);
      R.Name = "stmatrix" + Form;
      R.Name.pop_back();
      R.Inputs.assign(Count, Kind::Bits32);
      R.Outputs.assign(4, {Kind::Bits32});
      R.Body = Begin +
               "st.shared.v4.b32 [%o], {0, 0, 0, 0}; bar.warp.sync "
               "-1; xor.b32 %word, %lane, 5; mad.lo.u32 %o, %word, 16, "
               "%s; stmatrix" +
               Form + "[%o], {" + registers('a', 0, Count) +
               "}; bar.warp.sync -1; mad.lo.u32 %o, %lane, 16, %s; "
               "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%o];";
      Rows.push_back(R);
    }
  addPlain(Rows, "movmatrix sync aligned m8n8 trans b16", "i:i");
}

/// One product of two warpgroups; A in shared memory, or in registers.
static void addWgmma(std::vector<Row> &Rows, unsigned N, const Element &D,
                     const Element &A, const Element &B, bool InRegisters,
                     const std::string &Clamp, const std::string &Numbers,
                     const std::string &What, unsigned Swizzle) {
  unsigned K = 256 / A.Bits;
  Row R;
  std::string Opcode = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(N) +
                       "k" + std::to_string(K) + "." + D.Name + "." + A.Name +
                       "." + B.Name;
  if (A.Bits == 1)
    Opcode += ".and.popc";
  Opcode += Clamp;
  R.Name = Opcode + (InRegisters ? " registers" : "") + What;
  unsigned Count = 64 * N * D.Bits / 128 / 32;
  // Each thread brings a row of 8 words of the matrices in shared memory, its
  // registers of A, and of the sum.
  R.Inputs.assign(4, A.Of);
  R.Inputs.insert(R.Inputs.end(), 4, B.Of);
  R.Inputs.insert(R.Inputs.end(), 4, A.Of);
  R.Inputs.insert(R.Inputs.end(), 4, D.Of);
  R.Outputs.assign(Count, {Kind::Bits32});
  R.Shared = true;
  R.Body = ".reg .b32 %s, %o; .reg .b64 %da, %db, %w; .reg .pred %q; "
           "mov.u32 %s, memory; mad.lo.u32 %o, %thread, 16, %s; "
           "st.shared.v4.b32 [%o], {%a0, %a1, %a2, %a3}; "
           "st.shared.v4.b32 [%o+8192], {%a4, %a5, %a6, %a7}; "
           "st.shared.v4.b32 [%o+4096], {%a0, %a1, %a2, %a3}; "
           "st.shared.v4.b32 [%o+12288], {%a5, %a4, %a7, %a6}; "
           "st.shared.v4.b32 [%o+16384], {%a6, %a7, %a4, %a5}; "
           "st.shared.v4.b32 [%o+20480], {%a7, %a6, %a5, %a4}; "
           "fence.proxy.async; bar.sync 0; ";
  // Leading and stride offsets of 128 and 256 bytes; swizzled: 8 rows.
  uint64_t Stride = Swizzle == 0   ? 256
                    : Swizzle == 3 ? 256
                    : Swizzle == 2 ? 512
                                   : 1024;
  uint64_t Descriptor = (uint64_t(128) >> 4) << 16 | (Stride >> 4) << 32 |
                        uint64_t(Swizzle) << 62;
  auto Describe = [&](const std::string &Name, unsigned At) {
    R.Body += "add.u32 %o, %s, " + std::to_string(At) +
              "; and.b32 %o, %o, 0x3ffff; shr.u32 %o, %o, 4; cvt.u64.u32 %" +
              Name + ", %o; or.b64 %" + Name + ", %" + Name + ", " +
              std::to_string(Descriptor) + "U; ";
  };
  Describe("da", 0);
  Describe("db", 8192);
  for (unsigned I = 0; I < Count; ++I)
    R.Body += "mov.b32 %d" + std::to_string(I) + ", %a" +
              std::to_string(12 + I % 4) + "; ";
  R.Body += "wgmma.fence.sync.aligned; setp.ne.b32 %q, 1, 0; " + Opcode + " {" +
            registers('d', 0, Count) + "}, " +
            (InRegisters ? "{" + registers('a', 8, 4) + "}" : "%da") +
            ", %db, %q" + Numbers +
            "; wgmma.commit_group.sync.aligned; "
            "wgmma.wait_group.sync.aligned 0; bar.sync 0;";
  Rows.push_back(std::move(R));
  if (N == 24)
    addWild(Rows);
}

static void addWgmmas(std::vector<Row> &Rows) {
  auto Both = [&](unsigned N, const Element &D, const Element &A,
                  const Element &B, const std::string &Clamp,
                  const std::string &Shared, const std::string &Registers,
                  const std::string &What = "", unsigned Swizzle = 0) {
    addWgmma(Rows, N, D, A, B, false, Clamp, Shared, What, Swizzle);
    addWgmma(Rows, N, D, A, B, true, Clamp, Registers, What, Swizzle);
  };
  for (unsigned N : {8U, 24U, 64U}) {
    for (const Element &D : {F16, F32})
      Both(N, D, F16, F16, "", ", 1, 1, 0, 0", ", 1, 1, 0");
    Both(N, F32, BF16, BF16, "", ", 1, 1, 0, 0", ", 1, 1, 0");
    Both(N, F32, TF32, TF32, "", ", 1, 1", ", 1, 1");
    for (const Element &A : {E4M3, E5M2})
      for (const Element &B : {E4M3, E5M2})
        for (const Element &D : {F16, F32})
          Both(N, D, A, B, "", ", 1, 1", ", 1, 1");
    for (std::string Clamp : {"", ".satfinite"})
      for (const Element &A : {S8, U8})
        for (const Element &B : {S8, U8})
          Both(N, S32, A, B, Clamp, "", "");
    Both(N, S32, B1, B1, "", "", "");
  }
  Both(256, F32, F16, F16, "", ", 1, 1, 0, 0", ", 1, 1, 0");
  // Signs, and matrices whose other side is contiguous.
  for (const Element &A : {F16, BF16}) {
    Both(32, F32, A, A, "", ", -1, 1, 0, 0", ", -1, 1, 0", " -A");
    Both(32, F32, A, A, "", ", 1, -1, 0, 0", ", 1, -1, 0", " -B");
    Both(32, F32, A, A, "", ", 1, 1, 0, 1", ", 1, 1, 1", " transposed B");
    Both(32, F32, A, A, "", ", 1, 1, 1, 0", ", -1, -1, 0", " transposed A");
    Both(32, F32, A, A, "", ", 1, 1, 1, 1", ", 1, 1, 1", " transposed both");
    for (unsigned Swizzle : {1U, 2U, 3U})
      Both(32, F32, A, A, "", ", 1, 1, 0, 0", ", 1, 1, 0",
           " swizzle " + std::to_string(Swizzle), Swizzle);
  }
}

void addMatrixRows(std::vector<Row> &Rows) {
  addMmas(Rows);
  addWmmas(Rows);
  addMoves(Rows);
  addWgmmas(Rows);
}

} // namespace ptxrows
