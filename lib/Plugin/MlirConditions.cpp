//===- MlirConditions.cpp - Guards, domains and plans in MLIR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirConditions.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using llvm::ArrayRef;

namespace cupilot {

std::vector<LaunchArgument> launchArguments(TypeRange Types) {
  using Part = LaunchArgument::Part;
  std::vector<LaunchArgument> All;
  for (auto [Index, T] : llvm::enumerate(Types)) {
    const auto Operand = static_cast<unsigned>(Index);
    auto M = dyn_cast<MemRefType>(T);
    if (!M) {
      All.push_back({Operand});
      continue;
    }
    for (Part Of : {Part::Allocated, Part::Aligned, Part::Offset})
      All.push_back({Operand, Of});
    for (Part Of : {Part::Size, Part::Stride})
      for (int64_t Dim = 0; Dim < M.getRank(); ++Dim)
        All.push_back({Operand, Of, static_cast<unsigned>(Dim)});
  }
  return All;
}

static Value word(ImplicitLocOpBuilder &B, Value Index) {
  return arith::IndexCastOp::create(B, B.getI64Type(), Index);
}

Value emitArgument(ImplicitLocOpBuilder &B, const LaunchArgument &A,
                   ValueRange Values) {
  using Part = LaunchArgument::Part;
  Value V = Values[A.Operand];
  switch (A.Of) {
  case Part::Whole:
    if (V.getType().isIndex())
      return word(B, V);
    if (isa<LLVM::LLVMPointerType>(V.getType()))
      return LLVM::PtrToIntOp::create(B, B.getI64Type(), V);
    return V;
  case Part::Aligned:
    return word(B, memref::ExtractAlignedPointerAsIndexOp::create(B, V));
  case Part::Allocated:
    break;
  case Part::Offset:
  case Part::Size:
  case Part::Stride: {
    auto Parts = memref::ExtractStridedMetadataOp::create(B, V);
    if (A.Of == Part::Offset)
      return word(B, Parts.getOffset());
    return word(B, A.Of == Part::Size ? Parts.getSizes()[A.Dim]
                                      : Parts.getStrides()[A.Dim]);
  }
  }
  llvm_unreachable("checkConditions refuses it");
}

namespace {
/// Whether launches with values of some types tell what a condition asks for.
class ArgumentCheck {
public:
  ArgumentCheck(TypeRange Types, ArrayRef<ScalarRef> Scalars)
      : Types(Types), Arguments(launchArguments(Types)), Scalars(Scalars) {}

  void expr(const Expr &E) {
    if (E.K == Expr::Kind::Symbol && E.Value >= 0 &&
        static_cast<size_t>(E.Value) < Scalars.size()) {
      const ScalarRef &S = Scalars[E.Value];
      Type T = typeOf(S.Param);
      Fits &= S.Offset == 0 && T && T.isInteger(S.Bits);
    }
    for (const Expr &Operand : E.Operands)
      expr(Operand);
  }
  void pointer(const PointerRef &P) {
    Type T = typeOf(P.Param);
    Fits &= P.Offset == 0 && T && T.isInteger(64);
  }
  void number(const FloatRef &N) {
    Type T = typeOf(N.Param);
    Fits &= N.Offset == 0 && T && isa<FloatType>(T) &&
            T.getIntOrFloatBitWidth() == N.bits();
  }
  bool fits() const { return Fits; }

private:
  /// As LaunchNumbers::argument has it; null for what nothing gives.
  Type typeOf(unsigned Param) const {
    if (Param >= Arguments.size() ||
        Arguments[Param].Of == LaunchArgument::Part::Allocated)
      return {};
    Type T = Types[Arguments[Param].Operand];
    if (isa<MemRefType, LLVM::LLVMPointerType, IndexType>(T))
      return IntegerType::get(T.getContext(), 64);
    return T.isIntOrFloat() ? T : Type();
  }

