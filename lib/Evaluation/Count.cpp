//===- Count.cpp - What launches do, counted but not judged -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Count.h"
#include "Cases.h"
#include "Runner.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

LaunchCounter::~LaunchCounter() = default;

LaunchPlan originalPlan(const Kernel &K) {
  LaunchPlan Plan;
  Plan.Launches.push_back({});
  Plan.Launches.front().Symbol = K.Symbol;
  return Plan;
}

namespace {
class Counter : public LaunchCounter {
public:
  Counter(GateSetup Setup, uint64_t GpuBytes)
      : Setup(std::move(Setup)), GpuBytes(GpuBytes) {}
  Error load();
  bool has(size_t Index) const override { return Cases[Index].has_value(); }
  Expected<std::optional<std::vector<CountedLaunch>>>
  count(StringRef Bitcode, const LaunchPlan &Plan, const Guard &When,
        size_t Index) override;

private:
  GateSetup Setup;
  uint64_t GpuBytes;
  std::vector<std::optional<GateCase>> Cases;
};
} // namespace

/// What the blocks that are counted of a launch for a GPU alone may take, in
/// instructions of all threads together: some seconds.
static constexpr uint64_t MostGpuSteps = 4'000'000'000;

Error Counter::load() {
  Expected<KernelLayout> Types = layoutOf(*Setup.Original, Setup.Code.Source);
  if (!Types)
    return Types.takeError();
  for (size_t I = 0; I < Setup.Workloads.size(); ++I) {
    const Workload &W = Setup.Workloads[I];
    if (W.isForGpuAlone() && W.bytes() > GpuBytes) {
      Cases.emplace_back();
      continue;
    }
    Expected<GateCase> C = capturedCase(Setup, *Types, I);
    if (!C && W.isForGpuAlone()) { // Such data is not in repositories.
      consumeError(C.takeError());
      Cases.emplace_back();
      continue;
    }
    if (!C)
      return C.takeError();
    Cases.push_back(std::move(*C));
  }
  return Error::success();
}

Expected<std::optional<std::vector<CountedLaunch>>>
Counter::count(StringRef Bitcode, const LaunchPlan &Plan, const Guard &When,
               size_t Index) {
  if (!has(Index))
    return std::nullopt;
  const GateCase &C = *Cases[Index];
  std::optional<GateFinding> Illegal;
  Expected<std::optional<PlannedRun>> Run =
      plannedRun(*Setup.Original, Plan, When, C, Illegal);
  if (!Run)
    return Run.takeError();
  if (!*Run) {
    if (Illegal)
      return findingError("workload " + C.Name + ": " + Illegal->Evidence);
    return std::nullopt;
  }
  BornChecks Limits;
  if (Setup.Workloads[Index].isForGpuAlone())
    Limits.LaunchSteps = MostGpuSteps;
  Expected<LoadedKernel> K =
      loadKernel(Bitcode, RunMode::Counting, Setup.Arch, Limits);
  if (!K)
    return K.takeError();
  Expected<RunResult> R = runCase(*K, **Run, C, Poison, K->Initial);
  if (!R)
    return R.takeError();
  if (R->Fault)
    return findingError("workload " + C.Name + ": " + R->Fault->str());
  std::vector<CountedLaunch> Launches;
  for (auto [L, Counts] : zip_equal((*Run)->Launches, R->LaunchCounts))
    Launches.push_back({L.Symbol, L.Shape, Counts});
  return Launches;
}

Expected<std::unique_ptr<LaunchCounter>>
LaunchCounter::create(GateSetup Setup, uint64_t GpuBytes) {
  auto C = std::make_unique<Counter>(std::move(Setup), GpuBytes);
  if (Error E = C->load())
    return std::move(E);
  return std::move(C);
}

} // namespace cupilot
