//===- Prophecy.cpp - Figures of a kernel and its variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/Evolution/PlanCost.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"

using namespace llvm;

namespace cupilot {

Prophecy::~Prophecy() = default;

double WorkloadFigures::operations() const {
  // A matrix instruction's operations are multiplications and additions; of
  // others a fused pair counts once.
  double Floating = double(Counts.Fp32 + Counts.Fp64 + Counts.Fp16) +
                    double(Counts.Tensor) / 2;
  return Floating > 0 ? Floating : double(Counts.Integer);
}

std::optional<double> WorkloadFigures::intensity() const {
  uint64_t Bytes = (Counts.ReadSectors + Counts.WrittenSectors) * 32;
  if (Bytes == 0)
    return std::nullopt;
  return operations() / double(Bytes);
}

double WorkloadFigures::rate(double Microseconds) const {
  return Microseconds > 0 ? operations() / Microseconds : 0;
}

namespace {
class Maker : public Prophecy {
public:
  Maker(const SearchProblem &P, const Ceilings &C, GpuLaunches Large)
      : P(P), C(C), Large(Large) {}
  Error load();
  Expected<CodeFigures> original() override {
    return figures(Bitcode, originalPlan(P.K), {}, Large);
  }
  Expected<CodeFigures> of(StringRef Source, const LaunchPlan &Plan,
                           const Guard &When, GpuLaunches Large) override {
    Expected<std::string> Code =
        compileTextToBitcode(Source, P.Arch, variantFlags(P.Flags));
    if (!Code)
      return Code.takeError();
    return figures(*Code, Plan, When, Large);
  }

private:
  Expected<CodeFigures> figures(StringRef Code, const LaunchPlan &Plan,
                                const Guard &When, GpuLaunches Large);

  const SearchProblem &P;
  Ceilings C;
  GpuLaunches Large;
  std::string Bitcode; ///< The original's.
  std::unique_ptr<LaunchCounter> Counter;
};
} // namespace

Error Maker::load() {
  Expected<std::string> Code = compileTextToBitcode(P.K.Slice, P.Arch, P.Flags);
  if (!Code)
    return Code.takeError();
  Bitcode = std::move(*Code);
  Expected<std::unique_ptr<LaunchCounter>> Made = LaunchCounter::create(
      {&P.K, Bitcode, P.Workloads, P.DataFolder, P.Arch, P.Seed},
      static_cast<uint64_t>(Large));
  if (!Made)
    return Made.takeError();
  Counter = std::move(*Made);
  return Error::success();
}

static void add(ModelledTime &To, const ModelledTime &T) {
  for (double ModelledTime::*Field :
       {&ModelledTime::Microseconds, &ModelledTime::Dram, &ModelledTime::L2,
        &ModelledTime::Shared, &ModelledTime::Issue, &ModelledTime::Fp,
        &ModelledTime::Latency, &ModelledTime::Launch})
    To.*Field += T.*Field;
}

Expected<CodeFigures> Maker::figures(StringRef Code, const LaunchPlan &Plan,
                                     const Guard &When, GpuLaunches Large) {
  CodeFigures Result;
  Expected<StaticFigures> Static =
      staticFigures(Code, Plan.Launches.front().Symbol);
  if (Static)
    Result.Static = std::move(*Static);
  else
    Result.NoStatic = toString(Static.takeError());
  Expected<std::string> Ptx = generatePtx(Code, P.Arch);
  if (!Ptx)
    return Ptx.takeError();
  std::map<std::string, KernelResources> Resources;
  for (const std::string &Symbol : Plan.symbols()) {
    Expected<KernelResources> R = planResources(*Ptx, Symbol, P.Arch, P.Flags);
    if (!R)
      return R.takeError();
    Resources[Symbol] = *R;
  }
  for (size_t I = 0; I < P.Workloads.size(); ++I) {
    const bool OnGpu = P.Workloads[I].isForGpuAlone();
    Result.Workloads.emplace_back();
    Result.NoFigures.emplace_back();
    if (!Counter->has(I) || (OnGpu && Large == GpuLaunches::LeftOut)) {
      Result.NoFigures.back() = "only a GPU can run it";
      continue;
    }
    Expected<std::optional<std::vector<CountedLaunch>>> Launches =
        Counter->count(Code, Plan, When, I);
    if (!Launches && OnGpu) {
      if (Error E = absorbFinding(Launches.takeError(), [&](StringRef Why) {
            Result.NoFigures.back() = Why.str();
          }))
        return std::move(E);
      continue;
    }
    if (!Launches)
      return Launches.takeError();
    if (!*Launches)
      continue;
    WorkloadFigures F;
    double Longest = -1;
    for (const CountedLaunch &L : **Launches) {
      ModelledTime T = modelTime(P.Gpu, L.Counts, Resources[L.Symbol], L.Shape);
      F.Counts += L.Counts;
      add(F.Time, T);
      if (T.Microseconds > Longest) {
        Longest = T.Microseconds;
        F.Time.Class = T.Class;
        F.Time.Occupancy = T.Occupancy;
        F.Time.Intensity = T.Intensity;
        F.Shape = L.Shape;
        F.Resources = Resources[L.Symbol];
      }
    }
    F.Ceiling = timesAtCeilings(C, F.Counts);
    Result.Workloads.back() = F;
  }
  return Result;
}

Expected<std::unique_ptr<Prophecy>>
Prophecy::create(const SearchProblem &Problem, const Ceilings &C,
                 GpuLaunches Large) {
  auto M = std::make_unique<Maker>(Problem, C, Large);
  if (Error E = M->load())
    return std::move(E);
  return std::move(M);
}

} // namespace cupilot
