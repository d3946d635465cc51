//===- Verdict.cpp - Verdicts as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Gate.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

json::Object toJSON(const GateVerdict &V) {
  auto Number = [](double Value) {
    // JSON has no infinity.
    return std::isfinite(Value) ? json::Value(Value) : json::Value("infinite");
  };
  json::Array Findings, Cases, Choices;
  for (const GateFinding &F : V.Findings)
    Findings.push_back(json::Object{{"reason", wordOf(F.Reason)},
                                    {"workload", F.Workload},
                                    {"evidence", F.Evidence}});
  for (const GateRecord &R : V.Cases)
    Cases.push_back(json::Object{
        {"case", R.Case}, {"shape", R.Shape}, {"outcome", R.Outcome}});
  for (const std::string &Text : V.Choices)
    Choices.push_back(Text);
  json::Object O{{"verdict", V.Passed ? "passed" : "rejected"},
                 {"gate", GateVersion},
                 {"checks", V.Checks},
                 {"guard_misses", V.GuardMisses},
                 {"skipped", V.Skipped},
                 {"error", Number(V.MaxError)},
                 {"original_error", Number(V.OriginalError)},
                 {"findings", std::move(Findings)},
                 {"choices", std::move(Choices)},
                 {"cases", std::move(Cases)}};
  if (!V.Findings.empty()) {
    const GateFinding &F = V.Findings.front();
    O["reason"] = wordOf(F.Reason);
    O["workload"] = F.Workload;
    O["evidence"] = F.Evidence;
  }
  return O;
}

} // namespace cupilot
