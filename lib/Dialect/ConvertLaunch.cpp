//===- ConvertLaunch.cpp - Plans, guards, genomes as attributes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Conversion.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace cupilot {

/// How a map holds the launch: as its dims, or as its first symbols. MLIR
/// multiplies and divides by symbols only, so that a product of two launch
/// dimensions needs the second form.
enum class LaunchForm { Dims, Symbols };

static bool namesLaunch(const Expr &E) {
  return E.K == Expr::Kind::Dim || llvm::any_of(E.Operands, namesLaunch);
}

static bool needsSymbols(const Expr &E) {
  switch (E.K) {
  case Expr::Kind::Mul:
    if (namesLaunch(E.Operands[0]) && namesLaunch(E.Operands[1]))
      return true;
    break;
  case Expr::Kind::Mod:
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv:
    if (namesLaunch(E.Operands[1]))
      return true;
    break;
  default:
    break;
  }
  return llvm::any_of(E.Operands, needsSymbols);
}

static AffineExpr toAffine(MLIRContext &C, const Expr &E, LaunchForm Form) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return getAffineConstantExpr(E.Value, &C);
  case Expr::Kind::Dim:
    return Form == LaunchForm::Dims ? getAffineDimExpr(E.Value, &C)
                                    : getAffineSymbolExpr(E.Value, &C);
  case Expr::Kind::Symbol:
    return getAffineSymbolExpr(
        E.Value + (Form == LaunchForm::Dims ? 0 : NumLaunchDims), &C);
  default:
    break;
  }
  AffineExpr L = toAffine(C, E.Operands[0], Form),
             R = toAffine(C, E.Operands[1], Form);
  switch (E.K) {
  case Expr::Kind::Add:
    return L + R;
  case Expr::Kind::Mul:
    return L * R;
  case Expr::Kind::Mod:
    return L % R;
  case Expr::Kind::FloorDiv:
    return L.floorDiv(R);
  default:
    return L.ceilDiv(R);
  }
}

static Expr fromAffine(AffineExpr E, LaunchForm Form) {
  switch (E.getKind()) {
  case AffineExprKind::Constant:
    return Expr::constant(cast<AffineConstantExpr>(E).getValue());
  case AffineExprKind::DimId:
    return Expr::dim(cast<AffineDimExpr>(E).getPosition());
  case AffineExprKind::SymbolId: {
    unsigned Position = cast<AffineSymbolExpr>(E).getPosition();
    if (Form == LaunchForm::Dims)
      return Expr::symbol(Position);
    return Position < NumLaunchDims ? Expr::dim(Position)
                                    : Expr::symbol(Position - NumLaunchDims);
  }
  default:
    break;
  }
  auto Binary = cast<AffineBinaryOpExpr>(E);
  Expr::Kind K = Expr::Kind::Add;
  switch (E.getKind()) {
  case AffineExprKind::Mul:
    K = Expr::Kind::Mul;
    break;
  case AffineExprKind::Mod:
    K = Expr::Kind::Mod;
    break;
  case AffineExprKind::FloorDiv:
    K = Expr::Kind::FloorDiv;
    break;
  case AffineExprKind::CeilDiv:
    K = Expr::Kind::CeilDiv;
    break;
  default:
    break;
  }
  return Expr::binary(K, fromAffine(Binary.getLHS(), Form),
                      fromAffine(Binary.getRHS(), Form));
}

static AffineMapAttr toMap(MLIRContext &C, ArrayRef<Expr> Results,
                           unsigned NumScalars) {
  bool Dims = llvm::none_of(Results, needsSymbols);
  llvm::SmallVector<AffineExpr, 3> Exprs;
  for (const Expr &E : Results)
    Exprs.push_back(
        toAffine(C, E, Dims ? LaunchForm::Dims : LaunchForm::Symbols));
  return AffineMapAttr::get(
      AffineMap::get(Dims ? NumLaunchDims : 0,
                     NumScalars + (Dims ? 0 : NumLaunchDims), Exprs, &C));
}

static Expr fromResult(AffineMapAttr Map, unsigned Index) {
  AffineMap M = Map.getValue();
  return fromAffine(M.getResult(Index),
                    M.getNumDims() ? LaunchForm::Dims : LaunchForm::Symbols);
}

static std::array<Expr, 3> fromMap(AffineMapAttr Map) {
  return {fromResult(Map, 0), fromResult(Map, 1), fromResult(Map, 2)};
}

static PointerAttr toAttr(MLIRContext &C, const PointerRef &P) {
  return PointerAttr::get(&C, P.Param, P.Offset);
}

