//===- Report.cpp - What a comparison shows ---------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compare/Compare.h"
#include "cupilot/Model/Basis.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Support/Json.h"
#include "cupilot/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Differences, kernels and lines of launches that are shown.
static constexpr size_t MostDifferences = 5, MostKernels = 20;
/// What the search takes for faster, too.
static constexpr double Margin = 0.02;

static Basis basisOf(const CompareResult &R) {
  return R.KernelsMeasured ? Basis::Measured : Basis::Modelled;
}

static std::string seconds(double S) {
  return S < 1 ? formatv("{0:F2} ms", S * 1e3).str()
               : formatv("{0:F3} s", S).str();
}

static std::string count(uint64_t N, StringRef What) {
  return (Twine(N) + " " + What + (N == 1 ? "" : "s")).str();
}

static void printEndings(raw_ostream &OS, const CompareResult &R) {
  for (auto [Mode, Ending] : {std::pair("originals", &R.Originals),
                              std::pair("variants", &R.Variants)}) {
    OS << "  with " << Mode << " it " << textOf(Ending->End) << "\n";
    if (!Ending->End.Status || Ending->Errors.empty())
      continue;
    for (StringRef Line : split(Ending->Errors, '\n'))
      OS << "    " << shownLine(Line, "") << "\n";
  }
}

static void printOutput(raw_ostream &OS, const OutputComparison &O) {
  StringRef Unit = O.isBinary() ? "byte" : "line";
  OS << "  " << O.name() << ": " << count(O.compared(), Unit) << " compared";
  if (O.leftOut())
    OS << ", " << O.leftOut() << " left out (runs with originals differ there)";
  if (O.ignored())
    OS << ", " << O.ignored() << " ignored (--ignore)";
  if (O.largest() > 0)
    OS << formatv(", largest relative difference {0:E1}", O.largest());
  OS << "\n";
  std::vector<LineDifference> All = O.differences(MostDifferences);
  for (const LineDifference &D : All) {
    StringRef Indent = D.Line ? "      " : "    ";
    if (D.Line)
      OS << "    " << Unit << " " << D.Line << "\n";
    OS << Indent << "originals: " << shownLine(D.Originals, D.Variants) << "\n"
       << Indent << "variants:  " << shownLine(D.Variants, D.Originals) << "\n";
  }
  if (O.differing() > All.size())
    OS << "    and " << O.differing() - All.size() << " more\n";
}

static void printLaunches(raw_ostream &OS, const CompareResult &R) {
  OS << "launches (one run): " << R.launchesOf(LaunchCountKind::Variant)
     << " took variants, " << R.launchesOf(LaunchCountKind::Original)
     << " fell back to originals\n";
  if (!R.LaunchesComplete)
    OS << "  at least: a process ended before it could say what it launched "
          "(by a signal, _exit or exec)\n";
  for (const LaunchCount &C : R.Launches)
    if (C.Kind == LaunchCountKind::Variant)
      OS << formatv("  {0,10}  {1}: {2}\n", C.Launches, C.Kernel, C.Variant);
  for (const LaunchCount &C : R.Launches) {
    if (C.Kind != LaunchCountKind::Original || !C.Launches)
      continue;
    OS << formatv("  {0,10}  {1}: the original\n", C.Launches, C.Kernel);
    uint64_t Variants = 0, Outside = 0;
    for (const LaunchCount &Each : R.Launches) {
      if (Each.Symbol != C.Symbol)
        continue;
      Variants += Each.Kind == LaunchCountKind::Variant;
      if (Each.Kind != LaunchCountKind::Outside)
        continue;
      Outside += Each.Launches;
      OS << formatv("  {0,10}    outside of the domain of {1}: {2}\n",
                    Each.Launches, Each.Variant, Each.Clause);
    }
    // Of several variants, one launch may be outside of each.
    if (Variants == 1 && Outside < C.Launches)
      OS << formatv("  {0,10}    for another reason: guard or plan, another "
                    "GPU, a stream under capture\n",
                    C.Launches - Outside);
  }
}

static std::string ratioText(double Originals, double Variants) {
  return Variants > 0 ? formatv("{0:F2}", Originals / Variants).str() : "-";
}

static void printKernels(raw_ostream &OS, const CompareResult &R) {
  if (R.Kernels.empty())
    return;
  OS << "kernel time (" << wordOf(basisOf(R))
     << ", one run of each; a variant's kernels count for its original)\n"
     << "  originals us   variants us   ratio  kernel\n";
  double Originals = 0, Variants = 0;
  for (const auto &[I, K] : enumerate(R.Kernels)) {
    Originals += K.Originals;
    Variants += K.Variants;
    if (I == MostKernels)
      OS << "  and " << R.Kernels.size() - MostKernels << " more\n";
    if (I >= MostKernels)
      continue;
    OS << formatv("  {0,12:F2}  {1,12:F2}  {2,6}  {3}{4}\n", K.Originals,
                  K.Variants, ratioText(K.Originals, K.Variants),
                  demangle(withoutUnitName(K.Symbol)),
                  K.HasVariants ? "" : " (no variant ran)");
  }
  OS << formatv("  {0,12:F2}  {1,12:F2}  {2,6}  all kernels\n", Originals,
                Variants, ratioText(Originals, Variants));
}