  TypeRange Types;
  std::vector<LaunchArgument> Arguments;
  ArrayRef<ScalarRef> Scalars;
  bool Fits = true;
};
} // namespace

llvm::Error checkConditions(const BuildVariant &V, ArrayRef<ScalarRef> Scalars,
                            TypeRange Types) {
  ArgumentCheck Check(Types, Scalars);
  for (const Constraint &C : V.When.Constraints)
    Check.expr(C.E);
  for (const Alignment &A : V.When.Alignments)
    Check.pointer(A.Pointer);
  for (const Disjoint &D : V.When.Disjoints) {
    Check.pointer(D.A);
    Check.pointer(D.B);
    Check.expr(D.ExtentA);
    Check.expr(D.ExtentB);
  }
  for (const DomainBox &Box :
       V.Where ? V.Where->Boxes : std::vector<DomainBox>()) {
    for (const RangeClause &C : Box.Ranges)
      Check.expr(C.E);
    for (const ResidueClause &C : Box.Residues)
      Check.expr(C.E);
    for (const FloatClause &C : Box.Floats)
      Check.number(C.Number);
    for (const NullClause &C : Box.Nulls)
      Check.pointer(C.Pointer);
    for (const Alignment &C : Box.Alignments)
      Check.pointer(C.Pointer);
    for (const PairClause &C : Box.Pairs) {
      Check.pointer(C.A);
      Check.pointer(C.B);
      for (const Extents *E : {&C.OfA, &C.OfB}) {
        Check.expr(E->Begin);
        Check.expr(E->End);
      }
    }
  }
  for (const Launch &L : V.Plan.Launches) {
    for (unsigned I = 0; I < 3; ++I) {
      Check.expr(L.Grid[I]);
      Check.expr(L.Block[I]);
      if (L.Cluster)
        Check.expr((*L.Cluster)[I]);
    }
    Check.expr(L.Shared);
  }
  for (const Expr &E : V.Plan.Scratch)
    Check.expr(E);
  if (!Check.fits())
    return findingError("its conditions ask for parts of arguments that "
                        "launches in MLIR do not tell");
  return llvm::Error::success();
}

namespace {
/// Emits conditions, and what they read, each once where it is seen.
class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &B, ArrayRef<ScalarRef> Scalars,
          const LaunchNumbers &From)
      : B(B), Scalars(Scalars), From(From) {}

  EmittedConditions emit(const BuildVariant &V);

private:
  /// An i64, and an i1 that says whether it is right; null where it always is.
  struct Number {
    Value V, Right;
  };
  /// The bytes behind a pointer.
  struct Span {
    Value Begin, End, Right;
  };
  /// What has been emitted. What is emitted in a region is forgotten behind it.
  struct State {
    std::map<int64_t, Value> Constants;
    std::map<unsigned, Value> Dims, Arguments;
    std::vector<std::pair<const Expr *, Number>> Exprs;
    std::vector<std::pair<const RangeClause *, Value>> Ranges;
    std::vector<std::pair<const ResidueClause *, Value>> Residues;
    std::vector<std::pair<const FloatClause *, Value>> Floats;
    std::vector<std::pair<const NullClause *, Value>> Nulls;
    std::vector<std::pair<const Alignment *, Value>> Alignments;
    std::vector<std::pair<const PairClause *, Value>> Pairs;
  };

  void require(Value Condition) { Ok = both(Ok, Condition); }
  Value required(const Expr &E) {
    Number N = expr(E);
    require(N.Right);
    return N.V;
  }
  Value between(Value V, int64_t Least, int64_t Most) {
    require(compare(arith::CmpIPredicate::sge, V, constant(Least)));
    require(compare(arith::CmpIPredicate::sle, V, constant(Most)));
    return V;
  }
  void guard(const Guard &G);
  EmittedLaunch launch(const Launch &L);
  Value contains(const Domain &D);
  Value contains(const DomainBox &Box);

  Number expr(const Expr &E);
  Number make(const Expr &E);
  Number divide(const Expr &E);
  Value emit(const RangeClause &C);
  Value emit(const ResidueClause &C);
  Value emit(const FloatClause &C);
  Value emit(const NullClause &C);
  Value emit(const Alignment &C);
  Value emit(const PairClause &C);
  Span span(const PointerRef &P, const Extents &E);
  Value in(Value V, ArrayRef<Interval> All);
  /// \p C, emitted before or now.
  template <typename ClauseT>
  Value once(std::vector<std::pair<const ClauseT *, Value>> &Known,
             const ClauseT &C) {
    for (const auto &[Of, V] : Known)
      if (*Of == C)
        return V;
    Value V = emit(C);
    Known.emplace_back(&C, V);
    return V;
  }

