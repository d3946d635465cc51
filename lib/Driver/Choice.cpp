//===- Choice.cpp - The kernels and workloads of a command -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Choice.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

Expected<std::vector<Kernel>>
chooseKernels(Expected<std::vector<Kernel>> Kernels, StringRef Source,
              StringRef Only) {
  static const char Hint[] = "'cupilot extract' lists a source's kernels";
  if (!Kernels)
    return Kernels.takeError();
  if (Kernels->empty())
    return usageError("'" + Source + "' defines no kernel", Hint);
  llvm::erase_if(*Kernels, [&](const Kernel &K) {
    return !StringRef(K.Name).contains(Only);
  });
  if (Kernels->empty())
    return usageError("no kernel of '" + Source + "' is named '" + Only + "'",
                      Hint);
  return Kernels;
}

Expected<WorkloadSet> WorkloadSet::load(StringRef Path) {
  Expected<std::vector<Workload>> All = loadWorkloads(Path);
  if (!All)
    return All.takeError();
  StringRef Folder = sys::path::parent_path(Path);
  return WorkloadSet{std::move(*All), Folder.empty() ? "." : Folder.str()};
}

bool WorkloadSet::launches(const Kernel &K) const {
  return any_of(All, [&](const Workload &W) { return W.Symbol == K.Symbol; });
}

std::vector<Workload> WorkloadSet::of(const Kernel &K) const {
  std::vector<Workload> Found;
  copy_if(All, std::back_inserter(Found),
          [&](const Workload &W) { return W.Symbol == K.Symbol; });
  return Found;
}

} // namespace cupilot
