//===- Signature.cpp - The parameters of a variant -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Signature.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cupilot {

static bool sameParameter(const KernelParam &A, const KernelParam &B,
                          bool Lowered) {
  if (A.Size != B.Size || A.IsPointer != B.IsPointer)
    return false;
  return Lowered ||
         ((A.IsPointer || A.Type == B.Type) && A.Pointee == B.Pointee);
}

Error checkParameters(const Kernel &Original, const Kernel &Variant,
                      const LaunchPlan &Plan) {
  size_t Own = Original.Params.size(), Scratch = Plan.Scratch.size(),
         Maps = Plan.TensorMaps.size();
  auto Wrong = [&](const Twine &Why) {
    return usageError("'" + Variant.Name +
                          "' does not have the parameters of '" +
                          Original.Name + "'" +
                          (Scratch + Maps ? " and its plan: " : ": ") + Why,
                      "the original's, then a pointer for each scratch buffer, "
                      "then 'const __grid_constant__ CUtensorMap' for each "
                      "tensor map of the plan");
  };
  if (Variant.Params.size() != Own + Scratch + Maps)
    return Wrong(Twine(Own + Scratch + Maps) + " are needed, it has " +
                 Twine(Variant.Params.size()));
  for (auto [I, P] : enumerate(Variant.Params)) {
    bool Right =
        I < Own ? sameParameter(Original.Params[I], P, Original.Lowered)
        : I < Own + Scratch ? P.IsPointer && !P.PointeeConst
                            : P.Size == 128 && !P.IsPointer &&
                                  StringRef(P.Type).contains("CUtensorMap");
    if (!Right)
      return Wrong("number " + Twine(I + 1) + " is '" + P.Type + "'" +
                   (Original.Lowered && I < Own
                        ? ", and " + Twine(Original.Params[I].Size) +
                              " bytes that are " +
                              (Original.Params[I].IsPointer ? "" : "not ") +
                              "a pointer are needed"
                        : Twine()));
  }
  return Error::success();
}

} // namespace cupilot
