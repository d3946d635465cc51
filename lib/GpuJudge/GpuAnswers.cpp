//===- GpuAnswers.cpp - What a GPU answers about variants ---------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/JudgementBatch.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Roofline/Prophet.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

json::Object byId(const runner::Batch &B, GpuResults Results) {
  json::Object All;
  for (auto [R, Result] : zip_equal(B.Requests, Results)) {
    Result.erase("samples");
    Result.erase("checksum");
    All[R.Id] = std::move(Result);
  }
  return All;
}

namespace {
/// Whose doing an answer is.
enum class Answer { Fine, Variant, Original, Skipped, Batch };
} // namespace

static Answer answerOf(const json::Object &R) {
  StringRef Status = R.getString("status").value_or("");
  if (Status == "ok")
    return Answer::Fine;
  if (Status == "skipped")
    return Answer::Skipped;
  // It ended the runner or the machine three times.
  if (failureKindOf(R.getString("reason").value_or("")) ==
      FailureKind::Abandoned)
    return Answer::Variant;
  if (Status == "fault")
    return R.getString("who").value_or("") == "original" ? Answer::Original
                                                         : Answer::Variant;
  return Answer::Batch;
}

/// Why a comparison is no success.
static GateFinding findingOf(const json::Object &C, StringRef Workload) {
  if (answerOf(C) != Answer::Fine)
    return {GateReason::Fault, Workload.str(),
            (C.getString("reason").value_or("") + ": " +
             C.getString("message").value_or(""))
                .str()};
  int64_t Wrong = 0, Far = 0, Unwritten = 0, Stray = 0, Changed = 0;
  if (const json::Array *Buffers = C.getArray("buffers"))
    for (const json::Value &V : *Buffers) {
      const json::Object *O = V.getAsObject();
      if (!O)
        continue;
      Wrong += O->getInteger("wrong").value_or(0);
      Far += O->getInteger("far_fields").value_or(0);
      Unwritten += O->getInteger("unwritten").value_or(0);
      Stray += O->getInteger("stray_before").value_or(0) +
               O->getInteger("stray_after").value_or(0);
      Changed += O->getBoolean("changed").value_or(false);
    }
  std::string Text =
      formatv("{0} number(s) wrong, {1} unwritten, {2} byte(s) written beside "
              "buffers, {3} input(s) changed",
              Wrong, Unwritten, Stray, Changed);
  if (Far)
    Text += formatv(", {0} buffer(s) too far off by the norm", Far);
  GateReason Reason = Stray       ? GateReason::GuardBand
                      : Changed   ? GateReason::InputChanged
                      : Unwritten ? GateReason::UnwrittenOutput
                                  : GateReason::Mismatch;
  return {Reason, Workload.str(), std::move(Text)};
}

static Error batchError(StringRef Id, const json::Object &R) {
  return resourceError(
      "the GPU could not evaluate " + Id + ": " +
          R.getString("message").value_or("no reason is given") + " [" +
          R.getString("reason").value_or("unknown") + "]",
      "repair the batch (or delete its folder: it is written again), and run "
      "the same command again, with --resume for a search");
}

/// Adds one answer to what is known of a launch.
static Error take(GpuLaunch &L, const json::Object &R, StringRef Id) {
  switch (answerOf(R)) {
  case Answer::Batch:
    return batchError(Id, R);
  case Answer::Original:
    L.OriginalFails = true;
    [[fallthrough]];
  case Answer::Variant:
    if (!L.Wrong)
      L.Wrong = findingOf(R, L.Workload);
    L.Right = false;
    return Error::success();
  case Answer::Skipped:
  case Answer::Fine:
    break;
  }
  return Error::success();
}

static GpuRatio ratioIn(const json::Object &T) {
  return {T.getNumber("ratio").value_or(0), T.getNumber("low").value_or(0),
          T.getNumber("high").value_or(0)};
}

static void takeTime(GpuLaunch &L, const json::Object &T) {
  L.Call = runner::callNamed(T.getString("call").value_or("").str());
  L.Ratio = ratioIn(T);
  auto Median = [&](StringRef Who) {
    const json::Object *O = T.getObject(Who);
    return O ? O->getNumber("median_us").value_or(0) : 0;
  };
  L.OriginalUs = Median("original");
  L.VariantUs = Median("candidate");
  // Results that were right once and wrong while it was timed are wrong.
  if (!T.getBoolean("same").value_or(true)) {
    L.Right = false;
    L.Wrong = {GateReason::Mismatch, L.Workload,
               "other results while it was timed"};
  } else if (L.Call == runner::Call::Invalid) {
    L.Right = false;
    L.Wrong = {GateReason::ImpossibleTime, L.Workload,
               "the GPU's clock hides time that the host's shows"};
  }
}

