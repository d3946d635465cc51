//===- JudgementBatch.cpp - Variants as requests to a GPU
//---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/JudgementBatch.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// Outputs of more bytes are not brought back.
static constexpr uint64_t MostOutput = 16 << 20;
/// Workloads that compute-sanitizer and the profiler see.
static constexpr size_t MostAccepted = 2;

/// Launches with more are timed on one set of buffers: to make and copy others
/// would take longer than all runs.
static constexpr uint64_t MostRotated = uint64_t(2) << 30;

JudgementBatch::JudgementBatch(GpuOriginal Given, KernelLayout Types)
    : From(std::move(Given)),
      B(*From.K, std::move(Types), From.Arch, From.DataFolder) {
  From.GpuOnly.resize(From.Workloads.size());
}

Expected<std::unique_ptr<JudgementBatch>>
JudgementBatch::create(GpuOriginal From) {
  Expected<KernelLayout> Types = layoutOf(*From.K, From.Bitcode);
  if (!Types)
    return Types.takeError();
  std::unique_ptr<JudgementBatch> C(
      new JudgementBatch(std::move(From), std::move(*Types)));
  Expected<std::string> Image = C->image(C->From.Ptx);
  if (!Image)
    return Image.takeError();
  C->OriginalImage = std::move(*Image);
  return C;
}

Expected<std::string> JudgementBatch::image(StringRef Ptx) {
  Expected<GpuImage> Image = assemble(Ptx, From.Arch, From.Flags);
  if (!Image)
    return Image.takeError();
  return B.addImage(std::move(*Image));
}

Expected<unsigned> JudgementBatch::caseOf(size_t Workload) {
  auto At = Cases.find(Workload);
  if (At != Cases.end())
    return At->second;
  Expected<unsigned> New = B.addCase(From.Workloads[Workload]);
  if (!New)
    return New;
  Cases[Workload] = *New;
  if (From.GpuOnly[Workload] && !From.Workloads[Workload].isForGpuAlone())
    for (auto [Factor, Name] :
         {std::pair(3.0, "x3"), {0.01, "x001"}, {-1.0, "xminus"}}) {
      Expected<std::optional<unsigned>> More =
          B.addScaledCase(From.Workloads[Workload], Factor);
      if (!More)
        return More.takeError();
      if (*More)
        Scaled[Workload].push_back({Name, **More});
    }
  return *New;
}

void JudgementBatch::addCeilings() {
  runner::Request R;
  R.Id = "ceilings";
  R.Kind = runner::RequestKind::Ceilings;
  B.add(std::move(R));
}

/// A request for both programs without id and kind; nothing where the guard
/// keeps the workload out.
Expected<std::optional<runner::Request>>
JudgementBatch::request(const GpuCandidate &V, size_t Workload,
                        StringRef Image) {
  const cupilot::Workload &W = From.Workloads[Workload];
  Expected<std::optional<runner::Program>> P =
      B.variant(W, V.Plan, V.When, Image);
  if (!P)
    return P.takeError();
  if (!*P)
    return std::nullopt;
  Expected<unsigned> Case = caseOf(Workload);
  if (!Case)
    return Case.takeError();
  runner::Request R;
  R.Group = V.Id;
  R.Case = *Case;
  R.Original = B.original(W, OriginalImage);
  R.Candidate = std::move(**P);
  R.Allowed = B.tolerance();
  R.MostOutput = MostOutput;
  if (W.bytes() > MostRotated)
    R.Time.Sets = 1;
  return R;
}

Error JudgementBatch::addJudgement(const GpuCandidate &V) {
  return addRequests(V, /*Screening=*/false);
}

Error JudgementBatch::addScreening(const GpuCandidate &V) {
  return addRequests(V, /*Screening=*/true);
}

Error JudgementBatch::addRequests(const GpuCandidate &V, bool Screening) {
  Expected<std::string> Image = image(V.Ptx);
  if (!Image)
    return Image.takeError();
  // All comparisons before the first timing: who is wrong is not timed.
  std::vector<runner::Request> Compare, Run, Time, Other;
  for (size_t I = 0; I < From.Workloads.size(); ++I) {
    Expected<std::optional<runner::Request>> Made = request(V, I, *Image);
    if (!Made)
      return Made.takeError();
    if (!*Made)
      continue;
    const std::string Prefix = V.Id + "-" + From.Workloads[I].Name + "-";
    auto Add = [&](std::vector<runner::Request> &To, StringRef Kind,
                   runner::RequestKind K) {
      To.push_back(**Made);
      To.back().Id = Prefix + Kind.str();
      To.back().Kind = K;
    };
    Add(Compare, "compare", runner::RequestKind::Compare);
    if (!Screening && From.Workloads[I].bytes() <= MostOutput &&
        !From.GpuOnly[I])
      Add(Run, "run", runner::RequestKind::Run);
    if (From.Workloads[I].isTimed())
      Add(Time, "time", runner::RequestKind::Time);
    if (Screening)
      continue;
    // The original may not bear other values: these end nobody's group.
    for (auto &[Name, Case] : Scaled[I]) {
      Add(Other, Name + "-compare", runner::RequestKind::Compare);
      Other.back().Case = Case;
      Other.back().Group = V.Id + "-" + Name + "-" + From.Workloads[I].Name;
      Other.back().Allowed.Norm = 0; // It is about a workload's own inputs.
    }
  }
  for (auto *List : {&Compare, &Run, &Time, &Other})
    for (runner::Request &R : *List)
      B.add(std::move(R));
  return Error::success();
}

