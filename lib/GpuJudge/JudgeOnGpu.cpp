//===- JudgeOnGpu.cpp - Variants that passed, on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/JudgeOnGpu.h"
#include "cupilot/Roofline/Prophet.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// "faster, x1.62 (1.61 to 1.63), 126.0 us for 204.1 us".
static std::string timeText(const GpuLaunch &L, const json::Object *T) {
  if (!L.Call)
    return ("no time: " + (T ? T->getString("reason").value_or("") : "")).str();
  std::string Text =
      formatv("{0}, x{1:f3}", runner::wordOf(*L.Call), L.Ratio.Ratio);
  if (L.Ratio.Low > 0 && L.Ratio.High > 0)
    Text += formatv(" ({0:f3} to {1:f3})", L.Ratio.Low, L.Ratio.High);
  return Text +
         formatv(", {0:f1} us for {1:f1} us", L.VariantUs, L.OriginalUs).str();
}

static json::Object copied(const json::Object *O) {
  return O ? json::Object(*O) : json::Object();
}

/// What else speaks against a launch that gave the original's results: too
/// large an error, too short a time.
static Error judgeFurther(GpuOutcome &O, const GpuLaunch &L, size_t Workload,
                          const GpuVariant &V, StringRef Id,
                          const JudgementBatch &B, const json::Object &Results,
                          StringRef Folder, Float64Judge Float64) {
  auto Outputs = readOutputs(Results, B.from(), Workload, Id, Folder);
  if (!Outputs)
    return Outputs.takeError();
  if (*Outputs) {
    Expected<ReferenceVerdict> R =
        Float64(Workload, (*Outputs)->first, (*Outputs)->second);
    if (!R)
      return R.takeError();
    O.Float64 = json::Object{{"compared", R->Compared},
                             {"error", R->MaxError},
                             {"original_error", R->OriginalError}};
    if (R->Finding) {
      O.Same = false;
      O.Text = "against float64: " + R->Finding->Evidence;
      O.Float64["finding"] = wordOf(R->Finding->Reason);
    }
  }
  const auto &Launches = V.Verdict->VariantLaunches;
  if (L.VariantUs <= 0 || Workload >= Launches.size() || !Launches[Workload])
    return Error::success();
  ExecutionCounts Counts;
  for (const CountedLaunch &Each : *Launches[Workload])
    Counts += Each.Counts;
  return absorbFinding(checkPossible(gpuCeilings(Results, nullptr), Counts,
                                     L.VariantUs, V.Name + " on " + L.Workload),
                       [&](StringRef Why) {
                         O.Same = false;
                         O.Text = Why.str();
                       });
}

Expected<GpuOutcomes> judgeOnGpu(StringRef Device, GpuOriginal From,
                                 ArrayRef<GpuVariant> Variants,
                                 Float64Judge Float64) {
  Expected<std::unique_ptr<GpuDevice>> D = GpuDevice::create(Device);
  if (!D)
    return D.takeError();
  Expected<std::unique_ptr<JudgementBatch>> B =
      JudgementBatch::create(std::move(From));
  if (!B)
    return B.takeError();
  std::vector<GpuCandidate> Candidates;
  for (auto [I, V] : enumerate(Variants)) {
    Candidates.push_back({"v" + utostr(I), V.Ptx, V.Plan, V.When});
    if (Error E = (*B)->addJudgement(Candidates.back()))
      return std::move(E);
  }
  GpuOutcomes Outcomes;
  if ((*B)->batch().batch().Requests.empty())
    return Outcomes;
  (*B)->addCeilings();
  if (Error E = (*B)->addLarge(nullptr, "o"))
    return std::move(E);
  for (const GpuCandidate &C : Candidates)
    if (Error E = (*B)->addLarge(&C, C.Id))
      return std::move(E);
  GpuBatch &Batch = (*B)->batch();
  Batch.finish();
  GpuPatience Patience;
  Patience.Wait = false;
  Expected<GpuResults> Found = awaitResults(**D, Batch, Patience);
  if (!Found)
    return Found.takeError();
  const json::Object Results = byId(Batch.batch(), std::move(*Found));
  Outcomes.Device = gpuName(Results);
  for (auto [I, V] : enumerate(Variants)) {
    const std::string Id = "v" + utostr(I);
    Expected<std::vector<GpuLaunch>> Launches =
        readJudgement(Results, (*B)->from(), Id);
    if (!Launches)
      return Launches.takeError();
    for (auto [W, L] : enumerate(*Launches)) {
      if (!L.Asked)
        continue;
      const std::string Prefix = Id + "-" + L.Workload + "-";
      const json::Object *Time = Results.getObject(Prefix + "time");
      GpuOutcome O{V.Name,
                   L.Workload,
                   L.Right,
                   L.Right   ? timeText(L, Time)
                   : L.Wrong ? L.Wrong->Evidence
                             : std::string(),
                   copied(Results.getObject(Prefix + "compare")),
                   copied(Time),
                   {}};
      if (O.Same)
        if (Error E = judgeFurther(O, L, W, V, Id, **B, Results,
                                   (*D)->folder(Batch), Float64))
          return std::move(E);
      Outcomes.Launches.push_back(std::move(O));
    }
    Outcomes.Large.push_back(readLarge(Results, (*B)->from(), Id));
    constexpr double Margin = 1; // Whoever asks says what counts as faster.
    Expected<GpuJudgement> J =
        judgeAnswers(Results, (*B)->from(), Id, gpuCeilings(Results, nullptr),
                     /*Work=*/{}, Margin);
    Outcomes.Totals.emplace_back();
    if (J)
      Outcomes.Totals.back() = J->Verdict.Total;
    else if (Error E = absorbFinding(J.takeError(), [](StringRef) {}))
      return std::move(E); // The launches say what fails there.
  }
  return Outcomes;
}

} // namespace cupilot
