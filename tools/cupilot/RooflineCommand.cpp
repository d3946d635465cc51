//===- RooflineCommand.cpp - cupilot roofline -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOptions.h"
#include "SharedOptions.h"
#include "cupilot/Dialect/ModuleFile.h"
#include "cupilot/Driver/Choice.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Evolution/Prophecy.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Roofline/MeasuredFile.h"
#include "cupilot/Store/BuildStore.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace roofline_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{
      cl::Positional, cl::Required, In, cl::value_desc("F.cu|K.mlir"),
      cl::desc("The CUDA source, or a file written by cupilot extract -o")};
  cl::opt<std::string> Workloads{
      "workloads", In, cl::value_desc("W.mlir"),
      cl::desc("Workloads recorded by cupilot capture")};
  cl::opt<std::string> WorkloadText{
      "workload", In, cl::value_desc("TEXT"),
      cl::desc("Description of a launch of the kernel that --only names")};
  OnlyOption Only{Sub};
  GpuOptions Gpu{Sub};
  cl::opt<std::string> BuildFolder{"p", In, cl::value_desc("DIR"),
                                   cl::desc("Take the source's command from "
                                            "DIR/compile_commands.json")};
  cl::opt<bool> Json{"json", In, cl::desc("Print JSON")};
};
} // namespace

static const char Examples[] =
    "  cupilot roofline heat.cu --workloads heat.workloads.mlir -- -O2\n"
    "  cupilot roofline scale.cu --only=scale \\\n"
    "      --workload='grid=4096, block=256, args=[buffer f32 n=1048576 "
    "uniform, 2.0]' -- -O2\n\n"
    "Prints the class of each kernel according to three sources: its code, its "
    "run on the cpu\n"
    "device, and measurements. Exit status 1: a measured time is shorter than "
    "this GPU allows.\n";

namespace {
/// What is printed of one kernel on one workload.
struct Row {
  const Workload *W = nullptr;
  const WorkloadFigures *Figures = nullptr;
  const MeasuredLaunch *Measured = nullptr;
  Opinion Code, Counts, Measurement;
  std::string Impossible;
};
} // namespace

static std::string wordOf(const Opinion &O) {
  return O.Class ? toString(*O.Class).str() : "unknown";
}

static bool disagree(const Row &R) {
  std::optional<Bottleneck> Seen;
  for (const Opinion *O : {&R.Code, &R.Counts, &R.Measurement})
    if (O->Class && Seen && *Seen != *O->Class)
      return true;
    else if (O->Class)
      Seen = O->Class;
  return false;
}

static void print(StringRef Source, const Opinion &O) {
  outs() << "    " << left_justify(Source, 12) << " "
         << left_justify(wordOf(O), 8);
  for (auto [I, Ground] : enumerate(O.Grounds))
    outs() << (I ? "; " : " ") << Ground;
  if (!O.Unknown.empty()) {
    outs() << (O.Grounds.empty() ? " " : "; ") << "not known: ";
    for (auto [I, U] : enumerate(O.Unknown))
      outs() << (I ? ", " : "") << U;
  }
  outs() << "\n";
}

static void print(const Row &R) {
  const LaunchShape &S = R.W->Shape;
  outs() << formatv("  {0}: grid {1}x{2}x{3}, block {4}x{5}x{6}\n", R.W->Name,
                    S.Grid[0], S.Grid[1], S.Grid[2], S.Block[0], S.Block[1],
                    S.Block[2]);
  print("code", R.Code);
  print("counts", R.Counts);
  print("measured", R.Measurement);
  if (disagree(R))
    outs() << "    the sources disagree: code " << wordOf(R.Code) << ", counts "
           << wordOf(R.Counts) << ", measured " << wordOf(R.Measurement)
           << "\n";
  double Time =
      R.Measured ? R.Measured->Microseconds : R.Figures->Time.Microseconds;
  if (auto Room = headroom(R.Figures->Ceiling, Time))
    outs() << formatv("    headroom {0:f2}x ({1} {2:f2} us over {3:f2} us at "
                      "the ceiling, {4})\n",
                      *Room, R.Measured ? "measured" : "modelled", Time,
                      Time / *Room, R.Figures->Ceiling.longest());
  if (!R.Impossible.empty())
    outs() << "    " << R.Impossible << "\n";
}

static json::Object toJSON(const Row &R) {
  json::Object O{{"workload", R.W->Name},
                 {"shape", cupilot::toJSON(R.W->Shape)},
                 {"code", cupilot::toJSON(R.Code)},
                 {"counts", cupilot::toJSON(R.Counts)},
                 {"measured", cupilot::toJSON(R.Measurement)},
                 {"disagree", disagree(R)},
                 {"work", cupilot::toJSON(R.Figures->Counts)},
                 {"resources", cupilot::toJSON(R.Figures->Resources)},
                 {"model", cupilot::toJSON(R.Figures->Time)},
                 {"ceiling", cupilot::toJSON(R.Figures->Ceiling)}};
  if (R.Measured)
    O["microseconds"] = R.Measured->Microseconds;
  if (!R.Impossible.empty())
    O["impossible"] = R.Impossible;
  if (auto I = R.Figures->intensity())
    O["intensity"] = *I;
  double Time =
      R.Measured ? R.Measured->Microseconds : R.Figures->Time.Microseconds;
  if (auto Room = headroom(R.Figures->Ceiling, Time))
    O["headroom"] = *Room;
  return O;
}