static PointerRef fromAttr(PointerAttr P) {
  return {P.getParam(), P.getOffset()};
}

static TensorMapAttr toAttr(MLIRContext &C, const TensorMapPlan &M,
                            unsigned NumScalars) {
  auto Numbers = [&](ArrayRef<unsigned> From) {
    return DenseI64ArrayAttr::get(
        &C, llvm::SmallVector<int64_t>(From.begin(), From.end()));
  };
  return TensorMapAttr::get(
      &C, toAttr(C, M.Base), static_cast<TensorType>(M.Type),
      toMap(C, M.Extents, NumScalars), toMap(C, M.Strides, NumScalars),
      Numbers(M.Box), M.Steps.empty() ? DenseI64ArrayAttr() : Numbers(M.Steps),
      static_cast<TensorSwizzle>(M.Swizzle),
      static_cast<TensorPromotion>(M.Promotion),
      M.FillNan ? TensorFill::NaN : TensorFill::Zero);
}

static std::vector<Expr> fromResults(AffineMapAttr Map) {
  std::vector<Expr> Results;
  for (unsigned I = 0; I < Map.getValue().getNumResults(); ++I)
    Results.push_back(fromResult(Map, I));
  return Results;
}

static TensorMapPlan fromAttr(TensorMapAttr M) {
  TensorMapPlan Result;
  Result.Base = fromAttr(M.getBase());
  Result.Type = static_cast<unsigned>(M.getType());
  Result.Extents = fromResults(M.getExtents());
  Result.Strides = fromResults(M.getStrides());
  for (int64_t Side : M.getBox().asArrayRef())
    Result.Box.push_back(Side);
  if (M.getSteps())
    for (int64_t Step : M.getSteps().asArrayRef())
      Result.Steps.push_back(Step);
  Result.Swizzle = static_cast<unsigned>(M.getSwizzle());
  Result.Promotion = static_cast<unsigned>(M.getPromotion());
  Result.FillNan = M.getFill() == TensorFill::NaN;
  return Result;
}

PlanAttr toAttr(MLIRContext &C, const LaunchPlan &Plan, unsigned NumScalars) {
  llvm::SmallVector<LaunchAttr> Launches;
  for (const Launch &L : Plan.Launches)
    Launches.push_back(LaunchAttr::get(
        &C, L.Symbol, toMap(C, L.Grid, NumScalars),
        toMap(C, L.Block, NumScalars), toMap(C, {L.Shared}, NumScalars),
        L.Cluster ? toMap(C, *L.Cluster, NumScalars) : AffineMapAttr()));
  llvm::SmallVector<TensorMapAttr> Maps;
  for (const TensorMapPlan &M : Plan.TensorMaps)
    Maps.push_back(toAttr(C, M, NumScalars));
  return PlanAttr::get(&C, Launches,
                       Plan.Scratch.empty()
                           ? AffineMapAttr()
                           : toMap(C, Plan.Scratch, NumScalars),
                       Maps);
}

LaunchPlan fromAttr(PlanAttr Plan) {
  LaunchPlan Result;
  for (LaunchAttr L : Plan.getLaunches()) {
    Launch Each{L.getSymbol().str(), fromMap(L.getGrid()),
                fromMap(L.getBlock()), fromResult(L.getShared(), 0),
                std::nullopt};
    if (L.getCluster())
      Each.Cluster = fromMap(L.getCluster());
    Result.Launches.push_back(std::move(Each));
  }
  if (Plan.getScratch())
    Result.Scratch = fromResults(Plan.getScratch());
  for (TensorMapAttr M : Plan.getTensormaps())
    Result.TensorMaps.push_back(fromAttr(M));
  return Result;
}

GuardAttr toAttr(MLIRContext &C, const Guard &G, unsigned NumScalars) {
  llvm::SmallVector<AffineExpr> Constraints;
  llvm::SmallVector<bool> Equalities;
  bool Dims = llvm::none_of(G.Constraints, [](const Constraint &Each) {
    return needsSymbols(Each.E);
  });
  for (const Constraint &Each : G.Constraints) {
    Constraints.push_back(
        toAffine(C, Each.E, Dims ? LaunchForm::Dims : LaunchForm::Symbols));
    Equalities.push_back(Each.IsEq);
  }
  // An integer set has at least one constraint; 0 == 0 admits everything.
  if (Constraints.empty()) {
    Constraints.push_back(getAffineConstantExpr(0, &C));
    Equalities.push_back(true);
  }
  llvm::SmallVector<AlignAttr> Aligns;
  for (const Alignment &A : G.Alignments)
    Aligns.push_back(AlignAttr::get(&C, toAttr(C, A.Pointer), A.Bytes));
  llvm::SmallVector<DisjointAttr> Disjoints;
  for (const Disjoint &D : G.Disjoints)
    Disjoints.push_back(DisjointAttr::get(&C, toAttr(C, D.A), toAttr(C, D.B),
                                          toMap(C, {D.ExtentA}, NumScalars),
                                          toMap(C, {D.ExtentB}, NumScalars)));
  return GuardAttr::get(
      &C, G.Arch,
      IntegerSetAttr::get(IntegerSet::get(
          Dims ? NumLaunchDims : 0, NumScalars + (Dims ? 0 : NumLaunchDims),
          Constraints, Equalities)),
      Aligns, Disjoints);
}