  Value constant(int64_t N) {
    Value &Known = Emitted.Constants[N];
    if (!Known)
      Known = arith::ConstantOp::create(B, B.getI64IntegerAttr(N));
    return Known;
  }
  Value truth(bool Is) {
    return arith::ConstantOp::create(B, B.getBoolAttr(Is));
  }
  Value argument(unsigned Param) {
    Value &Known = Emitted.Arguments[Param];
    if (!Known)
      Known = From.argument(B, Param);
    return Known;
  }
  Value pointer(const PointerRef &P) { return argument(P.Param); }
  Value compare(arith::CmpIPredicate Is, Value L, Value R) {
    return arith::CmpIOp::create(B, Is, L, R);
  }
  Value add(Value L, Value R) { return arith::AddIOp::create(B, L, R); }
  Value bitAnd(Value L, Value R) { return arith::AndIOp::create(B, L, R); }
  Value bitOr(Value L, Value R) { return arith::OrIOp::create(B, L, R); }
  Value select(Value If, Value Then, Value Else) {
    return arith::SelectOp::create(B, If, Then, Else);
  }
  /// Of two conditions, null where one always holds.
  Value both(Value X, Value Y) { return !X ? Y : !Y ? X : bitAnd(X, Y); }

  using Is = arith::CmpIPredicate;
  ImplicitLocOpBuilder &B;
  ArrayRef<ScalarRef> Scalars;
  const LaunchNumbers &From;
  State Emitted;
  Value Ok; ///< Null: always.
};
} // namespace

Emitter::Number Emitter::expr(const Expr &E) {
  for (const auto &[Of, N] : Emitted.Exprs)
    if (*Of == E)
      return N;
  Number N = make(E);
  Emitted.Exprs.emplace_back(&E, N);
  return N;
}

Emitter::Number Emitter::make(const Expr &E) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return {constant(E.Value), {}};
  case Expr::Kind::Dim:
    if (E.Value >= 0 && E.Value < NumLaunchDims) {
      Value &Known = Emitted.Dims[static_cast<unsigned>(E.Value)];
      if (!Known)
        Known = From.dim(B, static_cast<LaunchDim>(E.Value));
      return {Known, {}};
    }
    break;
  case Expr::Kind::Symbol:
    if (E.Value >= 0 && static_cast<size_t>(E.Value) < Scalars.size()) {
      const ScalarRef &S = Scalars[E.Value];
      Value Raw = argument(S.Param);
      if (S.Bits == 64)
        return {Raw, {}};
      if (S.Signed)
        return {arith::ExtSIOp::create(B, B.getI64Type(), Raw), {}};
      return {arith::ExtUIOp::create(B, B.getI64Type(), Raw), {}};
    }
    break;
  case Expr::Kind::Add: {
    Number L = expr(E.Operands[0]), R = expr(E.Operands[1]);
    Value Sum = add(L.V, R.V);
    // It overflowed where its sign is that of neither.
    Value Signs = bitAnd(arith::XOrIOp::create(B, Sum, L.V),
                         arith::XOrIOp::create(B, Sum, R.V));
    return {Sum,
            both(both(L.Right, R.Right), compare(Is::sge, Signs, constant(0)))};
  }
  case Expr::Kind::Mul: {
    Number L = expr(E.Operands[0]), R = expr(E.Operands[1]);
    auto Product = arith::MulSIExtendedOp::create(B, L.V, R.V);
    Value Sign = arith::ShRSIOp::create(B, Product.getLow(), constant(63));
    return {Product.getLow(), both(both(L.Right, R.Right),
                                   compare(Is::eq, Product.getHigh(), Sign))};
  }
  case Expr::Kind::Mod:
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv:
    return divide(E);
  }
  // An index out of range: evaluate() has no value either.
  return {constant(0), truth(false)};
}

Emitter::Number Emitter::divide(const Expr &E) {
  Number L = expr(E.Operands[0]), R = expr(E.Operands[1]);
  Value Right = both(L.Right, R.Right), By = R.V;
  const Expr &Divisor = E.Operands[1];
  if (Divisor.K != Expr::Kind::Constant || Divisor.Value <= 0) {
    Value Positive = compare(Is::sgt, By, constant(0));
    Right = both(Right, Positive);
    // A division by zero must not happen even when its result is not used.
    By = select(Positive, By, constant(1));
  }
  Value Quotient = arith::DivSIOp::create(B, L.V, By),
        Rest = arith::RemSIOp::create(B, L.V, By);
  Value Negative = compare(Is::slt, Rest, constant(0));
  Value Modulus = select(Negative, add(Rest, By), Rest);
  if (E.K == Expr::Kind::Mod)
    return {Modulus, Right};
  Value Floor = select(Negative, add(Quotient, constant(-1)), Quotient);
  if (E.K == Expr::Kind::FloorDiv)
    return {Floor, Right};
  Value More = compare(Is::ne, Modulus, constant(0));
  return {select(More, add(Floor, constant(1)), Floor), Right};
}

