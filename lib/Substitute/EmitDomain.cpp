//===- EmitDomain.cpp - Domains as IR
//------------------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitDomain.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cupilot {

Value *DomainEmitter::in(Value *V, ArrayRef<Interval> All) {
  Value *Any = nullptr;
  for (const Interval &I : All) {
    Value *Here = nullptr;
    if (I.Least == I.Most)
      Here = B.CreateICmpEQ(V, B.getInt64(I.Least));
    else if (I.Least == INT64_MIN)
      Here = B.CreateICmpSLE(V, B.getInt64(I.Most));
    else if (I.Most == INT64_MAX)
      Here = B.CreateICmpSGE(V, B.getInt64(I.Least));
    else // Both ends by one comparison, modulo 2^64.
      Here = B.CreateICmpULE(B.CreateSub(V, B.getInt64(I.Least)),
                             B.getInt64(static_cast<uint64_t>(I.Most) -
                                        static_cast<uint64_t>(I.Least)));
    Any = Any ? B.CreateOr(Any, Here) : Here;
  }
  return Any ? Any : B.getFalse();
}

Value *DomainEmitter::emit(const RangeClause &C) {
  ExprEmitter::Number N = Exprs.expr(C.E);
  return Exprs.both(N.Right, in(N.V, C.In));
}

Value *DomainEmitter::emit(const ResidueClause &C) {
  ExprEmitter::Number N = Exprs.expr(C.E);
  if (C.Modulus < 1)
    return B.getFalse();
  Value *Rest = nullptr;
  if ((C.Modulus & (C.Modulus - 1)) == 0) {
    Rest = B.CreateAnd(N.V, B.getInt64(C.Modulus - 1));
  } else {
    Value *Signed = B.CreateSRem(N.V, B.getInt64(C.Modulus));
    Rest = B.CreateSelect(B.CreateICmpSLT(Signed, B.getInt64(0)),
                          B.CreateAdd(Signed, B.getInt64(C.Modulus)), Signed);
  }
  std::vector<Interval> In;
  for (int64_t Each : C.In)
    if (!In.empty() && Each == In.back().Most + 1)
      In.back().Most = Each;
    else
      In.push_back({Each, Each});
  return Exprs.both(N.Right, in(Rest, In));
}

Value *DomainEmitter::emit(const FloatClause &C) {
  IntegerType *T = B.getIntNTy(C.Number.bits());
  Value *Raw = Exprs.load(T, C.Number.Param, C.Number.Offset);
  // floatKey(): of negative numbers the magnitude's bits are turned over.
  Value *Sign = B.CreateAShr(Raw, C.Number.bits() - 1);
  Value *Key = B.CreateXor(Raw, B.CreateLShr(Sign, 1));
  return in(B.CreateSExt(Key, B.getInt64Ty()), C.In);
}

Value *DomainEmitter::emit(const NullClause &C) {
  Value *P = Exprs.pointer(C.Pointer);
  return C.IsNull ? B.CreateICmpEQ(P, B.getInt64(0))
                  : B.CreateICmpNE(P, B.getInt64(0));
}

Value *DomainEmitter::emit(const Alignment &C) {
  return B.CreateICmpEQ(
      B.CreateAnd(Exprs.pointer(C.Pointer), B.getInt64(C.Bytes - 1)),
      B.getInt64(0));
}

DomainEmitter::Span DomainEmitter::span(const PointerRef &P, const Extents &E) {
  for (const auto &[Of, With, S] : Spans)
    if (Of == P && *With == E)
      return S;
  Value *Base = Exprs.pointer(P);
  Span S;
  auto End = [&](const Expr &By, ExprEmitter::Number N) {
    S.Right = Exprs.both(S.Right, N.Right);
    if (By == Expr::constant(0))
      return Base;
    // It must not come round the ends of the address space.
    Value *Sum = B.CreateAdd(Base, N.V);
    Value *Below = B.CreateICmpULT(Sum, Base),
          *Negative = B.CreateICmpSLT(N.V, B.getInt64(0));
    S.Right =
        Exprs.both(S.Right, B.CreateSelect(Negative, B.CreateICmpULE(Sum, Base),
                                           B.CreateNot(Below)));
    return Sum;
  };
  ExprEmitter::Number First = Exprs.expr(E.Begin), Last = Exprs.expr(E.End);
  S.Begin = End(E.Begin, First);
  S.End = End(E.End, Last);
  S.Right = Exprs.both(S.Right, B.CreateICmpSGE(Last.V, First.V));
  Spans.emplace_back(P, &E, S);
  return S;
}

Value *DomainEmitter::emit(const PairClause &C) {
  Value *PA = Exprs.pointer(C.A), *PB = Exprs.pointer(C.B);
  if (C.Equal)
    return B.CreateICmpEQ(PA, PB);
  Span SA = span(C.A, C.OfA), SB = span(C.B, C.OfB);
  Value *Apart = B.CreateOr(B.CreateICmpULE(SA.End, SB.Begin),
                            B.CreateICmpULE(SB.End, SA.Begin));
  Value *Empty = B.CreateOr(B.CreateICmpEQ(SA.Begin, SA.End),
                            B.CreateICmpEQ(SB.Begin, SB.End));
  Value *Null = B.CreateOr(B.CreateICmpEQ(PA, B.getInt64(0)),
                           B.CreateICmpEQ(PB, B.getInt64(0)));
  return B.CreateOr(Null, Exprs.both(Exprs.both(SA.Right, SB.Right),
                                     B.CreateOr(Apart, Empty)));
}

