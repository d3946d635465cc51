//===- GpuVerdict.cpp - Who is accepted by measured times ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuStepJudgement.h"
#include "cupilot/Roofline/CostModel.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::optional<ExecutionCounts>
GpuStepJudgement::workOf(const json::Object &Evidence, size_t Workload) const {
  const json::Array *All = Evidence.getArray("work");
  ExecutionCounts Counts;
  json::Path::Root Root;
  if (!All || Workload >= All->size() || !(*All)[Workload].getAsObject() ||
      !fromJSON((*All)[Workload], Counts, Root))
    return std::nullopt;
  return Counts;
}

/// Whether the original made of workload \p Index on the GPU, byte for byte,
/// what it had made when it was recorded; nothing where that is not known.
std::optional<bool> GpuStepJudgement::makesRecorded(const json::Object &Results,
                                                    StringRef Id,
                                                    size_t Index) const {
  const Workload &W = P.Workloads[Index];
  const json::Object *Run =
      Results.getObject((Id + "-" + W.Name + "-run").str());
  const json::Object *Own = Run ? Run->getObject("original") : nullptr;
  const json::Array *Buffers = Own ? Own->getArray("buffers") : nullptr;
  if (!Buffers || Buffers->size() != W.After.size())
    return std::nullopt;
  bool Any = false, Same = true;
  for (auto [V, Digest] : zip_equal(*Buffers, W.After)) {
    const json::Object *O = V.getAsObject();
    if (!O || Digest.empty())
      continue;
    Any = true;
    Same &= O->getString("digest").value_or("") == Digest;
  }
  return Any ? std::optional(Same) : std::nullopt;
}

/// All workloads together, each with the number of launches that it stands for;
/// where the guard keeps one out, the original runs. The bounds are those of
/// all workloads at once: at least as careful as each one's.
GpuTotal
GpuStepJudgement::total(ArrayRef<GpuLaunch> Launches,
                        const std::map<std::string, double> &OriginalUs) const {
  GpuTotal O;
  double Before = 0, After = 0, Slow = 0, Fast = 0;
  for (auto [L, W] : zip_equal(Launches, P.Workloads)) {
    if (!W.isTimed())
      continue;
    auto Known = OriginalUs.find(L.Workload);
    double Time = L.Asked                     ? L.OriginalUs
                  : Known == OriginalUs.end() ? 0
                                              : Known->second;
    Time *= double(W.Count);
    Before += Time;
    After += L.Asked ? Time / L.Ratio : Time;
    Slow += L.Asked ? Time / L.Low : Time;
    Fast += L.Asked ? Time / L.High : Time;
    if (L.Asked && (L.Call == "slower" || L.High < 1 / P.Margin))
      O.Slower = formatv("{0}: x{1:f3} ({2:f3} to {3:f3})", L.Workload, L.Ratio,
                         L.Low, L.High);
  }
  if (Before > 0) {
    O.Ratio = Before / After;
    O.Low = Before / Slow;
    O.High = Before / Fast;
  }
  return O;
}

