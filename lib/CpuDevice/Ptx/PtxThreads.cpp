//===- PtxThreads.cpp - PTX instructions that involve other threads -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxRules.h"

using namespace llvm;

namespace cupilot {

/// Operands \p First to the last as integers of 32 bits; empty on failure.
static SmallVector<Value *, 4> words(BodyLowering &L, const PtxStatement &S,
                                     unsigned First, unsigned Count) {
  SmallVector<Value *, 4> Args;
  if (S.Operands.size() != First + Count)
    return {};
  for (unsigned I = 0; I < Count; ++I) {
    Value *V = L.read(S.operand(First + I), 32);
    if (!V)
      return {};
    Args.push_back(V);
  }
  return Args;
}

/// Writes "d" or "d|p" from a pair.
static bool writePair(BodyLowering &L, const PtxStatement &S, Value *Pair) {
  auto [Result, Predicate] = pairOf(S.operand(0));
  return L.write(*Result, L.B.CreateExtractValue(Pair, 0)) &&
         (!Predicate || L.write(*Predicate, L.B.CreateExtractValue(Pair, 1)));
}

/// shfl.sync.down.b32 d|p, a, b, c, mask. Without .sync, as PTX before 6.4 has
/// it, the lanes that are there take part; so with vote.
bool ptxShuffle(BodyLowering &L, const PtxStatement &S) {
  auto Args = words(L, S, 1, S.has("sync") ? 4 : 3);
  if (Args.empty())
    return false;
  if (!S.has("sync"))
    Args.push_back(L.nvvm("activemask", {}));
  StringRef Mode = S.has("idx")    ? "idx"
                   : S.has("up")   ? "up"
                   : S.has("down") ? "down"
                                   : "bfly";
  SmallVector<Value *, 4> Sources = {Args[3], Args[0], Args[1], Args[2]};
  // The float64 run follows a word that comes alone.
  if (L.AsSource && !pairOf(S.operand(0)).second)
    return L.write(S, L.nvvm("shfl.sync." + Mode + ".i32", Sources));
  return writePair(L, S, L.nvvm("shfl.sync." + Mode + ".i32p", Sources));
}

/// vote.sync.any.pred p, {!}a, mask.
bool ptxVote(BodyLowering &L, const PtxStatement &S) {
  bool Sync = S.has("sync");
  Value *Flag = L.read(S.operand(1), 1);
  Value *Mask = Sync ? L.read(S.operand(2), 32) : L.nvvm("activemask", {});
  if (S.Operands.size() != (Sync ? 3 : 2) || !Flag || !Mask)
    return false;
  StringRef Mode = S.has("ballot") ? "ballot"
                   : S.has("all")  ? "all"
                   : S.has("any")  ? "any"
                                   : "uni";
  return L.write(S, L.nvvm("vote." + Mode + ".sync", {Mask, Flag}));
}

/// match.any.sync.b32 d, a, mask; match.all has d|p.
bool ptxMatch(BodyLowering &L, const PtxStatement &S) {
  unsigned Bits = ptxTypeBits(S.types().back());
  Value *X = L.read(S.operand(1), Bits), *Mask = L.read(S.operand(2), 32);
  if (S.Operands.size() != 3 || !X || !Mask)
    return false;
  std::string Type = "i" + std::to_string(Bits);
  if (S.has("any"))
    return L.write(S, L.nvvm("match.any.sync." + Type, {Mask, X}));
  return writePair(L, S, L.nvvm("match.all.sync." + Type + "p", {Mask, X}));
}

bool ptxReduce(BodyLowering &L, const PtxStatement &S) {
  Type *T = L.type(S.types().back());
  Value *X = L.readAs(S.operand(1), T), *Mask = L.read(S.operand(2), 32);
  if (S.Operands.size() != 3 || !X || !Mask)
    return false;
  std::string Name;
  for (StringRef Op : {"add", "min", "max", "and", "or", "xor"})
    if (S.has(Op))
      Name = Op.str();
  if (T->isFloatTy()) {
    Name = "f" + Name;
    if (S.has("abs"))
      Name += ".abs";
    if (S.has("NaN"))
      Name += ".NaN";
  } else if (S.types().back() == "u32" && Name != "add") {
    Name = "u" + Name;
  }
  return L.write(S, L.nvvm("redux.sync." + Name, {X, Mask}));
}

bool ptxActiveMask(BodyLowering &L, const PtxStatement &S) {
  return S.Operands.size() == 1 && L.write(S, L.nvvm("activemask", {}));
}

/// elect.sync d|p, mask.
bool ptxElect(BodyLowering &L, const PtxStatement &S) {
  auto Args = words(L, S, 1, 1);
  return !Args.empty() && writePair(L, S, L.nvvm("elect.sync", Args));
}

/// bar.sync a{, b}; bar.arrive a, b.
bool ptxBarrier(BodyLowering &L, const PtxStatement &S) {
  auto Args = words(L, S, 0, static_cast<unsigned>(S.Operands.size()));
  bool Arrive = S.has("arrive"), Counted = Args.size() == 2;
  if (Args.empty() || Args.size() > 2 || (Arrive && !Counted))
    return false;
  // "bar" is "barrier" with .aligned.
  std::string Name = Arrive ? "barrier.cta.arrive" : "barrier.cta.sync";
  if (S.base() == "bar" || S.has("aligned"))
    Name += ".aligned";
  L.nvvm(Name + (Counted ? ".count" : ".all"), Args);
  return true;
}

/// bar.red.popc.u32 d, a{, b}, {!}c.
bool ptxBarrierReduce(BodyLowering &L, const PtxStatement &S) {
  bool Counted = S.Operands.size() == 4, Popc = S.has("popc");
  if ((S.Operands.size() != 3 && !Counted) || Popc != S.has("u32"))
    return false;
  SmallVector<Value *> Args = {L.read(S.operand(1), 32)};
  if (Counted)
    Args.push_back(L.read(S.operand(2), 32));
  Args.push_back(L.read(S.operand(Counted ? 3 : 2), 1));
  if (is_contained(Args, nullptr))
    return false;
  std::string Name = "barrier.cta.red.";
  Name += Popc ? "popc" : S.has("and") ? "and" : "or";
  if (S.base() == "bar" || S.has("aligned"))
    Name += ".aligned";
  return L.write(S, L.nvvm(Name + (Counted ? ".count" : ".all"), Args));
}

bool ptxWarpBarrier(BodyLowering &L, const PtxStatement &S) {
  auto Args = words(L, S, 0, 1);
  if (Args.empty())
    return false;
  L.nvvm("bar.warp.sync", Args);
  return true;
}

bool ptxClusterBarrier(BodyLowering &L, const PtxStatement &S) {
  if (!S.Operands.empty())
    return false;
  std::string Name =
      S.has("wait") ? "barrier.cluster.wait" : "barrier.cluster.arrive";
  if (S.has("relaxed"))
    Name += ".relaxed";
  if (S.has("aligned"))
    Name += ".aligned";
  L.nvvm(Name, {});
  return true;
}

/// The host has one kind of memory, so fences between proxies are fences.
bool ptxFence(BodyLowering &L, const PtxStatement &S) {
  AtomicOrdering Order = ptxOrdering(S);
  if (S.base() == "membar" || S.has("proxy"))
    Order = AtomicOrdering::SequentiallyConsistent;
  else if (Order == AtomicOrdering::Monotonic)
    Order = AtomicOrdering::AcquireRelease;
  L.B.CreateFence(Order);
  if (S.has("proxy") && S.has("async") && !S.has("global"))
    L.nvvm("fence.proxy.async", {});
  return true;
}

bool ptxSleep(BodyLowering &L, const PtxStatement &S) {
  auto Args = words(L, S, 0, 1);
  if (Args.empty())
    return false;
  L.nvvm("nanosleep", Args);
  return true;
}

bool ptxStop(BodyLowering &L, const PtxStatement &S) {
  if (!S.Operands.empty())
    return false;
  if (S.base() == "exit")
    L.nvvm("exit", {});
  else
    L.B.CreateIntrinsic(
        S.base() == "trap" ? Intrinsic::trap : Intrinsic::debugtrap, {});
  return true;
}

} // namespace cupilot
