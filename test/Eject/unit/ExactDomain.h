//===- ExactDomain.h - Domains in 128 bits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The referee: what Domain.h says, in arithmetic that does not overflow. It
// shares no code with what it judges.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_EJECT_EXACTDOMAIN_H
#define CUPILOT_TEST_EJECT_EXACTDOMAIN_H

#include "cupilot/Model/Domain.h"
#include <cstring>

namespace exact {

using namespace cupilot;
using Wide = __int128;
using Args = std::vector<std::vector<uint8_t>>;

/// The value of \p E; nothing where 64 bits do not hold it, at any place.
inline std::optional<Wide> value(const Expr &E, const Bindings &B) {
  auto Fits = [](Wide V) -> std::optional<Wide> {
    if (V > INT64_MAX || V < INT64_MIN)
      return std::nullopt;
    return V;
  };
  if (E.K == Expr::Kind::Constant)
    return E.Value;
  if (E.K == Expr::Kind::Dim)
    return B.Dims[size_t(E.Value)];
  if (E.K == Expr::Kind::Symbol)
    return B.Symbols[size_t(E.Value)];
  std::optional<Wide> L = value(E.Operands[0], B), R = value(E.Operands[1], B);
  if (!L || !R)
    return std::nullopt;
  if (E.K == Expr::Kind::Add)
    return Fits(*L + *R);
  if (E.K == Expr::Kind::Mul)
    return Fits(*L * *R);
  if (*R <= 0)
    return std::nullopt;
  Wide Floor = *L / *R;
  while (Floor * *R > *L)
    --Floor;
  if (E.K == Expr::Kind::Mod)
    return *L - Floor * *R;
  return Floor + (E.K == Expr::Kind::CeilDiv && Floor * *R != *L);
}

inline uint64_t bits(const Args &A, unsigned Param, unsigned Offset,
                     unsigned Bits) {
  uint64_t Raw = 0;
  for (unsigned I = 0; I < Bits / 8; ++I)
    Raw |= uint64_t(A[Param][Offset + I]) << (8 * I);
  return Raw;
}

inline bool in(const std::vector<Interval> &All, Wide V) {
  for (const Interval &I : All)
    if (V >= I.Least && V <= I.Most)
      return true;
  return false;
}

/// First and last byte + 1, where they are in the address space.
inline std::optional<std::pair<Wide, Wide>>
span(uint64_t Base, const Extents &E, const Bindings &B) {
  std::optional<Wide> First = value(E.Begin, B), Last = value(E.End, B);
  const Wide Top = Wide(1) << 64;
  if (!First || !Last || *Last < *First)
    return std::nullopt;
  First = *First + Base;
  Last = *Last + Base;
  if (*First < 0 || *First >= Top || *Last < 0 || *Last >= Top)
    return std::nullopt;
  return std::pair(*First, *Last);
}

inline bool apart(const PairClause &C, const Bindings &B, const Args &A) {
  uint64_t PA = bits(A, C.A.Param, C.A.Offset, 64),
           PB = bits(A, C.B.Param, C.B.Offset, 64);
  if (C.Equal)
    return PA == PB;
  if (!PA || !PB)
    return true;
  auto SA = span(PA, C.OfA, B), SB = span(PB, C.OfB, B);
  if (!SA || !SB)
    return false;
  // A byte that both have.
  Wide First = std::max(SA->first, SB->first),
       Last = std::min(SA->second, SB->second);
  return First >= Last;
}

inline bool contains(const DomainBox &Box, const Bindings &B, const Args &A) {
  for (const RangeClause &C : Box.Ranges)
    if (std::optional<Wide> V = value(C.E, B); !V || !in(C.In, *V))
      return false;
  for (const ResidueClause &C : Box.Residues) {
    std::optional<Wide> V = value(C.E, B);
    bool Any = false;
    for (int64_t Rest : C.In)
      Any |= V && (*V - Rest) % C.Modulus == 0;
    if (!Any)
      return false;
  }
  for (const FloatClause &C : Box.Floats) {
    const unsigned Bits = C.Number.bits();
    uint64_t Raw = bits(A, C.Number.Param, C.Number.Offset, Bits);
    const Wide Half = Wide(1) << (Bits - 1);
    if (!in(C.In, Raw < Half ? Wide(Raw) : Half - Wide(Raw) - 1))
      return false;
  }
  for (const NullClause &C : Box.Nulls)
    if (C.IsNull != (bits(A, C.Pointer.Param, C.Pointer.Offset, 64) == 0))
      return false;
  for (const Alignment &C : Box.Alignments)
    if (bits(A, C.Pointer.Param, C.Pointer.Offset, 64) % C.Bytes)
      return false;
  for (const PairClause &C : Box.Pairs)
    if (!apart(C, B, A))
      return false;
  return true;
}

inline bool contains(const Domain &D, const Bindings &B, const Args &A) {
  for (const DomainBox &Box : D.Boxes)
    if (contains(Box, B, A))
      return true;
  return false;
}

} // namespace exact

#endif // CUPILOT_TEST_EJECT_EXACTDOMAIN_H
