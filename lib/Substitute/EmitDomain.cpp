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
#include "llvm/IR/Intrinsics.h"

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
  if (C.In.size() == static_cast<uint64_t>(C.Modulus)) // Every rest is tried.
    return N.Right ? N.Right : B.getTrue();
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
  // The first byte that both could have lies behind the last: also where one is
  // empty.
  Value *First = B.CreateBinaryIntrinsic(Intrinsic::umax, SA.Begin, SB.Begin),
        *Last = B.CreateBinaryIntrinsic(Intrinsic::umin, SA.End, SB.End);
  Value *Holds =
      Exprs.both(Exprs.both(SA.Right, SB.Right), B.CreateICmpUGE(First, Last));
  auto MayBeNull = [&](const PointerRef &P) {
    return !is_contained(NotNull, NullClause{P, false});
  };
  for (auto [P, V] : {std::pair(C.A, PA), {C.B, PB}})
    if (MayBeNull(P))
      Holds = B.CreateOr(Holds, B.CreateICmpEQ(V, B.getInt64(0)));
  return Holds;
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
  // Those of them that all boxes have.
  std::vector<NullClause> Nulls;
  copy_if(First.Nulls, std::back_inserter(Nulls), [&](const NullClause &C) {
    return all_of(D.Boxes, [&](const DomainBox &Box) {
      return is_contained(Box.Nulls, C);
    });
  });
  NotNull = Nulls;
  for (size_t I = 0; I < First.size(); ++I)
    if (IsCommon(First, I))
      Also = B.CreateAnd(Also, holds(First, I));
  NotNull = {};
  if (D.Boxes.size() == 1)
    return Also;
  // A launch fails most boxes by a flag or a size.
  Function *F = B.GetInsertBlock()->getParent();
  auto NewBlock = [&](const Twine &Name, BasicBlock *Before) {
    return BasicBlock::Create(F->getContext(), Name, F, Before);
  };
  BasicBlock *Done = NewBlock("decided", nullptr),
             *Inside = NewBlock("inside", Done),
             *Next = NewBlock("box", Inside),
             *Outside = NewBlock("outside", Inside);
  B.CreateCondBr(Also, Next, Outside);
  for (const DomainBox &Box : D.Boxes) {
    B.SetInsertPoint(Next);
    Next = &Box == &D.Boxes.back() ? Outside : NewBlock("box", Outside);
    tryBox(Box, IsCommon, Inside, Next);
  }
  for (BasicBlock *End : {Inside, Outside}) {
    B.SetInsertPoint(End);
    B.CreateBr(Done);
  }
  B.SetInsertPoint(Done);
  PHINode *Result = B.CreatePHI(B.getInt1Ty(), 2);
  Result->addIncoming(B.getTrue(), Inside);
  Result->addIncoming(B.getFalse(), Outside);
  return Result;
}

/// Goes to \p Inside where all clauses of \p Box but the common ones hold.
void DomainEmitter::tryBox(
    const DomainBox &Box,
    function_ref<bool(const DomainBox &, size_t)> IsCommon, BasicBlock *Inside,
    BasicBlock *Next) {
  const size_t FirstPair = Box.size() - Box.Pairs.size();
  auto All = [&](size_t From, size_t To) {
    Value *Holds = nullptr;
    for (size_t I = From; I < To; ++I)
      if (!IsCommon(Box, I))
        Holds = Exprs.both(Holds, holds(Box, I));
    return Holds ? Holds : B.getTrue();
  };
  Value *Cheap = All(0, FirstPair);
  bool Own = false;
  for (size_t I = FirstPair; I < Box.size(); ++I)
    Own |= !IsCommon(Box, I);
  if (!Own) {
    B.CreateCondBr(Cheap, Inside, Next);
    return;
  }
  auto *Rest = BasicBlock::Create(Inside->getContext(), "pairs",
                                  Inside->getParent(), Next);
  B.CreateCondBr(Cheap, Rest, Next);
  B.SetInsertPoint(Rest);
  // What is emitted here is not there in the next box.
  ExprEmitter::State Before = Exprs.save();
  size_t Pointers = Spans.size(), Clauses = Pairs.size();
  NotNull = Box.Nulls;
  Value *Apart = All(FirstPair, Box.size());
  NotNull = {};
  Exprs.restore(std::move(Before));
  Spans.resize(Pointers);
  Pairs.resize(Clauses);
  B.CreateCondBr(Apart, Inside, Next);
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