static void printTimes(raw_ostream &OS, const CompareRequest &Request,
                       const CompareResult &R) {
  if (R.OriginalSeconds.empty()) {
    OS << "wall time: not taken"
       << (R.isSame()  ? " (--runs=0)\n"
           : R.Stopped ? ", because of how it ends\n"
                       : ", because results differ\n");
    return;
  }
  OS << "wall time (" << count(R.OriginalSeconds.size(), "pair") << ")\n";
  for (auto [Mode, Times] : {std::pair("originals", &R.OriginalSeconds),
                             std::pair("variants ", &R.VariantSeconds)})
    OS << formatv("  {0}  median {1} ({2} to {3})\n", Mode,
                  seconds(runner::medianOf(*Times)),
                  seconds(*min_element(*Times)), seconds(*max_element(*Times)));
  OS << formatv("  originals / variants: {0:F3}", std::exp(R.LogRatio.Mid));
  if (std::isfinite(R.LogRatio.Low))
    OS << formatv(" (95 % interval {0:F3} to {1:F3}): {2}\n",
                  std::exp(R.LogRatio.Low), std::exp(R.LogRatio.High),
                  runner::wordOf(runner::callOf(R.LogRatio, Margin)));
  else
    OS << " (no interval: it needs 6 pairs)\n";
  if (Request.OnCpu)
    OS << "  there is no GPU here: these are times of the cpu device, which "
          "say "
          "nothing of a GPU's\n";
}

std::string printResult(const CompareRequest &Request, const CompareResult &R) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << shellQuoted(Request.Program) << "\n"
     << "results: "
     << (R.isSame()  ? "the same"
         : R.Stopped ? "not compared, because of how it ends"
                     : "DIFFERENT")
     << "\n";
  if (R.Stopped || R.Originals.End.Status)
    printEndings(OS, R);
  if (!R.Stopped)
    for (const OutputComparison &O : R.Outputs)
      printOutput(OS, O);
  printLaunches(OS, R);
  printKernels(OS, R);
  printTimes(OS, Request, R);
  for (const std::string &Note : R.Notes)
    OS << "note: " << Note << "\n";
  return Text;
}

static json::Value toJSON(const OutputComparison &O) {
  json::Array Differences;
  for (const LineDifference &D : O.differences(MostDifferences * 20))
    Differences.push_back(
        json::Object{{"line", static_cast<int64_t>(D.Line)},
                     {"originals", json::fixUTF8(D.Originals)},
                     {"variants", json::fixUTF8(D.Variants)}});
  return json::Object{{"name", O.name()},
                      {"unit", O.isBinary() ? "byte" : "line"},
                      {"compared", static_cast<int64_t>(O.compared())},
                      {"leftOut", static_cast<int64_t>(O.leftOut())},
                      {"ignored", static_cast<int64_t>(O.ignored())},
                      {"differing", static_cast<int64_t>(O.differing())},
                      {"largestDifference", O.largest()},
                      {"differences", std::move(Differences)}};
}

static json::Value toJSON(const ModeEnding &E) {
  return json::Object{{"status", E.End.Status},
                      {"signal", E.End.Signal},
                      {"errors", json::fixUTF8(E.Errors)}};
}

json::Value toJSON(const CompareRequest &Request, const CompareResult &R) {
  json::Array Outputs, Launches, Kernels;
  for (const OutputComparison &O : R.Outputs)
    Outputs.push_back(toJSON(O));
  for (const LaunchCount &C : R.Launches) {
    json::Value Each = toJSON(C);
    (*Each.getAsObject())["launches"] = C.Launches;
    Launches.push_back(std::move(Each));
  }
  for (const KernelTimes &K : R.Kernels)
    Kernels.push_back(json::Object{
        {"kernel", demangle(withoutUnitName(K.Symbol))},
        {"symbol", K.Symbol},
        {"hasVariants", K.HasVariants},
        {"originals",
         json::Object{{"launches", K.OriginalCalls}, {"us", K.Originals}}},
        {"variants",
         json::Object{{"launches", K.VariantCalls}, {"us", K.Variants}}}});
  json::Object Time{{"originals", json::Array(R.OriginalSeconds)},
                    {"variants", json::Array(R.VariantSeconds)}};
  if (!R.OriginalSeconds.empty()) {
    Time["ratio"] = std::exp(R.LogRatio.Mid);
    if (std::isfinite(R.LogRatio.Low)) {
      Time["low"] = std::exp(R.LogRatio.Low);
      Time["high"] = std::exp(R.LogRatio.High);
      Time["call"] = runner::wordOf(runner::callOf(R.LogRatio, Margin));
    }
  }
  return json::Object{
      {"version", 1},
      {"program", json::Array(Request.Program)},
      {"device", Request.OnCpu ? "cpu" : "cuda"},
      {"same", R.isSame()},
      {"endings", json::Object{{"stopped", R.Stopped},
                               {"originals", toJSON(R.Originals)},
                               {"variants", toJSON(R.Variants)}}},
      {"outputs", std::move(Outputs)},
      {"launchesComplete", R.LaunchesComplete},
      {"launches", std::move(Launches)},
      {"kernelBasis", wordOf(basisOf(R))},
      {"kernels", std::move(Kernels)},
      {"wallTime", std::move(Time)},
      {"notes", json::Array(R.Notes)}};
}

} // namespace cupilot
