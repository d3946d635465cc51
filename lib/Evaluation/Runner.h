//===- Runner.h - One launch in fresh memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_RUNNER_H
#define CUPILOT_LIB_EVALUATION_RUNNER_H

#include "Cases.h"

namespace cupilot {

/// How a module is loaded. All but Wide, Rounded and Shaken compute as the code
/// says.
enum class RunMode {
  Plain,     ///< With checks of bounds.
  Reversed,  ///< Last block and thread first.
  Wide,      ///< The float64 reference.
  Rounded,   ///< The same with rounded operands of products ...
  Shaken,    ///< ... or with doubles that are rounded at random.
  Counting,  ///< For the cost model.
  Covered,   ///< Notes what is read and written.
  Checked,   ///< With every check that the original bears, and coverage.
  Scheduled, ///< Threads take turns, with the checks of what they exchange.
  Sampled    ///< Some of the blocks, of which the instructions are counted.
};

/// What a thread may do at most, in instructions.
constexpr uint64_t MostThreadSteps = 200'000'000;

/// Checks that the original itself passes.
struct BornChecks {
  uint64_t ThreadSteps = MostThreadSteps; ///< More is a runaway ...
  uint64_t LaunchSteps = 0;   ///< ... as in all threads together; 0: no limit.
  uint64_t SampleBlocks = 64; ///< That run when Sampled.
  /// Decisions of which the sides that are taken are noted; null: none.
  const llvm::BitVector *Decisions = nullptr;
  bool Races = true, SameValueRaces = true, Written = true;
  bool Divergence = true; ///< Barriers in code where a warp has divided.
  // When threads take turns (Schedules.h).
  bool Schedules = true; ///< At all; then what may be found:
  bool ScheduledRaces = true, LostUpdates = true, VolatileOrder = true;
  bool FewResident = true; ///< Blocks that wait for others to be resident.
  /// Of the process that makes the code; nothing: this one does.
  std::optional<ProcessLimits> Apart;
};

/// What a launch left behind.
struct RunResult {
  std::optional<DeviceFault> Fault;
  std::vector<Bytes> Buffers;
  std::vector<std::pair<std::string, Bytes>> Globals;
  std::vector<BufferCoverage> Coverage; ///< Of the buffers, when Checked.
  double Steps = 0;       ///< Instructions of all threads, when Sampled.
  double Switches = 0;    ///< How often threads waited for others.
  ExecutionCounts Counts; ///< Of all launches ...
  std::vector<ExecutionCounts> LaunchCounts; ///< ... and of each.
  uint64_t HeapLeft = 0;  ///< Bytes that device code did not free ...
  std::string HeapOrigin; ///< ... and where the first of them came from.
  DeviceHeapUse Heap;  ///< AtOnce: by the threads that the GPU holds at a time.
  std::string Printed; ///< By device code.
  bool BandsTouched = false;
  uint64_t Scratch = 0; ///< Bytes of the plan's buffers.
};

/// What a kernel computes with: a loaded module and the state of the device
/// variables that a program can set, before any launch.
struct LoadedKernel {
  std::unique_ptr<CpuModule> Module;
  std::vector<std::pair<std::string, Bytes>> Initial;
  uint64_t Salt = 0; ///< Of the places of buffers.
  /// Of a Rounded or Shaken one: throws other coins. An error where the module
  /// has none.
  llvm::Error setRoundingSeed(uint64_t Seed);
};

/// Pure outputs hold it before; a NaN in every format.
constexpr uint8_t Poison = 0xff;
/// For results that happen to be Poison, such as an int of -1.
constexpr uint8_t OtherPoison = 0x5a;

/// Where buffers lie follows from \p Code, too.
llvm::Expected<LoadedKernel> loadKernel(llvm::StringRef Bitcode, RunMode Mode,
                                        llvm::StringRef Arch,
                                        const BornChecks &Checks = {},
                                        uint64_t Code = 0);
/// Loads the kernel as Rounded, with operands of \p Bits behind the point.
llvm::Expected<LoadedKernel> loadRounded(llvm::StringRef Bitcode, unsigned Bits,
                                         llvm::StringRef Arch);

/// One launch of a plan with its shape.
struct ShapedLaunch {
  std::string Symbol;
  LaunchShape Shape;
};

/// A tensor map of a plan with its numbers.
struct ShapedTensorMap {
  TensorMapPlan Plan;
  TensorMapValues Values;
};

/// What a plan comes to for one launch of the original.
struct PlannedRun {
  std::vector<ShapedLaunch> Launches;
  std::vector<uint64_t> Scratch{}; ///< Bytes of each buffer.
  std::vector<ShapedTensorMap> TensorMaps{};
  uint64_t scratchBytes() const; ///< In all.
};

/// The launches of \p Plan on \p C; nothing where \p When keeps the case out.
/// \p Illegal gets what the guard admits although it is no launch.
llvm::Expected<std::optional<PlannedRun>>
plannedRun(const Kernel &K, const LaunchPlan &Plan, const Guard &When,
           const GateCase &C, std::optional<GateFinding> &Illegal);

/// Runs the launches of \p Run one after the other on \p C, in memory that
/// holds nothing but the inputs, guard bands and \p Fill; scratch memory holds
/// \p Fill too. The variables \p Shared, which the original knows, start as
/// they did for it.
llvm::Expected<RunResult>
runCase(LoadedKernel &K, const PlannedRun &Run, const GateCase &C, uint8_t Fill,
        llvm::ArrayRef<std::pair<std::string, Bytes>> Shared);

struct TensorMap;
/// Fills in what the cpu device understands. As cuTensorMapEncodeTiled: 0, or
/// why not.
int encodeTensorMap(const ShapedTensorMap &Map, uint64_t Base, TensorMap &To);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_RUNNER_H
