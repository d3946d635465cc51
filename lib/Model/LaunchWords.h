//===- LaunchWords.h - The words of plans and guards -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_LAUNCHWORDS_H
#define CUPILOT_LIB_SUBSTITUTE_LAUNCHWORDS_H

#include "cupilot/Model/LaunchPlan.h"

namespace cupilot {

inline constexpr llvm::StringRef DimNames[NumLaunchDims] = {
    "gx", "gy", "gz", "bx", "by", "bz", "shared"};

inline llvm::StringRef operatorName(Expr::Kind K) {
  switch (K) {
  case Expr::Kind::Add:
    return "+";
  case Expr::Kind::Mul:
    return "*";
  case Expr::Kind::Mod:
    return "mod";
  case Expr::Kind::FloorDiv:
    return "floordiv";
  case Expr::Kind::CeilDiv:
    return "ceildiv";
  default:
    return "";
  }
}

// Parts of guards and domains, as JSON.
llvm::json::Value toJSON(const PointerRef &R);
bool fromJSON(const llvm::json::Value &V, PointerRef &R, llvm::json::Path P);
llvm::json::Value toJSON(const Alignment &A);
bool fromJSON(const llvm::json::Value &V, Alignment &A, llvm::json::Path P);

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHWORDS_H
