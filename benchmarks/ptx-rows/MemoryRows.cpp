//===- MemoryRows.cpp - Loads, stores, addresses ----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Data Movement and Conversion Instructions": every width in every
// space, and every order, scope, cache operator and hint for 32 bits.
//
//===----------------------------------------------------------------------===//

#include "Row.h"
#include <algorithm>

namespace ptxrows {

/// Bytes of a type in memory.
static unsigned bytesOf(const std::string &Type) {
  unsigned Bits = 0;
  for (char C : Type)
    if (C >= '0' && C <= '9')
      Bits = Bits * 10 + static_cast<unsigned>(C - '0');
  return Bits / 8;
}

/// "%x0, %x1" in braces where there are several.
static std::string vectorOf(char Letter, unsigned Count) {
  std::string List = registers(Letter, 0, Count);
  return Count == 1 ? List : "{" + List + "}";
}

static std::string registersOf(const std::string &Type, unsigned Count,
                               bool Wide) {
  unsigned Bits = bytesOf(Type) * 8;
  // Small types live in wider registers, which show how they are extended.
  if (Bits < 64)
    Bits = Wide ? 64 : std::max(Bits, 16U);
  return ".reg .b" + std::to_string(Bits) + " %x<" + std::to_string(Count) +
         ">; ";
}

static std::string storeAll(const std::string &Type, unsigned Count,
                            unsigned Stride, bool Wide) {
  unsigned Bytes = bytesOf(Type);
  std::string Text;
  for (unsigned I = 0; I < Count; ++I) {
    std::string N = std::to_string(I), At = std::to_string(I * Stride);
    if (Bytes == 16)
      Text += "{ .reg .b64 %u, %v; mov.b128 {%u, %v}, %x" + N +
              "; st.global.v2.b64 [%to+" + At + "], {%u, %v}; } ";
    else
      Text +=
          "st.global.b" +
          std::to_string(Wide || Bytes == 8 ? 64 : std::max(Bytes * 8, 16U)) +
          " [%to+" + At + "], %x" + N + "; ";
  }
  return Text;
}

/// Loads by an opcode from where the tuple's words lie, in \p Space.
static void addLoad(std::vector<Row> &Rows, const std::string &Opcode,
                    const std::string &Space, const std::string &Type,
                    unsigned Count, bool Wide) {
  Row R;
  R.Name = Opcode + (Wide ? " to .b64" : "");
  unsigned Bytes = bytesOf(Type);
  unsigned Words = (Bytes * Count + 7) / 8;
  unsigned Stride = Bytes == 16 ? 16 : 8;
  R.Inputs.assign(Words, Kind::Bits64);
  R.Outputs.assign(Count * (Stride / 8), {Kind::Bits64});
  R.LoadsItself = R.StoresItself = true;
  R.Body = registersOf(Type, Count, Wide);
  std::string From = "%in";
  if (Space.empty()) {
    R.Body += ".reg .b64 %g; cvta.global.u64 %g, %in; ";
    From = "%g";
  } else if (Space != "global") {
    // A copy of the tuple in the space, at 16 bytes for each thread.
    R.Body += ".reg .b64 %w<" + std::to_string(Words) + ">; ";
    if (Space == "local") {
      R.Body += ".local .align 16 .b8 own[16]; .reg .b64 %o; mov.u64 %o, own; ";
      From = "%o";
    } else {
      R.Shared = true;
      R.Body += ".reg .b32 %o; mov.u32 %o, memory; mad.lo.u32 %o, %thread, 16, "
                "%o; ";
      From = "%o";
    }
    for (unsigned I = 0; I < Words; ++I) {
      std::string N = std::to_string(I), At = std::to_string(8 * I);
      R.Body += "ld.global.b64 %w" + N + ", [%in+" + At + "]; st." +
                (Space == "local" ? "local" : "shared") + ".b64 [%o+" + At +
                "], %w" + N + "; ";
    }
  }
  R.Body += Opcode + " " + vectorOf('x', Count) + ", [" + From + "]; ";
  R.Body += storeAll(Type, Count, Stride, Wide);
  Rows.push_back(std::move(R));
}

/// Stores by an opcode what the tuple has.
static void addStore(std::vector<Row> &Rows, const std::string &Opcode,
                     const std::string &Space, const std::string &Type,
                     unsigned Count) {
  Row R;
  R.Name = Opcode;
  unsigned Bytes = bytesOf(Type);
  unsigned Words = (Bytes * Count + 7) / 8;
  unsigned Stride = Bytes == 16 ? 16 : 8;
  R.Inputs.assign(Count * (Stride / 8), Kind::Bits64);
  R.Outputs.assign(Words, {Kind::Bits64});
  R.LoadsItself = R.StoresItself = true;
  R.Body = registersOf(Type, Count, false);
  for (unsigned I = 0; I < Count; ++I) {
    std::string N = std::to_string(I), At = std::to_string(I * Stride);
    if (Bytes == 16)
      R.Body += "{ .reg .b64 %u, %v; ld.global.v2.b64 {%u, %v}, [%in+" + At +
                "]; mov.b128 %x" + N + ", {%u, %v}; } ";
    else
      R.Body += "ld.global.b" + std::to_string(std::max(Bytes * 8, 16U)) +
                " %x" + N + ", [%in+" + At + "]; ";
  }
  std::string Into = "%to", Back;
  if (Space.empty()) {
    R.Body += ".reg .b64 %g; cvta.global.u64 %g, %to; ";
    Into = "%g";
  } else if (Space != "global") {
    bool Local = Space == "local";
    R.Shared = !Local;
    R.Body += Local
                  ? ".local .align 16 .b8 own[16]; .reg .b64 %o; mov.u64 %o, "
                    "own; "
                  : ".reg .b32 %o; mov.u32 %o, memory; mad.lo.u32 %o, %thread, "
                    "16, %o; ";
    Into = "%o";
    std::string Base = Local ? "local" : "shared";
    Back = ".reg .b64 %w; ";
    for (unsigned I = 0; I < Words; ++I) {
      std::string At = std::to_string(8 * I);
      R.Body += "st." + Base + ".b64 [%o+" + At + "], 0; ";
      Back += "ld." + Base + ".b64 %w, [%o+" + At + "]; st.global.b64 [%to+" +
              At + "], %w; ";
    }
  }
  R.Body += Opcode + " [" + Into + "], " + vectorOf('x', Count) + "; " + Back;
  Rows.push_back(std::move(R));
}

#define TYPES "(b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64 b128)"
#define SCOPES "(cta cluster gpu sys)"

static std::string spaceOf(const std::string &Opcode) {
  for (std::string Each : {"global", "shared", "local"})
    if (Opcode.find("." + Each) != std::string::npos)
      return Each;
  return "";
}

static void addWidths(std::vector<Row> &Rows) {
  for (std::string Space : {"global", "shared", "local", ""})
    for (std::string Vector : {"", "v2", "v4"})
      for (const std::string &Type : expand(TYPES)) {
        unsigned Count = Vector.empty() ? 1 : Vector == "v2" ? 2 : 4;
        if (bytesOf(Type) * Count > 16)
          continue;
        std::string Tail = (Space.empty() ? "" : "." + Space) +
                           (Vector.empty() ? "" : "." + Vector) + "." + Type;
        addLoad(Rows, "ld" + Tail, Space, Type, Count, false);
        if (bytesOf(Type) < 8 && Type[0] != 'f')
          addLoad(Rows, "ld" + Tail, Space, Type, Count, true);
        addStore(Rows, "st" + Tail, Space, Type, Count);
        if (Space == "global") {
          addLoad(Rows, "ld.global.nc" + Tail.substr(7), Space, Type, Count,
                  false);
          addLoad(Rows, "ldu" + Tail, Space, Type, Count, false);
          addLoad(Rows, "ld.volatile" + Tail, Space, Type, Count, false);
          addStore(Rows, "st.volatile" + Tail, Space, Type, Count);
        }
      }
}

static void addOrders(std::vector<Row> &Rows) {
  for (const std::string &Opcode :
       expand("ld [weak volatile] [global shared shared::cta shared::cluster "
              "local] [ca cg cs lu cv] u32"))
    addLoad(Rows, Opcode, spaceOf(Opcode), "u32", 1, false);
  for (const std::string &Opcode :
       expand("ld (relaxed acquire) " SCOPES
              " [global shared shared::cta shared::cluster] [v2] u32"))
    addLoad(Rows, Opcode, spaceOf(Opcode), "u32",
            Opcode.find("v2") == std::string::npos ? 1 : 2, false);
  for (const std::string &Opcode :
       expand("ld mmio relaxed sys [global] (u8 u16 u32 u64)"))
    addLoad(Rows, Opcode, spaceOf(Opcode), typesOf(Opcode).back(), 1, false);
  for (const std::string &Opcode :
       expand("ld global [nc] [L1::evict_normal L1::evict_unchanged "
              "L1::evict_first L1::evict_last L1::no_allocate] [L2::64B "
              "L2::128B L2::256B] v2 u32"))
    addLoad(Rows, Opcode, "global", "u32", 2, false);
  for (const std::string &Opcode : expand("ld global (ca cg cs) nc v4 u32"))
    addLoad(Rows, Opcode, "global", "u32", 4, false);
  for (const std::string &Opcode :
       expand("st [weak volatile] [global shared shared::cta shared::cluster "
              "local] [wb cg cs wt] u32"))
    addStore(Rows, Opcode, spaceOf(Opcode), "u32", 1);
  for (const std::string &Opcode :
       expand("st (relaxed release) " SCOPES
              " [global shared shared::cta shared::cluster] [v2] u32"))
    addStore(Rows, Opcode, spaceOf(Opcode), "u32",
             Opcode.find("v2") == std::string::npos ? 1 : 2);
  for (const std::string &Opcode :
       expand("st mmio relaxed sys [global] (u8 u16 u32 u64)"))
    addStore(Rows, Opcode, spaceOf(Opcode), typesOf(Opcode).back(), 1);
  for (const std::string &Opcode :
       expand("st global [L1::evict_normal L1::evict_unchanged "
              "L1::evict_first L1::evict_last L1::no_allocate] v2 u32"))
    addStore(Rows, Opcode, "global", "u32", 2);
}

/// 256 bytes of constants, of which the operand chooses some.
static void addConstants(std::vector<Row> &Rows) {
  for (std::string Vector : {"", "v2", "v4"})
    for (const std::string &Type : expand(TYPES)) {
      unsigned Count = Vector.empty() ? 1 : Vector == "v2" ? 2 : 4;
      unsigned Bytes = bytesOf(Type);
      if (Bytes * Count > 16 || Bytes == 16)
        continue;
      for (bool Wide : {false, true}) {
        if (Wide && (Bytes == 8 || Type[0] == 'f'))
          continue;
        Row R;
        R.Name = "ld.const" + (Vector.empty() ? "" : "." + Vector) + "." + Type;
        std::string Opcode = R.Name;
        R.Name += Wide ? " to .b64" : "";
        R.Inputs = {Kind::Bits32};
        R.Outputs.assign(Count, {Kind::Bits64});
        R.StoresItself = R.Constants = true;
        R.Body = registersOf(Type, Count, Wide) +
                 ".reg .b64 %c; and.b32 %a0, %a0, 240; cvt.u64.u32 %c, %a0; "
                 "mov.u64 %q, constants; add.u64 %c, %c, %q; " +
                 Opcode + " " + vectorOf('x', Count) + ", [%c]; " +
                 storeAll(Type, Count, 8, Wide);
        R.Body = ".reg .b64 %q; " + R.Body;
        Rows.push_back(std::move(R));
      }
    }
}

/// Rows whose operands are in registers.
static void addOther(std::vector<Row> &Rows) {
  auto Add = [&](std::string Name, std::vector<Kind> In,
                 std::vector<Output> Out, std::string Body,
                 bool Shared = false) {
    Row R;
    R.Name = std::move(Name);
    R.Inputs = std::move(In);
    R.Outputs = std::move(Out);
    R.Body = std::move(Body);
    R.Shared = Shared;
    Rows.push_back(std::move(R));
  };
  for (std::string Kind0 :
       {"evict_last", "evict_normal", "evict_first", "evict_unchanged"})
    Add("createpolicy.fractional.L2::" + Kind0 + " ld.L2::cache_hint st",
        {Kind::Bits32}, {{Kind::Bits32}},
        ".reg .b64 %p; createpolicy.fractional.L2::" + Kind0 +
            ".b64 %p, 0.5; ld.global.L2::cache_hint.b32 %d0, [%in], %p; "
            "st.global.L2::cache_hint.b32 [%to], %d0, %p;");
  for (std::string Name :
       {"fractional.L2::evict_last.L2::evict_unchanged.b64 %p, 0.25",
        "fractional.L2::evict_first.L2::evict_first.b64 %p",
        "range.global.L2::evict_last.L2::evict_unchanged.b64 %p, [%in], 64, "
        "128",
        "range.global.L2::evict_first.b64 %p, [%in], 64, 128"})
    Add("createpolicy." + Name, {Kind::Bits32}, {{Kind::Bits32}},
        ".reg .b64 %p; createpolicy." + Name +
            "; ld.global.L2::cache_hint.b32 %d0, [%in], %p;");
  Add("applypriority", {Kind::Bits32}, {{Kind::Bits32}},
      ".reg .b64 %g; and.b64 %g, %in, -128; "
      "applypriority.global.L2::evict_normal [%g], 128; mov.b32 %d0, %a0;");
  Add("prefetch prefetchu", {Kind::Bits32}, {{Kind::Bits32}},
      ".reg .b64 %g; cvta.global.u64 %g, %in; prefetch.global.L1 [%in]; "
      "prefetch.global.L2 [%in]; prefetch.global.L2::evict_last [%in]; "
      "prefetch.global.L2::evict_normal [%in]; prefetchu.L1 [%g]; "
      "prefetch.L1 [%g]; prefetch.L2 [%g]; mov.b32 %d0, %a0;");
  // Which space an address belongs to, and back and forth.
  Add("isspacep cvta", {Kind::Bits64},
      {{Kind::Predicate},
       {Kind::Predicate},
       {Kind::Predicate},
       {Kind::Predicate},
       {Kind::Predicate},
       {Kind::Predicate},
       {Kind::Predicate},
       {Kind::Bits64},
       {Kind::Bits64}},
      ".local .b64 own; .reg .b64 %g, %s, %l, %b; cvta.global.u64 %g, %in; "
      "mov.u64 %b, memory; cvta.shared.u64 %s, %b; mov.u64 %b, own; "
      "cvta.local.u64 %l, %b; isspacep.global %d0, %g; isspacep.shared %d1, "
      "%s; isspacep.local %d2, %l; isspacep.shared %d3, %g; isspacep.global "
      "%d4, %l; isspacep.local %d5, %s; isspacep.const %d6, %g; "
      "st.b64 [%l], %a0; ld.local.b64 %d7, [%b]; cvta.to.global.u64 %g, %g; "
      "ld.global.b64 %d8, [%g];",
      true);
  Add("alloca stacksave stackrestore", {Kind::Bits32, Kind::Amount},
      {{Kind::Bits32}, {Kind::Bits32}, {Kind::Predicate}},
      ".reg .b64 %s, %p, %q, %n; .reg .b32 %m; stacksave.u64 %s; "
      "and.b32 %m, %a1, 63; add.u32 %m, %m, 4; cvt.u64.u32 %n, %m; "
      "alloca.u64 %p, %n, 8; st.local.b32 [%p], %a0; alloca.u64 %q, 64, 16; "
      "st.local.b32 [%q], %m; ld.local.b32 %d0, [%p]; "
      "ld.local.b32 %d1, [%q]; and.b64 %n, %q, 15; setp.eq.u64 %d2, %n, 0; "
      "stackrestore.u64 %s;");
  for (std::string Name : {"tid.x",
                           "tid.y",
                           "tid.z",
                           "ntid.x",
                           "ntid.y",
                           "ntid.z",
                           "ctaid.x",
                           "ctaid.y",
                           "ctaid.z",
                           "nctaid.x",
                           "nctaid.y",
                           "nctaid.z",
                           "laneid",
                           "lanemask_eq",
                           "lanemask_lt",
                           "lanemask_le",
                           "lanemask_gt",
                           "lanemask_ge",
                           "clusterid.x",
                           "nclusterid.x",
                           "cluster_ctaid.x",
                           "cluster_nctaid.x",
                           "cluster_ctarank",
                           "cluster_nctarank",
                           "dynamic_smem_size"})
    Add("mov.u32 %" + Name, {Kind::Bits32}, {{Kind::Bits32}},
        "mov.u32 %d0, %" + Name + ";");
  Add("mov.u32 WARP_SZ", {Kind::Bits32}, {{Kind::Bits32}},
      "mov.u32 %d0, WARP_SZ;");
  Add("mapa getctarank ld.shared::cluster", {Kind::Bits32},
      {{Kind::Bits32}, {Kind::Bits32}, {Kind::Bits32}, {Kind::Bits32}},
      ".reg .b32 %s, %m; .reg .b64 %g, %h, %b; mov.u32 %s, memory; "
      "mad.lo.u32 %s, %thread, 4, %s; st.shared.b32 [%s], %a0; "
      "mapa.shared::cluster.u32 %m, %s, 0; ld.shared::cluster.b32 %d0, [%m]; "
      "getctarank.shared::cluster.u32 %d1, %m; cvt.u64.u32 %b, %s; "
      "cvta.shared.u64 %g, %b; mapa.u64 %h, %g, 0; ld.b32 %d2, [%h]; "
      "getctarank.u64 %d3, %h;",
      true);
}

void addMemoryRows(std::vector<Row> &Rows) {
  addWidths(Rows);
  addOrders(Rows);
  addConstants(Rows);
  addOther(Rows);
}

} // namespace ptxrows
