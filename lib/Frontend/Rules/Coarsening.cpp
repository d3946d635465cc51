//===- Coarsening.cpp - thread_coarsening and more_threads -*- C++ -*-=======//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchRules.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Support/Error.h"

using namespace clang;

namespace cupilot {

llvm::Error applyCoarsening(RewriteState &S, const Gene &G) {
  int64_t Factor = valueOf(G, "factor");
  if (Factor < 2 || Factor > 64)
    return refuse(G, "the factor must be from 2 to 64");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/1);
    if (llvm::Error E = checkMergedThreads(V, A))
      return refuse(G, std::move(E));
    if (!A.Uses.usesGlobal(0))
      return refuse(G, "the kernel does not use the index in x");
    Expr Exact = mod(S.launch().Grid[0], Factor);
    if (A.Uses.usesTotal(0)) {
      // A grid-stride loop already: fewer blocks do more rounds.
      if (!findGridStride(A.Vals, A.Uses))
        return refuse(G, "the kernel uses gridDim.x * blockDim.x other than as "
                         "the step of one loop with independent rounds");
      allowMoreThreads(S, A, 0, Exact, MaxBlockThreads);
      S.launch().Grid[0] = ceilDiv(S.launch().Grid[0], Factor);
      return llvm::Error::success();
    }
    for (const ParmVarDecl *P : V.Fn.parameters())
      if (!A.Vals.writes(P).empty())
        return refuse(G, "the parameter '" + P->getNameAsString() +
                             "' is modified");
    std::string Index = V.freshName("index"), Round = V.freshName("round"),
                Next = V.freshName("next");
    std::vector<Edit> Edits;
    if (llvm::Error E = A.Uses.replaceGlobal(0, Index, Edits))
      return refuse(G, std::move(E));
    llvm::Expected<bool> Label = replaceReturns(V, true, Next, Edits);
    if (!Label)
      return refuse(G, Label.takeError());
    auto Open = V.offset(V.Body.getLBracLoc()),
         Close = V.offset(V.Body.getRBracLoc());
    if (!Open || !Close)
      return refuse(G, "the kernel's body comes from a macro");
    std::string Lanes = std::to_string(Factor);
    Edits.push_back(
        {*Open + 1, *Open + 1,
         "\n  for (unsigned int " + Round + " = 0; " + Round + " < " + Lanes +
             "; ++" + Round + ") {\n  const unsigned int " + Index +
             " = blockIdx.x * blockDim.x + threadIdx.x + " + Round +
             " * (gridDim.x * blockDim.x);" + (*Label ? "\n  {" : "")});
    Edits.push_back(
        {*Close, *Close, *Label ? "}\n  " + Next + ":;\n  }\n" : "}\n"});
    // The last round may reach beyond the original's threads, by less than a
    // grid of the new size.
    allowMoreThreads(S, A, 0, Exact, Factor * 2048);
    if (!applyEdits(S.Text, std::move(Edits)))
      return refuse(G, "the index cannot be edited");
    S.launch().Grid[0] = ceilDiv(S.launch().Grid[0], Factor);
    return llvm::Error::success();
  });
}

llvm::Error applyMoreThreads(RewriteState &S, const Gene &G) {
  int64_t Factor = valueOf(G, "factor");
  if (Factor < 2 || Factor > 64)
    return refuse(G, "the factor must be from 2 to 64");
  return withKernel(S, [&](KernelView &V) -> llvm::Error {
    Analysis A(V, S, /*Mask=*/1);
    if (llvm::Error E = checkMergedThreads(V, A))
      return refuse(G, std::move(E));
    std::optional<GridStride> Loop = findGridStride(A.Vals, A.Uses);
    if (!Loop)
      return refuse(G, "the kernel is no grid-stride loop with independent "
                       "rounds");
    S.launch().Grid[0] = S.launch().Grid[0] * Expr::constant(Factor);
    allowMoreThreads(S, A, 0, Expr::constant(0), /*Slack=*/0);
    // An earlier rule may have asked the same for fewer threads.
    S.requireAtLeast(Expr::constant(INT32_MAX), S.threads(0) + Loop->Limit);
    return llvm::Error::success();
  });
}

} // namespace cupilot
