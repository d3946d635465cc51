//===- MatrixMemory.cpp - Matrices between memory and registers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store (PTX ISA, "Warp Level
// Matrix Load/Store Instructions"). Each lane's accesses are checked as the
// lane's own.
//
//===----------------------------------------------------------------------===//

#include "DeviceOps.h"
#include "MatrixMath.h"
#include "OpRuntime.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

namespace {
/// Order of the numbers in OpRule::Shape.
enum MoveField : unsigned { Count, Transposed };
enum WmmaField : unsigned { M, N, K, Type, Use, Column, Registers, Shared };
} // namespace

/// The register of lane \p Lane of an 8 x 8 matrix of 16-bit elements whose
/// rows lie at \p Rows.
static uint32_t matrixWord(const std::array<const char *, 8> &Rows,
                           unsigned Lane, bool Transpose) {
  uint32_t Word = 0;
  for (unsigned E = 0; E < 2; ++E) {
    unsigned Row = Lane / 4, Col = Lane % 4 * 2 + E;
    if (Transpose)
      std::swap(Row, Col);
    uint16_t Element = 0;
    std::memcpy(&Element, Rows[Row] + size_t(Col) * 2, 2);
    Word |= uint32_t(Element) << (16 * E);
  }
  return Word;
}

static void runLdMatrix(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  for (unsigned I = 0; I < S[Count]; ++I) {
    std::array<const char *, 8> Rows;
    for (unsigned R = 0; R < 8; ++R) {
      const OpLane &Lane = Call.Lanes[I * 8 + R];
      Rows[R] = readable(Call, *Lane.Thread,
                         sharedAddress(*Lane.Thread, Lane.Inputs[0]), 16);
    }
    for (unsigned Lane = 0; Lane < 32; ++Lane)
      Call.Lanes[Lane].Results[I] = matrixWord(Rows, Lane, S[Transposed]);
  }
}

static void runStMatrix(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  for (unsigned I = 0; I < S[Count]; ++I)
    for (unsigned R = 0; R < 8; ++R) {
      const OpLane &Owner = Call.Lanes[I * 8 + R];
      char *Row = writable(Call, *Owner.Thread,
                           sharedAddress(*Owner.Thread, Owner.Inputs[0]), 16);
      for (unsigned Col = 0; Col < 8; ++Col) {
        unsigned From = S[Transposed] ? Col * 4 + R / 2 : R * 4 + Col / 2;
        unsigned Half = S[Transposed] ? R % 2 : Col % 2;
        auto Element = static_cast<uint16_t>(Call.Lanes[From].Inputs[1 + I] >>
                                             (16 * Half));
        std::memcpy(Row + size_t(Col) * 2, &Element, 2);
      }
    }
}

static void runMovMatrix(const OpCall &Call) {
  std::array<std::array<uint32_t, 4>, 8> Values;
  std::array<const char *, 8> Rows;
  for (unsigned R = 0; R < 8; ++R) {
    for (unsigned C = 0; C < 4; ++C)
      Values[R][C] = Call.Lanes[R * 4 + C].Inputs[0];
    Rows[R] = reinterpret_cast<const char *>(Values[R].data());
  }
  for (unsigned Lane = 0; Lane < 32; ++Lane)
    Call.Lanes[Lane].Results[0] = matrixWord(Rows, Lane, true);
}

