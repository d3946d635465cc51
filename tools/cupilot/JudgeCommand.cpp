//===- JudgeCommand.cpp - cupilot judge -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "JudgeOnGpu.h"
#include "KeepVariant.h"
#include "SharedOptions.h"
#include "UnitToJudge.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evaluation/Signature.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace cupilot;

static cl::SubCommand Sub("judge", "Run the gate on kernels written by hand");
static cl::opt<std::string> Input(cl::Positional, cl::Required, cl::sub(Sub),
                                  cl::value_desc("F.cu"),
                                  cl::desc("The CUDA source of the original"));
static cl::opt<std::string>
    OriginalName("kernel", cl::sub(Sub), cl::Required, cl::value_desc("NAME"),
                 cl::desc("The original: its name, whole or up to '('"));
static cl::list<std::string>
    VariantNames("variant", cl::sub(Sub), cl::value_desc("NAME"),
                 cl::desc("A variant, with the original's parameters; may be "
                          "given again"));
static cl::list<std::string>
    VariantFiles("variant-file", cl::sub(Sub), cl::value_desc("V.cu"),
                 cl::desc("Where the variants are, if not in F.cu; without "
                          "--variant its kernel of the original's name"));
static cl::opt<std::string>
    WorkloadFile("workloads", cl::sub(Sub), cl::value_desc("W.mlir"),
                 cl::desc("What cupilot capture recorded"));
static cl::list<std::string>
    WorkloadTexts("workload", cl::sub(Sub), cl::value_desc("TEXT"),
                  cl::desc("A launch in words; may be given again"));
static cl::opt<std::string>
    PlanText("plan", cl::sub(Sub), cl::value_desc("PLAN"),
             cl::desc("How the variants are launched (default: as the "
                      "original)"));
static cl::opt<std::string>
    GuardText("guard", cl::sub(Sub), cl::value_desc("GUARD"),
              cl::desc("When the variants may run (default: always)"));
static ContractOption Contract(Sub);
static cl::opt<std::string> Arch("arch", cl::sub(Sub), cl::value_desc("sm_NN"),
                                 cl::desc("The GPU they are compiled for "
                                          "(default: that of FLAGS)"));
static cl::opt<uint64_t> Seed("seed", cl::sub(Sub), cl::init(1),
                              cl::value_desc("N"),
                              cl::desc("Seed of the inputs (default 1)"));
static cl::opt<std::string>
    StoreDir("store", cl::sub(Sub), cl::value_desc("DIR"),
             cl::desc("Keep the variants of --variant-file that pass, for "
                      "builds, in this store"));
static cl::opt<std::string>
    Device("device", cl::sub(Sub), cl::value_desc("cuda|spool:DIR|ssh:HOST"),
           cl::desc("Compare and time what passes on a GPU, too"));
static cl::opt<bool> Json("json", cl::sub(Sub),
                          cl::desc("Print the verdicts as JSON"));

static const char Examples[] =
    "  cupilot judge rows.cu --kernel rows --variant rowsTiled \\\n"
    "      --workload 'grid=16, block=256, args=[buffer f32 n=4096 uniform, "
    "buffer f32 n=4096 output, 4096]' -- -O2\n"
    "  cupilot judge rows.cu --kernel rows --variant-file tiled.cu "
    "--workloads rows.mlir --plan='grid=(n ceildiv 1024, 1, 1)' -- -O2\n\n"
    "Exit status 1: a variant was rejected.\n";

namespace {
struct Judged {
  std::string Name;
  GateVerdict Verdict;
  LaunchPlan Plan{};
  std::string Bitcode{};
  json::Array OnGpu{}; ///< What a GPU said, by workload.
};
} // namespace

