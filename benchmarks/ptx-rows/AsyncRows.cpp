//===- AsyncRows.cpp - Asynchronous copies and mbarriers --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Data Movement and Conversion Instructions: Asynchronous Copy", and
// "mbarrier". Compared is what was copied, and what tests of barriers say; the
// state of an mbarrier is opaque. Copies by tensor maps are not here: the map
// is opaque, too, and made by the driver.
//
//===----------------------------------------------------------------------===//

#include "Row.h"

namespace ptxrows {

static void add(std::vector<Row> &Rows, std::string Name,
                std::vector<Kind> Inputs, std::vector<Output> Outputs,
                std::string Body) {
  Row R;
  R.Name = std::move(Name);
  R.Inputs = std::move(Inputs);
  R.Outputs = std::move(Outputs);
  R.Body = std::move(Body);
  R.Shared = true;
  Rows.push_back(std::move(R));
}

/// A thread's 16 bytes of shared memory at %o, filled with ones.
static const char Own[] =
    ".reg .b32 %s, %o; mov.u32 %s, memory; mad.lo.u32 %o, %thread, 16, %s; "
    "st.shared.v4.b32 [%o], {-1, -1, -1, -1}; ";
static const char Read[] = "ld.shared.v2.b64 {%d0, %d1}, [%o];";

static void addCopies(std::vector<Row> &Rows) {
  const std::vector<Kind> In = {Kind::Bits64, Kind::Bits64};
  const std::vector<Output> Out = {{Kind::Bits64}, {Kind::Bits64}};
  for (std::string Form :
       {"ca.shared.global", "cg.shared.global", "ca.shared::cta.global",
        "ca.shared.global.L2::128B", "cg.shared.global.L2::256B"})
    for (std::string Size : {"4", "8", "16"}) {
      if (Form[1] == 'g' && Size != "16")
        continue;
      std::string Opcode = "cp.async." + Form;
      add(Rows, Opcode + " " + Size, In, Out,
          std::string(Own) + Opcode + " [%o], [%in], " + Size +
              "; cp.async.commit_group; cp.async.wait_group 0; " + Read);
      // Shorter sources are followed by zeros.
      add(Rows, Opcode + " " + Size + " of fewer",
          {In[0], In[1], Kind::Amount, Kind::Bits64}, Out,
          std::string(Own) + "rem.u32 %a2, %a2, " + Size +
              "; add.u32 %a2, "
              "%a2, 1; " +
              Opcode + " [%o], [%in], " + Size + ", %a2; cp.async.wait_all; " +
              Read);
      add(Rows, Opcode + " " + Size + " ignored",
          {In[0], In[1], Kind::Predicate, Kind::Bits64}, Out,
          std::string(Own) + Opcode + " [%o], [%in], " + Size +
              ", %a2; cp.async.wait_all; " + Read);
    }
  // Groups complete in order: the second may not be there, the first is.
  add(Rows, "cp.async.wait_group 1", In, Out,
      std::string(Own) +
          "cp.async.ca.shared.global [%o], [%in], 8; cp.async.commit_group; "
          "cp.async.ca.shared.global [%o+8], [%in+8], 8; "
          "cp.async.commit_group; cp.async.wait_group 1; ld.shared.b64 %d0, "
          "[%o]; cp.async.wait_group 0; ld.shared.b64 %d1, [%o+8];");
}

/// A barrier for all threads at 16384, which the first makes and ends.
static std::string withBarrier(const std::string &Count,
                               const std::string &Body) {
  return std::string(Own) +
         ".reg .pred %q, %w; .reg .b32 %m; .reg .b64 %state; add.u32 %m, %s, "
         "16384; setp.eq.u32 %q, %thread, 0; @%q mbarrier.init.shared.b64 "
         "[%m], " +
         Count +
         "; fence.mbarrier_init.release.cluster; fence.proxy.async; "
         "bar.sync 0; " +
         Body + " bar.sync 0; @%q mbarrier.inval.shared.b64 [%m];";
}

static void addBarriers(std::vector<Row> &Rows) {
  const std::vector<Kind> One = {Kind::Bits32};
  const std::vector<Output> Out = {
      {Kind::Predicate}, {Kind::Predicate}, {Kind::Bits32}};
  const std::string Others = "xor.b32 %word, %thread, 255; mad.lo.u32 %o, "
                             "%word, 16, %s; ld.shared.b32 "
                             "%d2, [%o];";
  const std::string Wait = "L$A: mbarrier.test_wait.shared.b64 %d0, [%m], "
                           "%state; @!%d0 bra L$A; ";
  const std::string Store = "st.shared.b32 [%o], %a0; ";
  for (std::string Space : {".shared", ".shared::cta"})
    for (std::string Order : {"", ".release.cta", ".release.cluster"}) {
      std::string Form = Order + Space + ".b64";
      add(Rows, "mbarrier.arrive" + Form, One, Out,
          withBarrier("256", Store + "mbarrier.arrive" + Form +
                                 " %state, [%m]; " + Wait +
                                 "mbarrier.test_wait"
                                 ".parity.shared.b64 %d1, [%m], 1; " +
                                 Others));
      add(Rows, "mbarrier.arrive" + Form + " 2", One, Out,
          withBarrier("512", Store + "mbarrier.arrive" + Form +
                                 " %state, [%m], 2; " + Wait +
                                 "mbarrier.test_wait.parity.shared.b64 %d1, "
                                 "[%m], 0; " +
                                 Others));
      add(Rows, "mbarrier.arrive_drop" + Form, One, Out,
          withBarrier("256", Store + "mbarrier.arrive_drop" + Form +
                                 " %state, [%m]; " + Wait +
                                 "mbarrier.test_wait.parity.shared.b64 %d1, "
                                 "[%m], 1; " +
                                 Others));
    }
  for (std::string Order : {"", ".acquire.cta", ".acquire.cluster"}) {
    std::string Form = Order + ".shared.b64";
    add(Rows, "mbarrier.try_wait" + Form, One, Out,
        withBarrier("256", Store +
                               "mbarrier.arrive.shared.b64 %state, [%m]; "
                               "L$A: mbarrier.try_wait" +
                               Form +
                               " %d0, [%m], "
                               "%state; @!%d0 bra L$A; L$B: mbarrier.try_wait."
                               "parity" +
                               Form +
                               " %d1, [%m], 0, 1000; @!%d1 bra "
                               "L$B; " +
                               Others));
  }
  add(Rows, "mbarrier.arrive.noComplete mbarrier.pending_count", One,
      {{Kind::Bits32}},
      withBarrier("257", "@%q mbarrier.arrive.noComplete.shared.b64 %state, "
                         "[%m], 7; mov.b32 %d0, 0; @%q mbarrier.pending_count"
                         ".b64 %d0, %state;"));
  add(Rows, "mbarrier.arrive.expect_tx mbarrier.complete_tx", One, Out,
      withBarrier("256",
                  Store +
                      "mbarrier.arrive.expect_tx.shared.b64 %state, "
                      "[%m], 16; bar.sync 0; mbarrier.test_wait.shared.b64 "
                      "%d1, [%m], %state; bar.sync 0; mbarrier.complete_tx."
                      "relaxed.cluster.shared::cluster.b64 [%m], 16; " +
                      Wait + Others));
}

/// A block's tuples copied as a whole.
static void addBulk(std::vector<Row> &Rows) {
  const std::vector<Kind> In = {Kind::Bits64, Kind::Bits64};
  const std::vector<Output> Out = {{Kind::Bits64}, {Kind::Bits64}};
  for (std::string Space : {"shared::cluster", "shared::cta"}) {
    std::string Opcode =
        "cp.async.bulk." + Space + ".global.mbarrier::complete_tx::bytes";
    add(Rows, Opcode, In, Out,
        withBarrier("1",
                    "@%q mbarrier.arrive.expect_tx.shared.b64 %state, "
                    "[%m], 4096; @%q " +
                        Opcode +
                        " [%s], [%in], 4096, "
                        "[%m]; L$A: mbarrier.try_wait.parity.shared.b64 %w, "
                        "[%m], 0; @!%w bra L$A; " +
                        Read));
  }
  add(Rows, "cp.async.bulk.shared::cluster.shared::cta", In, Out,
      withBarrier("1", "st.shared.v2.b64 [%o], {%a1, %a0}; fence.proxy.async; "
                       "bar.sync 0; .reg .b32 %f, %g, %r; add.u32 %f, %s, "
                       "8192; mov.u32 %r, %cluster_ctarank; mapa.shared::"
                       "cluster.u32 %f, %f, %r; mapa.shared::cluster.u32 %g, "
                       "%m, %r; @%q "
                       "mbarrier.arrive.expect_tx.shared.b64 %state, [%m], "
                       "4096; @%q cp.async.bulk.shared::cluster.shared::cta."
                       "mbarrier::complete_tx::bytes [%f], [%s], 4096, [%g]; "
                       "L$A: mbarrier.try_wait.parity.shared.b64 %w, [%m], 0; "
                       "@!%w bra L$A; add.u32 %o, %o, 8192; " +
                           std::string(Read)));
  Rows.back().Cluster = true;
  const std::string Begin =
      std::string(Own) + ".reg .pred %q; setp.eq.u32 %q, %thread, 0; ";
  const std::string End = "fence.proxy.async; bar.sync 0; ";
  const std::string Wait = "cp.async.bulk.commit_group; "
                           "cp.async.bulk.wait_group 0; fence.proxy.async; "
                           "bar.sync 0; ld.global.v2.b64 {%d0, %d1}, [%to];";
  add(Rows, "cp.async.bulk.global.shared::cta.bulk_group", In, Out,
      Begin + "st.shared.v2.b64 [%o], {%a1, %a0}; " + End +
          "@%q cp.async.bulk.global.shared::cta.bulk_group [%to], [%s], 4096; "
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; " +
          Wait);
  // Reductions in global memory: each number by one of shared memory.
  for (const std::string &Form :
       expand("(and or xor add inc dec min max) [noftz] (b32 b64 u32 s32 u64 "
              "s64 f16 bf16 f32 f64)")) {
    Kind K = kindOf(typesOf(Form).back());
    unsigned Bits = bitsOf(K);
    if (Bits == 16)
      K = K == Kind::F16 ? Kind::F16x2 : Kind::BF16x2, Bits = 32;
    std::string B = ".b" + std::to_string(Bits);
    add(Rows, "cp.reduce.async.bulk.global.shared::cta.bulk_group." + Form,
        {K, K},
        {{K, K == Kind::F64 ? Mask::AnyNan : Mask::None},
         {K, K == Kind::F64 ? Mask::AnyNan : Mask::None}},
        Begin + "st.shared" + B + " [%o], %a0; st.shared" + B +
            " [%o+8], %a0; st.global" + B +
            " [%to], %a1; "
            "st.global" +
            B +
            " [%to+8], %a1; fence.proxy.async; bar.sync 0; "
            "cp.reduce.async.bulk.global.shared::cta.bulk_group." +
            Form +
            " [%to], [%o], 16; cp.async.bulk.commit_group; "
            "cp.async.bulk.wait_group 0; fence.proxy.async; bar.sync 0; "
            "ld.global" +
            B + " %d0, [%to]; ld.global" + B + " %d1, [%to+8];");
  }
  add(Rows, "st.async.shared::cluster.mbarrier::complete_tx::bytes", {In[0]},
      {Out[0]},
      withBarrier("1",
                  "@%q mbarrier.arrive.expect_tx.shared.b64 %state, [%m], "
                  "2048; bar.sync 0; .reg .b32 %f, %g, %r; mov.u32 "
                  "%r, %cluster_ctarank; mapa.shared::"
                  "cluster.u32 %f, %o, %r; mapa.shared::cluster.u32 %g, "
                  "%m, %r; st.async.shared::cluster.mbarrier::complete_tx::"
                  "bytes.b64 [%f], %a0, [%g]; L$A: mbarrier.try_wait."
                  "parity.shared.b64 %w, [%m], 0; @!%w bra L$A; "
                  "ld.shared.b64 %d0, [%o];"));
  Rows.back().Cluster = true;
}

/// Reductions in shared memory, of which the barrier hears.
static void addReductions(std::vector<Row> &Rows) {
  for (const std::string &Form :
       expand("(inc dec min max add and or xor) (u32 s32 u64 s64 b32 b64)")) {
    Kind K = kindOf(typesOf(Form).back());
    std::string B = ".b" + std::to_string(bitsOf(K));
    add(Rows,
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
        "bytes." +
            Form,
        {K, K}, {{K}},
        withBarrier("1",
                    "st.shared" + B +
                        " [%o], %a1; @%q mbarrier.arrive."
                        "expect_tx.shared.b64 %state, [%m], " +
                        std::to_string(bitsOf(K) / 8 * BlockTuples) +
                        "; bar.sync 0; .reg .b32 %f, %g, %r; mov.u32 %r, "
                        "%cluster_ctarank; mapa.shared::"
                        "cluster.u32 %f, %o, %r; mapa.shared::cluster.u32 %g, "
                        "%m, %r; red.async.relaxed.cluster.shared::cluster."
                        "mbarrier::complete_tx::bytes." +
                        Form +
                        " [%f], %a0, [%g]; L$A: mbarrier.try_wait.parity."
                        "shared.b64 %w, [%m], 0; @!%w bra L$A; ld.shared" +
                        B + " %d0, [%o];"));
    Rows.back().Cluster = true;
  }
  // An arrival that copies bring.
  for (std::string Form : {"", ".noinc"})
    add(Rows, "cp.async.mbarrier.arrive" + Form + ".shared.b64",
        {Kind::Bits64, Kind::Bits64}, {{Kind::Bits64}, {Kind::Bits64}},
        withBarrier(
            Form.empty() ? "1" : "257",
            "cp.async.ca.shared.global [%o], [%in], 16; cp.async."
            "mbarrier.arrive" +
                Form +
                ".shared.b64 [%m]; bar.sync 0; "
                "@%q mbarrier.arrive.shared.b64 %state, [%m]; L$A: "
                "mbarrier.try_wait.parity.shared.b64 %w, [%m], 0; @!%w bra "
                "L$A; ld.shared.v2.b64 {%d0, %d1}, [%o];"));
}

void addAsyncRows(std::vector<Row> &Rows) {
  addCopies(Rows);
  addBarriers(Rows);
  addBulk(Rows);
  addReductions(Rows);
}

} // namespace ptxrows
