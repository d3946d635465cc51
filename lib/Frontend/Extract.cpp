//===- Extract.cpp - Kernels of a translation unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Closure.h"
#include "DeviceCode.h"
#include "KernelInfo.h"
#include "Lambdas.h"
#include "SliceWriter.h"
#include "SourceIdentity.h"
#include "VerifySlice.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/Decl.h"

using namespace llvm;

namespace cupilot {

static void extractKernel(ParsedUnit &Unit, const PieceTable &Pieces,
                          const clang::FunctionDecl *F, Kernel &K) {
  describeKernel(Unit, F, K);
  Closure C(Unit, Pieces);
  Expected<KernelLambdas> Found = lambdasOf(Unit, Pieces, F);
  KernelLambdas Lambdas;
  std::string NoLambda;
  if (Found)
    Lambdas = std::move(*Found);
  else
    handleAllErrors(Found.takeError(),
                    [&](const ToolError &E) { NoLambda = E.text(); });
  C.collect(F, Lambdas);
  SourceIdentity Identity =
      identifySource(K.Name, K.Contract, Unit, C, Pieces, Lambdas);
  K.Digest = Identity.Digest;
  std::string Argument = unspeakableArgument(Unit, F);
  if (!C.refusal().empty())
    K.Refusal = C.refusal();
  else if (!NoLambda.empty())
    K.Refusal = NoLambda;
  else if (!Argument.empty())
    K.Refusal = "its template argument '" + Argument +
                "' is a type without a name that another file can "
                "write; use a named type at namespace level";
  else if (!Identity.FragileMacro.empty())
    K.Refusal =
        "its code depends on " + Identity.FragileMacro + " (at " +
        Identity.FragileAt +
        "), so the code of each build differs; pass the value as an argument";
  if (!K.Refusal.empty())
    return;
  Expected<std::string> Slice = writeSlice(Unit, Pieces, C, F, Lambdas);
  if (Slice)
    K.Slice = std::move(*Slice);
  else
    handleAllErrors(Slice.takeError(),
                    [&](const ToolError &E) { K.Refusal = E.text(); });
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
        for (const clang::FunctionDecl *F : kernelsOf(Unit))
          extractKernel(Unit, Pieces, F, Kernels.emplace_back());
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
