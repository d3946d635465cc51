//===- Extract.cpp - Kernels of a translation unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Closure.h"
#include "KernelInfo.h"
#include "SliceWriter.h"
#include "SourceIdentity.h"
#include "VerifySlice.h"
#include "cupilot/Frontend/Kernel.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/AST/Decl.h"
#include "llvm/Support/ThreadPool.h"

using namespace llvm;

namespace cupilot {

static void extractKernel(ParsedUnit &Unit, const PieceTable &Pieces,
                          const clang::FunctionDecl *F, Kernel &K) {
  describeKernel(Unit, F, K);
  Closure C(Unit, Pieces);
  C.collect(F);
  SourceIdentity Identity = identifySource(K.Name, K.Contract, Unit, C, Pieces);
  K.Digest = Identity.Digest;
  std::string Argument = unspeakableArgument(Unit, F);
  if (!C.refusal().empty())
    K.Refusal = C.refusal();
  else if (!Argument.empty())
    K.Refusal = "its template argument '" + Argument +
                "' is a lambda or a type without a name that another file can "
                "write; use a named type at namespace level";
  else if (!Identity.FragileMacro.empty())
    K.Refusal = "its code depends on " + Identity.FragileMacro + " (at " +
                Identity.FragileAt +
                "), so it changes when lines or files move; use assert(), or "
                "pass the value as an argument";
  if (!K.Refusal.empty())
    return;
  Expected<std::string> Slice = writeSlice(Unit, Pieces, C, F);
  if (Slice)
    K.Slice = std::move(*Slice);
  else
    handleAllErrors(Slice.takeError(),
                    [&](const ToolError &E) { K.Refusal = E.text(); });
}

/// The first line in which two texts differ, for people.
static std::string firstDifference(StringRef A, StringRef B) {
  while (!A.empty() || !B.empty()) {
    auto [LineA, RestA] = A.split('\n');
    auto [LineB, RestB] = B.split('\n');
    if (LineA != LineB)
      return ("'" + LineA + "' against '" + LineB + "'").str();
    A = RestA;
    B = RestB;
  }
  return "";
}

/// Refuses the slice of \p K unless it compiles alone to the unit's code.
static void verify(Kernel &K, const PtxModule &Unit, StringRef Arch,
                   ArrayRef<std::string> Flags, StringRef Path) {
  auto Refuse = [&](const Twine &Why) {
    K.Refusal = Why.str();
    K.Slice.clear();
  };
  std::string Wanted = Unit.closureOf(K.Symbol);
  if (Wanted.empty())
    return Refuse("the compiler emits no code for it");
  if (Error E = writeFileAtomic(Path, K.Slice))
    return Refuse("the slice cannot be checked: " + toString(std::move(E)));
  Expected<std::string> Ptx = compileToPtx(Path, Arch, variantFlags(Flags));
  if (!Ptx) {
    std::string Why;
    handleAllErrors(Ptx.takeError(),
                    [&](const ToolError &E) { Why = E.text(); });
    return Refuse("its slice does not compile alone: " + Why);
  }
  std::string Got = PtxModule(*Ptx).closureOf(K.Symbol);
  if (Got != Wanted)
    Refuse("its slice compiles to other device code than the unit: " +
           firstDifference(Wanted, Got));
}

static Error verifyAll(std::vector<Kernel> &Kernels, StringRef File,
                       ArrayRef<std::string> Flags) {
  std::vector<std::string> Kept = parseFlags(Flags);
  std::string Arch = gpuArchitectures(Flags).front();
  Expected<std::string> Ptx = compileToPtx(File, Arch, Kept);
  if (!Ptx)
    return Ptx.takeError();
  PtxModule Unit(*Ptx);
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-slice");
  if (!Dir)
    return Dir.takeError();
  DefaultThreadPool Pool(hardware_concurrency());
  for (size_t I = 0; I < Kernels.size(); ++I) {
    if (Kernels[I].Slice.empty())
      continue;
    std::string Path = Dir->file("slice" + std::to_string(I) + ".cu");
    Pool.async([&, I, Path] { verify(Kernels[I], Unit, Arch, Kept, Path); });
  }
  Pool.wait();
  return Error::success();
}

Expected<std::vector<Kernel>> extractKernels(StringRef File,
                                             ArrayRef<std::string> Flags,
                                             const ExtractOptions &Options) {
  std::vector<Kernel> Kernels;
  Error Failed = withParsedUnit(File, Flags, [&](ParsedUnit &Unit) {
    PieceTable Pieces(Unit);
    for (const clang::FunctionDecl *F : kernelsOf(Unit))
      extractKernel(Unit, Pieces, F, Kernels.emplace_back());
    return Error::success();
  });
  if (Failed)
    return std::move(Failed);
  bool AnySlice =
      any_of(Kernels, [](const Kernel &K) { return !K.Slice.empty(); });
  if (Options.VerifySlices && AnySlice)
    if (Error E = verifyAll(Kernels, File, Flags))
      return std::move(E);
  return Kernels;
}

} // namespace cupilot