Error GpuStepJudgement::settle(CandidateRecord &R,
                               const json::Object &Results) {
  Expected<std::vector<GpuLaunch>> Launches =
      readJudgement(Results, original(), gpuIdOf(R));
  if (!Launches)
    return Launches.takeError();
  Expected<json::Value> Parsed = json::parse(R.Evidence);
  if (!Parsed)
    return Parsed.takeError();
  json::Object &Evidence = *Parsed->getAsObject();
  const Ceilings Limits = gpuCeilings(Results, &P.Gpu);
  json::Array PerWorkload;
  std::string Wrong, Impossible, Untimed;
  unsigned Compared = 0, AgainstFloat64 = 0;
  std::map<std::string, double> OriginalUs;
  for (const auto &[Id, Value] : Results)
    for (const Workload &W : P.Workloads)
      if (StringRef(Id).ends_with("-" + W.Name + "-time"))
        if (const json::Object *T = Value.getAsObject())
          if (const json::Object *O = T->getObject("original"))
            OriginalUs[W.Name] = O->getNumber("median_us").value_or(0);
  for (auto [I, L] : enumerate(*Launches)) {
    if (L.OriginalFails)
      return findingError("the original itself fails on the GPU, on workload " +
                          L.Workload + ": " + L.Wrong);
    if (!L.Asked)
      continue;
    Compared += L.Compared;
    json::Object O{{"workload", L.Workload},   {"call", L.Call},
                   {"ratio", L.Ratio},         {"low", L.Low},
                   {"high", L.High},           {"original_us", L.OriginalUs},
                   {"variant_us", L.VariantUs}};
    // Smaller launches of the same kernel were judged here in its place.
    if (E.gpuOnly()[I] && !P.Workloads[I].isForCardAlone())
      O["card_only"] = true;
    if (const json::Object *Run =
            Results.getObject(gpuIdOf(R) + "-" + L.Workload + "-run"))
      if (const json::Object *F = Run->getObject("float64")) {
        AgainstFloat64 += F->getBoolean("compared").value_or(false);
        if (std::optional<StringRef> Found = F->getString("finding");
            Found && L.Wrong.empty()) {
          L.Right = false;
          L.Wrong = ("against float64: " + *Found).str();
        }
        O["float64"] = json::Object(*F);
      }
    if (std::optional<bool> Same = makesRecorded(Results, gpuIdOf(R), I))
      O["recorded"] = *Same;
    if (!L.Right && Wrong.empty())
      Wrong = L.Workload + ": " + L.Wrong;
    if (L.Right && P.Workloads[I].isTimed() &&
        !(L.Ratio > 0 && L.Low > 0 && L.High > 0))
      Untimed = L.Workload;
    if (std::optional<ExecutionCounts> Counts = workOf(Evidence, I);
        Counts && L.VariantUs > 0)
      if (Error TooFast =
              checkPossible(Limits, *Counts, L.VariantUs, L.Workload))
        if (Error Other = absorbFinding(std::move(TooFast), [&](StringRef Why) {
              Impossible = Why.str();
            }))
          return Other;
    PerWorkload.push_back(std::move(O));
  }
  json::Object Gpu{{"device", gpuName(Results)},
                   {"compared", Compared},
                   {"float64", AgainstFloat64},
                   {"ceilings", Limits.Origin},
                   {"workloads", std::move(PerWorkload)}};
  R.Ratio = 0;
  if (!Wrong.empty()) {
    R.Outcome = "gate";
    R.Reason = "GPU (" + Wrong + ")";
  } else if (const json::Object *No =
                 Results.getObject(gpuIdOf(R) + "-refused")) {
    R.Outcome = "gate";
    R.Reason = ("GPU: " + No->getString("message").value_or("")).str();
  } else if (Compared == 0) {
    R.Outcome = "gate";
    R.Reason = "never-admitted: the guard admits none of the workloads";
  } else if (!Impossible.empty()) {
    R.Outcome = "gate";
    R.Reason = "GPU: " + Impossible;
  } else if (!Untimed.empty()) {
    R.Outcome = "slower";
    R.Reason =
        "the time budget was too small to say how fast it is on " + Untimed;
  } else {
    GpuTotal O = total(*Launches, OriginalUs);
    R.Ratio = O.Ratio;
    Gpu["ratio"] = O.Ratio;
    Gpu["low"] = O.Low;
    Gpu["high"] = O.High;
    std::string Text =
        formatv("x{0:f3} ({1:f3} to {2:f3})", O.Ratio, O.Low, O.High);
    R.Reason.clear();
    R.Outcome = "slower";
    if (!O.Slower.empty())
      R.Reason = "slower on a workload, " + O.Slower;
    else if (O.Low < P.Margin)
      R.Reason = "not faster than the original beyond the margin: " + Text;
    else
      R.Outcome = "accepted";
  }
  Evidence["card"] = std::move(Gpu);
  R.Evidence = formatv("{0}", *Parsed).str();
  return Error::success();
}

} // namespace cupilot
