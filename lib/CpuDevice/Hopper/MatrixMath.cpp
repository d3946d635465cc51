//===- MatrixMath.cpp - Fragments and products of matrix instructions -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixMath.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace cupilot {

std::optional<MatrixShape> matrixShape(StringRef Modifier) {
  MatrixShape Shape;
  if (!Modifier.consume_front("m") || Modifier.consumeInteger(10, Shape.M) ||
      !Modifier.consume_front("n") || Modifier.consumeInteger(10, Shape.N) ||
      !Modifier.consume_front("k") || Modifier.consumeInteger(10, Shape.K) ||
      !Modifier.empty())
    return std::nullopt;
  return Shape;
}

Fragment::Fragment(MatrixShape Shape, MatrixUse Use, ElementType Type)
    : Use(Use), Type(Type), Bits(elementBits(Type)) {
  Rows = Use == MatrixUse::B ? Shape.K : Shape.M;
  Columns = Use == MatrixUse::A ? Shape.K : Shape.N;
  PerRegister = registerBits() / Bits;
  Registers = std::max(1u, Rows * Columns / 32 / PerRegister);
  TileRows = Shape.M == 8 ? 8 : 16;
  unsigned Tile = Use == MatrixUse::A   ? TileRows * Shape.K
                  : Use == MatrixUse::B ? 8 * Shape.K
                                        : TileRows * 8;
  PerTile = std::max(1u, Tile / 32 / PerRegister);
}

std::pair<unsigned, unsigned> Fragment::place(unsigned Lane, unsigned Register,
                                              unsigned Element) const {
  unsigned Group = Lane / 4, Thread = Lane % 4;
  Register %= Registers;
  unsigned Tile = Register / PerTile, R = Register % PerTile;
  switch (Use) {
  case MatrixUse::A: {
    unsigned Half = TileRows == 16 ? R % 2 : 0;
    unsigned Step = TileRows == 16 ? R / 2 : R;
    return {Tile * TileRows + Group + 8 * Half,
            (Step * 4 + Thread) * PerRegister + Element};
  }
  case MatrixUse::B:
    return {(R * 4 + Thread) * PerRegister + Element, Tile * 8 + Group};
  case MatrixUse::C:
    break;
  }
  unsigned Index = R * PerRegister + Element;
  unsigned RowTiles = Rows / TileRows;
  return {Tile % RowTiles * TileRows + Group + 8 * (Index / 2),
          Tile / RowTiles * 8 + Thread * 2 + Index % 2};
}

void multiplyAdd(MatrixShape Shape, Dense &A, Dense &B, Dense &C,
                 ElementType Type, BitProduct Bits) {
  for (unsigned I = 0; I < Shape.M; ++I)
    for (unsigned K = 0; K < Shape.K; ++K) {
      double Left = A.at(I, K);
      double *Row = &B.at(K, 0), *Sum = &C.at(I, 0);
      if (Type == ElementType::F64) {
        for (unsigned J = 0; J < Shape.N; ++J)
          Sum[J] = std::fma(Left, Row[J], Sum[J]);
      } else if (Bits == BitProduct::Xor) {
        for (unsigned J = 0; J < Shape.N; ++J)
          Sum[J] += Left != Row[J];
      } else {
        // The product of two bits is their conjunction.
        for (unsigned J = 0; J < Shape.N; ++J)
          Sum[J] += Left * Row[J];
      }
    }
}

uint64_t encodeResult(ElementType Type, double Value, bool Saturate) {
  if (Type == ElementType::F64)
    return encodeFloat(Type, Value);
  // Sums are made of whole numbers, of which zero has no sign.
  if (Type != ElementType::S32)
    return encodeFloat(Type, Value == 0 ? 0 : Value);
  // Sums of products of bytes stay far below 2^53.
  if (Saturate)
    Value = std::clamp(Value, -2147483648.0, 2147483647.0);
  return static_cast<uint32_t>(static_cast<int64_t>(Value));
}

} // namespace cupilot
