//===- JudgeOnGpu.cpp - Variants that passed, on a card -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JudgeOnGpu.h"
#include "cupilot/Evaluation/GpuDevice.h"
#include "cupilot/Evolution/DeviceCode.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

namespace {
/// A variant on a workload, and where its results are.
struct Asked {
  std::string Variant, Workload;
  size_t Compare = 0; ///< The timing's follows it.
};
} // namespace

static Expected<std::string> addImage(GpuBatch &B, StringRef Bitcode,
                                      StringRef Arch,
                                      ArrayRef<std::string> Flags) {
  Expected<std::string> Ptx = generatePtx(Bitcode, Arch);
  if (!Ptx)
    return Ptx.takeError();
  Expected<GpuImage> Image = assemble(*Ptx, Arch, Flags);
  if (!Image)
    return Image.takeError();
  return B.addImage(std::move(*Image));
}

/// "f-w0-compare": letters that file names have.
static std::string requestId(size_t Variant, StringRef Workload,
                             StringRef Kind) {
  return ("v" + Twine(Variant) + "-" + Workload + "-" + Kind).str();
}

static Error addRequests(GpuBatch &B, const GpuOriginal &From,
                         ArrayRef<GpuVariant> Variants, const Guard &When,
                         ArrayRef<std::string> Flags, std::vector<Asked> &All) {
  Expected<std::string> Original = addImage(B, From.Bitcode, From.Arch, Flags);
  if (!Original)
    return Original.takeError();
  std::vector<unsigned> Cases;
  for (const Workload &W : From.Workloads) {
    Expected<unsigned> Case = B.addCase(W);
    if (!Case)
      return Case.takeError();
    Cases.push_back(*Case);
  }
  for (auto [V, Variant] : enumerate(Variants)) {
    Expected<std::string> Image =
        addImage(B, Variant.Bitcode, From.Arch, Flags);
    if (!Image)
      return Image.takeError();
    // All comparisons before the first timing: who is wrong is not timed.
    std::vector<runner::Request> Timings;
    std::vector<Asked> Mine;
    for (auto [I, W] : enumerate(From.Workloads)) {
      Expected<std::optional<runner::Program>> P =
          B.variant(W, Variant.Plan, When, *Image);
      if (!P)
        return P.takeError();
      if (!*P)
        continue;
      runner::Request R;
      R.Id = requestId(V, W.Name, "compare");
      R.Group = "v" + utostr(V);
      R.Case = Cases[I];
      R.Original = B.original(W, *Original);
      R.Candidate = std::move(**P);
      R.Allowed = B.tolerance();
      Mine.push_back({Variant.Name, W.Name, B.batch().Requests.size()});
      B.add(R);
      R.Id = requestId(V, W.Name, "time");
      R.Kind = runner::RequestKind::Time;
      Timings.push_back(std::move(R));
    }
    for (runner::Request &R : Timings)
      B.add(std::move(R));
    append_range(All, Mine);
  }
  return Error::success();
}

static const json::Object *find(const runner::Batch &B, GpuResults &Results,
                                const std::string &Id) {
  for (size_t I = 0; I < Results.size(); ++I)
    if (B.Requests[I].Id == Id)
      return &Results[I];
  return nullptr;
}

/// "faster, x1.62 (1.61 to 1.63), 126.0 us for 204.1 us".
static std::string timeText(const json::Object &T) {
  if (T.getString("status").value_or("") != "ok")
    return ("no time: " + T.getString("reason").value_or("")).str();
  auto Median = [&](StringRef Who) {
    const json::Object *O = T.getObject(Who);
    return O ? O->getNumber("median_us").value_or(0) : 0;
  };
  std::string Text = formatv("{0}, x{1:f3}", T.getString("call").value_or(""),
                             T.getNumber("ratio").value_or(0));
  if (T.getNumber("low") && T.getNumber("high"))
    Text += formatv(" ({0:f3} to {1:f3})", *T.getNumber("low"),
                    *T.getNumber("high"));
  return Text + formatv(", {0:f1} us for {1:f1} us", Median("candidate"),
                        Median("original"))
                    .str();
}

/// Why a comparison is no success.
static std::string wrongText(const json::Object &C) {
  if (C.getString("status").value_or("") != "ok")
    return (C.getString("reason").value_or("") + ": " +
            C.getString("message").value_or(""))
        .str();
  int64_t Wrong = 0, Unwritten = 0, Stray = 0, Changed = 0;
  if (const json::Array *Buffers = C.getArray("buffers"))
    for (const json::Value &V : *Buffers) {
      const json::Object &O = *V.getAsObject();
      Wrong += O.getInteger("wrong").value_or(0);
      Unwritten += O.getInteger("unwritten").value_or(0);
      Stray += O.getInteger("stray_before").value_or(0) +
               O.getInteger("stray_after").value_or(0);
      Changed += O.getBoolean("changed").value_or(false);
    }
  return formatv("{0} number(s) wrong, {1} unwritten, {2} byte(s) written "
                 "beside buffers, {3} input(s) changed",
                 Wrong, Unwritten, Stray, Changed);
}

Expected<std::vector<GpuOutcome>> judgeOnGpu(StringRef Device,
                                             const GpuOriginal &From,
                                             ArrayRef<GpuVariant> Variants,
                                             const Guard &When,
                                             ArrayRef<std::string> Flags) {
  Expected<std::unique_ptr<GpuDevice>> D = GpuDevice::create(Device);
  if (!D)
    return D.takeError();
  Expected<KernelLayout> Types = layoutOf(*From.K, From.Bitcode);
  if (!Types)
    return Types.takeError();
  GpuBatch B(*From.K, std::move(*Types), From.Arch, From.DataFolder);
  std::vector<Asked> All;
  if (Error E = addRequests(B, From, Variants, When, Flags, All))
    return std::move(E);
  std::vector<GpuOutcome> Outcomes;
  if (All.empty())
    return Outcomes;
  B.finish();
  Expected<std::optional<GpuResults>> Results = (*D)->evaluate(B);
  if (!Results)
    return Results.takeError();
  if (!*Results)
    return resourceError("the results of " + B.batch().Id +
                             " are not there yet",
                         (*D)->waiting(B));
  for (const Asked &A : All) {
    const std::string &Id = B.batch().Requests[A.Compare].Id;
    GpuOutcome O{A.Variant, A.Workload, false, "", (**Results)[A.Compare], {}};
    O.Same = O.Compare.getBoolean("same").value_or(false);
    if (const json::Object *T =
            find(B.batch(), **Results,
                 StringRef(Id).drop_back(strlen("compare")).str() + "time"))
      O.Time = *T;
    // Results that were right once and wrong while it was timed are wrong.
    if (O.Time.getBoolean("same").value_or(true))
      O.Text = O.Same ? timeText(O.Time) : wrongText(O.Compare);
    else
      O.Text = "other results while it was timed";
    O.Same &= O.Time.getBoolean("same").value_or(true);
    Outcomes.push_back(std::move(O));
  }
  return Outcomes;
}

} // namespace cupilot
