//===- SearchProgress.cpp - How far a search is ---------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SearchProgress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

SearchProgress::SearchProgress(const SearchOptions &Options, bool OnGpu,
                               bool Verbose, std::function<double()> Cost,
                               raw_ostream &Log)
    : Most(Options.Population + (Options.Generations - 1) * Options.Offspring),
      OnGpu(OnGpu), Verbose(Verbose), Cost(std::move(Cost)), Log(Log),
      Begin(std::chrono::steady_clock::now()) {}

/// "12/min, 2 min left at most, spent 0.1200".
std::string SearchProgress::pace() const {
  double Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin)
          .count();
  double Rate = Number / std::max(Seconds, 1e-3); // Candidates a second.
  double Left = Most > Number ? (Most - Number) / Rate : 0;
  std::string Text =
      formatv("{0}/min, ", uint64_t(std::min(Rate * 60, 1e9) + 0.5)).str();
  Text +=
      Left < 90 ? formatv("at most {0} s left", uint64_t(Left + 0.5)).str()
      : Left < 5400
          ? formatv("at most {0} min left", uint64_t(Left / 60 + 0.5)).str()
          : formatv("at most {0} h left", uint64_t(Left / 3600 + 0.5)).str();
  if (Cost)
    if (double Spent = Cost(); Spent > 0)
      Text += formatv(", spent {0:f4}", Spent).str();
  return Text;
}

void SearchProgress::candidate(unsigned Generation, const CandidateRecord &R,
                               double Best) {
  ++Number;
  Log << format("  generation %u, candidate %2u, ", Generation, Number)
      << pace()
      << format(", best %.2fx %s: ", Best, OnGpu ? "measured" : "modelled")
      << wordOf(R.Outcome);
  if (R.Ratio > 0)
    Log << format(" %.2fx", R.Ratio);
  if (R.Evidence && R.Evidence->High > 0)
    Log << format(" (%.2f to %.2f)", R.Evidence->Low, R.Evidence->High);
  Log << " " << R.Genome;
  if (std::optional<Genome> G = parseGenome(R.Genome);
      G && (isImprovement(*G) || isSubmission(*G)))
    Log << ": " << (R.Carried.empty() ? "no strategy" : R.Carried);
  Log << "\n";
  if (std::string Why = reasonText(R); Verbose && !Why.empty())
    Log << "    " << Why << "\n";
}

} // namespace cupilot