/// One kernel. Returns its JSON; adds to \p Impossible.
static Expected<json::Object> show(const SearchProblem &P, const Ceilings &C,
                                   const MeasuredFile &Measured, bool Json,
                                   std::string &Impossible) {
  Expected<std::unique_ptr<Prophecy>> Made = Prophecy::create(P, C);
  if (!Made)
    return Made.takeError();
  Expected<CodeFigures> Figures = (*Made)->original();
  if (!Figures)
    return Figures.takeError();
  json::Array Rows;
  for (auto [W, F] : zip_equal(P.Workloads, Figures->Workloads)) {
    if (!F)
      continue;
    Row R;
    R.W = &W;
    R.Figures = &*F;
    R.Measured = measuredOn(Measured, P.K, W, "");
    if (Figures->Static)
      R.Code = opinionOfCode(*Figures->Static, P.Gpu, C, &W.Shape);
    else
      R.Code.Unknown.push_back(Figures->NoStatic);
    R.Counts = opinionOfCounts(F->Time, F->Ceiling);
    if (R.Measured) {
      R.Measurement = opinionOfMeasurement(*R.Measured, F->Ceiling);
      if (Error E = checkPossible(C, F->Counts, R.Measured->Microseconds,
                                  "'" + P.K.Name + "' on " + W.Name))
        if (Error Other = absorbFinding(std::move(E), [&](StringRef Why) {
              R.Impossible = Impossible = Why.str();
            }))
          return std::move(Other);
    } else {
      R.Measurement.Unknown.push_back("nothing was measured");
    }
    if (!Json)
      print(R);
    Rows.push_back(toJSON(R));
  }
  json::Object O{{"kernel", P.K.Name},
                 {"symbol", P.K.Symbol},
                 {"workloads", std::move(Rows)}};
  if (Figures->Static)
    O["code"] = cupilot::toJSON(*Figures->Static);
  return O;
}

static Expected<std::vector<Workload>>
launchesOf(const Options &O, const Kernel &K, const WorkloadSet &Recorded) {
  std::vector<Workload> Result = Recorded.of(K);
  if (!O.WorkloadText.empty()) {
    Expected<Workload> W =
        parseWorkload(O.WorkloadText, K, "w" + std::to_string(Result.size()));
    if (!W)
      return W.takeError();
    Result.push_back(std::move(*W));
  }
  return Result;
}

static Error run(const Options &O, const TrailingArgs &Trailing) {
  bool FromModule = sys::path::extension(O.Input) == ".mlir";
  Expected<std::vector<std::string>> Flags =
      clangFlagsFor(O.Input, Trailing.Args, O.BuildFolder);
  if (!Flags)
    return Flags.takeError();
  if (O.Workloads.empty() && O.WorkloadText.empty())
    return usageError("no workload was given",
                      "--workloads=W.mlir or --workload=TEXT");
  if (!O.WorkloadText.empty() && O.Only.empty())
    return usageError("--workload describes a launch of one kernel",
                      "name it with --only=TEXT");
  Expected<GpuFacts> Facts = GpuFacts::load(O.Gpu.request());
  if (!Facts)
    return Facts.takeError();
  const Ceilings &C = Facts->C;
  WorkloadSet Recorded;
  if (!O.Workloads.empty()) {
    Expected<WorkloadSet> Loaded = WorkloadSet::load(O.Workloads);
    if (!Loaded)
      return Loaded.takeError();
    Recorded = std::move(*Loaded);
  }
  Expected<std::vector<Kernel>> Kernels =
      FromModule ? chooseKernels(loadKernels(O.Input), O.Input, O.Only)
                 : extractChosen(O.Input, *Flags, O.Only);
  if (!Kernels)
    return Kernels.takeError();
  if (O.WorkloadText.empty() &&
      none_of(*Kernels, [&](const Kernel &K) { return Recorded.launches(K); }))
    return findingError("none of the " + Twine(Kernels->size()) +
                            " kernel(s) of '" + O.Input + "' is launched in '" +
                            O.Workloads + "'",
                        "record a run that launches them: cupilot capture");
  if (!O.Json)
    outs() << formatv("{0}: {1:f0} GB/s, {2:f0} G fp32 operations/s "
                      "(ceilings: {3})\n",
                      C.Gpu, C.DramGBs, C.Fp32Gops, C.Origin);
  json::Array All;
  std::string Impossible;
  for (const Kernel &K : *Kernels) {
    SearchProblem P;
    P.K = K;
    Expected<std::vector<Workload>> Launches = launchesOf(O, K, Recorded);
    if (!Launches)
      return Launches.takeError();
    P.Workloads = std::move(*Launches);
    if (P.Workloads.empty())
      continue;
    if (!O.Json)
      outs() << K.Name << "\n";
    P.Gpu = Facts->Gpu;
    P.Arch = Facts->Gpu.Arch;
    P.Flags = *Flags;
    P.DataFolder = Recorded.Folder.empty() ? "." : Recorded.Folder;
    Expected<json::Object> Shown =
        K.Refusal ? findingError(*K.Refusal)
                  : show(P, C, Facts->Measured, O.Json, Impossible);
    if (Shown) {
      All.push_back(std::move(*Shown));
      continue;
    }
    if (Error E = absorbFinding(Shown.takeError(), [&](StringRef Why) {
          if (O.Json)
            All.push_back(json::Object{
                {"kernel", K.Name}, {"symbol", K.Symbol}, {"leftOut", Why}});
          else
            outs() << "  left out: " << Why << "\n";
        }))
      return E;
  }
  if (O.Json)
    outs() << formatv("{0:2}\n",
                      json::Value(json::Object{{"ceilings", cupilot::toJSON(C)},
                                               {"kernels", std::move(All)}}));
  if (!Impossible.empty())
    return findingError("a measured time is shorter than this GPU allows",
                        Impossible);
  return Error::success();
}

static const Command Registered("roofline",
                                "Show what limits the kernels of a unit",
                                "FLAGS", Examples, run);

} // namespace roofline_command
