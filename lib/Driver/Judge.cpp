//===- Judge.cpp - The gate on kernels written by hand --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/Judge.h"
#include "cupilot/Compile/Ptx.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/KeepVariant.h"
#include "cupilot/Driver/UnitToJudge.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Evolution/NvccCode.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;

namespace cupilot {

bool JudgedVariant::isRejected() const {
  return !Verdict.Passed ||
         any_of(OnGpu, [](const GpuOutcome &O) { return !O.Same; });
}

size_t Judgement::rejected() const {
  return count_if(Variants,
                  [](const JudgedVariant &V) { return V.isRejected(); });
}

static Error check(const JudgeRequest &R) {
  if (R.Variants.empty() && R.VariantFiles.empty())
    return usageError("no variant was given",
                      "use --variant=NAME or --variant-file=V.cu");
  if (!R.Store.empty() && R.VariantFiles.empty())
    return usageError("--store needs --variant-file: only variants in files "
                      "of their own can be stored");
  if (!R.Store.empty() && R.Unit)
    return usageError("--store: '" + R.Input +
                          "' is no CUDA, and builds replace kernels of CUDA",
                      "leave it out; --device times the variants");
  if (!R.Device.empty() && !GpuDevice::isOne(R.Device))
    return usageError("unknown device '" + R.Device + "'", GpuDevice::Known);
  return Error::success();
}

static Expected<std::vector<Workload>> workloadsOf(const Kernel &K,
                                                   const JudgeRequest &R) {
  std::vector<Workload> Result;
  if (!R.Workloads.empty()) {
    Expected<std::vector<Workload>> All = loadWorkloads(R.Workloads);
    if (!All)
      return All.takeError();
    for (Workload &W : *All)
      if (W.Symbol == K.Symbol && fitsParameters(W, K))
        Result.push_back(std::move(W));
    if (Result.empty())
      return usageError("'" + R.Workloads + "' has no launch of '" + K.Name +
                        "'");
  }
  for (const std::string &Text : R.Descriptions) {
    Expected<Workload> W = parseWorkload(Text, K, "w" + utostr(Result.size()));
    if (!W)
      return W.takeError();
    Result.push_back(std::move(*W));
  }
  if (Result.empty())
    return usageError("no workload was given",
                      "--workloads=W.mlir or --workload=TEXT");
  return Result;
}

namespace {
/// One original with its gate.
class Judge {
public:
  Judge(const JudgeRequest &R, function_ref<void(const JudgedVariant &)> Tell,
        raw_ostream &Log)
      : R(R), Tell(Tell), Log(Log), Compiler(R.Compilation) {}
  Error initialise();
  Error judgeFile(StringRef Path);
  Error judgeUnit(const UnitToJudge &U, StringRef Shown);
  Error judgeOnDevice();
  const UnitToJudge &unit() const { return Main; }
  Judgement take() {
    return {Original.Name, R.Arch, Main.NoFloat64, std::move(All)};
  }

private:
  /// What is built of kernels of a unit, which clang's \p Source alone has.
  struct Built {
    GateCode Code;
    std::string Ptx; ///< For a GPU; "" where none is asked.
  };
  Expected<Built> buildOf(const UnitToJudge &U, std::string Source,
                          ArrayRef<std::string> Symbols);
  Error judgeOne(const UnitToJudge &U, StringRef Variant, StringRef Shown);
  bool isDeep() const { return R.Deep || !R.Store.empty(); }
  /// A variant that passed the gate, for the store.
  struct Passed {
    size_t Index; ///< In All.
    std::string Path, File, Bitcode;
    std::string Gpu = {}; ///< That timed it, for Time.
    GpuRatio Time = {};
  };
  Expected<std::optional<Domain>> domainOf(const Passed &P) const;
  Error keep(const Passed &P);

