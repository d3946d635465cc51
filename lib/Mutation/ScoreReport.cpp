//===- ScoreReport.cpp - A mutation score in words -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/ScoreReport.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

ScoreReport::ScoreReport(ArrayRef<MutantRecord> Records,
                         const std::map<std::string, std::string> &Arguments)
    : Records(Records), Arguments(Arguments) {
  for (const MutantRecord &R : Records) {
    add(ByOperator[R.M.Operator], R);
    add(All, R);
    if (R.found())
      ++ByReason[R.Reason];
  }
}

bool ScoreReport::isEquivalent(const MutantRecord &R) const {
  return R.Outcome == MutantOutcome::Survived && !R.Differs &&
         Arguments.count(R.key());
}

void ScoreReport::add(Row &To, const MutantRecord &R) const {
  ++To.Made;
  if (!R.counts())
    ++(R.Outcome == MutantOutcome::SameCode ? To.SameCode : To.NotCompiled);
  else if (R.found())
    ++To.Found;
  else if (isEquivalent(R))
    ++To.Equivalent;
  else
    ++To.Survived;
  To.Misses += R.Differs;
}

double ScoreReport::score() const {
  return All.counted() ? 100.0 * All.Found / All.counted() : 100;
}

void ScoreReport::print(raw_ostream &OS, unsigned Kernels) const {
  const char *Line = "{0,-12} {1,5} {2,10} {3,11} {4,8} {5,6} {6,9} {7,7}\n";
  OS << "\n"
     << formatv(Line, "operator", "made", "same code", "equivalent", "counted",
                "found", "survived", "misses");
  auto Print = [&](StringRef Name, const Row &R) {
    OS << formatv(Line, Name, R.Made, R.SameCode, R.Equivalent, R.counted(),
                  R.Found, R.Survived, R.Misses);
  };
  for (const auto &[Name, R] : ByOperator)
    Print(Name, R);
  Print("all", All);
  if (All.NotCompiled)
    OS << All.NotCompiled << " made do not compile\n";
  OS << "\nreasons:";
  for (const auto &[Reason, Count] : ByReason)
    OS << " " << Reason << " " << Count;
  bool First = true;
  for (const MutantRecord &R : Records) {
    if (R.Outcome != MutantOutcome::Survived || isEquivalent(R))
      continue;
    OS << (First ? "\n\nsurvivors:\n" : "");
    First = false;
    OS << "  " << R.key();
    if (R.Differs)
      OS << "\n    missed: " << R.Difference;
    else if (R.Inputs)
      OS << "\n    equal on " << R.Inputs << " independent inputs";
    if (!R.Differs && !R.Evidence.empty())
      OS << "\n    " << R.Evidence;
    OS << "\n";
  }
  OS << formatv("\nscore {0:f1} %: {1} of {2} mutants of {3} kernel(s)\n",
                score(), All.Found, All.counted(), Kernels);
}

void ScoreReport::printJson(raw_ostream &OS) const {
  auto RowOf = [](const Row &R) {
    return json::Object{{"made", R.Made},
                        {"same_code", R.SameCode},
                        {"not_compiled", R.NotCompiled},
                        {"equivalent", R.Equivalent},
                        {"counted", R.counted()},
                        {"found", R.Found},
                        {"survived", R.Survived},
                        {"misses", R.Misses}};
  };
  json::Object Operators, Reasons;
  for (const auto &[Name, R] : ByOperator)
    Operators[Name] = RowOf(R);
  for (const auto &[Reason, Count] : ByReason)
    Reasons[Reason] = Count;
  json::Array Mutants;
  for (const MutantRecord &R : Records) {
    json::Value V = toJSON(R);
    if (isEquivalent(R))
      (*V.getAsObject())["argument"] = Arguments.at(R.key());
    Mutants.push_back(std::move(V));
  }
  OS << formatv("{0:2}\n",
                json::Value(json::Object{{"score", score()},
                                         {"all", RowOf(All)},
                                         {"operators", std::move(Operators)},
                                         {"reasons", std::move(Reasons)},
                                         {"mutants", std::move(Mutants)}}));
}

} // namespace cupilot