Guard fromAttr(GuardAttr G) {
  Guard Result;
  Result.Arch = G.getArch().str();
  IntegerSet Set = G.getSet().getValue();
  LaunchForm Form = Set.getNumDims() ? LaunchForm::Dims : LaunchForm::Symbols;
  for (unsigned I = 0; I < Set.getNumConstraints(); ++I) {
    Constraint Each{fromAffine(Set.getConstraint(I), Form), Set.isEq(I)};
    if (!(Each.IsEq && Each.E == Expr::constant(0)))
      Result.Constraints.push_back(std::move(Each));
  }
  for (AlignAttr A : G.getAlign())
    Result.Alignments.push_back({fromAttr(A.getPointer()), A.getBytes()});
  for (DisjointAttr D : G.getDisjoint())
    Result.Disjoints.push_back({fromAttr(D.getA()), fromAttr(D.getB()),
                                fromResult(D.getExtentA(), 0),
                                fromResult(D.getExtentB(), 0)});
  return Result;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

static DenseI64ArrayAttr toEnds(MLIRContext &C, ArrayRef<Interval> In) {
  llvm::SmallVector<int64_t> Ends;
  for (const Interval &I : In)
    Ends.append({I.Least, I.Most});
  return DenseI64ArrayAttr::get(&C, Ends);
}

static std::vector<Interval> fromEnds(DenseI64ArrayAttr Ends) {
  std::vector<Interval> In;
  ArrayRef<int64_t> All = Ends.asArrayRef();
  for (size_t I = 0; I + 1 < All.size(); I += 2)
    In.push_back({All[I], All[I + 1]});
  return In;
}

static BoxAttr toAttr(MLIRContext &C, const DomainBox &Box,
                      unsigned NumScalars) {
  std::vector<Expr> Ranged, Rested;
  llvm::SmallVector<DenseI64ArrayAttr> Bounds, Rests;
  llvm::SmallVector<int64_t> Moduli;
  for (const RangeClause &R : Box.Ranges) {
    Ranged.push_back(R.E);
    Bounds.push_back(toEnds(C, R.In));
  }
  for (const ResidueClause &R : Box.Residues) {
    Rested.push_back(R.E);
    Moduli.push_back(R.Modulus);
    Rests.push_back(DenseI64ArrayAttr::get(&C, R.In));
  }
  llvm::SmallVector<FloatClassAttr> Floats;
  for (const FloatClause &F : Box.Floats)
    Floats.push_back(FloatClassAttr::get(
        &C, F.Number.Param, F.Number.Offset,
        static_cast<FloatFormat>(F.Number.Type), toEnds(C, F.In)));
  llvm::SmallVector<NullAttr> Nulls;
  for (const NullClause &N : Box.Nulls)
    Nulls.push_back(NullAttr::get(&C, toAttr(C, N.Pointer), N.IsNull));
  llvm::SmallVector<AlignAttr> Aligns;
  for (const Alignment &A : Box.Alignments)
    Aligns.push_back(AlignAttr::get(&C, toAttr(C, A.Pointer), A.Bytes));
  llvm::SmallVector<PairAttr> Pairs;
  for (const PairClause &P : Box.Pairs)
    Pairs.push_back(PairAttr::get(
        &C, toAttr(C, P.A), toAttr(C, P.B),
        P.Equal ? AffineMapAttr()
                : toMap(C, {P.OfA.Begin, P.OfA.End, P.OfB.Begin, P.OfB.End},
                        NumScalars)));
  return BoxAttr::get(
      &C, static_cast<SeenBy>(Box.Seen),
      Ranged.empty() ? AffineMapAttr() : toMap(C, Ranged, NumScalars), Bounds,
      Rested.empty() ? AffineMapAttr() : toMap(C, Rested, NumScalars),
      Rested.empty() ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(&C, Moduli),
      Rests, Floats, Nulls, Aligns, Pairs);
}

static DomainBox fromAttr(BoxAttr Attr) {
  DomainBox Box;
  Box.Seen = static_cast<DomainBox::By>(Attr.getSeen());
  for (auto [I, Ends] : llvm::enumerate(Attr.getBounds()))
    Box.Ranges.push_back({fromResult(Attr.getRanges(), I), fromEnds(Ends)});
  for (auto [I, Rests] : llvm::enumerate(Attr.getRests()))
    Box.Residues.push_back({fromResult(Attr.getResidues(), I),
                            Attr.getModuli().asArrayRef()[I],
                            Rests.asArrayRef().vec()});
  for (FloatClassAttr F : Attr.getFloats())
    Box.Floats.push_back({{F.getParam(), F.getOffset(),
                           static_cast<FloatRef::Format>(F.getType())},
                          fromEnds(F.getIn())});
  for (NullAttr N : Attr.getNulls())
    Box.Nulls.push_back({fromAttr(N.getPointer()), N.getIsNull()});
  for (AlignAttr A : Attr.getAlign())
    Box.Alignments.push_back({fromAttr(A.getPointer()), A.getBytes()});
  for (PairAttr P : Attr.getPairs()) {
    PairClause Pair{
        fromAttr(P.getA()), fromAttr(P.getB()), !P.getBytes(), {}, {}};
    if (AffineMapAttr Bytes = P.getBytes()) {
      Pair.OfA = {fromResult(Bytes, 0), fromResult(Bytes, 1)};
      Pair.OfB = {fromResult(Bytes, 2), fromResult(Bytes, 3)};
    }
    Box.Pairs.push_back(std::move(Pair));
  }
  return Box;
}

DomainAttr toAttr(MLIRContext &C, const Domain &D, unsigned NumScalars) {
  llvm::SmallVector<BoxAttr> Boxes;
  for (const DomainBox &Box : D.Boxes)
    Boxes.push_back(toAttr(C, Box, NumScalars));
  return DomainAttr::get(&C, Boxes);
}

Domain fromAttr(DomainAttr D) {
  Domain Result;
  for (BoxAttr Box : D.getBoxes())
    Result.Boxes.push_back(fromAttr(Box));
  return Result;
}

Domain canonical(const Domain &D, unsigned NumScalars) {
  MLIRContext C(MLIRContext::Threading::DISABLED);
  loadDialect(C);
  Domain Now = fromAttr(toAttr(C, D, NumScalars));
  // MLIR simplifies expressions as they are built, those that it reads once
  // more: what comes out is not yet what comes out of its text.
  constexpr unsigned MostRounds = 16;
  for (unsigned Round = 0; Round < MostRounds; ++Round) {
    std::string Text;
    llvm::raw_string_ostream(Text) << Attribute(toAttr(C, Now, NumScalars));
    auto Read = llvm::dyn_cast_or_null<DomainAttr>(parseAttribute(Text, &C));
    if (!Read)
      break;
    Domain Next = fromAttr(Read);
    if (Next == Now)
      break;
    Now = std::move(Next);
  }
  return Now;
}

GenomeAttr toAttr(MLIRContext &C, const Genome &G) {
  Builder B(&C);
  llvm::SmallVector<GeneAttr> Genes;
  for (const Gene &Each : G) {
    llvm::SmallVector<NamedAttribute> Params;
    for (const GeneParam &P : Each.Params)
      Params.push_back(B.getNamedAttr(
          P.Name, P.Word.empty() ? Attribute(B.getI64IntegerAttr(P.Value))
                                 : Attribute(B.getStringAttr(P.Word))));
    Genes.push_back(GeneAttr::get(&C, FlatSymbolRefAttr::get(&C, Each.Strategy),
                                  B.getDictionaryAttr(Params)));
  }
  return GenomeAttr::get(&C, Genes);
}

Genome fromAttr(GenomeAttr G) {
  Genome Result;
  for (GeneAttr Each : G.getGenes()) {
    Gene Plain{Each.getStrategy().getValue().str(), {}};
    for (NamedAttribute P : Each.getParams()) {
      if (auto Number = dyn_cast<IntegerAttr>(P.getValue()))
        Plain.Params.push_back({P.getName().str(), Number.getInt(), ""});
      else
        Plain.Params.push_back(
            {P.getName().str(), 0, cast<StringAttr>(P.getValue()).str()});
    }
    Result.push_back(std::move(Plain));
  }
  return Result;
}

} // namespace cupilot