static Expected<std::vector<Workload>> workloadsOf(const Kernel &K) {
  std::vector<Workload> Result;
  if (!WorkloadFile.empty()) {
    Expected<std::vector<Workload>> All = loadWorkloads(WorkloadFile);
    if (!All)
      return All.takeError();
    for (Workload &W : *All)
      if (W.Symbol == K.Symbol)
        Result.push_back(std::move(W));
    if (Result.empty())
      return usageError("'" + WorkloadFile + "' has no launch of '" + K.Name +
                        "'");
  }
  for (const std::string &Text : WorkloadTexts) {
    Expected<Workload> W = parseWorkload(Text, K, "w" + utostr(Result.size()));
    if (!W)
      return W.takeError();
    Result.push_back(std::move(*W));
  }
  if (Result.empty())
    return usageError("there is no workload to judge on",
                      "--workloads=W.mlir, or --workload=TEXT in words");
  return Result;
}

static void print(const Judged &J) {
  const GateVerdict &V = J.Verdict;
  if (V.Passed) {
    outs() << J.Name << ": passed (" << V.Checks << " checks, " << V.GuardMisses
           << " kept out by the guard, " << V.Skipped
           << " that the original does not bear)\n";
    return;
  }
  for (const GateFinding &F : V.Findings)
    outs() << J.Name << ": rejected: " << wordOf(F.Reason)
           << (F.Workload.empty() ? "" : " (" + F.Workload + ")") << ": "
           << F.Evidence << "\n";
}

static Expected<Judged> judgeOne(Gate &G, const Kernel &Original,
                                 const UnitToJudge &U, StringRef Variant,
                                 std::string Name, const LaunchPlan &Wanted,
                                 const Guard &When) {
  Expected<LaunchPlan> Plan = U.resolve(Wanted, Original, Variant);
  if (!Plan)
    return Plan.takeError();
  Expected<std::string> Bitcode = onlyKernels(U.Bitcode, Plan->symbols());
  if (!Bitcode)
    return Bitcode.takeError();
  Expected<GateVerdict> V = G.judge(*Bitcode, *Plan, When);
  if (!V)
    return V.takeError();
  return Judged{std::move(Name), std::move(*V), std::move(*Plan),
                std::move(*Bitcode)};
}

/// Those that passed, on the device. Returns how many a GPU rejects.
static Expected<size_t> judgeOnDevice(std::vector<Judged> &All,
                                      GpuOriginal From, const Guard &When,
                                      Gate &G) {
  std::vector<GpuVariant> Variants;
  for (const Judged &J : All)
    if (J.Verdict.Passed)
      Variants.push_back({J.Name, J.Bitcode, J.Plan, &J.Verdict});
  if (Variants.empty())
    return 0;
  Expected<std::vector<GpuOutcome>> Outcomes =
      judgeOnGpu(Device, std::move(From), Variants, When, G);
  if (!Outcomes)
    return Outcomes.takeError();
  size_t Rejected = 0;
  for (Judged &J : All) {
    bool Wrong = false;
    for (GpuOutcome &O : *Outcomes) {
      if (O.Variant != J.Name || !J.Verdict.Passed)
        continue;
      Wrong |= !O.Same;
      if (!Json)
        outs() << J.Name << " on the GPU (" << O.Workload
               << "): " << (O.Same ? "" : "rejected: ") << O.Text << "\n";
      J.OnGpu.push_back(json::Object{{"workload", O.Workload},
                                     {"same", O.Same},
                                     {"compare", std::move(O.Compare)},
                                     {"time", std::move(O.Time)},
                                     {"float64", std::move(O.Float64)}});
    }
    Rejected += Wrong;
  }
  return Rejected;
}