/// Whether the runner that answered \p Compare looked at norms.
static bool knowsNorm(const json::Object &Compare) {
  const json::Array *Buffers = Compare.getArray("buffers");
  return !Buffers || all_of(*Buffers, [](const json::Value &V) {
    const json::Object *O = V.getAsObject();
    return !O || O->get("far_fields");
  });
}

/// Where errors lean further to one side than rounding does. Tensor cores cut
/// off each sum of a few products, which is no fault of a variant: hence the
/// floor, four times the gate's. Older runners do not say.
static std::optional<GateFinding> leaningOf(const json::Object &Compare,
                                            StringRef Workload) {
  constexpr double LeastLean = 0x1p-14;
  const json::Array *Buffers = Compare.getArray("buffers");
  if (!Buffers)
    return std::nullopt;
  for (const json::Value &V : *Buffers) {
    const json::Object *O = V.getAsObject();
    const json::Value *Lean = O ? O->get("lean") : nullptr;
    if (!Lean)
      continue;
    // What is no number here is infinite.
    double Size =
               Lean->getAsNumber() ? std::fabs(*Lean->getAsNumber()) : HUGE_VAL,
           Chance = O->getNumber("lean_by_chance").value_or(0);
    if (Size > std::max(LeastLean, Chance))
      return GateFinding{
          GateReason::Mismatch, Workload.str(),
          formatv("errors lean to one side: sum((out - original) * original) / "
                  "sum(original^2) is {0}, chance explains {1}",
                  format("%.3g", Size), format("%.3g", Chance))
              .str()};
  }
  return std::nullopt;
}

Expected<std::vector<GpuLaunch>> readJudgement(const json::Object &Results,
                                               const GpuOriginal &From,
                                               StringRef Id) {
  std::vector<GpuLaunch> All;
  for (const Workload &W : From.Workloads) {
    All.emplace_back();
    GpuLaunch &L = All.back();
    L.Workload = W.Name;
    const std::string Prefix = (Id + "-" + W.Name + "-").str();
    const json::Object *Compare = Results.getObject(Prefix + "compare");
    if (!Compare)
      continue;
    L.Asked = true;
    if (Error E = take(L, *Compare, Prefix + "compare"))
      return std::move(E);
    L.Right = Compare->getBoolean("same").value_or(false);
    if (L.Right && From.K && From.K->Contract.NormTolerance > 0 &&
        !knowsNorm(*Compare))
      return resourceError("the runner on the GPU's machine does not support "
                           "bounds of the norm: " +
                               Prefix + "compare",
                           "use the cupilot-runner of this version there");
    if (const PrecisionContract *C =
            L.Right && From.K ? &From.K->Contract : nullptr;
        C && C->K == PrecisionContract::Kind::Relaxed && !C->Biased)
      if ((L.Wrong = leaningOf(*Compare, W.Name)))
        L.Right = false;
    if (L.Right)
      ++L.Compared;
    else if (!L.Wrong && answerOf(*Compare) == Answer::Fine)
      L.Wrong = findingOf(*Compare, W.Name);
    for (StringRef Other : {"x3", "x001", "xminus"}) {
      std::string Name = Prefix + Other.str() + "-compare";
      const json::Object *R = Results.getObject(Name);
      if (!R || answerOf(*R) == Answer::Original)
        continue;
      if (Error E = take(L, *R, Name))
        return std::move(E);
      if (answerOf(*R) != Answer::Fine)
        continue;
      ++L.Compared;
      if (!R->getBoolean("same").value_or(false) && !L.Wrong) {
        L.Right = false;
        L.Wrong = findingOf(*R, W.Name);
        L.Wrong->Evidence =
            ("on inputs " + Other + ": " + L.Wrong->Evidence).str();
      }
    }
    if (const json::Object *Run = Results.getObject(Prefix + "run"))
      if (Error E = take(L, *Run, Prefix + "run"))
        return std::move(E);
    if (const json::Object *T = Results.getObject(Prefix + "time")) {
      if (Error E = take(L, *T, Prefix + "time"))
        return std::move(E);
      if (answerOf(*T) == Answer::Fine)
        takeTime(L, *T);
    }
  }
  return All;
}

