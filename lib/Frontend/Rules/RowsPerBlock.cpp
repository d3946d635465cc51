//===- RowsPerBlock.cpp - rows_per_block ----------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small block for each row, a warp as a rule, leaves multiprocessors half
// empty: they hold so many blocks and no more. Several rows become one block,
// whose threadIdx.y says which of them a thread works at.
//
//===----------------------------------------------------------------------===//

#include "LaunchRules.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"

using namespace clang;

namespace cupilot {

ShapedLaunch shapeRows(const Gene &G, const LaunchShape &Of) {
  ShapedLaunch New{Of};
  const uint64_t Rows = uint64_t(std::max<int64_t>(valueOf(G, "rows"), 1));
  New.Shape.Grid[0] = Of.Grid[0] / Rows;
  New.Shape.Block[1] = Rows;
  return New;
}

llvm::Error applyRowsPerBlock(RewriteState &S, const Gene &G) {
  const int64_t Rows = valueOf(G, "rows");
  if (Rows < 2 || Rows > 32)
    return refuse(G, "a block takes 2 to 32 rows");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/1);
    // Rows know nothing of each other, but for atomics, which blocks have too.
    if (llvm::Error E = A.Fx.checkNone(
            {Effect::Barrier, Effect::Shared, Effect::Fence, Effect::Assembly,
             Effect::SpecialRead, Effect::Unknown, Effect::IndexInCall,
             Effect::Static, Effect::Lambda}))
      return refuse(G, std::move(E));
    if (!llvm::errorToBool(A.Uses.check()))
      return refuse(G, "the kernel knows global indices only: block_size does "
                       "the same");
    using Kind = LaunchVariable::Kind;
    std::vector<Edit> Edits;
    std::string Why;
    forEachExpr(&V.Body, [&](const clang::Expr *E) {
      std::optional<LaunchVariable> L = launchVariable(E);
      if (!L)
        return;
      if (L->K == Kind::GridSize && L->Dim == 0)
        Why = "gridDim.x is used at " + V.at(E->getBeginLoc());
      else if ((L->K == Kind::Thread || L->K == Kind::BlockSize) && L->Dim == 1)
        Why = "blocks have a y of their own, used at " + V.at(E->getBeginLoc());
      if (L->K != Kind::Block || L->Dim != 0)
        return;
      if (auto R = V.range(E->getSourceRange()))
        Edits.push_back(
            {R->first, R->second,
             "(blockIdx.x * " + std::to_string(Rows) + "u + threadIdx.y)"});
      else
        Why = "blockIdx.x cannot be edited at " + V.at(E->getBeginLoc());
    });
    if (!Why.empty())
      return refuse(G, Why);
    if (Edits.empty())
      return refuse(G, "the kernel does not use blockIdx.x");
    Launch &L = S.launch();
    for (unsigned Dim : {1U, 2U})
      S.requireZero(L.Block[Dim] - Expr::constant(1));
    // Lanes of a warp stay in one row.
    if (A.Fx.has(Effect::Warp))
      S.requireZero(mod(L.Block[0], 32));
    S.requireZero(mod(L.Grid[0], Rows));
    int64_t Most = MaxBlockThreads;
    if (int64_t Bound = launchBound(V)) {
      Most = std::min(Most, Bound * Rows);
      if (llvm::Error E = writeLaunchBounds(V, Most, 0, Edits))
        return refuse(G, std::move(E));
    }
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "blockIdx.x cannot be edited");
    S.requireAtLeast(Expr::constant(Most), L.Block[0] * Expr::constant(Rows));
    L.Grid[0] = floorDiv(L.Grid[0], Rows);
    L.Block[1] = Expr::constant(Rows);
    return llvm::Error::success();
  });
}

} // namespace cupilot
