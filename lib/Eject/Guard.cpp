//===- Guard.cpp - Expressions and guards as CUDA C++ -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace cupilot {

const char *dimText(size_t Dim) {
  static const char *const Words[] = {"grid.x",  "grid.y",  "grid.z", "block.x",
                                      "block.y", "block.z", "shared"};
  return Words[Dim];
}

static std::string scalarText(const EjectHost &Host, int64_t Index) {
  auto I = static_cast<size_t>(Index);
  return "static_cast<" + ejectType(Host.Of->K.Scalars[I]) + ">(" +
         Host.Scalars[I] + ")";
}

static std::string callText(const char *Name, const EjectHost &Host,
                            const Expr &E) {
  return std::string(Name) + "(" + checkedText(Host, E.Operands[0]) + ", " +
         checkedText(Host, E.Operands[1]) + ")";
}

std::string checkedText(const EjectHost &Host, const Expr &E) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return "Checked(" + std::to_string(E.Value) + ")";
  case Expr::Kind::Dim:
    return std::string("Checked(") + dimText(static_cast<size_t>(E.Value)) +
           ")";
  case Expr::Kind::Symbol:
    return "Checked(" + scalarText(Host, E.Value) + ")";
  case Expr::Kind::Add:
    return "(" + checkedText(Host, E.Operands[0]) + " + " +
           checkedText(Host, E.Operands[1]) + ")";
  case Expr::Kind::Mul:
    // A product of other order may overflow elsewhere.
    return checkedText(Host, E.Operands[0]) + " * " +
           (E.Operands[1].K == Expr::Kind::Mul
                ? "(" + checkedText(Host, E.Operands[1]) + ")"
                : checkedText(Host, E.Operands[1]));
  case Expr::Kind::Mod:
    return callText("modulo", Host, E);
  case Expr::Kind::FloorDiv:
    return callText("floorDivide", Host, E);
  case Expr::Kind::CeilDiv:
    return callText("ceilDivide", Host, E);
  }
  llvm_unreachable("no other expressions");
}

std::string plainText(const EjectHost &Host, const Expr &E) {
  if (E.K == Expr::Kind::Constant)
    return std::to_string(E.Value);
  if (E.K == Expr::Kind::Dim)
    return std::string("static_cast<long long>(") +
           dimText(static_cast<size_t>(E.Value)) + ")";
  return "static_cast<long long>(" + scalarText(Host, E.Value) + ")";
}

std::string addressText(const EjectHost &Host, const PointerRef &P) {
  const std::vector<PointerRef> &All = Host.Of->K.Pointers;
  auto At = static_cast<size_t>(find(All, P) - All.begin());
  return "reinterpret_cast<unsigned long long>(" + Host.Pointers[At] + ")";
}

std::string guardText(const EjectHost &Host, const EjectVariant &V) {
  std::string Text;
  auto Require = [&](const std::string &Condition) {
    Text += "  if (!(" + Condition + "))\n    return false;\n";
  };
  for (const Constraint &C : V.When.Constraints) {
    if (C.E.K == Expr::Kind::Constant &&
        (C.IsEq ? C.E.Value == 0 : C.E.Value >= 0))
      continue;
    std::string E = checkedText(Host, C.E);
    Require(C.IsEq ? "isZero(" + E + ")" : "isAtLeast(" + E + ", 0)");
  }
  for (const Alignment &A : V.When.Alignments)
    Require(addressText(Host, A.Pointer) + " % " + std::to_string(A.Bytes) +
            " == 0");
  for (const Disjoint &D : V.When.Disjoints) {
    std::string EA = checkedText(Host, D.ExtentA),
                EB = checkedText(Host, D.ExtentB), PA = addressText(Host, D.A),
                PB = addressText(Host, D.B);
    Require("isAtLeast(" + EA + ", 0) && isAtLeast(" + EB + ", 0)");
    auto End = [](const std::string &P, const std::string &E) {
      return P + " + static_cast<unsigned long long>((" + E + ").value)";
    };
    Require(End(PA, EA) + " >= " + PA + " && " + End(PB, EB) + " >= " + PB);
    Require(End(PA, EA) + " <= " + PB + " || " + End(PB, EB) + " <= " + PA);
  }
  return Text;
}

} // namespace cupilot
