//===- Dependence.cpp - What values hang on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dependence.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

LaunchTerms ownLaunch() {
  LaunchTerms Terms;
  for (unsigned D = 0; D < NumLaunchDims; ++D)
    Terms[D] = Polynomial::of(Expr::dim(D));
  return Terms;
}

LaunchTerms termsOf(const Launch &L) {
  LaunchTerms Terms;
  for (unsigned I = 0; I < 3; ++I) {
    Terms[GridX + I] = Polynomial::of(L.Grid[I]);
    Terms[BlockX + I] = Polynomial::of(L.Block[I]);
  }
  Terms[SharedBytes] = Polynomial::of(L.Shared);
  return Terms;
}

Dependence::Dependence(Function &F, const Kernel &K, const LaunchTerms &Terms)
    : F(F), K(K), Terms(Terms), Dominators(F), Loops(Dominators) {
  auto Note = [&](const Value &V) {
    std::optional<Leaf> L = leafOf(V, K);
    if (L && L->K == Leaf::Kind::Float && !is_contained(Numbers, L->Number))
      Numbers.push_back(L->Number);
  };
  for (const Argument &A : F.args())
    Note(A);
  for (const Instruction &I : instructions(F))
    Note(I);
  solve(Data, /*Control=*/false);
  solve(All, /*Control=*/true);
}

const Sources &Dependence::of(const Map &In, const Value &V) {
  static const Sources None;
  auto At = In.find(&V);
  return At == In.end() ? None : At->second;
}

bool Dependence::decidesByMoreThanFloats(const Sources &S) const {
  for (unsigned Bit : S.all())
    if (Bit != Sources::Floats)
      return true;
  return false;
}

bool Dependence::isOfArguments(const Sources &S) const {
  for (unsigned Bit : S.all())
    if (Bit < Sources::NumKinds || (Bit >= pointerBit(0) && Bit < floatBit(0)))
      return false;
  return !S.none();
}

static void addTerms(const Expr &E, const Dependence &D, Sources &To) {
  if (E.K == Expr::Kind::Dim)
    To.set(static_cast<unsigned>(E.Value));
  else if (E.K == Expr::Kind::Symbol)
    To.set(D.scalarBit(static_cast<unsigned>(E.Value)));
  for (const Expr &Operand : E.Operands)
    addTerms(Operand, D, To);
}

Sources Dependence::sourcesOf(const Leaf &L) const {
  Sources S;
  auto Dim = [&](unsigned D) {
    S.set(Sources::LaunchBit);
    if (Terms[D])
      for (const auto &Term : Terms[D]->terms())
        for (const Expr &E : Term.first)
          addTerms(E, *this, S);
  };
  switch (L.K) {
  case Leaf::Kind::Scalar:
    S.set(scalarBit(L.Index));
    break;
  case Leaf::Kind::Pointer:
    S.set(pointerBit(L.Index));
    break;
  case Leaf::Kind::Float:
    S.set(floatBit(
        static_cast<unsigned>(find(Numbers, L.Number) - Numbers.begin())));
    break;
  case Leaf::Kind::Dim:
  case Leaf::Kind::Index:
    Dim(L.Index);
    break;
  case Leaf::Kind::Lane:
  case Leaf::Kind::Thread:
    S.set(Sources::LaunchBit);
    break;
  case Leaf::Kind::Argument:
    for (unsigned I = 0; I < K.Scalars.size(); ++I)
      if (K.Scalars[I].Param == L.Index)
        S.set(scalarBit(I));
    for (unsigned I = 0; I < K.Pointers.size(); ++I)
      if (K.Pointers[I].Param == L.Index)
        S.set(pointerBit(I));
    for (unsigned I = 0; I < Numbers.size(); ++I)
      if (Numbers[I].Param == L.Index)
        S.set(floatBit(I));
    break;
  }
  return S;
}

Sources Dependence::unknown(const Type *T) const {
  Sources S;
  const Type *Scalar = T->getScalarType();
  if (const auto *Struct = dyn_cast<StructType>(Scalar)) {
    for (const Type *Field : Struct->elements())
      S.add(unknown(Field));
    return S;
  }
  S.set(Scalar->isFloatingPointTy() ? Sources::Floats : Sources::Ints);
  return S;
}

