//===- MlirLoopRules.cpp - Rules for loops and arrays of MLIR ---*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirRewrite.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cupilot {

//===----------------------------------------------------------------------===//
// unroll
//===----------------------------------------------------------------------===//

static bool isInnermost(scf::ForOp For) {
  bool Inner = true;
  For.getBody()->walk(
      [&](Operation *Op) { Inner &= !isa<LoopLikeOpInterface>(Op); });
  return Inner;
}

llvm::Error unrollMlirLoops(MlirRewrite &R, const Gene &G) {
  const int64_t Factor = geneNumber(G, "factor");
  if (Factor < 2)
    return refuseMlir(G, "a factor is 2 or more");
  llvm::SmallVector<scf::ForOp> Loops;
  R.F.walk([&](scf::ForOp For) {
    if (isInnermost(For) && For.getInductionVar().getType().isIndex())
      Loops.push_back(For);
  });
  if (Loops.empty())
    return refuseMlir(G, "the kernel has no scf.for");
  for (scf::ForOp For : Loops) {
    std::optional<int64_t> First = R.known(For.getLowerBound()),
                           Last = R.known(For.getUpperBound()),
                           Step = R.known(For.getStep());
    // Those that are that short go altogether.
    if (First && Last && Step && *Step > 0 && *First < *Last &&
        llvm::divideCeil(uint64_t(*Last - *First), uint64_t(*Step)) <=
            uint64_t(Factor)) {
      R.fix(For.getLowerBound(), *First);
      R.fix(For.getUpperBound(), *Last);
      R.fix(For.getStep(), *Step);
      if (failed(loopUnrollFull(For)))
        return refuseMlir(G, "a short loop cannot be unrolled");
      continue;
    }
    if (First)
      R.fix(For.getLowerBound(), *First);
    if (Step)
      R.fix(For.getStep(), *Step);
    // Upstream's count of rounds is of loops that have some.
    OpBuilder B(For);
    For.setUpperBound(arith::MaxSIOp::create(
        B, For.getLoc(), For.getLowerBound(), For.getUpperBound()));
    if (failed(loopUnrollByFactor(For, uint64_t(Factor))))
      return refuseMlir(G, "a loop cannot be unrolled");
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// restrict_pointers
//===----------------------------------------------------------------------===//

/// Bytes that the memref argument \p Number of \p Type spans; nothing where
/// launches do not pass its sizes.
static std::optional<Expr> extentOf(const MlirRewrite &R, unsigned Number,
                                    MemRefType Type) {
  if (!Type.getElementType().isIntOrFloat())
    return std::nullopt;
  const std::string Name = "arg" + std::to_string(Number);
  const int64_t Bytes =
      int64_t(llvm::divideCeil(Type.getElementTypeBitWidth(), 8));
  if (Type.getRank() == 0)
    return Expr::constant(Bytes);
  std::optional<Expr> Size = R.scalar(Name + ".size0"),
                      Stride = R.scalar(Name + ".stride0");
  if (!Size || !Stride)
    return std::nullopt;
  Expr Elements = Type.getRank() == 1
                      ? *Size
                      : Expr::binary(Expr::Kind::Mul, *Size, *Stride);
  return Expr::binary(Expr::Kind::Mul, std::move(Elements),
                      Expr::constant(Bytes));
}

/// Whether something is stored in \p Array, or may be.
static bool isWritten(Value Array) {
  return llvm::any_of(Array.getUsers(), [&](Operation *User) {
    return !isa<memref::LoadOp, memref::DimOp, vector::LoadOp,
                memref::DistinctObjectsOp>(User);
  });
}

/// The guard keeps the arguments \p A and \p B apart.
static llvm::Error keepApart(MlirRewrite &R, const Gene &G, BlockArgument A,
                             BlockArgument B) {
  Disjoint D;
  for (auto [Argument, Pointer, Extent] :
       {std::tuple(A, &D.A, &D.ExtentA), std::tuple(B, &D.B, &D.ExtentB)}) {
    const unsigned Number = Argument.getArgNumber();
    std::optional<Expr> Bytes =
        extentOf(R, Number, cast<MemRefType>(Argument.getType()));
    std::optional<PointerRef> Ref = R.pointer("arg" + llvm::Twine(Number));
    if (!Bytes || !Ref)
      return refuseMlir(G, "launches do not say how large argument " +
                               llvm::Twine(Number) + " is");
    *Pointer = *Ref;
    *Extent = std::move(*Bytes);
  }
  if (!llvm::is_contained(R.When.Disjoints, D))
    R.When.Disjoints.push_back(std::move(D));
  return llvm::Error::success();
}

/// The memref arguments that have uses.
static llvm::SmallVector<BlockArgument> usedArrays(MlirRewrite &R) {
  llvm::SmallVector<BlockArgument> Arrays;
  for (BlockArgument Argument : R.F.getArguments())
    if (R.memrefArgument(Argument) && !Argument.use_empty())
      Arrays.push_back(Argument);
  return Arrays;
}

llvm::Error separateMlirArrays(MlirRewrite &R, const Gene &G) {
  llvm::SmallVector<BlockArgument> Arrays = usedArrays(R);
  if (Arrays.size() < 2)
    return refuseMlir(G, "the kernel has one array at most");
  bool Writes = false;
  for (size_t I = 0; I < Arrays.size(); ++I)
    for (size_t J = I + 1; J < Arrays.size(); ++J) {
      if (!isWritten(Arrays[I]) && !isWritten(Arrays[J]))
        continue;
      Writes = true;
      if (llvm::Error E = keepApart(R, G, Arrays[I], Arrays[J]))
        return E;
    }
  if (!Writes)
    return refuseMlir(G, "the kernel writes no array");
  OpBuilder B = R.atBegin();
  llvm::SmallVector<Value> Operands(Arrays.begin(), Arrays.end());
  auto Apart =
      memref::DistinctObjectsOp::create(B, R.F.getLoc(), ValueRange(Operands));
  for (auto [Array, Result] : llvm::zip_equal(Arrays, Apart.getResults()))
    Array.replaceAllUsesExcept(Result, Apart);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// vectorized_access
//===----------------------------------------------------------------------===//

namespace {
/// A loop whose rounds may be taken several at a time.
struct WideLoop {
  scf::ForOp For;
  bool Shared = false; ///< By the threads of a block or grid, round by round.
  llvm::SetVector<Operation *> Wide; ///< Loads and stores of whole vectors.
};
} // namespace

static Value arrayOf(Operation *Op) {
  if (auto Load = dyn_cast<memref::LoadOp>(Op))
    return Load.getMemRef();
  return cast<memref::StoreOp>(Op).getMemRef();
}

static ValueRange indicesOf(Operation *Op) {
  if (auto Load = dyn_cast<memref::LoadOp>(Op))
    return Load.getIndices();
  return cast<memref::StoreOp>(Op).getIndices();
}

/// Whether \p Op accesses the element of the loop's own index in a row that the
/// loop does not choose.
static bool isOfOwnElement(Operation *Op, scf::ForOp For) {
  ValueRange Indices = indicesOf(Op);
  return !Indices.empty() && Indices.back() == For.getInductionVar() &&
         llvm::all_of(Indices.drop_back(),
                      [&](Value V) { return For.isDefinedOutsideOfLoop(V); });
}

/// Whether \p V is gpu.thread_id x.
static bool isThread(Value V) {
  auto Op = V.getDefiningOp<gpu::ThreadIdOp>();
  return Op && Op.getDimension() == gpu::Dimension::x;
}

/// \p V as OpT x times the size of the original's blocks.
template <typename OpT>
static bool isTimesBlock(MlirRewrite &R, Value V, int64_t Block) {
  auto Product = V.getDefiningOp<arith::MulIOp>();
  if (!Product)
    return false;
  for (auto [A, B] : {std::pair(Product.getLhs(), Product.getRhs()),
                      std::pair(Product.getRhs(), Product.getLhs())}) {
    auto Op = A.getDefiningOp<OpT>();
    auto Size = B.getDefiningOp<gpu::BlockDimOp>();
    if (Op && Op.getDimension() == gpu::Dimension::x &&
        ((Size && Size.getDimension() == gpu::Dimension::x) ||
         R.known(B) == Block))
      return true;
  }
  return false;
}

/// The constants among the factors of \p V, which are known to be \p Block.
static void fixFactors(MlirRewrite &R, Value V, int64_t Block) {
  if (auto Product = V.getDefiningOp<arith::MulIOp>())
    for (Value Factor : {Product.getLhs(), Product.getRhs()})
      if (R.known(Factor) == Block)
        R.fix(Factor, Block);
}

/// Whether the threads of a block, or of the grid, share the rounds of \p For:
/// the loop begins with the thread's own number and steps over all of them.
static bool isShared(MlirRewrite &R, scf::ForOp For) {
  std::optional<int64_t> Block = R.knownBlock(0);
  if (!Block || R.knownBlock(1) != 1 || R.knownBlock(2) != 1)
    return false;
  Value Begin = For.getLowerBound(), Step = For.getStep();
  if (isThread(Begin))
    return R.known(Step) == *Block;
  // What a block has summed up may be its own result: elements stay with it.
  if (For.getNumResults() > 0 || !isTimesBlock<gpu::GridDimOp>(R, Step, *Block))
    return false;
  if (auto Global = Begin.getDefiningOp<gpu::GlobalIdOp>())
    return Global.getDimension() == gpu::Dimension::x;
  auto Sum = Begin.getDefiningOp<arith::AddIOp>();
  return Sum && ((isThread(Sum.getLhs()) &&
                  isTimesBlock<gpu::BlockIdOp>(R, Sum.getRhs(), *Block)) ||
                 (isThread(Sum.getRhs()) &&
                  isTimesBlock<gpu::BlockIdOp>(R, Sum.getLhs(), *Block)));
}

/// What isShared() took for known, as constants.
static void fixShared(MlirRewrite &R, scf::ForOp For) {
  const int64_t Block = *R.knownBlock(0);
  R.fixBlock(0, Block);
  R.fixBlock(1, 1);
  R.fixBlock(2, 1);
  if (isThread(For.getLowerBound())) {
    R.fix(For.getStep(), Block);
    return;
  }
  fixFactors(R, For.getStep(), Block);
  if (auto Sum = For.getLowerBound().getDefiningOp<arith::AddIOp>()) {
    fixFactors(R, Sum.getLhs(), Block);
    fixFactors(R, Sum.getRhs(), Block);
  }
}

/// Whether a vector of \p Width elements of \p Array can be accessed at once.
static bool hasVectors(const MlirRewrite &R, Value Array, int64_t Width) {
  auto Type = cast<MemRefType>(Array.getType());
  constexpr int64_t MostBits = 128;
  return R.memrefArgument(Array) && Type.getElementType().isIntOrFloat() &&
         Type.getElementTypeBitWidth() >= 8 &&
         Type.getElementTypeBitWidth() * Width <= MostBits;
}

/// The loop \p For with its wide accesses; nothing where its rounds cannot be
/// taken together.
static std::optional<WideLoop> wideLoop(MlirRewrite &R, scf::ForOp For,
                                        int64_t Width) {
  WideLoop W{For, isShared(R, For), {}};
  if (!W.Shared &&
      (R.known(For.getLowerBound()) != 0 || R.known(For.getStep()) != 1))
    return std::nullopt;
  if (!R.scalar(For.getUpperBound()))
    return std::nullopt;
  llvm::SmallVector<Operation *> Accesses;
  bool Stored = false;
  for (Operation &Op : For.getBody()->without_terminator()) {
    if (isa<memref::LoadOp, memref::StoreOp>(Op)) {
      Accesses.push_back(&Op);
      continue;
    }
    if (Op.getNumRegions() || !isMemoryEffectFree(&Op) ||
        isa<gpu::GPUDialect>(Op.getDialect()))
      return std::nullopt;
  }
  // Vectors are loaded before all rounds, and stored behind them.
  for (Operation *Op : Accesses) {
    Stored |= isa<memref::StoreOp>(Op);
    if (isa<memref::LoadOp>(Op) && Stored)
      return std::nullopt;
    if (isOfOwnElement(Op, For) && hasVectors(R, arrayOf(Op), Width))
      W.Wide.insert(Op);
  }
  for (Operation *Op : Accesses)
    if (auto Store = dyn_cast<memref::StoreOp>(Op);
        Store && !W.Wide.contains(Op))
      for (Operation *Other : Accesses)
        if (W.Wide.contains(Other) && arrayOf(Other) == Store.getMemRef())
          return std::nullopt;
  // Who shares rounds writes what belongs to its own.
  if (W.Shared)
    for (Operation *Op : Accesses)
      if (isa<memref::StoreOp>(Op) && !isOfOwnElement(Op, For))
        return std::nullopt;
  if (W.Wide.empty())
    return std::nullopt;
  return W;
}

static bool isAlike(scf::ForOp A, scf::ForOp B) {
  return A.getLowerBound() == B.getLowerBound() &&
         A.getUpperBound() == B.getUpperBound() && A.getStep() == B.getStep();
}

/// Whether a barrier that all threads reach lies between \p A and \p B.
static bool haveBarrierBetween(gpu::GPUFuncOp F, Operation *A, Operation *B) {
  Block &Body = F.getBody().front();
  A = Body.findAncestorOpInBlock(*A);
  B = Body.findAncestorOpInBlock(*B);
  if (!A || !B || A == B)
    return false;
  if (B->isBeforeInBlock(A))
    std::swap(A, B);
  for (Operation *Op = A; Op != B; Op = Op->getNextNode())
    if (isa<gpu::BarrierOp>(Op))
      return true;
  return false;
}

/// Elements get other threads in \p W: whether nobody else relies on whose they
/// were. \p All are the loops that change in the same way.
static bool ownsItsElements(MlirRewrite &R, const WideLoop &W,
                            llvm::ArrayRef<WideLoop> All) {
  bool Fine = true;
  scf::ForOp For = W.For;
  For.getBody()->walk([&](Operation *Op) {
    if (!isa<memref::LoadOp, memref::StoreOp>(Op))
      return;
    const bool Stores = isa<memref::StoreOp>(Op);
    for (Operation *User : arrayOf(Op).getUsers()) {
      if (For->isAncestor(User) || isa<memref::DimOp>(User) ||
          (!Stores && isa<memref::LoadOp>(User)))
        continue;
      const auto *Other = llvm::find_if(All, [&](const WideLoop &Each) {
        return Each.For->isAncestor(User);
      });
      const bool SameOwner = Other != All.end() && Other->Shared &&
                             isAlike(Other->For, For) &&
                             isa<memref::LoadOp, memref::StoreOp>(User) &&
                             isOfOwnElement(User, Other->For);
      Fine &= SameOwner || haveBarrierBetween(R.F, For, User);
    }
  });
  return Fine;
}

/// Rewrites \p W for \p Width rounds at a time.
static void widen(MlirRewrite &R, const WideLoop &W, int64_t Width) {
  scf::ForOp For = W.For;
  Location At = For.getLoc();
  OpBuilder B(For);
  Value Factor = arith::ConstantIndexOp::create(B, At, Width);
  Value Begin = For.getLowerBound();
  if (W.Shared)
    Begin = arith::MulIOp::create(B, At, Begin, Factor);
  auto New = scf::ForOp::create(
      B, At, Begin, For.getUpperBound(),
      arith::MulIOp::create(B, At, For.getStep(), Factor), For.getInitArgs());
  // Without values, a builder has ended the body already.
  if (!New.getBody()->empty())
    New.getBody()->back().erase();
  B.setInsertionPointToStart(New.getBody());
  auto AtVector = [&](Operation *Op) {
    llvm::SmallVector<Value> Indices(indicesOf(Op));
    Indices.back() = New.getInductionVar();
    return Indices;
  };
  auto TypeOf = [&](Operation *Op) {
    return VectorType::get(
        {Width}, cast<MemRefType>(arrayOf(Op).getType()).getElementType());
  };
  auto AlignmentOf = [&](Operation *Op) {
    return llvm::MaybeAlign(
        uint64_t(TypeOf(Op).getElementTypeBitWidth() / 8 * uint64_t(Width)));
  };
  llvm::DenseMap<Operation *, Value> Vectors;
  for (Operation *Op : W.Wide)
    if (isa<memref::LoadOp>(Op))
      Vectors[Op] =
          vector::LoadOp::create(B, At, TypeOf(Op), arrayOf(Op), AtVector(Op),
                                 /*nontemporal=*/false, AlignmentOf(Op));
    else
      Vectors[Op] = arith::ConstantOp::create(B, At, B.getZeroAttr(TypeOf(Op)));
  llvm::SmallVector<Value> Carried(New.getRegionIterArgs());
  for (int64_t Lane = 0; Lane < Width; ++Lane) {
    IRMapping Map;
    Value Index = New.getInductionVar();
    if (Lane)
      Index = arith::AddIOp::create(
          B, At, Index, arith::ConstantIndexOp::create(B, At, Lane));
    Map.map(For.getInductionVar(), Index);
    for (auto [Old, Now] : llvm::zip_equal(For.getRegionIterArgs(), Carried))
      Map.map(Old, Now);
    for (Operation &Op : For.getBody()->without_terminator()) {
      if (!W.Wide.contains(&Op)) {
        B.clone(Op, Map);
        continue;
      }
      Value &Vector = Vectors[&Op];
      if (auto Load = dyn_cast<memref::LoadOp>(Op))
        Map.map(Load.getResult(),
                vector::ExtractOp::create(B, At, Vector, Lane).getResult());
      else
        Vector = vector::InsertOp::create(
            B, At,
            Map.lookupOrDefault(cast<memref::StoreOp>(Op).getValueToStore()),
            Vector, Lane);
    }
    Carried.clear();
    for (Value V : For.getBody()->getTerminator()->getOperands())
      Carried.push_back(Map.lookupOrDefault(V));
  }
  for (Operation *Op : W.Wide)
    if (isa<memref::StoreOp>(Op))
      vector::StoreOp::create(B, At, Vectors[Op], arrayOf(Op), AtVector(Op),
                              /*nontemporal=*/false, AlignmentOf(Op));
  scf::YieldOp::create(B, At, Carried);
  For.replaceAllUsesWith(New.getResults());
  For.erase();
}

/// What the guard asks for the vectors of \p W.
static void guardVectors(MlirRewrite &R, const WideLoop &W, int64_t Width) {
  scf::ForOp For = W.For;
  R.requireMultiple(*R.scalar(For.getUpperBound()), Width);
  for (Operation *Op : W.Wide) {
    const unsigned Number = *R.memrefArgument(arrayOf(Op));
    const std::string Name = "arg" + std::to_string(Number);
    auto Type = cast<MemRefType>(arrayOf(Op).getType());
    Alignment A{*R.pointer(Name),
                unsigned(Type.getElementTypeBitWidth() / 8 * Width)};
    if (!llvm::is_contained(R.When.Alignments, A))
      R.When.Alignments.push_back(A);
    for (int64_t Dim = 0; Dim + 1 < Type.getRank(); ++Dim)
      R.requireMultiple(*R.scalar(Name + ".stride" + llvm::Twine(Dim)), Width);
  }
}

/// Results of the rounds of \p Loops are joined by other loops and by
/// exchanges: those must join all of them, as in the launches that are known.
static llvm::Error fixJoins(MlirRewrite &R, const Gene &G,
                            llvm::ArrayRef<WideLoop> Loops) {
  llvm::SetVector<Value> Arguments;
  R.F.walk([&](Operation *Op) {
    const bool IsWide = llvm::any_of(
        Loops, [&](const WideLoop &W) { return W.For->isAncestor(Op); });
    Operation *Loop = Op->getParentOfType<LoopLikeOpInterface>();
    if (IsWide || !(Loop || isa<LoopLikeOpInterface, gpu::ShuffleOp>(Op)))
      return;
    for (Value V : Op->getOperands())
      if (V.getType().isIntOrIndex() && R.isArgument(V))
        Arguments.insert(V);
  });
  for (Value V : Arguments) {
    std::optional<int64_t> Number = R.known(V);
    if (!Number)
      return refuseMlir(G, "launches differ in an argument by which threads "
                           "join their results");
    R.fix(V, *Number);
  }
  return llvm::Error::success();
}

llvm::Error widenMlirAccesses(MlirRewrite &R, const Gene &G) {
  const int64_t Width = geneNumber(G, "width");
  if (Width != 2 && Width != 4)
    return refuseMlir(G, "vectors have 2 or 4 elements");
  llvm::SmallVector<WideLoop> Loops;
  R.F.walk([&](scf::ForOp For) {
    if (std::optional<WideLoop> W = wideLoop(R, For, Width))
      Loops.push_back(std::move(*W));
  });
  // Loops with the same threads for the same elements change together.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (size_t I = Loops.size(); I-- > 0;) {
      const WideLoop &W = Loops[I];
      if (!W.Shared || ownsItsElements(R, W, Loops))
        continue;
      Loops.erase(Loops.begin() + I);
      Changed = true;
    }
  }
  if (Loops.empty())
    return refuseMlir(G, "no loop goes over the elements of an array one by "
                         "one, or over those of the threads");
  // Vectors are moved past accesses to other arrays.
  bool Stores = false;
  for (WideLoop &W : Loops)
    Stores |= llvm::any_of(W.For.getBody()->getOperations(), [](Operation &Op) {
      return isa<memref::StoreOp>(Op);
    });
  if (Stores) {
    llvm::SmallVector<BlockArgument> Arrays = usedArrays(R);
    for (size_t I = 0; I < Arrays.size(); ++I)
      for (size_t J = I + 1; J < Arrays.size(); ++J)
        if (isWritten(Arrays[I]) || isWritten(Arrays[J]))
          if (llvm::Error E = keepApart(R, G, Arrays[I], Arrays[J]))
            return E;
  }
  for (WideLoop &W : Loops) {
    guardVectors(R, W, Width);
    if (W.Shared) {
      fixShared(R, W.For);
      continue;
    }
    R.fix(W.For.getLowerBound(), 0);
    R.fix(W.For.getStep(), 1);
  }
  if (llvm::any_of(Loops, [](const WideLoop &W) {
        return W.Shared && W.For->getNumResults() > 0;
      }))
    if (llvm::Error E = fixJoins(R, G, Loops))
      return E;
  for (const WideLoop &W : Loops)
    widen(R, W, Width);
  return llvm::Error::success();
}

} // namespace cupilot
