//===- Extract.cpp - Kernels of a translation unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Closure.h"
#include "DeviceCode.h"
#include "Lambdas.h"
#include "SliceWriter.h"
#include "SourceIdentity.h"
#include "VerifySlice.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Frontend/KernelInfo.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/Decl.h"

using namespace llvm;

namespace cupilot {

/// The slice of \p F, which \p K describes, or why there is none; \p K gets
/// the digest.
static Expected<std::string> extractKernel(ParsedUnit &Unit,
                                           const PieceTable &Pieces,
                                           const clang::FunctionDecl *F,
                                           Kernel &K) {
  Closure C(Unit, Pieces);
  KernelLambdas Lambdas;
  Error NoLambda = lambdasOf(Unit, Pieces, F).moveInto(Lambdas);
  Error NoClosure = C.collect(F, Lambdas);
  SourceIdentity Identity =
      identifySource(K.Name, K.Contract, Unit, C, Pieces, Lambdas);
  K.Digest = Identity.Digest;
  if (NoClosure) {
    consumeError(std::move(NoLambda));
    return std::move(NoClosure);
  }
  if (NoLambda)
    return std::move(NoLambda);
  if (std::optional<std::string> Argument = unspeakableArgument(Unit, F))
    return findingError("its template argument '" + *Argument +
                        "' is a type without a name that another file can "
                        "write; use a named type at namespace level");
  if (!Identity.FragileMacro.empty())
    return findingError(
        "its code depends on " + Identity.FragileMacro + " (at " +
        Identity.FragileAt +
        "), so the code of each build differs; pass the value as "
        "an argument");
  return writeSlice(Unit, Pieces, C, F, Lambdas);
}

Expected<std::vector<Kernel>>
extractKernels(StringRef File, ArrayRef<std::string> Flags,
               const ExtractOptions &Options,
               std::vector<KernelIdentity> &Builds) {
  std::vector<Kernel> Kernels;
  DeviceCode Code;
  Error Failed = withParsedUnit(
      File, Flags,
      [&](ParsedUnit &Unit) {
        PieceTable Pieces(Unit);
        for (const clang::FunctionDecl *F : kernelsOf(Unit)) {
          Kernel K;
          describeKernel(Unit, F, K);
          if (Options.Wanted && !Options.Wanted(K))
            continue;
          handleAllErrors(extractKernel(Unit, Pieces, F, K).moveInto(K.Slice),
                          [&](const ToolError &E) { K.Refusal = E.text(); });
          Kernels.push_back(std::move(K));
        }
        return Error::success();
      },
      Options.VerifySlices ? &Code : nullptr);
  if (Failed)
    return std::move(Failed);
  Builds.resize(Kernels.size());
  if (Options.VerifySlices)
    if (Error E = verifySlices(Kernels, Code, File, Flags, Builds))
      return std::move(E);
  return Kernels;
}

Expected<std::vector<Kernel>> extractKernels(StringRef File,
                                             ArrayRef<std::string> Flags,
                                             const ExtractOptions &Options) {
  std::vector<KernelIdentity> Builds;
  return extractKernels(File, Flags, Options, Builds);
}

} // namespace cupilot
