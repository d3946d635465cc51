//===- Choice.cpp - The kernels and workloads of a command -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Choice.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

Error checkChoice(size_t All, size_t Named, StringRef Source, StringRef Only) {
  static const char Hint[] = "'cupilot extract' lists a source's kernels";
  if (All == 0)
    return usageError("'" + Source + "' defines no kernel", Hint);
  if (Named == 0)
    return usageError("no kernel of '" + Source + "' is named '" + Only + "'",
                      Hint);
  return Error::success();
}

Expected<std::vector<Kernel>>
chooseKernels(Expected<std::vector<Kernel>> Kernels, StringRef Source,
              StringRef Only) {
  if (!Kernels)
    return Kernels.takeError();
  const size_t All = Kernels->size();
  llvm::erase_if(*Kernels, [&](const Kernel &K) {
    return !StringRef(K.Name).contains(Only);
  });
  if (Error E = checkChoice(All, Kernels->size(), Source, Only))
    return std::move(E);
  return Kernels;
}

Expected<std::vector<Kernel>>
extractChosen(StringRef Source, ArrayRef<std::string> Flags, StringRef Only) {
  size_t All = 0;
  auto IsNamed = [&](const Kernel &K) {
    ++All;
    return StringRef(K.Name).contains(Only);
  };
  Expected<std::vector<Kernel>> Kernels =
      extractKernels(Source, Flags, {.VerifySlices = false, .Wanted = IsNamed});
  if (!Kernels)
    return Kernels.takeError();
  if (Error E = checkChoice(All, Kernels->size(), Source, Only))
    return std::move(E);
  return Kernels;
}

Expected<WorkloadSet> WorkloadSet::load(StringRef Path) {
  Expected<std::vector<Workload>> All = loadWorkloads(Path);
  if (!All)
    return All.takeError();
  StringRef Folder = sys::path::parent_path(Path);
  return WorkloadSet{std::move(*All), Folder.empty() ? "." : Folder.str()};
}

bool fitsParameters(const Workload &W, const Kernel &K) {
  return !K.Lowered ||
         equal(W.Args, K.Params,
               [](const std::vector<uint8_t> &A, const KernelParam &P) {
                 return A.size() == P.Size;
               });
}

/// Programs that nvcc built name static kernels otherwise than clang.
static bool isOf(const Workload &W, const Kernel &K) {
  return NvccPtx::isSameKernel(W.Symbol, K.Symbol) && fitsParameters(W, K);
}

bool WorkloadSet::launches(const Kernel &K) const {
  return any_of(All, [&](const Workload &W) { return isOf(W, K); });
}

double WorkloadSet::shareOf(const Kernel &K) const {
  double Share = 0;
  for (const Workload &W : All)
    if (W.isTimed() && isOf(W, K))
      Share += W.Weight;
  return Share;
}

std::vector<Workload> WorkloadSet::of(const Kernel &K) const {
  std::vector<Workload> Found;
  for (const Workload &W : All)
    if (isOf(W, K))
      Found.emplace_back(W).Symbol = K.Symbol;
  return Found;
}

} // namespace cupilot