std::optional<OpRule> findMatrixMove(ArrayRef<StringRef> Parts) {
  bool Load = Parts[0] == "ldmatrix", Store = Parts[0] == "stmatrix";
  OpRule Rule;
  Rule.Group = 32;
  if (Parts[0] == "movmatrix") {
    if (Parts.drop_front() !=
        ArrayRef<StringRef>({"sync", "aligned", "m8n8", "trans", "b16"}))
      return std::nullopt;
    Rule.Run = runMovMatrix;
    Rule.MinInputs = Rule.MaxInputs = 1;
    Rule.Results.assign(1, 32);
    return Rule;
  }
  if ((!Load && !Store) || Parts.size() < 6 || Parts[1] != "sync" ||
      Parts[2] != "aligned" || Parts.back() != "b16")
    return std::nullopt;
  bool Shape = false;
  for (StringRef Part : Parts.slice(3, Parts.size() - 4)) {
    if (Part == "m8n8")
      Shape = true;
    else if (Part == "trans")
      Rule.Shape[Transposed] = 1;
    else if (Part == "x1" || Part == "x2" || Part == "x4")
      Rule.Shape[Count] = Part[1] - '0';
    else if (Part != "shared" && Part != "shared::cta")
      return std::nullopt;
  }
  if (!Shape || Rule.Shape[Count] == 0)
    return std::nullopt;
  Rule.Run = Load ? runLdMatrix : runStMatrix;
  Rule.ReadAlign = Rule.WriteAlign = 16;
  if (Load)
    Rule.Results.assign(Rule.Shape[Count], 32);
  Rule.MinInputs = Rule.MaxInputs = Load ? 1 : 1 + Rule.Shape[Count];
  return Rule;
}

std::optional<unsigned> wmmaRegisters(MatrixShape S, MatrixUse Use,
                                      ElementType T) {
  auto Is = [&](unsigned M, unsigned N, unsigned K) {
    return S.M == M && S.N == N && S.K == K;
  };
  bool Usual = Is(16, 16, 16) || Is(32, 8, 16) || Is(8, 32, 16);
  switch (T) {
  case ElementType::F16:
    if (!Usual)
      return std::nullopt;
    return 8; // Each element twice, or four times.
  case ElementType::BF16:
  case ElementType::S8:
  case ElementType::U8:
    if (!Usual)
      return std::nullopt;
    break;
  case ElementType::TF32:
    if (!Is(16, 16, 8))
      return std::nullopt;
    break;
  case ElementType::F64:
    if (!Is(8, 8, 4))
      return std::nullopt;
    break;
  case ElementType::S4:
  case ElementType::U4:
    if (!Is(8, 8, 32))
      return std::nullopt;
    break;
  case ElementType::B1:
    if (!Is(8, 8, 128))
      return std::nullopt;
    break;
  default:
    return std::nullopt;
  }
  return Fragment(S, Use, T).registers();
}

/// Visits the elements that a lane holds, with their addresses: the pieces
/// that lie side by side are accessed at once.
template <typename VisitFunction>
static void eachPiece(const OpCall &Call, unsigned Lane, uint64_t Base,
                      uint64_t Stride, VisitFunction Visit) {
  const auto &S = Call.Op.Rule.Shape;
  Fragment Map({S[M], S[N], S[K]}, static_cast<MatrixUse>(S[Use]),
               static_cast<ElementType>(S[Type]));
  unsigned Bits = Map.bits(), Per = Map.elementsPerRegister();
  auto BitOf = [&](unsigned R, unsigned E) {
    auto [Row, Col] = Map.place(Lane, R, E);
    return (S[Column] ? Col * Stride + Row : Row * Stride + Col) * Bits;
  };
  for (unsigned R = 0; R < Map.registers(); ++R)
    for (unsigned E = 0; E < Per;) {
      unsigned End = E + 1;
      while (End < Per && BitOf(R, End) == BitOf(R, E) + (End - E) * Bits)
        ++End;
      Visit(R, E * Bits, Base + BitOf(R, E) / 8, (End - E) * Bits / 8);
      E = End;
    }
}

/// Distance of rows or columns in elements, for one lane.
static uint64_t strideOf(const OpCall &Call, const OpLane &Lane,
                         unsigned Index) {
  const auto &S = Call.Op.Rule.Shape;
  if (Index < Call.Op.Inputs)
    return static_cast<uint32_t>(Lane.Inputs[Index]);
  auto Which = static_cast<MatrixUse>(S[Use]);
  unsigned Rows = Which == MatrixUse::B ? S[K] : S[M],
           Columns = Which == MatrixUse::A ? S[K] : S[N];
  return S[Column] ? Rows : Columns;
}