/// Whether the comparison \p R found the same, or why not.
static std::optional<GateFinding>
differenceIn(const json::Object &R, const GpuOriginal &From, StringRef Name) {
  if (answerOf(R) != Answer::Fine || !R.getBoolean("same").value_or(false))
    return findingOf(R, Name);
  const PrecisionContract &C = From.K->Contract;
  if (C.K == PrecisionContract::Kind::Relaxed && !C.Biased)
    return leaningOf(R, Name);
  return std::nullopt;
}

std::vector<ComparedLaunch> readLarge(const json::Object &Results,
                                      const GpuOriginal &From, StringRef Id) {
  std::vector<ComparedLaunch> All;
  for (const LargeLaunch &L : From.Large) {
    const std::string &Name = L.Launch.Name;
    const std::string Request = (Id + "-" + Name + "-compare").str();
    const json::Object *Own = Results.getObject("o-" + Name + "-compare"),
                       *R = Results.getObject(Request);
    if (!Own || !R)
      continue;
    // What is beyond the GPU's memory or time says nothing.
    if (answerOf(*R) == Answer::Batch || answerOf(*R) == Answer::Original ||
        answerOf(*R) == Answer::Skipped || differenceIn(*Own, From, Name))
      continue;
    std::optional<GateFinding> Wrong = differenceIn(*R, From, Name);
    All.push_back(
        {Name, L.Case, !Wrong, Wrong ? Wrong->Evidence : std::string()});
  }
  return All;
}

std::optional<OtherValues> readOtherValues(const json::Object &Results,
                                           const GpuOriginal &From,
                                           StringRef Id) {
  const std::optional<size_t> Most = launchThatCounts(From.Workloads);
  if (!Most)
    return std::nullopt;
  const Workload &W = From.Workloads[*Most];
  const json::Object *R =
      Results.getObject((Id + "-" + W.Name + "-other-values").str());
  // The original may not bear them.
  if (!R || answerOf(*R) != Answer::Fine)
    return std::nullopt;
  const GpuRatio Ratio = ratioIn(*R);
  if (!Ratio.isKnown())
    return std::nullopt;
  return OtherValues{otherKind(W).str(), Ratio.Ratio, Ratio.Low, Ratio.High};
}

static Expected<std::optional<DeviceResults>>
readProgram(const json::Object *P, const Workload &W, StringRef Folder) {
  if (!P)
    return std::nullopt;
  DeviceResults R;
  auto Load = [&](StringRef Digest) -> Expected<std::vector<uint8_t>> {
    std::string Path =
        (Folder + "/results/data/" + dataFileName(Digest, 64)).str();
    Expected<std::string> Bytes = readFile(Path);
    if (!Bytes)
      return Bytes.takeError();
    if (digest(*Bytes) != Digest)
      return resourceError("the output '" + Path + "' is damaged",
                           "copy it again");
    return std::vector<uint8_t>(Bytes->begin(), Bytes->end());
  };
  const json::Array *Buffers = P->getArray("buffers");
  if (!Buffers || Buffers->size() != W.Buffers.size())
    return std::nullopt;
  for (const json::Value &V : *Buffers) {
    const json::Object *O = V.getAsObject();
    // What is only read comes back as its digest.
    if (!O || !O->getBoolean("kept").value_or(false)) {
      R.Buffers.emplace_back();
      continue;
    }
    Expected<std::vector<uint8_t>> Bytes =
        Load(O->getString("digest").value_or(""));
    if (!Bytes)
      return Bytes.takeError();
    R.Buffers.push_back(std::move(*Bytes));
  }
  if (const json::Array *Variables = P->getArray("variables"))
    for (auto [V, G] : zip(*Variables, W.Globals)) {
      if (!V.getAsString())
        continue;
      Expected<std::vector<uint8_t>> Bytes = Load(*V.getAsString());
      if (!Bytes)
        return Bytes.takeError();
      R.Globals.push_back({G.Symbol, std::move(*Bytes)});
    }
  return R;
}

Expected<std::optional<std::pair<DeviceResults, DeviceResults>>>
readOutputs(const json::Object &Results, const GpuOriginal &From,
            size_t Workload, StringRef Id, StringRef Folder) {
  const cupilot::Workload &W = From.Workloads[Workload];
  const json::Object *Run =
      Results.getObject((Id + "-" + W.Name + "-run").str());
  if (!Run || answerOf(*Run) != Answer::Fine)
    return std::nullopt;
  std::pair<DeviceResults, DeviceResults> Both;
  for (auto [Word, To] :
       {std::pair("original", &Both.first), {"candidate", &Both.second}}) {
    Expected<std::optional<DeviceResults>> R =
        readProgram(Run->getObject(Word), W, Folder);
    if (!R)
      return R.takeError();
    if (!*R)
      return std::nullopt;
    *To = std::move(**R);
  }
  return Both;
}

