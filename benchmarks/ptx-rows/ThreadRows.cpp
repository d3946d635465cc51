//===- ThreadRows.cpp - Instructions of warps and blocks --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Parallel Synchronization and Communication Instructions": whole
// warps, and parts of warps that come one after the other. What a lane gets
// from one that does not take part is undefined, so none asks for it.
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
  Rows.push_back(std::move(R));
}

/// \p Body runs in the even lanes of a third of all warps' lanes and, later, in
/// the others: "MASK" in it is the mask of those that are there.
static std::string inParts(const std::string &Body) {
  auto With = [&](const std::string &Mask) {
    std::string Text;
    for (size_t I = 0; I < Body.size(); ++I)
      if (Body.compare(I, 4, "MASK") == 0) {
        Text += Mask;
        I += 3;
      } else {
        Text += Body[I];
      }
    return Text;
  };
  // Lanes whose number has a bit of 0x5 set, which differs from warp to warp.
  return ".reg .pred %half; .reg .b32 %mine, %warp, %other; "
         "shr.u32 %warp, %thread, 5; and.b32 %warp, %warp, 7; "
         "add.u32 %warp, %warp, 1; and.b32 %mine, %lane, %warp; "
         "setp.ne.u32 %half, %mine, 0; "
         "vote.sync.ballot.b32 %mine, %half, -1; not.b32 %other, %mine; "
         "@%half bra L$A; " +
         With("%other") + " bra L$B; L$A: " + With("%mine") +
         " L$B: bar.warp.sync -1;";
}

static void addBoth(std::vector<Row> &Rows, const std::string &Name,
                    std::vector<Kind> Inputs, std::vector<Output> Outputs,
                    const std::string &Body) {
  std::string Whole = Body;
  for (size_t At; (At = Whole.find("MASK")) != std::string::npos;)
    Whole.replace(At, 4, "-1");
  add(Rows, Name, Inputs, Outputs, Whole);
  add(Rows, Name + " by parts of warps", std::move(Inputs), std::move(Outputs),
      inParts(Body));
}

static void addShuffles(std::vector<Row> &Rows) {
  // Widths of 4 to 32 lanes, by the word's segment mask and clamp.
  for (std::string Mode : {"idx", "up", "down", "bfly"})
    for (unsigned Width : {32U, 16U, 8U, 4U, 2U}) {
      unsigned Segment = (32 - Width) << 8 | (Mode == "up" ? 0U : 31U);
      add(Rows, "shfl.sync." + Mode + ".b32 " + std::to_string(Width),
          {Kind::Bits32, Kind::Lane}, {{Kind::Bits32}, {Kind::Predicate}},
          "shfl.sync." + Mode + ".b32 %d0|%d1, %a0, %a1, " +
              std::to_string(Segment) + ", -1;");
      // The old form of targets before sm_70.
      add(Rows, "shfl." + Mode + ".b32 " + std::to_string(Width),
          {Kind::Bits32, Kind::Lane}, {{Kind::Bits32}, {Kind::Predicate}},
          "shfl." + Mode + ".b32 %d0|%d1, %a0, %a1, " +
              std::to_string(Segment) + ";");
      Rows.back().Old = true;
    }
  // Lanes beyond 32, and any mask of segments and clamp.
  for (std::string Mode : {"idx", "up", "down", "bfly"})
    add(Rows, "shfl.sync." + Mode + ".b32 any",
        {Kind::Bits32, Kind::Amount, Kind::Bits32},
        {{Kind::Bits32}, {Kind::Predicate}},
        "and.b32 %a2, %a2, 0x1f1f; shfl.sync." + Mode +
            ".b32 %d0|%d1, %a0, %a1, %a2, -1;");
  // Halves of a warp, each for itself.
  for (std::string Mode : {"idx", "up", "down", "bfly"}) {
    std::string C = Mode == "up" ? "0x1000" : "0x101f";
    add(Rows, "shfl.sync." + Mode + ".b32 by halves",
        {Kind::Bits32, Kind::Lane}, {{Kind::Bits32}, {Kind::Predicate}},
        ".reg .pred %q; setp.lt.u32 %q, %lane, 16; and.b32 %a1, %a1, 15; "
        "@%q bra L$A; shfl.sync." +
            Mode + ".b32 %d0|%d1, %a0, %a1, " + C +
            ", 0xffff0000; bra L$B; L$A: shfl.sync." + Mode +
            ".b32 %d0|%d1, %a0, %a1, " + C +
            ", 0x0000ffff; L$B: "
            "bar.warp.sync -1;");
  }
}

