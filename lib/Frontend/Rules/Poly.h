//===- Poly.h - Polynomials over launch, scalars and variables -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_POLY_H
#define CUPILOT_LIB_FRONTEND_RULES_POLY_H

#include "RewriteState.h"
#include <map>

namespace cupilot {

/// What a polynomial is made of.
struct Atom {
  enum class Kind : uint8_t {
    Thread,    ///< threadIdx of dimension Index.
    Block,     ///< blockIdx
    BlockSize, ///< blockDim
    GridSize,  ///< gridDim
    Global,    ///< blockIdx * blockDim + threadIdx
    Total,     ///< gridDim * blockDim
    Symbol,    ///< Integer argument number Index of the kernel.
    Value      ///< A value of the kernel: Node is an Expr, or, with Index 1,
               ///< a VarDecl.
  };
  Kind K;
  unsigned Index = 0;
  const void *Node = nullptr;
  auto operator<=>(const Atom &) const = default;
};

/// A polynomial with integer coefficients. One whose coefficients overflow is
/// not valid(), nor is what is made of it.
class Poly {
public:
  using Monomial = std::vector<Atom>; ///< Sorted.
  Poly() = default;
  static Poly constant(int64_t Value);
  static Poly atom(Atom A);

  bool valid() const { return Valid; }
  bool isConstant() const;
  int64_t constantPart() const;
  bool uses(Atom::Kind K, unsigned Index) const;
  bool mentionsNode(const void *Node) const;
  const std::map<Monomial, int64_t> &terms() const { return Terms; }
  void add(const Monomial &M, int64_t Coefficient);

  friend Poly operator+(const Poly &L, const Poly &R);
  friend Poly operator-(const Poly &L, const Poly &R);
  friend Poly operator*(const Poly &L, const Poly &R);
  bool operator==(const Poly &) const = default;

  /// Over the original launch, for a polynomial of the present launch and of
  /// symbols; nothing when it holds anything else.
  std::optional<Expr> toExpr(const RewriteState &S) const;

private:
  std::map<Monomial, int64_t> Terms;
  bool Valid = true;
};

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_POLY_H
