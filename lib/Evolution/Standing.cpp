//===- Standing.cpp - How far a search is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Standing.h"
#include "cupilot/Evolution/Advice.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Bytes of a row of the table of what was tried.
static constexpr size_t MostGenomeBytes = 240, MostOutcomeBytes = 160;

/// On one line, and no longer than \p Most.
static std::string shortened(StringRef Text, size_t Most) {
  std::string Line;
  for (char C : Text.trim())
    Line += isSpace(C) ? ' ' : C;
  if (Line.size() > Most)
    Line = Line.substr(0, Most) + " ...";
  return Line;
}

/// Of what a compiler says the line of the first error: the lines behind it
/// hold the candidate's text.
static StringRef firstComplaint(StringRef Why) {
  StringRef First = Why.split('\n').first;
  for (StringRef Rest = Why; !Rest.empty();) {
    auto [Line, Behind] = Rest.split('\n');
    if (Line.contains("error: "))
      return Line;
    Rest = Behind;
  }
  return First;
}

std::string outcomeText(const CandidateRecord &R) {
  if (R.Outcome == CandidateOutcome::Accepted)
    return formatv("{0:f2} x", R.Ratio).str();
  std::string Text = wordOf(R.Outcome).str();
  if (R.Ratio > 0)
    Text += formatv(", {0:f2} x", R.Ratio);
  else if (std::string Why = reasonText(R); !Why.empty())
    Text += (": " + firstComplaint(Why)).str();
  return shortened(Text, MostOutcomeBytes);
}

static bool isTimed(const CandidateRecord &R) {
  return R.Code && R.Ratio > 0 &&
         (R.Outcome == CandidateOutcome::Accepted ||
          R.Outcome == CandidateOutcome::Slower);
}

const LaunchProfiles *Scoreboard::profile(const CandidateRecord &R) const {
  auto At = Profiles.find(R.Genome);
  return At == Profiles.end() ? nullptr : &At->second;
}

/// Of equals the elder, which lies before the other.
static bool isFaster(const Scoreboard::Entry *A, const Scoreboard::Entry *B) {
  return std::pair(-A->Record.Ratio, A) < std::pair(-B->Record.Ratio, B);
}

std::vector<const Scoreboard::Entry *> Scoreboard::elites(size_t Most) const {
  std::vector<const Entry *> All;
  for (CandidateOutcome Wanted :
       {CandidateOutcome::Accepted, CandidateOutcome::Slower}) {
    for (const Entry &E : Entries)
      if (E.Record.Outcome == Wanted && isTimed(E.Record))
        All.push_back(&E);
    if (!All.empty())
      break;
  }
  llvm::sort(All, isFaster);
  if (All.size() > Most)
    All.resize(Most);
  return All;
}

std::vector<TriedVariant> Scoreboard::tried(size_t Most) const {
  std::vector<const Entry *> Timed, Failed;
  for (const Entry &E : Entries)
    (isTimed(E.Record) ? Timed : Failed).push_back(&E);
  llvm::sort(Timed, isFaster);
  // Of failures the latest say most: the others were told before.
  std::reverse(Failed.begin(), Failed.end());
  const size_t Places =
      std::max(Most - std::min(Most, Failed.size()), Most / 2);
  if (Timed.size() > Places)
    Timed.resize(Places);
  append_range(Timed, ArrayRef(Failed).take_front(
                          std::min(Failed.size(), Most - Timed.size())));
  std::vector<TriedVariant> All;
  for (const Entry *E : Timed)
    All.push_back({E->Name, shortened(E->Record.Carried, MostGenomeBytes),
                   outcomeText(E->Record)});
  return All;
}