static void addVotes(std::vector<Row> &Rows) {
  for (std::string Mode : {"all", "any", "uni"}) {
    addBoth(Rows, "vote.sync." + Mode + ".pred", {Kind::Predicate},
            {{Kind::Predicate}, {Kind::Predicate}},
            "vote.sync." + Mode + ".pred %d0, %a0, MASK; vote.sync." + Mode +
                ".pred %d1, !%a0, MASK;");
    // A warp in four agrees.
    addBoth(Rows, "vote.sync." + Mode + ".pred mostly", {Kind::Predicate},
            {{Kind::Predicate}},
            "{ .reg .pred %q; and.b32 %word, %i, 96; setp.eq.u32 %q, %word, "
            "0; or.pred %a0, %a0, %q; setp.eq.u32 %q, %word, 32; and.pred "
            "%a0, %a0, !%q; vote.sync." +
                Mode + ".pred %d0, %a0, MASK; }");
    add(Rows, "vote." + Mode + ".pred", {Kind::Predicate}, {{Kind::Predicate}},
        "vote." + Mode + ".pred %d0, %a0;");
    Rows.back().Old = true;
  }
  addBoth(Rows, "vote.sync.ballot.b32", {Kind::Predicate},
          {{Kind::Bits32}, {Kind::Bits32}},
          "vote.sync.ballot.b32 %d0, %a0, MASK; vote.sync.ballot.b32 %d1, "
          "!%a0, MASK;");
  add(Rows, "vote.ballot.b32", {Kind::Predicate}, {{Kind::Bits32}},
      "vote.ballot.b32 %d0, %a0;");
  Rows.back().Old = true;
}

static void addReductions(std::vector<Row> &Rows) {
  for (const std::string &Tail : expand("(add min max) (u32 s32)"))
    addBoth(Rows, "redux.sync." + Tail, {Kind::Bits32}, {{Kind::Bits32}},
            "redux.sync." + Tail + " %d0, %a0, MASK;");
  for (const std::string &Tail : expand("(and or xor) b32"))
    addBoth(Rows, "redux.sync." + Tail, {Kind::Bits32}, {{Kind::Bits32}},
            "redux.sync." + Tail + " %d0, %a0, MASK;");
  for (std::string T : {"b32", "b64"}) {
    Kind K = T == "b32" ? Kind::Few : Kind::Few64;
    addBoth(Rows, "match.any.sync." + T, {K}, {{Kind::Bits32}},
            "match.any.sync." + T + " %d0, %a0, MASK;");
    addBoth(Rows, "match.all.sync." + T, {K},
            {{Kind::Bits32}, {Kind::Predicate}},
            "match.all.sync." + T + " %d0|%d1, %a0, MASK;");
    // Every second warp agrees.
    addBoth(Rows, "match.all.sync." + T + " mostly", {K},
            {{Kind::Bits32}, {Kind::Predicate}},
            "{ .reg .pred %q; and.b32 %word, %i, 32; setp.eq.u32 %q, %word, "
            "0; selp." +
                T + " %a0, 7, %a0, %q; match.all.sync." + T +
                " %d0|%d1, %a0, MASK; }");
  }
  addBoth(Rows, "elect.sync", {Kind::Bits32},
          {{Kind::Bits32}, {Kind::Predicate}}, "elect.sync %d0|%d1, MASK;");
  add(Rows, "activemask.b32", {Kind::Bits32}, {{Kind::Bits32}},
      "bar.warp.sync -1; activemask.b32 %d0;");
}

