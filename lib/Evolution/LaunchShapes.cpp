//===- LaunchShapes.cpp - Blocks that fill a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/LaunchShapes.h"
#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace cupilot {

/// Genes of a strategy that are compared.
static constexpr size_t MostGenes = 256;
/// Shapes that are this near to the best are as good, for all that is known
/// before they run.
static constexpr double Near = 0.9;

/// Does the kernel tell the compiler the size of its blocks?
static bool isBounded(StringRef Bitcode, StringRef Symbol) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M) {
    consumeError(M.takeError());
    return false;
  }
  const Function *F = (*M)->getFunction(Symbol);
  return F && (F->hasFnAttribute("nvvm.maxntid") ||
               F->hasFnAttribute("nvvm.reqntid"));
}

LaunchShapes::LaunchShapes(const SearchProblem &P, const KernelResources &R,
                           StringRef Bitcode)
    : Gpu(P.Gpu), Arch(P.Arch), Resources(R),
      Bounded(isBounded(Bitcode, P.K.Symbol)) {
  copy_if(P.Workloads, std::back_inserter(Workloads),
          [](const Workload &W) { return W.isTimed(); });
}

static uint64_t threadsOf(const LaunchShape &S) {
  return S.Block[0] * S.Block[1] * S.Block[2];
}

/// The registers that ptxas leaves a thread for \p Blocks blocks of \p Threads
/// on a multiprocessor.
static uint64_t registersFor(const GpuDescription &Gpu, uint64_t Threads,
                             uint64_t Blocks) {
  const uint64_t Warps =
      std::max<uint64_t>(divideCeil(Threads, 32) * Blocks, 1);
  return std::min<uint64_t>(alignDown(Gpu.RegistersPerSM / (Warps * 32), 8),
                            255);
}

Error LaunchShapes::check(const Genome &G) const {
  const uint64_t Held = std::min(Gpu.MaxThreadsPerSM, residentThreads(Arch));
  bool Plain = !Bounded && !G.empty();
  for (const Gene &Each : G) {
    std::optional<ShapedLaunch> Shaped = shapedBy(Each, {});
    Plain &= Shaped && Shaped->MostThreads == 0;
    if (!Shaped || Shaped->LeastBlocks == 0 || Shaped->MostThreads == 0)
      continue;
    if (Shaped->LeastBlocks * Shaped->MostThreads > Held ||
        Shaped->LeastBlocks > Gpu.MaxBlocksPerSM)
      return findingError(Each.Strategy + ": no multiprocessor holds " +
                          Twine(Shaped->LeastBlocks) + " blocks of " +
                          Twine(Shaped->MostThreads) +
                          " threads; the most for " + Arch + " on the " +
                          Gpu.Name + " are " + Twine(Held) + " threads in " +
                          Twine(Gpu.MaxBlocksPerSM) + " blocks");
  }
  // Other genes, and bounds, may change what a thread takes.
  if (!Plain || Workloads.empty())
    return Error::success();
  uint64_t Threads = 0;
  for (const Workload &W : Workloads) {
    LaunchShape Shape = W.Shape;
    for (const Gene &Each : G)
      Shape = shapedBy(Each, Shape)->Shape;
    if (residentBlocks(Gpu, Resources, Shape) > 0)
      return Error::success();
    Threads = threadsOf(Shape);
  }
  return findingError(genomeText(G) + ": a multiprocessor of the " + Gpu.Name +
                      " does not hold a block of " + Twine(Threads) +
                      " threads with " + Twine(Resources.Registers) +
                      " registers each");
}

std::optional<double> LaunchShapes::share(const Gene &G) const {
  double Sum = 0, Weight = 0;
  for (const Workload &W : Workloads) {
    std::optional<ShapedLaunch> Shaped = shapedBy(G, W.Shape);
    if (!Shaped)
      return std::nullopt;
    Weight += double(W.Count);
    const LaunchShape &Shape = Shaped->Shape;
    const uint64_t Threads = alignTo(threadsOf(Shape), 32);
    KernelResources R = Resources;
    if (Shaped->MostThreads) {
      const uint64_t Least = registersFor(
          Gpu, Shaped->MostThreads, std::max<uint64_t>(Shaped->LeastBlocks, 1));
      // Much fewer than it takes are spilled.
      if (threadsOf(Shape) > Shaped->MostThreads || Least * 4 < R.Registers * 3)
        continue;
      R.Registers = std::min<uint64_t>(R.Registers, Least);
    }
    const uint64_t Blocks = Shape.Grid[0] * Shape.Grid[1] * Shape.Grid[2];
    const uint64_t Resident = residentBlocks(Gpu, R, Shape);
    if (Blocks == 0 || Resident == 0)
      continue;
    const uint64_t OnBusiest = divideCeil(Blocks, Gpu.Multiprocessors);
    const double Wanted =
        double(std::min<uint64_t>(Gpu.MaxThreadsPerSM, OnBusiest * Threads));
    Sum += double(W.Count) * double(std::min(Resident, OnBusiest) * Threads) /
           Wanted * double(Blocks) / double(OnBusiest * Gpu.Multiprocessors);
  }
  if (!(Weight > 0))
    return std::nullopt;
  return Sum / Weight;
}

std::vector<std::string>
LaunchShapes::favoured(ArrayRef<StrategyInfo> Strategies) const {
  std::vector<std::string> All;
  for (const StrategyInfo &S : Strategies) {
    std::vector<std::pair<double, std::string>> Shares;
    double Best = 0;
    for (const Gene &G : S.genes(MostGenes)) {
      std::optional<double> Share = share(G);
      if (!Share)
        break; // Nor do the others.
      Best = std::max(Best, *Share);
      Shares.emplace_back(*Share, G.str());
    }
    auto IsNear = [&](const auto &Each) { return Each.first >= Near * Best; };
    if (all_of(Shares, IsNear))
      continue;
    for (auto &Each : Shares)
      if (IsNear(Each))
        All.push_back(std::move(Each.second));
  }
  return All;
}

} // namespace cupilot