std::string gpuName(const json::Object &Results) {
  for (const auto &[Id, Value] : Results)
    if (const json::Object *O = Value.getAsObject())
      if (const json::Object *Device = O->getObject("device"))
        if (std::optional<StringRef> Name = Device->getString("name"))
          return Name->str();
  return "";
}

Ceilings gpuCeilings(const json::Object &Results,
                     const GpuDescription *Described) {
  const std::string Name = gpuName(Results);
  Ceilings C;
  if (Described && Described->isNamed(Name))
    C = ceilingsOf(*Described);
  C.Gpu = Name;
  const json::Object *R = Results.getObject("ceilings");
  if (!R || answerOf(*R) != Answer::Fine)
    return C;
  if (!Described || !Described->isNamed(Name))
    if (const json::Object *Device = R->getObject("device"))
      C.L2Bytes = uint64_t(Device->getInteger("l2_bytes").value_or(0));
  if (Error E = addMeasured(C, json::Value(json::Object(*R)), "the batch"))
    consumeError(std::move(E)); // As if the request had failed.
  return C;
}

//===----------------------------------------------------------------------===//
// Judging by answers
//===----------------------------------------------------------------------===//

/// Whether the original made of \p W on the GPU, byte for byte, what it had
/// made when it was recorded; nothing where that is not known.
static std::optional<bool> makesRecorded(const json::Object *Run,
                                         const Workload &W) {
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

/// The latest time of a race on \p Workload, and on how many levels there is
/// one.
static std::pair<const json::Object *, unsigned>
lastHeat(const json::Object &Results, StringRef Id, StringRef Workload) {
  const json::Object *Last = nullptr;
  unsigned Levels = 0;
  while (const json::Object *T = Results.getObject(
             (Id + "-" + Workload + "-time" + Twine(Levels)).str())) {
    if (answerOf(*T) == Answer::Skipped)
      break;
    Last = T;
    ++Levels;
  }
  return {Last, Levels};
}

Expected<std::vector<GpuRank>> readRace(const json::Object &Results,
                                        const GpuOriginal &From,
                                        ArrayRef<std::string> Ids) {
  const std::vector<double> Weights =
      timeWeights(From.Workloads, TimeBasis::Measured);
  std::vector<std::vector<GpuLaunch>> Launches;
  std::vector<GpuRank> Ranks;
  std::map<std::string, double> Originals;
  for (const std::string &Id : Ids) {
    Expected<std::vector<GpuLaunch>> Compared =
        readJudgement(Results, From, Id);
    if (!Compared)
      return Compared.takeError();
    GpuRank &Rank = Ranks.emplace_back();
    for (GpuLaunch &L : *Compared) {
      auto [Time, Levels] = lastHeat(Results, Id, L.Workload);
      if (Time && L.Right) {
        if (Error E = take(L, *Time, Id))
          return std::move(E);
        if (answerOf(*Time) == Answer::Fine)
          takeTime(L, *Time);
        Originals.try_emplace(L.Workload, L.OriginalUs);
        Rank.Levels = std::max(Rank.Levels, Levels);
      }
      if (L.Asked && !L.Right && !Rank.Wrong)
        Rank.Wrong = L.Wrong
                         ? *L.Wrong
                         : GateFinding{GateReason::Mismatch, L.Workload, ""};
    }
    Launches.push_back(std::move(*Compared));
  }
  for (auto [Rank, Of] : zip_equal(Ranks, Launches)) {
    Speedup Sum;
    bool Known = Rank.Levels > 0 && !Rank.Wrong;
    for (auto [L, Weight] : zip_equal(Of, Weights)) {
      auto Original = Originals.find(L.Workload);
      if (Weight == 0 || Original == Originals.end())
        continue;
      Known &= !L.Asked || L.Ratio.Ratio > 0;
      const double Time = Original->second * Weight;
      if (Known)
        Sum.add(Time, L.Asked ? Time / L.Ratio.Ratio : Time);
    }
    Rank.Ratio = Known ? Sum.ratio() : 0;
  }
  return Ranks;
}

std::map<std::string, double> originalTimes(const json::Object &Results,
                                            ArrayRef<Workload> Workloads) {
  std::map<std::string, double> Times;
  for (const auto &[Id, Value] : Results)
    for (const Workload &W : Workloads)
      if (StringRef(Id).ends_with("-" + W.Name + "-time"))
        if (const json::Object *T = Value.getAsObject())
          if (const json::Object *O = T->getObject("original"))
            Times[W.Name] = O->getNumber("median_us").value_or(0);
  return Times;
}

/// All workloads together, each with the number of launches that it stands for;
/// where the guard keeps one out, the original runs. The bounds are those of
/// all workloads at once: at least as careful as each one's.
static void addTotal(GpuJudgement &J, ArrayRef<GpuLaunch> Launches,
                     const json::Object &Results, const GpuOriginal &From,
                     double Margin) {
  const std::map<std::string, double> Known =
      originalTimes(Results, From.Workloads);
  Speedup Ratio, Low, High;
  for (auto [L, Weight] :
       zip_equal(Launches, timeWeights(From.Workloads, TimeBasis::Measured))) {
    if (Weight == 0)
      continue;
    auto Of = Known.find(L.Workload);
    double Time = L.Asked ? L.OriginalUs : Of == Known.end() ? 0 : Of->second;
    Time *= Weight;
    Ratio.add(Time, L.Asked ? Time / L.Ratio.Ratio : Time);
    Low.add(Time, L.Asked ? Time / L.Ratio.Low : Time);
    High.add(Time, L.Asked ? Time / L.Ratio.High : Time);
    if (L.Asked &&
        (L.Call == runner::Call::Slower || L.Ratio.High < 1 / Margin))
      J.Slower = formatv("{0}: x{1:f3} ({2:f3} to {3:f3})", L.Workload,
                         L.Ratio.Ratio, L.Ratio.Low, L.Ratio.High)
                     .str();
  }
  J.Verdict.Total = {Ratio.ratio(), Low.ratio(), High.ratio()};
}

Expected<GpuJudgement>
judgeAnswers(const json::Object &Results, const GpuOriginal &From, StringRef Id,
             const Ceilings &Limits,
             ArrayRef<std::optional<ExecutionCounts>> Work, double Margin) {
  Expected<std::vector<GpuLaunch>> Launches = readJudgement(Results, From, Id);
  if (!Launches)
    return Launches.takeError();
  GpuJudgement J;
  GpuVerdict &V = J.Verdict;
  V.Device = gpuName(Results);
  V.Ceilings = Limits.Origin;
  std::optional<GateFinding> Impossible;
  // Of launches that only the GPU runs those that were counted tell what the
  // variant does with its buffers.
  std::vector<CountedSample> Samples;
  for (auto [Counts, W] : zip(Work, From.Workloads))
    if (Counts)
      Samples.push_back({&*Counts, W.bytes()});
  for (auto [I, L] : enumerate(*Launches)) {
    const Workload &W = From.Workloads[I];
    if (L.OriginalFails)
      return findingError("the original itself fails on the GPU, on workload " +
                          L.Workload + ": " + L.Wrong->Evidence);
    if (!L.Asked)
      continue;
    V.Compared += L.Compared;
    const json::Object *Run =
        Results.getObject((Id + "-" + L.Workload + "-run").str());
    GpuWorkload New;
    New.Workload = L.Workload;
    New.Call = L.Call;
    New.Ratio = L.Ratio;
    New.OriginalUs = L.OriginalUs;
    New.VariantUs = L.VariantUs;
    New.GpuOnly = From.GpuOnly[I] && !W.isForGpuAlone();
    if (const json::Object *F = Run ? Run->getObject("float64") : nullptr) {
      New.Float64 = referenceVerdictFrom(*F);
      V.AgainstFloat64 += New.Float64->Compared;
      if (const auto &Found = New.Float64->Finding; Found && !L.Wrong) {
        L.Right = false;
        L.Wrong = {Found->Reason, L.Workload,
                   ("against float64: " + wordOf(Found->Reason) + ": " +
                    Found->Evidence)
                       .str()};
      }
    }
    New.Recorded = makesRecorded(Run, W);
    if (!L.Right && !J.Wrong)
      J.Wrong = L.Wrong ? *L.Wrong
                        : GateFinding{GateReason::Mismatch, L.Workload, ""};
    if (L.Right && W.isTimed() && !L.Ratio.isKnown())
      J.Untimed = L.Workload;
    if (L.VariantUs > 0)
      if (Error TooFast =
              I < Work.size() && Work[I]
                  ? checkPossible(Limits, *Work[I], L.VariantUs, L.Workload)
                  : checkPossibleLike(Limits, Samples, W.bytes(), L.VariantUs,
                                      L.Workload))
        if (Error Other = absorbFinding(std::move(TooFast), [&](StringRef Why) {
              Impossible = {GateReason::ImpossibleTime, "", Why.str()};
            }))
          return std::move(Other);
    V.Workloads.push_back(std::move(New));
  }
  if (J.Wrong)
    return J;
  if (const json::Object *No = Results.getObject((Id + "-refused").str()))
    J.Wrong = {GateReason::CannotRun, "",
               No->getString("message").value_or("").str()};
  else if (V.Compared == 0)
    J.Wrong = {GateReason::NeverAdmitted, "",
               "the guard admits none of the workloads"};
  else if (Impossible)
    J.Wrong = std::move(Impossible);
  else if (!J.Untimed)
    addTotal(J, *Launches, Results, From, Margin);
  return J;
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

std::map<std::string, MeasuredLaunch>
readProfiles(const json::Object &Results, const GpuOriginal &From, StringRef Id,
             const std::map<std::string, double> &Times) {
  std::map<std::string, MeasuredLaunch> All;
  for (const Workload &W : From.Workloads) {
    const json::Object *R =
        Results.getObject((Id + "-" + W.Name + "-profile").str());
    if (!R)
      continue;
    MeasuredLaunch &L = All[W.Name];
    if (auto Known = Times.find(W.Name); Known != Times.end())
      L.Microseconds = Known->second;
    if (const json::Object *M = R->getObject("metrics"))
      for (const auto &[Key, Value] : *M)
        if (std::optional<double> Number = Value.getAsNumber())
          L.Metrics[Key.str()] = *Number;
    L.NoMetrics = R->getString("why_not")
                      .value_or(R->getString("reason").value_or(""))
                      .str();
  }
  return All;
}

//===----------------------------------------------------------------------===//
// compute-sanitizer
//===----------------------------------------------------------------------===//

static const json::Object *sanitizeAnswer(const json::Object &Results,
                                          StringRef Id, StringRef Workload) {
  return Results.getObject((Id + "-" + Workload + "-sanitize").str());
}

std::optional<SanitizerVerdict>
readSanitizer(const json::Object &Results, StringRef Id, StringRef Workload) {
  const json::Object *R = sanitizeAnswer(Results, Id, Workload);
  if (!R)
    return std::nullopt;
  SanitizerVerdict V;
  if (const json::Object *Tools = R->getObject("tools")) {
    for (const auto &[Tool, Value] : *Tools)
      if (const json::Object *O = Value.getAsObject())
        V.Tools[Tool.str()] = O->getString("outcome").value_or("").str();
  } else {
    V.NoAnswer = R->getString("reason").value_or("no answer").str();
  }
  return V;
}

/// What the gate calls that which \p Tool looks for.
static GateReason reasonOfTool(StringRef Tool) {
  return StringSwitch<GateReason>(Tool)
      .Case("memcheck", GateReason::Bounds)
      .Case("racecheck", GateReason::Race)
      .Case("initcheck", GateReason::UnwrittenRead)
      .Case("synccheck", GateReason::Barrier)
      .Default(GateReason::Fault);
}

std::optional<GateFinding> sanitizerFinding(const json::Object &Results,
                                            StringRef Id, StringRef Workload,
                                            bool Clusters) {
  auto ToolsOf = [&](StringRef Of) {
    const json::Object *R = sanitizeAnswer(Results, Of, Workload);
    return R ? R->getObject("tools") : nullptr;
  };
  auto Found = [](const json::Object *O) {
    return O && O->getString("outcome").value_or("") == "found";
  };
  const json::Object *Mine = ToolsOf(Id), *Own = ToolsOf("o");
  if (!Mine)
    return std::nullopt;
  for (const auto &[Tool, Value] : *Mine) {
    const json::Object *O = Value.getAsObject();
    if (!Found(O) || (Clusters && Tool == "racecheck") ||
        (Own && Found(Own->getObject(Tool))))
      continue;
    std::string Line;
    if (const json::Array *Lines = O->getArray("lines"))
      if (!Lines->empty())
        Line = Lines->front().getAsString().value_or("").str();
    return GateFinding{reasonOfTool(Tool), Workload.str(),
                       (StringRef(Tool) + ": " + Line).str()};
  }
  return std::nullopt;
}

} // namespace cupilot