static Error run(const TrailingArgs &Flags) {
  if (VariantNames.empty() && VariantFiles.empty())
    return usageError("there is no variant to judge",
                      "--variant=NAME, or --variant-file=V.cu");
  if (Arch.empty())
    Arch = gpuArchitectures(Flags.Args).front();
  Expected<std::optional<PrecisionContract>> Granted = Contract.granted();
  if (!Granted)
    return Granted.takeError();
  Expected<UnitToJudge> Main = UnitToJudge::load(Input, Arch, Flags.Args);
  if (!Main)
    return Main.takeError();
  Expected<const Kernel *> Found = Main->find(OriginalName);
  if (!Found)
    return Found.takeError();
  Kernel Original = **Found;
  if (*Granted)
    Original = withContract(std::move(Original), **Granted);
  Expected<std::vector<Workload>> Workloads = workloadsOf(Original);
  if (!Workloads)
    return Workloads.takeError();
  if (!StoreDir.empty() && VariantFiles.empty())
    return usageError("a store holds variants that stand alone",
                      "write them into a file, --variant-file=V.cu");
  if (!Device.empty() && !GpuDevice::isOne(Device))
    return usageError("there is no device '" + Device + "'",
                      "cuda, spool:DIR or ssh:HOST");
  const std::vector<Workload> Launched = *Workloads;
  Expected<LaunchPlan> Plan = parsePlan(PlanText, Original);
  if (!Plan)
    return Plan.takeError();
  Expected<Guard> When = parseGuard(GuardText, Original, Arch);
  if (!When)
    return When.takeError();
  Expected<std::string> Alone = onlyKernel(Main->Bitcode, Original.Symbol);
  if (!Alone)
    return Alone.takeError();
  std::string Folder = sys::path::parent_path(WorkloadFile).str();
  const std::string OriginalBitcode = *Alone;
  Expected<std::unique_ptr<Gate>> G =
      Gate::create({&Original, std::move(*Alone), std::move(*Workloads),
                    Folder.empty() ? "." : Folder, Arch, Seed});
  if (!G)
    return G.takeError();
  std::vector<Judged> All;
  auto Add = [&](const UnitToJudge &U, StringRef Name,
                 StringRef Shown) -> Error {
    Expected<Judged> J =
        judgeOne(**G, Original, U, Name, Shown.str(), *Plan, *When);
    if (!J)
      return J.takeError();
    if (J->Verdict.Passed && !StoreDir.empty()) {
      KeptVariant Kept{sys::path::stem(U.Path).str(), U.Path, J->Plan, *When,
                       &J->Verdict};
      KeptOriginal From{&Original,
                        Input,
                        Launched,
                        Folder.empty() ? "." : Folder,
                        (*G)->originalCounts(),
                        Arch};
      if (Error E = keepVariant(StoreDir, From, Kept, Flags.Args))
        return E;
    }
    if (!Json) {
      print(*J);
      outs().flush();
    }
    All.push_back(std::move(*J));
    return Error::success();
  };
  if (VariantFiles.empty())
    for (const std::string &Name : VariantNames)
      if (Error E = Add(*Main, Name, Name))
        return E;
  for (const std::string &Path : VariantFiles) {
    Expected<std::optional<GateVerdict>> No = refusedText(Path, Flags.Args);
    if (!No)
      return No.takeError();
    if (*No) {
      All.push_back({Path, std::move(**No)});
      if (!Json)
        print(All.back());
      continue;
    }
    Expected<UnitToJudge> U = UnitToJudge::load(Path, Arch, Flags.Args);
    if (!U)
      return U.takeError();
    if (VariantNames.empty())
      if (Error E = Add(*U, Original.Symbol, Path))
        return E;
    for (const std::string &Name : VariantNames)
      if (Error E = Add(*U, Name, Name))
        return E;
  }
  size_t Rejected =
      count_if(All, [](const Judged &J) { return !J.Verdict.Passed; });
  if (!Device.empty()) {
    Expected<size_t> More =
        judgeOnDevice(All,
                      {&Original, OriginalBitcode, Launched,
                       Folder.empty() ? "." : Folder, Arch, Flags.Args},
                      *When, **G);
    if (!More)
      return More.takeError();
    Rejected += *More;
  }
  if (Json) {
    json::Array Verdicts;
    for (Judged &J : All) {
      json::Object O = toJSON(J.Verdict);
      O["variant"] = J.Name;
      if (!J.OnGpu.empty())
        O["gpu"] = std::move(J.OnGpu);
      Verdicts.push_back(std::move(O));
    }
    outs() << formatv("{0:2}\n", json::Value(json::Object{
                                     {"kernel", Original.Name},
                                     {"gate", GateVersion},
                                     {"arch", Arch.getValue()},
                                     {"verdicts", std::move(Verdicts)}}));
  }
  if (Rejected)
    return findingError(Twine(Rejected) + " of " + Twine(All.size()) +
                        " variant(s) rejected");
  return Error::success();
}

static Command Registered(Sub, Examples, run);