Value *DomainEmitter::holds(const DomainBox &Box, size_t Index) {
  if (Index < Box.Ranges.size())
    return once(Ranges, Box.Ranges[Index]);
  Index -= Box.Ranges.size();
  if (Index < Box.Residues.size())
    return once(Residues, Box.Residues[Index]);
  Index -= Box.Residues.size();
  if (Index < Box.Floats.size())
    return once(Floats, Box.Floats[Index]);
  Index -= Box.Floats.size();
  if (Index < Box.Nulls.size())
    return once(Nulls, Box.Nulls[Index]);
  Index -= Box.Nulls.size();
  if (Index < Box.Alignments.size())
    return once(Alignments, Box.Alignments[Index]);
  return once(Pairs, Box.Pairs[Index - Box.Alignments.size()]);
}

/// Whether \p Box has clause \p Index of \p Of.
static bool has(const DomainBox &Box, const DomainBox &Of, size_t Index) {
  if (Index < Of.Ranges.size())
    return is_contained(Box.Ranges, Of.Ranges[Index]);
  Index -= Of.Ranges.size();
  if (Index < Of.Residues.size())
    return is_contained(Box.Residues, Of.Residues[Index]);
  Index -= Of.Residues.size();
  if (Index < Of.Floats.size())
    return is_contained(Box.Floats, Of.Floats[Index]);
  Index -= Of.Floats.size();
  if (Index < Of.Nulls.size())
    return is_contained(Box.Nulls, Of.Nulls[Index]);
  Index -= Of.Nulls.size();
  if (Index < Of.Alignments.size())
    return is_contained(Box.Alignments, Of.Alignments[Index]);
  return is_contained(Box.Pairs, Of.Pairs[Index - Of.Alignments.size()]);
}

Value *DomainEmitter::contains(const Domain &D, Value *Also) {
  if (D.Boxes.empty())
    return B.getFalse();
  const DomainBox &First = D.Boxes.front();
  auto IsCommon = [&](const DomainBox &Of, size_t Index) {
    return all_of(D.Boxes, [&](const DomainBox &Box) {
      return &Box == &Of || has(Box, Of, Index);
    });
  };
  for (size_t I = 0; I < First.size(); ++I)
    if (IsCommon(First, I))
      Also = B.CreateAnd(Also, holds(First, I));
  if (D.Boxes.size() == 1)
    return Also;
  // A launch lies in one of the first boxes, most of the time.
  Function *F = B.GetInsertBlock()->getParent();
  auto *Done = BasicBlock::Create(F->getContext(), "decided", F);
  SmallVector<std::pair<Value *, BasicBlock *>> Ends;
  auto *Next = BasicBlock::Create(F->getContext(), "box", F, Done);
  Ends.emplace_back(B.getFalse(), B.GetInsertBlock());
  B.CreateCondBr(Also, Next, Done);
  for (const DomainBox &Box : D.Boxes) {
    B.SetInsertPoint(Next);
    Value *Inside = nullptr;
    for (size_t I = 0; I < Box.size(); ++I)
      if (!IsCommon(Box, I))
        Inside = Exprs.both(Inside, holds(Box, I));
    if (!Inside)
      Inside = B.getTrue();
    if (&Box == &D.Boxes.back()) {
      Ends.emplace_back(Inside, B.GetInsertBlock());
      B.CreateBr(Done);
      break;
    }
    Next = BasicBlock::Create(F->getContext(), "box", F, Done);
    Ends.emplace_back(B.getTrue(), B.GetInsertBlock());
    B.CreateCondBr(Inside, Done, Next);
  }
  B.SetInsertPoint(Done);
  PHINode *Result = B.CreatePHI(B.getInt1Ty(), Ends.size());
  for (const auto &[V, From] : Ends)
    Result->addIncoming(V, From);
  return Result;
}

Value *emitOutside(IRBuilderBase &B, const Domain &Where,
                   ArrayRef<ScalarRef> Scalars, const LaunchValues &Values) {
  ExprEmitter Exprs(B, Scalars, Values);
  DomainEmitter Emitter(Exprs);
  Value *Fewest = B.getInt32(-1), *Why = B.getInt32(-1);
  size_t Before = 0;
  for (const DomainBox &Box : Where.Boxes) {
    Value *Count = B.getInt32(0), *First = B.getInt32(-1);
    for (size_t I = Box.size(); I-- > 0;) {
      Value *Fails = B.CreateNot(Emitter.holds(Box, I));
      Count = B.CreateAdd(Count, B.CreateZExt(Fails, B.getInt32Ty()));
      First = B.CreateSelect(
          Fails, B.getInt32(static_cast<uint32_t>(Before + I)), First);
    }
    // Of a box that holds nothing fails: no other has fewer.
    Value *Better = B.CreateICmpULT(Count, Fewest);
    Fewest = B.CreateSelect(Better, Count, Fewest);
    Why = B.CreateSelect(Better, First, Why);
    Before += Box.size();
  }
  return Why;
}

} // namespace cupilot