  const JudgeRequest &R;
  function_ref<void(const JudgedVariant &)> Tell;
  raw_ostream &Log;
  UnitToJudge Main; ///< With the original.
  Kernel Original;
  Built Own; ///< Of the original alone.
  /// What nvcc made of units, by their files.
  std::map<std::string, NvccPtx> ByNvcc;
  std::vector<Workload> Workloads;
  std::string DataFolder;
  LaunchPlan Plan;
  Guard When;
  std::unique_ptr<Gate> TheGate;
  TextCompiler Compiler;
  OriginalCode Known; ///< What the original has.
  std::vector<TemporaryDirectory> Copies;
  std::vector<JudgedVariant> All;
  std::vector<Passed> Kept; ///< Until the GPU has judged them, too.
};
} // namespace

Expected<Judge::Built> Judge::buildOf(const UnitToJudge &U, std::string Source,
                                      ArrayRef<std::string> Symbols) {
  Built B;
  if (!U.Ptx.empty()) {
    Expected<std::string> Whole = bitcodeOfPtx(U.Ptx);
    if (!Whole)
      return Whole.takeError();
    B.Code.Source = std::move(Source);
    B.Ptx = U.Ptx;
    if (Error E = onlyKernels(*Whole, Symbols).moveInto(B.Code.Built))
      return std::move(E);
    return B;
  }
  if (!R.Command.Nvcc) {
    if (!R.Device.empty())
      if (Error E = generatePtx(Source, R.Arch).moveInto(B.Ptx))
        return std::move(E);
    B.Code.Source = std::move(Source);
    return B;
  }
  const NvccUse &Use = *R.Command.Nvcc;
  auto It = ByNvcc.find(U.File);
  if (It == ByNvcc.end()) {
    // A variant's text stands alone.
    Expected<NvccPtx> Ptx = compileNvccPtx(
        Use.Nvcc, U.File, R.Arch,
        withLineInfo(&U == &Main ? Use.UnitFlags : Use.Device.Flags),
        /*Files=*/nullptr, R.Compilation);
    if (!Ptx)
      return Ptx.takeError();
    It = ByNvcc.emplace(U.File, std::move(*Ptx)).first;
  }
  Expected<NvccCode> Code = nvccCodeOf(It->second, Use, Source, Symbols);
  if (!Code)
    return Code.takeError();
  B.Code = {std::move(Source), std::move(Code->Bitcode)};
  B.Ptx = std::move(Code->Ptx);
  return B;
}

Error Judge::initialise() {
  if (R.Unit)
    Main = *R.Unit;
  else if (Error E = UnitToJudge::load(R.Input, R.Arch, R.Command.Flags)
                         .moveInto(Main))
    return E;
  Expected<const Kernel *> Found = Main.find(R.Original);
  if (!Found)
    return Found.takeError();
  if ((*Found)->Refusal && R.Unit)
    return usageError("'" + (*Found)->Name +
                      "' cannot be judged: " + *(*Found)->Refusal);
  Original = R.Contract ? withContract(**Found, *R.Contract) : **Found;
  Expected<std::vector<Workload>> Launched = workloadsOf(Original, R);
  if (!Launched)
    return Launched.takeError();
  Workloads = std::move(*Launched);
  DataFolder = sys::path::parent_path(R.Workloads).str();
  if (DataFolder.empty())
    DataFolder = ".";
  Expected<LaunchPlan> ParsedPlan = parsePlan(R.Plan, Original);
  if (!ParsedPlan)
    return ParsedPlan.takeError();
  Plan = std::move(*ParsedPlan);
  Expected<Guard> ParsedGuard = parseGuard(R.Guard, Original, R.Arch);
  if (!ParsedGuard)
    return ParsedGuard.takeError();
  When = std::move(*ParsedGuard);
  Expected<std::string> Alone = onlyKernel(Main.Bitcode, Original.Symbol);
  if (!Alone)
    return Alone.takeError();
  if (Error E = buildOf(Main, std::move(*Alone), Original.Symbol).moveInto(Own))
    return E;
  if (Error E = OriginalCode::ofBitcode(Own.Code.Source).moveInto(Known))
    return E;
  Expected<std::unique_ptr<Gate>> Made =
      Gate::create({&Original, Own.Code, Workloads, DataFolder, R.Arch, R.Seed,
                    R.Command.Nvcc && R.Command.Nvcc->approximates(),
                    Main.NoFloat64, /*OnGpu=*/false, R.Compilation});
  if (!Made)
    return Made.takeError();
  TheGate = std::move(*Made);
  return Error::success();
}

/// The gate's, and what a GPU compared.
Expected<std::optional<Domain>> Judge::domainOf(const Passed &P) const {
  const JudgedVariant &V = All[P.Index];
  Domain Where =
      (R.Device.empty() ? V.Verdict.Where : V.Compared).value_or(Domain());
  for (const GpuOutcome &O : V.OnGpu)
    for (const Workload &W : Workloads) {
      if (W.Name != O.Workload ||
          (!W.isForGpuAlone() && !is_contained(V.Verdict.Outside, W.Name)))
        continue;
      Expected<DomainBox> Box =
          comparedBox(Original, Own.Code.Source, P.Bitcode, V.Plan, W);
      if (!Box)
        return Box.takeError();
      Where = unite(std::move(Where), Domain{{std::move(*Box)}});
    }
  if (Where.Boxes.empty())
    return std::nullopt;
  return Where;
}

Error Judge::keep(const Passed &P) {
  const JudgedVariant &V = All[P.Index];
  Expected<std::optional<Domain>> Where = domainOf(P);
  if (!Where)
    return Where.takeError();
  if (!*Where) {
    Log << V.Name << ": not added to '" << R.Store
        << "': no launch is left on which it may run\n";
    return Error::success();
  }
  KeptOriginal From{
      &Original, R.Input, Workloads, DataFolder, TheGate->originalCounts(),
      R.Arch};
  KeptVariant Kept{sys::path::stem(P.Path).str(),
                   P.File,
                   V.Plan,
                   When,
                   &V.Verdict,
                   std::move(*Where),
                   P.Gpu,
                   P.Time};
  return keepVariant(R.Store, From, Kept, R.Command, R.Compilers, Log);
}

Error Judge::judgeOne(const UnitToJudge &U, StringRef Variant,
                      StringRef Shown) {
  Expected<LaunchPlan> Launches = U.resolve(Plan, Original, Variant);
  if (!Launches)
    return Launches.takeError();
  Expected<std::string> Code = onlyKernels(U.Bitcode, Launches->symbols());
  if (!Code)
    return Code.takeError();
  std::string Bitcode = *Code;
  Expected<Built> Mine = buildOf(U, std::move(*Code), Launches->symbols());
  if (!Mine)
    return Mine.takeError();
  Expected<GateVerdict> Verdict =
      TheGate->judge(Mine->Code, *Launches, When,
                     isDeep() ? GateDepth::Keep : GateDepth::Search);
  if (!Verdict)
    return Verdict.takeError();
  All.push_back({Shown.str(), std::move(*Verdict), std::move(*Launches),
                 std::move(Mine->Ptx)});
  All.back().Names = launchNames(Original);
  if (All.back().Verdict.Passed && !R.Store.empty()) {
    Kept.push_back({All.size() - 1, U.Path, U.File, std::move(Bitcode)});
    if (R.Device.empty())
      if (Error E = keep(Kept.back()))
        return E;
  }
  Tell(All.back());
  return Error::success();
}

/// The variants of \p U; one that has no name of its own is called \p Shown.
Error Judge::judgeUnit(const UnitToJudge &U, StringRef Shown) {
  if (R.Variants.empty()) {
    // A mangled name has C++ types, which code does not show.
    std::string Name = Original.Symbol;
    if (Original.Lowered)
      if (ItaniumPartialDemangler D; !D.partialDemangle(Name.c_str()))
        if (char *Base = D.getFunctionBaseName(nullptr, nullptr)) {
          Name = StringRef(Base).split('<').first.str();
          std::free(Base);
        }
    return judgeOne(U, Name, Shown);
  }
  for (const std::string &Name : R.Variants)
    if (Error E = judgeOne(U, Name, Name))
      return E;
  return Error::success();
}

Error Judge::judgeFile(StringRef Path) {
  Expected<TemporaryDirectory> Copy =
      TemporaryDirectory::create("cupilot-judge");
  if (!Copy)
    return Copy.takeError();
  Copies.push_back(std::move(*Copy));
  std::optional<TextToJudge> Other;
  if (R.LoadOther)
    if (Error E = R.LoadOther(Path).moveInto(Other))
      return E;
  Expected<TextToJudge> Text =
      Other ? Expected<TextToJudge>(std::move(*Other))
            : loadText(Path, R.Arch, R.Command.Flags, Known, Compiler,
                       Copies.back().path());
  if (!Text)
    return Text.takeError();
  if (Text->Unit)
    return judgeUnit(*Text->Unit, Path);
  All.push_back({Path.str(), std::move(Text->Refused)});
  Tell(All.back());
  return Error::success();
}

/// Those that passed, on the GPU.
Error Judge::judgeOnDevice() {
  std::vector<GpuVariant> Variants;
  for (const JudgedVariant &V : All)
    if (V.Verdict.Passed)
      Variants.push_back({V.Name, V.Ptx, V.Plan, When, &V.Verdict});
  if (Variants.empty())
    return Error::success();
  std::vector<std::string> Flags = R.Command.Flags;
  if (R.Command.Nvcc)
    append_range(Flags, R.Command.Nvcc->ptxasFlags());
  GpuOriginal From{&Original,  Own.Code.Source, Own.Ptx, Workloads,
                   DataFolder, R.Arch,          Flags};
  if (isDeep() && R.LargeBytes) {
    Expected<std::vector<LargeLaunch>> Large =
        TheGate->largeLaunches({}, R.LargeBytes);
    if (!Large)
      return Large.takeError();
    From.Large = std::move(*Large);
  }
  const std::vector<LargeLaunch> Asked = From.Large;
  Expected<GpuOutcomes> Outcomes = judgeOnGpu(
      R.Device, std::move(From), Variants,
      [&](size_t W, const DeviceResults &Own, const DeviceResults &Variant) {
        return TheGate->judgeDeviceResults(W, Own, Variant);
      });
  if (!Outcomes)
    return Outcomes.takeError();
  for (JudgedVariant &V : All)
    for (GpuOutcome &O : Outcomes->Launches)
      if (O.Variant == V.Name && V.Verdict.Passed)
        V.OnGpu.push_back(O);
  for (auto [P, Total] : zip(Kept, Outcomes->Totals)) // All that passed.
    if (Total) {
      P.Gpu = Outcomes->Device;
      P.Time = *Total;
    }
  if (!isDeep())
    return Error::success();
  auto Right = make_filter_range(
      All, [](const JudgedVariant &V) { return V.Verdict.Passed; });
  for (auto [V, Large] : zip(Right, Outcomes->Large)) {
    Expected<std::optional<Domain>> Wider =
        withCompared(V.Verdict, Asked, Large);
    if (!Wider)
      return Wider.takeError();
    V.Large = std::move(Large);
    V.Compared = std::move(*Wider);
  }
  for (const Passed &P : Kept)
    if (!All[P.Index].isRejected())
      if (Error E = keep(P))
        return E;
  return Error::success();
}

Expected<Judgement>
judgeVariants(JudgeRequest R, function_ref<void(const JudgedVariant &)> Tell,
              raw_ostream &Log) {
  if (Error E = check(R))
    return std::move(E);
  if (R.Unit && !R.Arch.empty() && R.Arch != R.Unit->Arch)
    return usageError("the PTX of '" + R.Input + "' is for " + R.Unit->Arch +
                          ", not for " + R.Arch,
                      "leave out --arch, or make PTX for it");
  if (R.Arch.empty())
    R.Arch = R.Unit ? R.Unit->Arch : gpuArchitectures(R.Command.Flags).front();
  Judge J(R, Tell, Log);
  if (Error E = J.initialise())
    return std::move(E);
  if (R.VariantFiles.empty())
    if (Error E = J.judgeUnit(J.unit(), ""))
      return std::move(E);
  for (const std::string &Path : R.VariantFiles)
    if (Error E = J.judgeFile(Path))
      return std::move(E);
  if (!R.Device.empty())
    if (Error E = J.judgeOnDevice())
      return std::move(E);
  return J.take();
}

} // namespace cupilot