static void addBarriers(std::vector<Row> &Rows) {
  for (std::string Barrier : {"bar", "bar.cta", "barrier", "barrier.cta"})
    for (std::string Aligned : {"", ".aligned"}) {
      if (Barrier[3] != 'r' && !Aligned.empty())
        continue;
      for (std::string Op : {"popc", "and", "or"}) {
        std::string Type = Op == "popc" ? ".u32" : ".pred";
        Kind K = Op == "popc" ? Kind::Bits32 : Kind::Predicate;
        std::string Name = Barrier + ".red." + Op + Aligned + Type;
        // All threads; with a count; and 128 at each of two barriers.
        add(Rows, Name, {Kind::Predicate}, {{K}, {K}, {K}, {K}},
            ".reg .b32 %n; .reg .pred %q; " + Name + " %d0, 0, %a0; " + Name +
                " %d1, 1, 256, !%a0; shr.u32 %n, %thread, 7; add.u32 %n, %n, "
                "2; " +
                Name +
                " %d2, %n, 128, %a0; setp.ne.u32 %q, %thread, 7; and.b32 "
                "%word, "
                "%i, 256; setp.eq.or.u32 %q, %word, 0, %q; " +
                Name + " %d3, 0, %q;");
      }
      // What others wrote before the barrier is there behind it.
      Row R;
      R.Name =
          Barrier + ".sync" + Aligned + " " + Barrier + ".arrive" + Aligned;
      R.Inputs = {Kind::Bits32};
      R.Outputs = {{Kind::Bits32}, {Kind::Bits32}};
      R.Shared = true;
      R.Body =
          ".reg .b32 %s, %o; .reg .pred %q; mov.u32 %s, memory; mad.lo.u32 "
          "%o, %thread, 4, %s; st.shared.b32 [%o], %a0; xor.b32 %word, "
          "%thread, 77; "
          "mad.lo.u32 %s, %word, 4, %s; " +
          Barrier + ".sync" + Aligned + " 0; ld.shared.b32 %d0, [%s]; " +
          Barrier + ".sync" + Aligned +
          " 3, 256; setp.lt.u32 %q, %thread, 128; mov.b32 %d1, 0; @%q bra L$A; "
          "ld.shared.b32 %word, [%o]; add.u32 %word, %word, 1; st.shared.b32 "
          "[%o], %word; " +
          Barrier + ".arrive" + Aligned + " 4, 256; bra L$B; L$A: " + Barrier +
          ".sync" + Aligned +
          " 4, 256; ld.shared.b32 %d1, [%o+512]; L$B: " + Barrier + ".sync" +
          Aligned + " 0;";
      Rows.push_back(std::move(R));
    }
  for (std::string Fence : {"membar.cta",
                            "membar.gl",
                            "membar.sys",
                            "fence.sc.cta",
                            "fence.sc.cluster",
                            "fence.sc.gpu",
                            "fence.sc.sys",
                            "fence.acq_rel.cta",
                            "fence.acq_rel.cluster",
                            "fence.acq_rel.gpu",
                            "fence.acq_rel.sys",
                            "fence.proxy.alias",
                            "fence.proxy.async",
                            "fence.proxy.async.global",
                            "fence.proxy.async.shared::cta",
                            "fence.proxy.async.shared::cluster",
                            "fence.mbarrier_init.release.cluster",
                            "fence.proxy.tensormap::generic.release.gpu",
                            "fence.acquire.gpu",
                            "fence.release.gpu"})
    add(Rows, Fence, {Kind::Bits32}, {{Kind::Bits32}},
        "st.global.b32 [%to], %a0; " + Fence + "; ld.global.b32 %d0, [%to];");
  add(Rows, "barrier.cluster nanosleep griddepcontrol pmevent", {Kind::Bits32},
      {{Kind::Bits32}},
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
      "barrier.cluster.arrive.release; barrier.cluster.wait.acquire; "
      "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned; "
      "nanosleep.u32 20; griddepcontrol.launch_dependents; "
      "griddepcontrol.wait; pmevent 1; mov.b32 %d0, %a0;");
}

void addThreadRows(std::vector<Row> &Rows) {
  addShuffles(Rows);
  addVotes(Rows);
  addReductions(Rows);
  addBarriers(Rows);
}

} // namespace ptxrows