Value Emitter::in(Value V, ArrayRef<Interval> All) {
  Value Any;
  for (const Interval &I : All) {
    Value Here;
    if (I.Least == I.Most)
      Here = compare(Is::eq, V, constant(I.Least));
    else if (I.Least == INT64_MIN)
      Here = compare(Is::sle, V, constant(I.Most));
    else if (I.Most == INT64_MAX)
      Here = compare(Is::sge, V, constant(I.Least));
    else // Both ends by one comparison, modulo 2^64.
      Here = compare(
          Is::ule,
          I.Least ? arith::SubIOp::create(B, V, constant(I.Least)).getResult()
                  : V,
          constant(static_cast<int64_t>(static_cast<uint64_t>(I.Most) -
                                        static_cast<uint64_t>(I.Least))));
    Any = Any ? bitOr(Any, Here) : Here;
  }
  return Any ? Any : truth(false);
}

Value Emitter::emit(const RangeClause &C) {
  Number N = expr(C.E);
  return both(N.Right, in(N.V, C.In));
}

Value Emitter::emit(const ResidueClause &C) {
  if (C.Modulus < 1)
    return truth(false);
  Number N = expr(C.E);
  if (C.In.size() == static_cast<uint64_t>(C.Modulus)) // Every rest is tried.
    return N.Right ? N.Right : truth(true);
  Value Signed = arith::RemSIOp::create(B, N.V, constant(C.Modulus));
  Value Rest = select(compare(Is::slt, Signed, constant(0)),
                      add(Signed, constant(C.Modulus)), Signed);
  std::vector<Interval> In;
  In.reserve(C.In.size());
  for (int64_t Each : C.In)
    In.push_back({Each, Each});
  return both(N.Right, in(Rest, In));
}

Value Emitter::emit(const FloatClause &C) {
  unsigned Bits = C.Number.bits();
  auto T = B.getIntegerType(Bits);
  Value Raw = arith::BitcastOp::create(B, T, argument(C.Number.Param));
  auto By = [&](unsigned N) {
    return arith::ConstantOp::create(B, B.getIntegerAttr(T, N));
  };
  // floatKey(): of negative numbers the magnitude's bits are turned over.
  Value Sign = arith::ShRSIOp::create(B, Raw, By(Bits - 1));
  Value Key =
      arith::XOrIOp::create(B, Raw, arith::ShRUIOp::create(B, Sign, By(1)));
  if (Bits < 64)
    Key = arith::ExtSIOp::create(B, B.getI64Type(), Key);
  return in(Key, C.In);
}

Value Emitter::emit(const NullClause &C) {
  return compare(C.IsNull ? Is::eq : Is::ne, pointer(C.Pointer), constant(0));
}

Value Emitter::emit(const Alignment &C) {
  return compare(Is::eq,
                 bitAnd(pointer(C.Pointer), constant(int64_t(C.Bytes) - 1)),
                 constant(0));
}

Emitter::Span Emitter::span(const PointerRef &P, const Extents &E) {
  Value Base = pointer(P);
  Span S;
  auto End = [&](const Expr &By, Number N) -> Value {
    S.Right = both(S.Right, N.Right);
    if (By == Expr::constant(0))
      return Base;
    // It must not come round the ends of the address space.
    Value Sum = add(Base, N.V);
    Value Negative = compare(Is::slt, N.V, constant(0));
    S.Right = both(S.Right, select(Negative, compare(Is::ule, Sum, Base),
                                   compare(Is::uge, Sum, Base)));
    return Sum;
  };
  Number First = expr(E.Begin), Last = expr(E.End);
  S.Begin = End(E.Begin, First);
  S.End = End(E.End, Last);
  S.Right = both(S.Right, compare(Is::sge, Last.V, First.V));
  return S;
}

Value Emitter::emit(const PairClause &C) {
  Value PA = pointer(C.A), PB = pointer(C.B);
  if (C.Equal)
    return compare(Is::eq, PA, PB);
  Span SA = span(C.A, C.OfA), SB = span(C.B, C.OfB);
  // The first byte that both could have lies behind the last: also where one is
  // empty.
  Value First = arith::MaxUIOp::create(B, SA.Begin, SB.Begin),
        Last = arith::MinUIOp::create(B, SA.End, SB.End);
  Value Holds = both(both(SA.Right, SB.Right), compare(Is::uge, First, Last));
  for (Value P : {PA, PB})
    Holds = bitOr(Holds, compare(Is::eq, P, constant(0)));
  return Holds;
}