Sources Dependence::read(const Value &Pointer, const Type *T, Map &In) const {
  MemoryObject Object = objectOf(&Pointer);
  switch (Object.K) {
  case MemoryObject::Kind::Local:
  case MemoryObject::Kind::Shared: {
    // The place says which of its values it is.
    Sources S = of(In, *Object.Base);
    if (Object.K == MemoryObject::Kind::Local)
      S.add(of(In, Pointer));
    return S;
  }
  case MemoryObject::Kind::Table:
    return of(In, Pointer);
  case MemoryObject::Kind::Argument: {
    const auto *A = cast<Argument>(Object.Base);
    Sources S = sourcesOf({Leaf::Kind::Argument, A->getArgNo()});
    S.add(of(In, Pointer));
    return S;
  }
  case MemoryObject::Kind::Global:
    break;
  }
  return unknown(T);
}

/// What decides the value of \p Phi besides its operands.
void Dependence::addControl(const PHINode &Phi, Sources &To,
                            const Map &In) const {
  const BasicBlock *BB = Phi.getParent();
  auto Deciding = [&](const BasicBlock *From) {
    const Instruction *End = From->getTerminator();
    if (End->getNumSuccessors() > 1)
      To.add(of(In, *End->getOperand(0)));
  };
  if (const Loop *L = Loops.getLoopFor(BB); L && L->getHeader() == BB) {
    SmallVector<BasicBlock *> Exiting;
    L->getExitingBlocks(Exiting);
    for (const BasicBlock *From : Exiting)
      Deciding(From);
    return;
  }
  if (const DomTreeNode *Node = Dominators.getNode(BB); Node && Node->getIDom())
    Deciding(Node->getIDom()->getBlock());
}

bool Dependence::visit(const Instruction &I, Map &In, bool Control) {
  // The address of what is stored is no source of it.
  auto Into = [&](const Value *Pointer, const Sources &S) {
    MemoryObject Object = objectOf(Pointer);
    return (Object.K == MemoryObject::Kind::Local ||
            Object.K == MemoryObject::Kind::Shared) &&
           In[Object.Base].add(S);
  };
  if (const auto *Store = dyn_cast<StoreInst>(&I))
    return Into(Store->getPointerOperand(),
                Sources(of(In, *Store->getValueOperand())));
  if (const auto *Copy = dyn_cast<MemTransferInst>(&I)) {
    MemoryObject From = objectOf(Copy->getSource());
    Sources S = read(*Copy->getSource(), Type::getInt8Ty(I.getContext()), In);
    if (From.K == MemoryObject::Kind::Global)
      S.set(Sources::Floats);
    return Into(Copy->getDest(), S);
  }
  Sources S;
  if (std::optional<Leaf> L = leafOf(I, K)) {
    S = sourcesOf(*L);
  } else if (const auto *Load = dyn_cast<LoadInst>(&I)) {
    S = read(*Load->getPointerOperand(), I.getType(), In);
  } else if (I.isAtomic() && (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))) {
    const Value *Pointer = I.getOperand(0);
    S = unknown(I.getType());
    for (const Value *V : drop_begin(I.operand_values()))
      if (Into(Pointer, Sources(of(In, *V))))
        S.add(of(In, *V));
  } else {
    const auto *Select = dyn_cast<SelectInst>(&I);
    for (const Use &U : I.operands()) {
      if (Select && !Control && U.getOperandNo() == 0)
        continue;
      S.add(of(In, *U.get()));
    }
    if (const auto *Phi = dyn_cast<PHINode>(&I); Phi && Control)
      addControl(*Phi, S, In);
    if (const auto *Call = dyn_cast<CallBase>(&I)) {
      // Reads memory, if it may: such as inline PTX, or an atomic intrinsic.
      if (Call->mayReadFromMemory() && !I.getType()->isVoidTy())
        for (const Value *V : Call->args())
          if (V->getType()->isPointerTy())
            S.add(read(*V, I.getType(), In));
      // And may write to variables that it gets.
      bool Changed = false;
      if (!isa<DbgInfoIntrinsic>(I) && !I.isLifetimeStartOrEnd())
        for (const Value *V : Call->args())
          if (V->getType()->isPointerTy())
            Changed |= Into(V, S);
      return In[&I].add(S) || Changed;
    }
  }
  return !S.none() && In[&I].add(S);
}

void Dependence::solve(Map &In, bool Control) {
  for (const Argument &A : F.args())
    if (std::optional<Leaf> L = leafOf(A, K))
      In[&A] = sourcesOf(*L);
  ReversePostOrderTraversal<const Function *> Order(&F);
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (const BasicBlock *BB : Order)
      for (const Instruction &I : *BB)
        Changed |= visit(I, In, Control);
  }
}

} // namespace cupilot