/// On how many levels \p Candidates are timed until two are left.
static unsigned levelsFor(size_t Candidates) {
  static constexpr unsigned MostLevels = 5;
  unsigned Levels = 1;
  for (; Candidates > 2 && Levels < MostLevels; ++Levels)
    Candidates = (Candidates + 1) / 2;
  return Levels;
}

/// The requests of \p V on one level; on the first the comparisons, too.
Error JudgementBatch::addHeat(StringRef Race, const GpuCandidate &V,
                              StringRef Image, unsigned Level) {
  const std::vector<double> Weights =
      timeWeights(From.Workloads, TimeBasis::Measured);
  std::vector<runner::Request> Compare, Time;
  for (auto [I, W] : enumerate(From.Workloads)) {
    Expected<std::optional<runner::Request>> Made = request(V, I, Image);
    if (!Made)
      return Made.takeError();
    if (!*Made)
      continue;
    runner::Request &R = **Made;
    R.Heat = {Race.str(), Level, Weights[I]};
    if (Level == 0) {
      Compare.push_back(R);
      Compare.back().Id = V.Id + "-" + W.Name + "-compare";
      Compare.back().Kind = runner::RequestKind::Compare;
    }
    if (!W.isTimed())
      continue;
    R.Id = V.Id + "-" + W.Name + "-time" + std::to_string(Level);
    R.Kind = runner::RequestKind::Time;
    R.Time.MostRounds = unsigned(runner::Looks::roundsAt(Level));
    Time.push_back(std::move(R));
  }
  for (auto *List : {&Compare, &Time})
    for (runner::Request &R : *List)
      B.add(std::move(R));
  return Error::success();
}

Error JudgementBatch::addRace(StringRef Race, ArrayRef<GpuCandidate> All) {
  // What ptxas refuses, or what is no launch, says nothing of the others.
  auto Absorb = [](Error E, bool &Out) {
    return handleErrors(std::move(E),
                        [&](std::unique_ptr<ToolError> T) -> Error {
                          if (T->code() == ExitCode::Resource)
                            return Error(std::move(T));
                          Out = true;
                          return Error::success();
                        });
  };
  std::vector<std::pair<const GpuCandidate *, std::string>> Runners;
  for (const GpuCandidate &V : All) {
    std::string Image;
    bool Out = false;
    if (Error E = Absorb(image(V.Ptx).moveInto(Image), Out))
      return E;
    if (!Out)
      Runners.push_back({&V, std::move(Image)});
  }
  for (unsigned Level = 0; Level < levelsFor(Runners.size()); ++Level)
    for (const auto &[V, Image] : std::vector(Runners)) {
      bool Out = false;
      if (Error E = Absorb(addHeat(Race, *V, Image, Level), Out))
        return E;
      if (Out)
        erase_if(Runners, [&](const auto &R) { return R.first == V; });
    }
  return Error::success();
}

Expected<unsigned> JudgementBatch::largeCase(size_t Index) {
  auto At = LargeCases.find(Index);
  if (At != LargeCases.end())
    return At->second;
  Expected<unsigned> New = B.addCase(From.Large[Index].Launch);
  if (New)
    LargeCases[Index] = *New;
  return New;
}

/// The image of \p V; "" without one.
Expected<std::string> JudgementBatch::variantImage(const GpuCandidate *V) {
  return V ? image(V->Ptx) : Expected<std::string>("");
}

/// A request for \p V alone, else the original, without id and kind; nothing
/// where the guard keeps the workload out.
Expected<std::optional<runner::Request>>
JudgementBatch::alone(const GpuCandidate *V, size_t Workload, StringRef Image) {
  if (V) {
    Expected<std::optional<runner::Request>> Made =
        request(*V, Workload, Image);
    if (Made && *Made)
      (*Made)->Original.reset();
    return Made;
  }
  Expected<unsigned> Case = caseOf(Workload);
  if (!Case)
    return Case.takeError();
  runner::Request R;
  R.Case = *Case;
  R.Original = B.original(From.Workloads[Workload], OriginalImage);
  return std::optional(std::move(R));
}

Error JudgementBatch::addProfile(const GpuCandidate *V, StringRef Id,
                                 const std::vector<std::string> &Sets) {
  Expected<std::string> Image = variantImage(V);
  if (!Image)
    return Image.takeError();
  size_t Profiled = 0;
  for (size_t I = 0; I < From.Workloads.size() && Profiled < MostAccepted;
       ++I) {
    if (!From.Workloads[I].isTimed())
      continue;
    Expected<std::optional<runner::Request>> R = alone(V, I, *Image);
    if (!R)
      return R.takeError();
    if (!*R)
      continue;
    (*R)->Kind = runner::RequestKind::Profile;
    (*R)->Id = (*R)->Group =
        (Id + "-" + From.Workloads[I].Name + "-profile").str();
    (*R)->Tools = Sets;
    B.add(std::move(**R));
    ++Profiled;
  }
  return Error::success();
}

