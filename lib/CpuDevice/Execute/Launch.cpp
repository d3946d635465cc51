//===- Launch.cpp - One launch, as its host threads share it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Portable/Random.h"
#include "cupilot/Support/Error.h"
#include <limits>
#include <thread>

using namespace llvm;

namespace cupilot {

/// Instructions that a thread takes at a time from the launch's budget.
static constexpr int64_t Grant = 1 << 20;

/// What of a grid is resident at once when threads take turns. Each thread that
/// has begun holds a stack.
static constexpr uint64_t ThreadsTogether = 4096, ClustersTogether = 32;
/// The next cluster is one of so many: a GPU starts them about in their order.
static constexpr size_t ClustersAhead = 24;

void PrintBuffer::add(std::string Record) {
  std::lock_guard Lock(Mutex);
  Size += Record.size();
  Records.push_back(std::move(Record));
  while (Size > Limit && !Records.empty()) {
    Size -= Records.front().size();
    Records.pop_front();
  }
}

std::string PrintBuffer::take() {
  std::lock_guard Lock(Mutex);
  std::string All;
  All.reserve(Size);
  for (const std::string &Record : Records)
    All += Record;
  Records.clear();
  Size = 0;
  return All;
}

static uint64_t product(const std::array<uint64_t, 3> &Dims) {
  return Dims[0] * Dims[1] * Dims[2];
}

uint64_t residentBlocks(const LoweredKernel &K, const LaunchShape &S,
                        const CpuDeviceOptions &Options) {
  const GpuDescription &Gpu = gpuOfArch(Options.Arch);
  uint64_t Threads = alignTo(product(S.Block), 32);
  uint64_t PerSm =
      std::min<uint64_t>(Gpu.MaxBlocksPerSM,
                         Gpu.MaxThreadsPerSM / std::max<uint64_t>(Threads, 32));
  // The system keeps 1 KiB for each block (CUDA C++ Programming Guide, "Compute
  // Capability 9.0").
  uint64_t Shared = K.StaticShared - K.ReservedShared + S.Shared + 1024;
  PerSm = std::min(PerSm, Gpu.SharedPerSM / Shared);
  return PerSm * Gpu.Multiprocessors;
}

LaunchState::LaunchState(const LoweredModule &Tables,
                         const LoweredKernel &Kernel, EntryFunction Entry,
                         DeviceMemory &Memory, char *Args,
                         const CpuDeviceOptions &Options,
                         const LaunchShape &Shape)
    : Tables(Tables), Kernel(Kernel), Entry(Entry), Memory(Memory), Args(Args),
      Options(Options), Shape(Shape), Blocks(product(Shape.Grid)),
      ClusterBlocks(product(Shape.Cluster)), Clusters(Blocks / ClusterBlocks),
      Runs(Clusters), Step(1), StackSize(Kernel.StackSize),
      Printed(Memory.Limits.PrintBytes),
      Left(Options.MaxLaunchInstructions
               ? static_cast<int64_t>(Options.MaxLaunchInstructions)
               : std::numeric_limits<int64_t>::max()) {
  // Blocks that may wait for others must all run.
  const bool MayLeaveOut = (Options.Count || Options.CountSteps) &&
                           !Kernel.Yields && !Shape.Cooperative;
  if (MayLeaveOut && Options.LastBlocks > 0) {
    Runs =
        std::clamp<uint64_t>(Options.LastBlocks / ClusterBlocks, 1, Clusters);
    First = Clusters - Runs;
  } else if (MayLeaveOut && Options.SampleBlocks > 0 &&
             Blocks > Options.SampleBlocks) {
    Step = std::max<uint64_t>(1, divideCeil(Blocks, Options.SampleBlocks) /
                                     ClusterBlocks);
    Runs = divideCeil(Clusters, Step);
  }
  MaxResident = std::max<uint64_t>(
      1, Shape.Cooperative
             ? Clusters
             : residentBlocks(Kernel, Shape, Options) / ClusterBlocks);
  if (Options.ResidentBlocks && !Shape.Cooperative)
    MaxResident = std::clamp<uint64_t>(Options.ResidentBlocks / ClusterBlocks,
                                       1, MaxResident);
  Together = 1;
  if (Options.ScheduleSeed) {
    Random = *Options.ScheduleSeed;
    uint64_t PerCluster = product(Shape.Block) * ClusterBlocks;
    Together = std::min(
        std::clamp<uint64_t>(ThreadsTogether / PerCluster, 2, ClustersTogether),
        MaxResident);
  }
  if (Kernel.Calls && Memory.Limits.StackBytes * 8 > CallStack)
    StackSize += alignTo(Memory.Limits.StackBytes * 8 - CallStack, 4096);
  FirstBudget = Options.MaxLaunchInstructions
                    ? std::min<int64_t>(Grant, Options.MaxInstructions
                                                   ? Options.MaxInstructions
                                                   : Grant)
                    : static_cast<int64_t>(Options.MaxInstructions);
  if (Shape.Cooperative) {
    // What the driver gives to cooperative groups: its size, and the grid's
    // barrier.
    static constexpr uint32_t Size = 64;
    Workspace = new char[Size]();
    std::memcpy(Workspace, &Size, sizeof(Size));
    Memory.addBuffer(Workspace, Size);
  }
}

LaunchState::~LaunchState() {
  if (!Workspace)
    return;
  Memory.removeBuffer(Workspace);
  delete[] Workspace;
}

bool LaunchState::takeCluster(bool Idle, uint64_t &Index) {
  if (Begun.load(std::memory_order_relaxed) >= Runs)
    return false;
  if (++Resident > MaxResident && Idle) {
    --Resident;
    return false;
  }
  if (Begun++ >= Runs) {
    --Resident;
    return false;
  }
  bool Back = Options.Reverse && !Idle;
  uint64_t Run = Options.ScheduleSeed ? takeShuffled(Idle)
                 : Back               ? Runs - 1 - FromBack++
                                      : FromFront++;
  // Steps of one length would always meet the same columns of an image.
  constexpr uint64_t GoldenRatio = 0x9e3779b97f4a7c15;
  Index = First + Run * Step;
  Index += (Run * GoldenRatio >> 32) % std::min(Step, Clusters - Index);
  return true;
}

/// One of the next. The first of them where others may wait for it, and where
/// few are resident: programs rely on low numbers to be started first.
uint64_t LaunchState::takeShuffled(bool Idle) {
  while (Next.size() < ClustersAhead && FromFront < Runs)
    Next.push_back(FromFront++);
  bool First = Idle || MaxResident < 2 * ClustersAhead;
  auto It = Next.begin() + (First ? 0 : splitMix64(Random) % Next.size());
  uint64_t Run = *It;
  Next.erase(It);
  return Run;
}

bool LaunchState::spend(int64_t Count) {
  return Left.fetch_sub(Count, std::memory_order_relaxed) >= Count;
}

/// Adds the distinct sectors of a launch of which one block in \p Scale was
/// run. All blocks together touch no more of a buffer than it has: without that
/// bound what every block reads would count once for each.
static void addDistinct(const DenseMap<uint64_t, uint8_t> &Sectors,
                        const DeviceMemory &Memory, double Scale,
                        ExecutionCounts &Counts) {
  std::vector<std::pair<uint64_t, uint8_t>> Sorted(Sectors.begin(),
                                                   Sectors.end());
  llvm::sort(Sorted);
  for (size_t First = 0, End; First < Sorted.size(); First = End) {
    std::optional<DeviceBuffer> Buffer;
    if (Scale > 1) // A buffer may begin within the sector.
      for (uint64_t Byte = 0; Byte < 32 && !Buffer; Byte += 4)
        Buffer = Memory.find(
            reinterpret_cast<const void *>(Sorted[First].first * 32 + Byte));
    uint64_t Limit = std::numeric_limits<uint64_t>::max();
    uint64_t Most = Limit;
    if (Buffer && Buffer->Size) {
      auto Base = reinterpret_cast<uint64_t>(Buffer->Base);
      Limit = (Base + Buffer->Size - 1) / 32;
      Most = Limit - Base / 32 + 1;
    } else if (Scale > 1) {
      Limit = Sorted[First].first;
    }
    uint64_t Unique = 0, Read = 0, Written = 0;
    for (End = First; End < Sorted.size() && Sorted[End].first <= Limit;
         ++End) {
      ++Unique;
      Read += (Sorted[End].second & WarpTrace::Read) != 0;
      Written += (Sorted[End].second & WarpTrace::Written) != 0;
    }
    auto Whole = [&](uint64_t Seen) {
      return std::min(Most, static_cast<uint64_t>(double(Seen) * Scale));
    };
    Counts.UniqueSectors += Whole(Unique);
    Counts.ReadSectors += Whole(Read);
    Counts.WrittenSectors += Whole(Written);
  }
}

LaunchResult LaunchState::run() {
  unsigned Wanted =
      Options.Threads ? Options.Threads : std::thread::hardware_concurrency();
  // Starting a thread costs what a few thousand device threads cost.
  uint64_t PerCluster = product(Shape.Block) * ClusterBlocks;
  uint64_t Worth = std::min(Runs, uint64_t(1) << 32) * PerCluster / 16384;
  Workers = std::clamp<uint64_t>(Worth, 1, std::max(Wanted, 1u));
  Workers = Options.ScheduleSeed ? 1 : std::min<uint64_t>(Workers, Runs);
  IdleIn = std::vector<std::atomic<uint64_t>>(Workers);
  std::vector<std::unique_ptr<Worker>> Hosts;
  for (unsigned I = 0; I < Workers; ++I) {
    IdleIn[I] = Finished - 1; // No epoch.
    Hosts.push_back(std::make_unique<Worker>(*this, I));
  }
  std::vector<std::thread> Threads;
  for (unsigned I = 1; I < Workers; ++I)
    Threads.emplace_back([&, I] { Hosts[I]->run(); });
  Hosts[0]->run();
  for (std::thread &T : Threads)
    T.join();

  LaunchResult Result;
  DenseMap<uint64_t, uint8_t> Sectors;
  DenseMap<uint64_t, uint64_t> Atomics;
  for (const auto &Host : Hosts)
    for (const auto *List : {&Host->Resident, &Host->Spare})
      for (const auto &Cluster : *List)
        for (const auto &Block : Cluster->Blocks) {
          if (Block->Fault &&
              (!Result.Fault || Block->Fault->Block < Result.Fault->Block))
            Result.Fault = Block->Fault;
          Result.Switches += double(Block->Switches);
          if (!Block->Trace)
            continue;
          Result.Counts += Block->Trace->Counts;
          for (auto [Sector, Uses] : Block->Trace->Sectors)
            Sectors[Sector] |= Uses;
          for (auto [Sector, Count] : Block->Trace->Atomics)
            Atomics[Sector] += Count;
        }
  Result.Printed = Printed.take();
  for (auto [Sector, Count] : Atomics)
    Result.Counts.HotAtomics = std::max(Result.Counts.HotAtomics, Count);
  if (Runs < Clusters)
    Result.Counts.scale(Clusters, Runs);
  const double Scale = double(Clusters) / double(Runs);
  addDistinct(Sectors, Memory, Scale, Result.Counts);
  Result.Switches *= Scale;
  if (Options.CountSteps)
    Result.Steps =
        double(static_cast<int64_t>(Options.MaxLaunchInstructions) - Left) *
        Scale;
  return Result;
}

Error checkShape(const LaunchShape &S, const LoweredKernel &K,
                 const CpuDeviceOptions &Options) {
  uint64_t Threads = 1, Cluster = 1;
  auto Illegal = [&](const Twine &Why) {
    return usageError("illegal launch of '" + K.Name + "': " + Why);
  };
  for (unsigned I = 0; I < 3; ++I) {
    if (!isGridSize(I, S.Grid[I]) || !isBlockSize(I, S.Block[I]))
      return Illegal("a dimension is outside CUDA's limits");
    if (S.Cluster[I] < 1 || S.Cluster[I] > MostLargeClusterBlocks ||
        S.Grid[I] % S.Cluster[I] != 0)
      return Illegal("the grid is not a multiple of the cluster");
    Threads *= S.Block[I];
    Cluster *= S.Cluster[I];
  }
  if (Threads > MaxBlockThreads)
    return Illegal(Twine(Threads) + " threads in a block; at most " +
                   Twine(MaxBlockThreads));
  if (Cluster > MostLargeClusterBlocks)
    return Illegal(Twine(Cluster) + " blocks in a cluster; at most " +
                   Twine(MostLargeClusterBlocks));
  uint64_t Shared = K.StaticShared - K.ReservedShared + S.Shared;
  const uint64_t Most = gpuOfArch(Options.Arch).SharedPerSM;
  if (Shared + 1024 > Most)
    return Illegal(Twine(Shared) + " bytes of shared memory; at most " +
                   Twine(Most / 1024 - 1) + " KiB");
  if (S.Cooperative && product(S.Grid) > residentBlocks(K, S, Options))
    return Illegal("a cooperative grid of " + Twine(product(S.Grid)) +
                   " blocks is too large; at most " +
                   Twine(residentBlocks(K, S, Options)) +
                   " can be resident at a time");
  return Error::success();
}

} // namespace cupilot
