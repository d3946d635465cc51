//===- AgentFacts.h - Facts for each agent's prompt -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_LLM_AGENTFACTS_H
#define CUPILOT_TEST_LLM_AGENTFACTS_H

#include "cupilot/LLM/Prompts.h"

/// What the prompts of the four agents take (docs/LLM.md), around one kernel.
inline std::vector<std::pair<std::string, llvm::json::Object>>
agentFacts(llvm::StringRef Kernel) {
  using llvm::json::Array;
  using llvm::json::Object;
  Object Strategy{
      {"name", "unroll"},
      {"bottleneck", "latency"},
      {"summary", "Unroll"},
      {"params", Array{Object{{"name", "factor"}, {"values", "2, 4, 8"}}}},
      {"requires", Array{}},
      {"conflicts", Array{"other"}},
      {"record", nullptr}};
  Object Parameter{{"name", "n"}, {"type", "int"}, {"integer", "n"}};
  Object Workload{{"weight", "82 %"}, {"text", "grid [4096, 1, 1]"}};
  Object Common{{"gpu", "H200"},
                {"arch", "sm_90"},
                {"kernel_name", "k<int>(const float *, int)"},
                {"kernel", cupilot::quotedFact("kernel.cu", Kernel)},
                {"class", "memory"},
                {"grounds", Array{"it moves 1 GB"}},
                {"headroom", 2.5},
                {"contract", "no less exact than the original"},
                {"workloads", Array{Object(Workload)}},
                {"parameters", Array{Object(Parameter)}},
                {"strategies", Array{Object(Strategy)}},
                {"has_card", true},
                {"card", Array{"132 multiprocessors"}},
                {"has_tunables", true},
                {"has_mlir", true},
                {"has_notes", true},
                {"notes", Array{Object{{"strategy", "unroll"},
                                       {"lines", Array{"By four."}}}}},
                {"examples", Array{}}};
  auto With = [&](std::initializer_list<Object::KV> More) {
    Object O = Common;
    for (const Object::KV &One : More)
      O[One.K] = One.V;
    return O;
  };
  return {
      {"sce-manager", With({{"initial", true},
                            {"count", 4},
                            {"has_population", false},
                            {"population", Array{}},
                            {"basis", "measured"},
                            {"has_tried", false},
                            {"tried", Array{}},
                            {"may_propose", true}})},
      {"strategy-translator",
       With({{"genes", Array{Object{{"gene", "unroll{factor=4}"},
                                    {"summary", "Unroll"}}}},
             {"has_facts", true},
             {"facts", Array{"32 registers"}},
             {"parent",
              Array{Object{{"parent_genome", "unroll{factor=2}"},
                           {"parent_outcome", "1.20 times as fast"},
                           {"parent_plan", "grid [gx, gy, gz]"},
                           {"parent_guard", "none"},
                           {"parent_tunables", "TILE = 32 of [16, 32]"},
                           {"parent_figures", Array{"full: 12 us"}},
                           {"source",
                            cupilot::quotedFact("parent.cu", "int v;\n")}}}}})},
      {"improve",
       With({{"has_facts", false},
             {"facts", Array{}},
             {"variant",
              Array{Object{
                  {"parent_genome", "unroll{factor=2}"},
                  {"parent_outcome", "1.20 times as fast"},
                  {"parent_plan", "grid [gx, gy, gz]"},
                  {"parent_guard", "none"},
                  {"parent_tunables", "TILE = 32 of [16, 32]"},
                  {"parent_figures", Array{"full: 12 us"}},
                  {"source", cupilot::quotedFact("variant.cu", "int v;\n")}}}},
             {"has_tried", true},
             {"tried", Array{Object{{"name", "g0_v1"},
                                    {"genome", "unroll{factor=4}"},
                                    {"outcome", "gate: race"}}}},
             {"several", true},
             {"number", 1},
             {"count", 2}})},
      {"code-crossover",
       With({{"parents",
              Array{Object{
                  {"outcome", "1.20 times as fast"},
                  {"plan", "grid [gx, gy, gz]"},
                  {"guard", "none"},
                  {"source", cupilot::quotedFact("variant.cu", "int v;\n")}}}},
             {"has_facts", false},
             {"facts", Array{}}})},
      {"kernel-revisor",
       With({{"genome", "unroll{factor=4}"},
             {"variant", cupilot::quotedFact("variant.cu", "int v;\n")},
             {"plan", "grid [gx, gy, gz]"},
             {"guard", "none"},
             {"tunables", nullptr},
             {"trouble", "does not compile"},
             {"errors", cupilot::quotedFact("errors", "error: x\n")},
             {"verdict", nullptr},
             {"has_profile", false},
             {"profile", Array{}},
             {"earlier", Array{}},
             {"round", 1},
             {"rounds", 3}})},
      {"roofline-prophet",
       With(
           {{"opinions", Array{Object{{"source", "counts"},
                                      {"class", "memory"},
                                      {"grounds", "90 %"}}}},
            {"metrics", Array{Object{{"name", "dram"},
                                     {"value", "3 TB/s"},
                                     {"source", "counted"}}}},
            {"standing",
             Array{Object{{"generation", 0},
                          {"basis", "measured"},
                          {"has_best", true},
                          {"best_genome", "unroll{factor=4}"},
                          {"best", Array{"w0: 9 us, the original 10 us"}},
                          {"before", "memory"},
                          {"now", "latency"},
                          {"grounds", Array{"DRAM 20 %"}},
                          {"tried", Array{Object{{"name", "g0_v1"},
                                                 {"genome", "unroll{factor=4}"},
                                                 {"outcome", "1.11 x"}}}}}}},
            {"time", "10 us"},
            {"floor", "4 us"},
            {"distance", "10 %"}})}};
}

#endif // CUPILOT_TEST_LLM_AGENTFACTS_H