static uint64_t baseOf(const OpCall &Call, const OpLane &Lane) {
  return Call.Op.Rule.Shape[Shared]
             ? sharedAddress(*Lane.Thread, Lane.Inputs[0])
             : Lane.Inputs[0];
}

static void runWmmaLoad(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  for (auto [Index, Lane] : enumerate(Call.Lanes)) {
    std::fill_n(Lane.Results, S[Registers], 0);
    unsigned Filled = 0;
    eachPiece(Call, Index, baseOf(Call, Lane), strideOf(Call, Lane, 1),
              [&](unsigned R, unsigned Bit, uint64_t Address, uint64_t Size) {
                uint64_t Word = 0;
                std::memcpy(&Word, readable(Call, *Lane.Thread, Address, Size),
                            Size);
                Lane.Results[R] |= Word << Bit;
                Filled = R + 1;
              });
    for (unsigned R = Filled; R < S[Registers]; ++R)
      Lane.Results[R] = Lane.Results[R % Filled];
  }
}

static void runWmmaStore(const OpCall &Call) {
  const auto &S = Call.Op.Rule.Shape;
  for (auto [Index, Lane] : enumerate(Call.Lanes))
    eachPiece(
        Call, Index, baseOf(Call, Lane), strideOf(Call, Lane, 1 + S[Registers]),
        [&](unsigned R, unsigned Bit, uint64_t Address, uint64_t Size) {
          uint64_t Word = Lane.Inputs[1 + R] >> Bit;
          std::memcpy(writable(Call, *Lane.Thread, Address, Size), &Word, Size);
        });
}

/// wmma.load.{a,b,c}.sync.aligned.layout.shape{.space}.type d, [p]{, stride}
/// wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r{, stride}
std::optional<OpRule> findWmma(ArrayRef<StringRef> Parts) {
  if (Parts.size() < 8 || Parts[0] != "wmma" || Parts[3] != "sync" ||
      Parts[4] != "aligned" || (Parts[5] != "row" && Parts[5] != "col"))
    return std::nullopt;
  bool Load = Parts[1] == "load";
  auto Which = StringSwitch<std::optional<MatrixUse>>(Parts[2])
                   .Case("a", MatrixUse::A)
                   .Case("b", MatrixUse::B)
                   .Cases({"c", "d"}, MatrixUse::C)
                   .Default(std::nullopt);
  auto Shape = matrixShape(Parts[6]);
  auto T = elementType(Parts.back());
  if (!Which || !Shape || !T || (!Load && Parts[1] != "store") ||
      Load == (Parts[2] == "d") || Parts.size() > 9)
    return std::nullopt;
  OpRule Rule;
  if (Parts.size() == 9) {
    if (Parts[7].starts_with("shared"))
      Rule.Shape[Shared] = 1;
    else if (Parts[7] != "global")
      return std::nullopt;
  }
  std::optional<unsigned> Number;
  if (*Which == MatrixUse::C)
    Number = Fragment(*Shape, *Which, *T).registers();
  else
    Number = wmmaRegisters(*Shape, *Which, *T);
  if (!Number)
    return std::nullopt;
  for (auto [F, V] : {std::pair(M, Shape->M), {N, Shape->N}, {K, Shape->K}})
    Rule.Shape[F] = V;
  Rule.Shape[Type] = static_cast<uint32_t>(*T);
  Rule.Shape[Use] = static_cast<uint32_t>(*Which);
  Rule.Shape[Column] = Parts[5] == "col";
  Rule.Shape[Registers] = *Number;
  Rule.Group = 32;
  Rule.Run = Load ? runWmmaLoad : runWmmaStore;
  if (Load)
    Rule.Results.assign(*Number, *T == ElementType::F64 ? 64 : 32);
  Rule.MinInputs = Load ? 1 : 1 + *Number;
  Rule.MaxInputs = Rule.MinInputs + 1; // The stride.
  return Rule;
}

} // namespace cupilot