Value Emitter::contains(const DomainBox &Box) {
  Value Holds;
  for (const RangeClause &C : Box.Ranges)
    Holds = both(Holds, once(Emitted.Ranges, C));
  for (const ResidueClause &C : Box.Residues)
    Holds = both(Holds, once(Emitted.Residues, C));
  for (const FloatClause &C : Box.Floats)
    Holds = both(Holds, once(Emitted.Floats, C));
  for (const NullClause &C : Box.Nulls)
    Holds = both(Holds, once(Emitted.Nulls, C));
  for (const Alignment &C : Box.Alignments)
    Holds = both(Holds, once(Emitted.Alignments, C));
  for (const PairClause &C : Box.Pairs)
    Holds = both(Holds, once(Emitted.Pairs, C));
  return Holds ? Holds : truth(true);
}

/// The first box is looked at in any case: the others see what it has in common
/// with them. Of these, one after the other until one holds.
Value Emitter::contains(const Domain &D) {
  if (D.Boxes.empty())
    return truth(false);
  Value Inside = contains(D.Boxes.front());
  for (const DomainBox &Box : llvm::drop_begin(D.Boxes)) {
    State Before = Emitted;
    auto If = scf::IfOp::create(B, TypeRange{B.getI1Type()}, Inside,
                                /*withElseRegion=*/true);
    OpBuilder::InsertionGuard Back(B);
    B.setInsertionPointToStart(If.thenBlock());
    scf::YieldOp::create(B, truth(true));
    B.setInsertionPointToStart(If.elseBlock());
    scf::YieldOp::create(B, contains(Box));
    Emitted = std::move(Before);
    Inside = If.getResult(0);
  }
  return Inside;
}

void Emitter::guard(const Guard &G) {
  for (const Constraint &C : G.Constraints)
    require(compare(C.IsEq ? Is::eq : Is::sge, required(C.E), constant(0)));
  for (const Alignment &A : G.Alignments)
    require(once(Emitted.Alignments, A));
  for (const Disjoint &D : G.Disjoints) {
    Value PA = pointer(D.A), PB = pointer(D.B);
    Value EA = required(D.ExtentA), EB = required(D.ExtentB);
    require(compare(Is::sge, EA, constant(0)));
    require(compare(Is::sge, EB, constant(0)));
    Value EndA = add(PA, EA), EndB = add(PB, EB);
    require(compare(Is::uge, EndA, PA));
    require(compare(Is::uge, EndB, PB));
    require(bitOr(compare(Is::ule, EndA, PB), compare(Is::ule, EndB, PA)));
  }
}

EmittedLaunch Emitter::launch(const Launch &L) {
  EmittedLaunch Result;
  if (L.Cluster)
    Result.Cluster.emplace();
  Value Threads = constant(1), Together = constant(1);
  for (unsigned I = 0; I < 3; ++I) {
    Result.Grid[I] = between(required(L.Grid[I]), 1, MaxGrid[I]);
    Result.Block[I] = between(required(L.Block[I]), 1, MaxBlock[I]);
    Threads = arith::MulIOp::create(B, Threads, Result.Block[I]);
    if (!L.Cluster)
      continue;
    Value C = between(required((*L.Cluster)[I]), 1, MostClusterBlocks);
    // What cannot be carried out must not divide by zero either.
    Value Divisor = select(compare(Is::sgt, C, constant(0)), C, constant(1));
    require(compare(Is::eq, arith::RemUIOp::create(B, Result.Grid[I], Divisor),
                    constant(0)));
    (*Result.Cluster)[I] = C;
    Together = arith::MulIOp::create(B, Together, C);
  }
  require(compare(Is::sle, Threads, constant(MaxBlockThreads)));
  require(compare(Is::sle, Together, constant(MostClusterBlocks)));
  // gpu.launch_func has it in 32 bits.
  Result.Shared = between(required(L.Shared), 0, INT32_MAX);
  return Result;
}

EmittedConditions Emitter::emit(const BuildVariant &V) {
  EmittedConditions Result;
  guard(V.When);
  for (const Launch &L : V.Plan.Launches)
    Result.Launches.push_back(launch(L));
  for (const Expr &Size : V.Plan.Scratch)
    Result.Scratch.push_back(between(required(Size), 1, MostScratch));
  if (V.Where)
    require(contains(*V.Where));
  Result.Admitted = Ok ? Ok : truth(true);
  return Result;
}

EmittedConditions emitConditions(ImplicitLocOpBuilder &B, const BuildVariant &V,
                                 ArrayRef<ScalarRef> Scalars,
                                 const LaunchNumbers &From) {
  return Emitter(B, Scalars, From).emit(V);
}

} // namespace cupilot
