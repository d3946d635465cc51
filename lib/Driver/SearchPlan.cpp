//===- SearchPlan.cpp - Which kernels a run searches ----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SearchPlan.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Driver/ProjectKernels.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace llvm;

namespace cupilot {

static SearchItem leftOut(std::string Name, double Share, StringRef Why) {
  SearchItem I{{std::move(Name), Share}, std::nullopt};
  I.Row.leaveOut(Why);
  return I;
}

/// The kernels of R.Input that are launched, if their names hold R.Only.
static Expected<std::vector<Kernel>> kernelsOfFile(const EvolveRequest &R,
                                                   const WorkloadSet &Recorded,
                                                   raw_ostream &Log) {
  size_t Named = 0, Idle = 0;
  auto IsWanted = [&](const Kernel &K) {
    if (!StringRef(K.Name).contains(R.Only))
      return false;
    ++Named;
    const bool Launched = Recorded.launches(K);
    Idle += !Launched;
    return Launched;
  };
  // Identities are compared for each kernel, so slices need no other proof.
  size_t All = 0;
  Expected<std::vector<Kernel>> Kernels =
      R.Other ? Expected<std::vector<Kernel>>(R.Other->Kernels)
      : R.isModule()
          ? loadKernels(R.Input)
          : extractKernels(R.Input, R.Command.Flags,
                           {.VerifySlices = false, .Wanted = [&](auto &K) {
                              ++All;
                              return IsWanted(K);
                            }});
  if (!Kernels)
    return Kernels.takeError();
  if (R.isModule()) {
    All = Kernels->size();
    erase_if(*Kernels, [&](const Kernel &K) { return !IsWanted(K); });
  }
  if (Error E = checkChoice(All, Named, R.Input, R.Only))
    return std::move(E);
  if (Kernels->empty())
    return findingError("none of the " + Twine(Named) + " kernel(s) of '" +
                            R.Input + "' is launched in '" + R.Workloads + "'",
                        "record a run that launches them: cupilot capture");
  if (Idle)
    Log << R.Input << ": left out: " << Idle
        << " kernel(s) that the workloads do not launch\n";
  return Kernels;
}

/// Of another language than CUDA C++, one compiler makes code.
static Expected<std::vector<BuildCompiler>> compilersOf(const EvolveRequest &R,
                                                        raw_ostream &Log) {
  if (R.Other)
    return std::vector<BuildCompiler>{{R.Other->Compiler, R.Command.Flags}};
  return buildCompilers(R.Command, R.Compilers, Log);
}

static Expected<SearchPlan> planFile(const EvolveRequest &R,
                                     const WorkloadSet &Recorded,
                                     raw_ostream &Log) {
  Expected<std::vector<BuildCompiler>> Compilers = compilersOf(R, Log);
  if (!Compilers)
    return Compilers.takeError();
  Expected<std::vector<Kernel>> Kernels = kernelsOfFile(R, Recorded, Log);
  if (!Kernels)
    return Kernels.takeError();
  SearchPlan Plan;
  SearchedUnit *Unit =
      Plan.Units
          .emplace_back(std::make_unique<SearchedUnit>(
              R.isModule() ? "" : R.Input, R.Command, std::move(*Compilers)))
          .get();
  Unit->Other = R.Other;
  for (Kernel &K : *Kernels) {
    const double Share = Recorded.shareOf(K);
    std::string Name = K.Name;
    if (Share < R.Choice.Least) {
      ++Plan.Unchosen;
      Plan.UnchosenShare += Share;
      continue;
    }
    Plan.add({{std::move(Name), Share}, std::move(K), Unit});
  }
  for (; R.Choice.Top && Plan.Items.size() > *R.Choice.Top; ++Plan.Unchosen) {
    Plan.UnchosenShare += Plan.Items.back().Row.Share;
    Plan.Items.pop_back();
  }
  return Plan;
}

/// Of all kernels of the recording, those that are wanted and that a unit has.
static Expected<std::vector<LaunchedKernel>>
chooseLaunched(const EvolveRequest &R, const WorkloadSet &Recorded,
               ProjectKernels &Project, SearchPlan &Plan) {
  std::vector<LaunchedKernel> Wanted, Chosen;
  std::vector<std::string> Symbols;
  bool Named = false;
  for (LaunchedKernel &L : launchedKernels(Recorded)) {
    const bool IsNamed =
        StringRef(NvccPtx::sourceName(L.Symbol)).contains(R.Only);
    Named |= IsNamed;
    if (!IsNamed || L.Share < R.Choice.Least) {
      ++Plan.Unchosen;
      Plan.UnchosenShare += L.Share;
      continue;
    }
    Symbols.push_back(L.Symbol);
    Wanted.push_back(std::move(L));
  }
  if (!Named)
    return usageError("'" + R.Workloads + "' launches no kernel named '" +
                      R.Only + "'");
  Project.locate(Symbols);
  for (LaunchedKernel &L : Wanted) {
    if (Project.unitsOf(L.Symbol).empty()) {
      Plan.add(leftOut(NvccPtx::sourceName(L.Symbol), L.Share,
                       "no unit of the project defines it"));
    } else if (R.Choice.Top && Chosen.size() == *R.Choice.Top) {
      ++Plan.Unchosen;
      Plan.UnchosenShare += L.Share;
    } else {
      Chosen.push_back(std::move(L));
    }
  }
  return Chosen;
}

static Expected<SearchPlan> planProject(const EvolveRequest &R,
                                        const WorkloadSet &Recorded,
                                        raw_ostream &Log) {
  Expected<ProjectUnits> Read = readProject(R.Project);
  if (!Read)
    return Read.takeError();
  for (const std::string &Gone : Read->Gone)
    Log << Gone << ": left out: there is no such file\n";
  Log << "project: " << Read->Units.size() << " CUDA unit(s) of "
      << Read->Commands << " command(s)\n";
  ProjectKernels Project(std::move(*Read), R.Trailing);
  SearchPlan Plan;
  Expected<std::vector<LaunchedKernel>> Chosen =
      chooseLaunched(R, Recorded, Project, Plan);
  if (!Chosen)
    return Chosen.takeError();
  std::vector<std::string> Symbols;
  for (const LaunchedKernel &L : *Chosen) {
    Symbols.push_back(L.Symbol);
    Log << format("%6.1f%%  ", L.Share * 100) << NvccPtx::sourceName(L.Symbol)
        << "\n"
        << "         in "
        << Project.units()[Project.unitsOf(L.Symbol).front()].Source << "\n";
  }
  // By the unit's number; null with the reason why no compiler builds it.
  std::map<size_t, std::pair<SearchedUnit *, std::string>> Units;
  auto UnitOf = [&](size_t Index) -> std::pair<SearchedUnit *, std::string> {
    const UnitCommand &Command = Project.commandOf(Index);
    Expected<std::vector<BuildCompiler>> Compilers =
        buildCompilers(Command, R.Compilers, Log);
    if (!Compilers)
      return {nullptr, toString(Compilers.takeError())};
    Plan.Units.push_back(std::make_unique<SearchedUnit>(
        Project.units()[Index].Source, Command, std::move(*Compilers)));
    return {Plan.Units.back().get(), ""};
  };
  for (const LaunchedKernel &L : *Chosen) {
    Expected<ProjectKernel> Found = Project.kernelOf(L.Symbol, Symbols);
    if (!Found) {
      std::string Why = toString(Found.takeError());
      Log << NvccPtx::sourceName(L.Symbol) << ": left out: " << Why << "\n";
      Plan.add(leftOut(NvccPtx::sourceName(L.Symbol), L.Share, Why));
      continue;
    }
    auto Known = [&](size_t Index) {
      auto It = Units.find(Index);
      if (It == Units.end())
        It = Units.emplace(Index, UnitOf(Index)).first;
      return It->second;
    };
    const auto [Unit, Why] = Known(Found->Unit);
    if (!Unit) {
      Log << Found->K.Name << ": left out: " << Why << "\n";
      Plan.add(leftOut(Found->K.Name, L.Share, Why));
      continue;
    }
    std::vector<SearchedUnit *> Others;
    for (size_t Index : Found->Others)
      if (SearchedUnit *Other = Known(Index).first)
        Others.push_back(Other);
    std::string Name = Found->K.Name;
    Plan.add({{std::move(Name), L.Share},
              std::move(Found->K),
              Unit,
              std::move(Others)});
  }
  return Plan;
}

Expected<SearchPlan> SearchPlan::of(const EvolveRequest &R,
                                    const WorkloadSet &Recorded,
                                    raw_ostream &Log) {
  Expected<SearchPlan> Plan = R.isProject() ? planProject(R, Recorded, Log)
                                            : planFile(R, Recorded, Log);
  if (Plan && R.Contract)
    for (SearchItem &I : Plan->Items)
      if (I.K)
        I.K = withContract(std::move(*I.K), *R.Contract);
  return Plan;
}

Expected<SearchProblem> searchProblem(const EvolveRequest &R,
                                      const WorkloadSet &Recorded,
                                      const SearchedUnit &Unit,
                                      const Kernel &K) {
  SearchProblem P;
  P.K = K;
  P.Workloads = Recorded.of(K);
  Expected<GpuDescription> Gpu = describeGpu(R.Gpu);
  if (!Gpu)
    return Gpu.takeError();
  P.Gpu = *Gpu;
  Expected<std::string> Arch =
      architectureOn(*Gpu, Unit.Command.Flags, /*Loaded=*/R.Device == "cpu");
  if (!Arch)
    return Arch.takeError();
  P.Arch = std::move(*Arch);
  if (Unit.Other) {
    if (P.Arch != Unit.Other->Arch)
      return usageError("the pipeline makes code for " + Unit.Other->Arch +
                            ", and the search is for " + P.Arch,
                        "name the GPU with --gpu, or change the pipeline's "
                        "cubin-chip");
    P.Language = Unit.Other->Language;
  }
  BuildCompiler First = compilerOf(K, Unit.Compilers.front());
  P.Flags = First.Flags;
  // Of variants in CUDA C++; those that the user gave come later.
  if (P.Language)
    P.Flags.insert(P.Flags.begin(), "-O2");
  P.Nvcc = First.Nvcc;
  P.Compiler = First.Name;
  P.Seed = R.Seed;
  P.Compilation = R.Compilation;
  P.DataFolder = Recorded.Folder;
  P.OnGpu = R.Device != "cpu";
  P.LargeBytes = R.LargeBytes;
  P.AcceptEstimates = R.AcceptEstimates;
  return P;
}

} // namespace cupilot