/// Registers, spills, shared memory and occupancy of each kernel of the plan,
/// on the launch that counts most.
std::vector<std::string>
Scoreboard::compilerFigures(const CandidateRecord &R) const {
  std::vector<std::string> Lines;
  const Workload &W = P.Workloads[heaviestWorkload(P)];
  Expected<Bindings> Values = bindLaunch(W.Shape, P.K.Scalars, W.Args);
  if (!Values)
    consumeError(Values.takeError());
  for (const Launch &L : R.Code->Plan.Launches) {
    auto Known = R.Evidence->Resources.find(L.Symbol);
    if (Known == R.Evidence->Resources.end())
      continue;
    const KernelResources &Of = Known->second;
    std::string Text =
        formatv("{0} by ptxas: {1} registers, {2} bytes of spills, {3} of "
                "static shared memory",
                L.Symbol, Of.Registers, Of.SpillBytes, Of.StaticShared)
            .str();
    if (std::optional<LaunchShape> Shape =
            Values ? planShape(L, *Values) : std::nullopt)
      Text += formatv(", {0} of dynamic, occupancy {1:f0} %", Shape->Shared,
                      occupancy(P.Gpu, Of, *Shape) * 100);
    if (!is_contained(Lines, Text))
      Lines.push_back(std::move(Text));
  }
  return Lines;
}

Opinion Scoreboard::opinion(const CandidateRecord &R) const {
  Opinion O;
  if (!R.Evidence)
    return O;
  const size_t Heaviest = heaviestWorkload(P);
  const Workload &W = P.Workloads[Heaviest];
  CeilingTimes Work;
  if (Heaviest < R.Evidence->Work.size() && R.Evidence->Work[Heaviest])
    Work = timesAtCeilings(Limits, *R.Evidence->Work[Heaviest]);
  if (const LaunchProfiles *Known = profile(R))
    if (auto At = Known->find(W.Name);
        At != Known->end() && !At->second.Metrics.empty())
      return opinionOfMeasurement(At->second, Work);
  for (const LaunchTimes &T : R.Evidence->times()) {
    if (T.Workload != W.Name || !(T.VariantUs > 0) ||
        !std::isfinite(T.VariantUs) || !(Work.longestUs() > 0))
      continue;
    double Memory = Work.memory() / T.VariantUs,
           Compute = Work.compute() / T.VariantUs;
    O.Class = classify(Memory, Compute);
    O.Grounds.push_back(
        formatv("of {0:f2} us ({1}) memory at its ceiling would take {2:f0} % "
                "and computing {3:f0} %, by the counts of its launch",
                T.VariantUs, R.Evidence->Gpu ? "measured" : "modelled",
                Memory * 100, Compute * 100));
  }
  return O;
}

std::vector<std::string> Scoreboard::figures(const CandidateRecord &R) const {
  std::vector<std::string> Lines = profileOf(R, P, Evaluator, Advice);
  if (!R.Evidence || !R.Code)
    return Lines;
  const char *Basis = R.Evidence->Gpu ? "measured" : "modelled";
  if (double Share = Ceiling.share(R); Share > 0)
    Lines.push_back(formatv("{0:f0} % of what the GPU's ceiling allows ({1}): "
                            "{2:f2} times as fast is the most that is possible",
                            Share * 100, Basis, std::max(1.0, 1 / Share))
                        .str());
  append_range(Lines, compilerFigures(R));
  if (const LaunchProfiles *Known = profile(R))
    for (const auto &[Workload, M] : *Known) {
      std::string Text;
      for (const auto &[Key, Value] : M.Metrics)
        Text += formatv("{0}{1} {2:f1}", Text.empty() ? "" : ", ", Key, Value);
      if (!Text.empty())
        Lines.push_back("counters on " + Workload +
                        " (percent; bytes of dramRead and dramWritten; ns of "
                        "duration): " +
                        Text);
    }
  Opinion O = opinion(R);
  if (O.Class)
    Lines.push_back("bound by " + toString(*O.Class).str() + ": " +
                    join(O.Grounds, "; "));
  return Lines;
}

} // namespace cupilot