Error JudgementBatch::addOriginalTimes() {
  for (auto [I, W] : enumerate(From.Workloads)) {
    if (!W.isTimed())
      continue;
    Expected<std::optional<runner::Request>> R = alone(nullptr, I, "");
    if (!R)
      return R.takeError();
    (*R)->Kind = runner::RequestKind::Time;
    (*R)->Id = (*R)->Group = "o-" + W.Name + "-time";
    (*R)->Candidate = (*R)->Original;
    (*R)->Allowed = B.tolerance();
    if (W.bytes() > MostRotated)
      (*R)->Time.Sets = 1;
    B.add(std::move(**R));
  }
  return Error::success();
}

Error JudgementBatch::addLarge(const GpuCandidate *V, StringRef Id) {
  Expected<std::string> VariantImage = variantImage(V);
  if (!VariantImage)
    return VariantImage.takeError();
  for (size_t I = 0; I < From.Large.size(); ++I) {
    const Workload &W = From.Large[I].Launch;
    runner::Request R;
    R.Original = B.original(W, OriginalImage);
    if (V) {
      Expected<std::optional<runner::Program>> P =
          B.variant(W, V->Plan, V->When, *VariantImage);
      if (!P)
        return P.takeError();
      if (!*P)
        continue;
      R.Candidate = std::move(**P);
    } else {
      R.Candidate = R.Original;
    }
    Expected<unsigned> Case = largeCase(I);
    if (!Case)
      return Case.takeError();
    R.Case = *Case;
    R.Kind = runner::RequestKind::Compare;
    R.Id = (Id + "-" + W.Name + "-compare").str();
    R.Group = R.Id;
    R.Allowed = B.tolerance();
    B.add(std::move(R));
  }
  return Error::success();
}

std::optional<size_t> launchThatCounts(ArrayRef<Workload> All) {
  std::optional<size_t> Most;
  double Largest = 0;
  const std::vector<double> Weights = timeWeights(All, TimeBasis::Measured);
  for (auto [I, W] : enumerate(All))
    if (double Size = Weights[I] * double(W.bytes()); Size > Largest) {
      Largest = Size;
      Most = I;
    }
  return Most;
}

Error JudgementBatch::addOtherValues(const GpuCandidate &V) {
  const std::optional<size_t> Most = launchThatCounts(From.Workloads);
  if (!Most)
    return Error::success();
  Expected<std::string> Image = image(V.Ptx);
  if (!Image)
    return Image.takeError();
  Expected<std::optional<runner::Request>> R = request(V, *Most, *Image);
  if (!R)
    return R.takeError();
  if (!*R)
    return Error::success();
  Expected<std::optional<unsigned>> Case =
      B.addOtherValuesCase(From.Workloads[*Most]);
  if (!Case)
    return Case.takeError();
  if (!*Case)
    return Error::success();
  (*R)->Case = **Case;
  (*R)->Kind = runner::RequestKind::Time;
  (*R)->Id = (*R)->Group =
      V.Id + "-" + From.Workloads[*Most].Name + "-other-values";
  (*R)->Allowed.Norm = 0; // It is about a workload's own inputs.
  B.add(std::move(**R));
  return Error::success();
}

Error JudgementBatch::addAcceptance(const GpuCandidate *V, StringRef Id) {
  Expected<std::string> VariantImage = variantImage(V);
  if (!VariantImage)
    return VariantImage.takeError();
  size_t Sanitized = 0, Profiled = 0;
  for (size_t I = 0; I < From.Workloads.size(); ++I) {
    const Workload &W = From.Workloads[I];
    // The tools slow a launch down a hundred times: small ones are for them,
    // and counters are of those whose time counts.
    bool Sanitize = !W.isForGpuAlone() && Sanitized < MostAccepted;
    bool Profile = W.isTimed() && Profiled < MostAccepted;
    if (!Sanitize && !Profile)
      continue;
    Expected<std::optional<runner::Request>> Made = alone(V, I, *VariantImage);
    if (!Made)
      return Made.takeError();
    if (!*Made)
      continue;
    runner::Request &R = **Made;
    Sanitized += Sanitize;
    Profiled += Profile;
    for (auto [Wanted, Kind, Word] :
         {std::tuple(Sanitize, runner::RequestKind::Sanitize, "sanitize"),
          {Profile, runner::RequestKind::Profile, "profile"}}) {
      if (!Wanted)
        continue;
      R.Kind = Kind;
      R.Id = (Id + "-" + W.Name + "-" + Word).str();
      R.Group = R.Id;
      B.add(R);
    }
  }
  return Error::success();
}

} // namespace cupilot
