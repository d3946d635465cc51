//===- PtxModule.cpp - PTX text as IR ------------------------- -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxModule.h"
#include "Lower/Lowering.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Ptx/Reach.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Parallel.h"
#include <thread>

using namespace llvm;

namespace cupilot {

Expected<std::unique_ptr<Module>>
loweredPtx(const ptx::Module &Source, LLVMContext &Context,
           std::vector<PtxLack> &Lacks,
           const std::unordered_set<std::string_view> *Only, bool AsSource) {
  auto M = std::make_unique<Module>("ptx", Context);
  ModuleLowering Lowering(Source, *M, emitOpStatement, Only);
  Lowering.AsSource = AsSource;
  Lowering.run();
  Lacks = std::move(Lowering.Lacks);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(*M, &OS))
    return createStringError("the lowered PTX is broken, which is a fault of "
                             "cupilot: " +
                             Broken);
  return std::move(M);
}

Expected<std::unique_ptr<Module>>
moduleOfPtx(StringRef Text, LLVMContext &Context, std::vector<PtxLack> &Lacks) {
  Expected<ptx::Module> Source = readPtx(Text.str());
  if (!Source)
    return Source.takeError();
  return loweredPtx(*Source, Context, Lacks);
}

Expected<std::string> bitcodeOfPtx(StringRef Ptx) {
  LLVMContext Context;
  std::vector<PtxLack> Lacks; // Their places refuse to run.
  Expected<std::unique_ptr<Module>> M = moduleOfPtx(Ptx, Context, Lacks);
  if (!M)
    return M.takeError();
  (*M)->getOrInsertNamedMetadata(MadeOfPtxName);
  std::string Result;
  raw_string_ostream OS(Result);
  WriteBitcodeToFile(**M, OS);
  return Result;
}

/// Kernels with as much text together are lowered as one module. What that
/// takes is given back before the next.
static constexpr uint64_t TextAtOnce = 128 * 1024;

namespace {
/// Kernels of a module and all that they stand on.
struct Batch {
  std::vector<const ptx::Function *> Kernels;
  std::vector<std::vector<std::string_view>> Reached; ///< By each kernel.
  std::unordered_set<std::string_view> Names;
  uint64_t Bytes = 0; ///< Of the text.

  void add(const ptx::Module &Source, const ptx::Function &Kernel);
};
} // namespace

void Batch::add(const ptx::Module &Source, const ptx::Function &Kernel) {
  Kernels.push_back(&Kernel);
  Reached.push_back(ptx::reachOf(Source, Kernel.Name));
  for (std::string_view Name : Reached.back())
    if (Names.insert(Name).second) {
      const ptx::Item *Is = Source.find(Name);
      Bytes += Is->At.End - Is->At.Begin;
    }
}

/// What the kernels of \p Some lack.
static Expected<std::vector<PtxKernel>> describe(const ptx::Module &Source,
                                                 const Batch &Some) {
  LLVMContext Context;
  std::vector<PtxLack> Lacks;
  Expected<std::unique_ptr<Module>> M =
      loweredPtx(Source, Context, Lacks, &Some.Names);
  if (!M)
    return M.takeError();
  (*M)->getOrInsertNamedMetadata(MadeOfPtxName);
  StringMap<std::vector<const PtxLack *>> ByFunction;
  for (const PtxLack &L : Lacks)
    ByFunction[L.Function].push_back(&L);
  // What the instructions have in common with other code is known later.
  Expected<LoweredModule> Tables = describeModule(**M, CpuDeviceOptions());
  if (!Tables)
    return Tables.takeError();
  StringMap<std::string> Unsupported;
  for (const LoweredKernel &L : Tables->Kernels)
    Unsupported[L.Name] = L.Unsupported;
  std::vector<PtxKernel> Kernels;
  for (auto [Kernel, Reached] : zip(Some.Kernels, Some.Reached)) {
    PtxKernel &K =
        Kernels.emplace_back(PtxKernel{std::string(Kernel->Name), {}});
    for (std::string_view Name : Reached)
      for (const PtxLack *L : ByFunction.lookup(Name))
        K.Missing.push_back({L->What, L->Line, std::string(Name)});
    std::string Whole = Unsupported.lookup(K.Name);
    if (K.Missing.empty() && !Whole.empty())
      K.Missing.push_back({Whole, 0, K.Name});
  }
  return Kernels;
}

Error kernelsOfPtx(StringRef Ptx, function_ref<void(const PtxKernel &)> Each) {
  Expected<ptx::Module> Source = readPtx(Ptx.str());
  if (!Source)
    return Source.takeError();
  std::vector<const ptx::Function *> Kernels = Source->kernels();
  const unsigned Threads = std::max(1u, std::thread::hardware_concurrency());
  for (size_t I = 0; I < Kernels.size();) {
    std::vector<Batch> Batches;
    while (I < Kernels.size() && Batches.size() < Threads) {
      Batch &Next = Batches.emplace_back();
      while (I < Kernels.size() && Next.Bytes < TextAtOnce)
        Next.add(*Source, *Kernels[I++]);
    }
    std::vector<std::optional<Expected<std::vector<PtxKernel>>>> Found(
        Batches.size());
    parallelFor(0, Batches.size(), [&](size_t Which) {
      Found[Which].emplace(describe(*Source, Batches[Which]));
    });
    Error Failed = Error::success();
    for (auto &Described : Found) {
      if (!*Described)
        Failed = joinErrors(std::move(Failed), Described->takeError());
      else if (!Failed)
        for_each(**Described, Each);
    }
    if (Failed)
      return Failed;
  }
  return Error::success();
}

Expected<std::vector<PtxKernel>> kernelsOfPtx(StringRef Ptx) {
  std::vector<PtxKernel> Kernels;
  if (Error E =
          kernelsOfPtx(Ptx, [&](const PtxKernel &K) { Kernels.push_back(K); }))
    return std::move(E);
  return Kernels;
}

} // namespace cupilot
