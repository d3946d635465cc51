//===- Mma.cpp - mma.sync and wmma.mma -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions". The fragments
// of wmma are opaque there; here they are made of the tiles of mma.sync, as on
// sm_80 and newer.
//
//===----------------------------------------------------------------------===//

#include "DeviceOps.h"
#include "MatrixMath.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cupilot {

namespace {
/// Order of the numbers in OpRule::Shape.
enum Field : unsigned {
  M,
  N,
  K,
  TypeA,
  TypeB,
  TypeC,
  TypeD,
  RegistersA,
  RegistersB,
  RegistersC,
  Product,
  Options
};
/// Bits of Options.
enum Option : uint32_t { Saturate = 1, Quads = 2, ColumnA = 4, RowB = 8 };
} // namespace

static MatrixShape shapeOf(const OpRule &Rule) {
  return {Rule.Shape[M], Rule.Shape[N], Rule.Shape[K]};
}

static double valueOf(ElementType T, uint64_t Bits) {
  return isFloat(T) ? decodeFloat(T, Bits)
                    : static_cast<double>(decodeInteger(T, Bits));
}

/// Collects a matrix from the registers that begin at \p First.
static void gather(const OpCall &Call, const Fragment &Map, unsigned First,
                   unsigned Registers, Dense &To) {
  for (auto [Lane, Each] : enumerate(Call.Lanes))
    for (unsigned R = 0; R < std::min(Registers, Map.registers()); ++R)
      for (unsigned E = 0; E < Map.elementsPerRegister(); ++E) {
        auto [Row, Column] = Map.place(Lane, R, E);
        To.at(Row, Column) =
            valueOf(Map.type(), Each.Inputs[First + R] >> (E * Map.bits()) &
                                    Map.elementMask());
      }
}

static void runMma(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  MatrixShape Shape = shapeOf(Call.Op.Rule);
  auto Type = [&](Field F) { return static_cast<ElementType>(S[F]); };
  Fragment MapA(Shape, MatrixUse::A, Type(TypeA)),
      MapB(Shape, MatrixUse::B, Type(TypeB)),
      MapC(Shape, MatrixUse::C, Type(TypeC)),
      MapD(Shape, MatrixUse::C, Type(TypeD));
  Dense A(Shape.M, Shape.K), B(Shape.K, Shape.N), C(Shape.M, Shape.N);
  gather(Call, MapA, 0, S[RegistersA], A);
  gather(Call, MapB, S[RegistersA], S[RegistersB], B);
  gather(Call, MapC, S[RegistersA] + S[RegistersB], S[RegistersC], C);
  multiplyAdd(Shape, A, B, C, Type(TypeA), static_cast<BitProduct>(S[Product]));
  for (auto [Lane, Each] : enumerate(Call.Lanes))
    for (unsigned R = 0; R < Call.Op.Rule.Results.size(); ++R) {
      uint64_t Word = 0;
      for (unsigned E = 0; E < MapD.elementsPerRegister(); ++E) {
        auto [Row, Column] = MapD.place(Lane, R, E);
        Word |=
            encodeResult(Type(TypeD), C.at(Row, Column), S[Options] & Saturate)
            << (E * MapD.bits());
      }
      Each.Results[R] = Word;
    }
}

/// mma.m8n8k4 of sm_70: four products, each of two groups of four lanes.
static void runQuads(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  MatrixShape Shape = shapeOf(Call.Op.Rule);
  bool WideC = S[TypeC] == static_cast<uint32_t>(ElementType::F32),
       WideD = S[TypeD] == static_cast<uint32_t>(ElementType::F32);
  auto Half = [](uint64_t Word, unsigned I) {
    return decodeFloat(ElementType::F16, Word >> (16 * I) & 0xffff);
  };
  // Row and column of accumulator I of a lane.
  auto Place = [](unsigned Lane, unsigned I, bool Wide) {
    unsigned Low = Lane % 4, High = Lane / 16 * 4;
    if (!Wide)
      return std::pair(Low + High, I);
    return std::pair((Low & 1) + (I & 2) + High, (I & 4) + (Low & 2) + (I & 1));
  };
  for (unsigned Quad = 0; Quad < 4; ++Quad) {
    Dense A(8, 4), B(4, 8), C(8, 8);
    auto Each = [&](auto Visit) {
      for (unsigned Upper = 0; Upper < 2; ++Upper)
        for (unsigned T = 0; T < 4; ++T)
          Visit(Upper * 16 + Quad * 4 + T, T, Upper * 4);
    };
    Each([&](unsigned Lane, unsigned T, unsigned High) {
      const uint64_t *In = Call.Lanes[Lane].Inputs;
      for (unsigned I = 0; I < 4; ++I) {
        double Left = Half(In[I / 2], I % 2),
               Right = Half(In[2 + I / 2], I % 2);
        (S[Options] & ColumnA ? A.at(I + High, T) : A.at(T + High, I)) = Left;
        (S[Options] & RowB ? B.at(T, I + High) : B.at(I, T + High)) = Right;
      }
      for (unsigned I = 0; I < 8; ++I) {
        auto [Row, Column] = Place(Lane, I, WideC);
        C.at(Row, Column) = WideC ? decodeFloat(ElementType::F32, In[4 + I])
                                  : Half(In[4 + I / 2], I % 2);
      }
    });
    multiplyAdd(Shape, A, B, C, ElementType::F16);
    Each([&](unsigned Lane, unsigned, unsigned) {
      uint64_t *Out = Call.Lanes[Lane].Results;
      for (unsigned I = 0; I < 8; ++I) {
        auto [Row, Column] = Place(Lane, I, WideD);
        double Sum = C.at(Row, Column) == 0 ? 0 : C.at(Row, Column);
        if (WideD)
          Out[I] = encodeFloat(ElementType::F32, Sum);
        else if (I % 2 == 0)
          Out[I / 2] = encodeFloat(ElementType::F16, Sum);
        else
          Out[I / 2] |= encodeFloat(ElementType::F16, Sum) << 16;
      }
    });
  }
}

/// True when mma.sync has this shape for A elements of this type.
static bool hasShape(ElementType T, MatrixShape S) {
  auto Any = [&](ArrayRef<MatrixShape> Shapes) {
    return any_of(Shapes, [&](MatrixShape O) {
      return O.M == S.M && O.N == S.N && O.K == S.K;
    });
  };
  switch (T) {
  case ElementType::F16:
    return Any({{8, 8, 4}, {16, 8, 8}, {16, 8, 16}});
  case ElementType::BF16:
    return Any({{16, 8, 8}, {16, 8, 16}});
  case ElementType::TF32:
    return Any({{16, 8, 4}, {16, 8, 8}});
  case ElementType::E4M3:
  case ElementType::E5M2:
    return Any({{16, 8, 16}, {16, 8, 32}});
  case ElementType::F64:
    return Any({{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
  case ElementType::S8:
  case ElementType::U8:
    return Any({{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
  case ElementType::S4:
  case ElementType::U4:
    return Any({{8, 8, 32}, {16, 8, 32}, {16, 8, 64}});
  case ElementType::B1:
    return Any({{8, 8, 128}, {16, 8, 128}, {16, 8, 256}});
  default:
    return false;
  }
}

/// Fills in what follows from shape and types.
static void finish(OpRule &Rule) {
  MatrixShape Shape = shapeOf(Rule);
  auto Registers = [&](MatrixUse Use, Field F) {
    return Fragment(Shape, Use, static_cast<ElementType>(Rule.Shape[F]))
        .registers();
  };
  Rule.Run = runMma;
  Rule.TensorWork = tensorWork(Shape.M, Shape.N, Shape.K,
                               static_cast<ElementType>(Rule.Shape[TypeA]));
  Rule.Group = 32;
  Rule.Shape[RegistersA] = Registers(MatrixUse::A, TypeA);
  Rule.Shape[RegistersB] = Registers(MatrixUse::B, TypeB);
  Rule.Shape[RegistersC] = Registers(MatrixUse::C, TypeC);
  bool Double = Rule.Shape[TypeD] == static_cast<uint32_t>(ElementType::F64);
  Rule.Results.assign(Registers(MatrixUse::C, TypeD), Double ? 64 : 32);
}

/// Whether accumulators may have these types.
static bool hasAccumulator(ElementType A, ElementType C, ElementType D) {
  if (!isFloat(A))
    return C == ElementType::S32 && D == ElementType::S32;
  if (A == ElementType::F64)
    return C == ElementType::F64 && D == ElementType::F64;
  bool Narrow = A == ElementType::F16 || elementBits(A) == 8;
  auto Fits = [&](ElementType T) {
    return T == ElementType::F32 || (Narrow && T == ElementType::F16);
  };
  return Fits(C) && Fits(D);
}

static bool sameKind(ElementType A, ElementType B) {
  return isFloat(A) == isFloat(B) && elementBits(A) == elementBits(B) &&
         (A == B || elementBits(A) <= 8);
}

static std::optional<OpRule> makeRule(MatrixShape Shape,
                                      ArrayRef<StringRef> Types) {
  OpRule Rule;
  Rule.Shape = {Shape.M, Shape.N, Shape.K};
  auto D = elementType(Types[0]), A = elementType(Types[1]),
       B = elementType(Types[2]), C = elementType(Types[3]);
  if (!A || !B || !C || !D || !sameKind(*A, *B) || !hasAccumulator(*A, *C, *D))
    return std::nullopt;
  for (auto [F, T] :
       {std::pair(TypeA, *A), {TypeB, *B}, {TypeC, *C}, {TypeD, *D}})
    Rule.Shape[F] = static_cast<uint32_t>(T);
  finish(Rule);
  return Rule;
}

/// Takes "xor.popc" or "and.popc" from \p Parts.
static BitProduct takeProduct(SmallVectorImpl<StringRef> &Parts) {
  auto *Popc = find(Parts, "popc");
  if (Popc == Parts.end() || Popc == Parts.begin())
    return BitProduct::None;
  BitProduct Product = *std::prev(Popc) == "xor"   ? BitProduct::Xor
                       : *std::prev(Popc) == "and" ? BitProduct::And
                                                   : BitProduct::None;
  if (Product != BitProduct::None)
    Parts.erase(std::prev(Popc), std::next(Popc));
  return Product;
}

static bool takeModifier(SmallVectorImpl<StringRef> &Parts, StringRef Name) {
  auto *It = find(Parts, Name);
  if (It == Parts.end())
    return false;
  Parts.erase(It);
  return true;
}

static OpRule counted(OpRule Rule) {
  Rule.MinInputs = Rule.MaxInputs =
      Rule.Shape[RegistersA] + Rule.Shape[RegistersB] + Rule.Shape[RegistersC];
  return Rule;
}

std::optional<OpRule> findMma(ArrayRef<StringRef> All) {
  if (All.size() < 2 || (All[0] != "mma" && All[0] != "wmma") ||
      (All[0] == "wmma" && All[1] != "mma"))
    return std::nullopt;
  bool Wmma = All[0] == "wmma";
  SmallVector<StringRef> Parts(All.drop_front(Wmma ? 2 : 1));
  BitProduct Product = takeProduct(Parts);
  bool Clamp = takeModifier(Parts, "satfinite");
  if (!takeModifier(Parts, "sync") || !takeModifier(Parts, "aligned") ||
      Parts.size() < 5)
    return std::nullopt;
  // mma: shape.alayout.blayout.types; wmma: alayout.blayout.shape.types.
  auto Shape = matrixShape(Parts[Wmma ? 2 : 0]);
  StringRef LayoutA = Parts[Wmma ? 0 : 1], LayoutB = Parts[Wmma ? 1 : 2];
  for (StringRef Layout : {LayoutA, LayoutB})
    if (Layout != "row" && Layout != "col")
      return std::nullopt;
  SmallVector<StringRef> Types(ArrayRef(Parts).drop_front(3));
  // The old form of wmma for f16 names D and C alone.
  if (Wmma && Types.size() == 2)
    Types = {Types[0], "f16", "f16", Types[1]};
  // The manual has the rounding before the types, nvcc writes it behind them.
  if (Wmma && Types.size() == 5 && Types.front() == "rn")
    Types.erase(Types.begin());
  else if (Wmma && Types.size() == 5 && Types.back() == "rn")
    Types.pop_back();
  if (!Shape || Types.size() != 4)
    return std::nullopt;
  std::optional<OpRule> Rule = makeRule(*Shape, Types);
  if (!Rule)
    return std::nullopt;
  auto A = static_cast<ElementType>(Rule->Shape[TypeA]);
  if ((A == ElementType::B1) != (Product != BitProduct::None) ||
      (Clamp && isFloat(A) && A != ElementType::F16))
    return std::nullopt;
  Rule->Shape[Field::Product] = static_cast<uint32_t>(Product);
  Rule->Shape[Options] = Clamp && !isFloat(A) ? Saturate : 0;
  if (Wmma) {
    std::optional<unsigned> RegsA = wmmaRegisters(*Shape, MatrixUse::A, A),
                            RegsB = wmmaRegisters(
                                *Shape, MatrixUse::B,
                                static_cast<ElementType>(Rule->Shape[TypeB]));
    if (!RegsA || !RegsB || (Clamp && isFloat(A)))
      return std::nullopt;
    Rule->Shape[RegistersA] = *RegsA;
    Rule->Shape[RegistersB] = *RegsB;
    return counted(std::move(*Rule));
  }
  if (!hasShape(A, *Shape) || (Clamp && isFloat(A)))
    return std::nullopt;
  if (A == ElementType::F16 && Shape->M == 8) {
    Rule->Run = runQuads;
    Rule->TensorWork *= 4;
    Rule->Shape[RegistersA] = Rule->Shape[RegistersB] = 2;
    auto Registers = [&](Field F) {
      return Rule->Shape[F] == static_cast<uint32_t>(ElementType::F16) ? 4u
                                                                       : 8u;
    };
    Rule->Shape[RegistersC] = Registers(TypeC);
    Rule->Results.assign(Registers(TypeD), 32);
    Rule->Shape[Options] |=
        (LayoutA == "col" ? ColumnA : 0) | (LayoutB == "row" ? RowB : 0);
    return counted(std::move(*Rule));
  }
  if (LayoutA != "row" || LayoutB != "col")
    return std::nullopt;
  return counted(std::move(*Rule));
}

} // namespace cupilot
