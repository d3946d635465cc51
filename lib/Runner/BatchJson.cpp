//===- BatchJson.cpp - Batches to and from JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BrokenBatch.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Batch.h"
#include "cupilot/Runner/Files.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace cupilot::runner {

static std::vector<uint8_t> bytesOf(const std::string &Hex) {
  std::string Bytes;
  if (!appendBytesOf(Hex, Bytes))
    broken("argument bytes are not pairs of hexadecimal digits");
  return {Bytes.begin(), Bytes.end()};
}

static std::string roleWord(Role R) {
  return R == Role::In ? "in" : R == Role::Out ? "out" : "inout";
}

static Role roleOf(const std::string &Word) {
  if (Word == "in")
    return Role::In;
  if (Word == "out")
    return Role::Out;
  if (Word != "inout")
    broken("a buffer's use is '" + Word + "', not in, out or inout");
  return Role::InOut;
}

static json toJson(const Buffer &B) {
  json J = {{"size", B.Size}, {"use", roleWord(B.Use)}};
  if (B.Alignment != 256)
    J["align"] = B.Alignment;
  if (!B.Before.Data.empty())
    J["data"] = B.Before.Data;
  if (!B.Before.Generator.empty())
    J["generator"] = B.Before.Generator;
  if (B.Holds.Fields.size() == 1 && B.Holds.Fields[0].Offset == 0 &&
      B.Holds.Stride == sizeOf(B.Holds.Fields[0].Kind)) {
    J["holds"] = std::string(wordOf(B.Holds.Fields[0].Kind));
  } else if (!B.Holds.Fields.empty()) {
    json Fields = json::array();
    for (const Field &F : B.Holds.Fields)
      Fields.push_back({F.Offset, std::string(wordOf(F.Kind))});
    J["holds"] = {{"stride", B.Holds.Stride}, {"fields", std::move(Fields)}};
  }
  return J;
}

static NumberKind kindOf(const std::string &Word) {
  std::optional<NumberKind> K = numberKindOf(Word);
  if (!K)
    broken("unknown type of numbers '" + Word + "'");
  return *K;
}

static Buffer bufferFromJson(const json &J) {
  Buffer B;
  B.Size = J.at("size").get<uint64_t>();
  B.Alignment = J.value("align", uint64_t(256));
  B.Use = roleOf(J.value("use", "inout"));
  B.Before.Data = J.value("data", "");
  B.Before.Generator = J.value("generator", "");
  if (B.Alignment == 0 || (B.Alignment & (B.Alignment - 1)))
    broken("an alignment is not a power of two");
  if (B.Size > uint64_t(1) << 40)
    broken("a buffer has more than 2^40 bytes");
  if (!B.Before.Data.empty() && !isDigest(B.Before.Data))
    broken("'" + B.Before.Data + "' is not a digest");
  if (!J.contains("holds"))
    return B;
  const json &H = J.at("holds");
  if (H.is_string()) {
    B.Holds = Elements::of(kindOf(H.get<std::string>()));
    return B;
  }
  B.Holds.Stride = H.at("stride").get<uint64_t>();
  for (const json &F : H.at("fields")) {
    Field New{F.at(0).get<uint64_t>(), kindOf(F.at(1).get<std::string>())};
    if (New.Offset + sizeOf(New.Kind) > B.Holds.Stride)
      broken("a field lies outside of the elements of its buffer");
    B.Holds.Fields.push_back(New);
  }
  return B;
}

json toJson(const Case &C) {
  json J = {{"name", C.Name},
            {"buffers", json::array()},
            {"variables", json::array()}};
  for (const Buffer &B : C.Buffers)
    J["buffers"].push_back(toJson(B));
  for (const Variable &V : C.Variables) {
    json O = toJson(V.Value);
    O["symbol"] = V.Symbol;
    J["variables"].push_back(std::move(O));
  }
  return J;
}

Case caseFromJson(const json &J) {
  Case C;
  C.Name = J.at("name").get<std::string>();
  for (const json &B : J.at("buffers"))
    C.Buffers.push_back(bufferFromJson(B));
  for (const json &V : J.value("variables", json::array()))
    C.Variables.push_back(
        {V.at("symbol").get<std::string>(), bufferFromJson(V)});
  return C;
}

static json toJson(const KernelLaunch &L) {
  json J = {{"image", L.Image}, {"symbol", L.Symbol}, {"grid", L.Grid},
            {"block", L.Block}, {"shared", L.Shared}, {"args", json::array()}};
  if (L.Cluster[0])
    J["cluster"] = L.Cluster;
  if (L.Cooperative)
    J["cooperative"] = true;
  for (const std::vector<uint8_t> &A : L.Args)
    J["args"].push_back(
        hexOf({reinterpret_cast<const char *>(A.data()), A.size()}));
  for (const Patch &P : L.Patches)
    J["patches"].push_back({{"arg", P.Arg},
                            {"offset", P.Offset},
                            {P.Scratch ? "scratch" : "buffer", P.Index},
                            {"at", P.At}});
  for (const MapArgument &M : L.Maps)
    J["maps"].push_back({{"arg", M.Arg},
                         {"buffer", M.Buffer},
                         {"at", M.At},
                         {"type", M.Type},
                         {"swizzle", M.Swizzle},
                         {"promotion", M.Promotion},
                         {"nan", M.FillNan},
                         {"extents", M.Extents},
                         {"strides", M.Strides},
                         {"box", M.Box},
                         {"steps", M.Steps}});
  return J;
}

static KernelLaunch launchFromJson(const json &J) {
  KernelLaunch L;
  L.Image = J.at("image").get<std::string>();
  L.Symbol = J.at("symbol").get<std::string>();
  L.Grid = J.at("grid").get<std::array<uint64_t, 3>>();
  L.Block = J.at("block").get<std::array<uint64_t, 3>>();
  L.Cluster = J.value("cluster", std::array<uint64_t, 3>{});
  L.Shared = J.value("shared", uint64_t(0));
  L.Cooperative = J.value("cooperative", false);
  for (const json &A : J.at("args"))
    L.Args.push_back(bytesOf(A.get<std::string>()));
  for (const json &P : J.value("patches", json::array())) {
    bool Scratch = P.contains("scratch");
    L.Patches.push_back({P.at("arg").get<unsigned>(),
                         P.at("offset").get<unsigned>(), Scratch,
                         P.at(Scratch ? "scratch" : "buffer").get<unsigned>(),
                         P.value("at", uint64_t(0))});
    const Patch &New = L.Patches.back();
    if (New.Arg >= L.Args.size() || New.Offset + 8 > L.Args[New.Arg].size())
      broken("a pointer lies outside of the arguments of '" + L.Symbol + "'");
  }
  for (const json &M : J.value("maps", json::array())) {
    L.Maps.push_back(
        {M.at("arg").get<unsigned>(), M.at("buffer").get<unsigned>(),
         M.value("at", uint64_t(0)), M.at("type").get<unsigned>(),
         M.value("swizzle", 0u), M.value("promotion", 0u),
         M.value("nan", false), M.at("extents").get<std::vector<uint64_t>>(),
         M.at("strides").get<std::vector<uint64_t>>(),
         M.at("box").get<std::vector<uint32_t>>(),
         M.value("steps", std::vector<uint32_t>())});
    MapArgument &New = L.Maps.back();
    size_t Rank = New.Extents.size();
    if (New.Steps.empty())
      New.Steps.assign(Rank, 1);
    if (New.Arg >= L.Args.size() || L.Args[New.Arg].size() != 128 ||
        Rank == 0 || Rank > 5 || New.Strides.size() + 1 != Rank ||
        New.Box.size() != Rank || New.Steps.size() != Rank)
      broken("a tensor map of '" + L.Symbol + "' is inconsistent");
  }
  return L;
}

json toJson(const Program &P) {
  json J = {{"launches", json::array()}};
  if (!P.Scratch.empty())
    J["scratch"] = P.Scratch;
  for (const KernelLaunch &L : P.Launches)
    J["launches"].push_back(toJson(L));
  return J;
}

Program programFromJson(const json &J) {
  Program P;
  P.Scratch = J.value("scratch", std::vector<uint64_t>());
  for (const json &L : J.at("launches"))
    P.Launches.push_back(launchFromJson(L));
  return P;
}

json toJson(const Request &R) {
  json J = {{"id", R.Id},
            {"kind", wordOf(R.Kind)},
            {"case", R.Case},
            {"timeout_ms", R.TimeoutMs}};
  if (!R.Group.empty())
    J["group"] = R.Group;
  if (R.Original)
    J["original"] = toJson(*R.Original);
  if (R.Candidate)
    J["candidate"] = toJson(*R.Candidate);
  if (R.Kind == RequestKind::Run)
    J["most_output"] = R.MostOutput;
  if (R.Kind == RequestKind::Compare || R.Kind == RequestKind::Time)
    J["tolerance"] = {{"absolute", R.Allowed.Absolute},
                      {"relative", R.Allowed.Relative},
                      {"floor", R.Allowed.Floor}};
  if (R.Allowed.Norm != 0)
    J["tolerance"]["norm"] = R.Allowed.Norm;
  if (R.Kind == RequestKind::Time)
    J["time"] = {{"precision", R.Time.Precision},
                 {"margin", R.Time.Margin},
                 {"error", R.Time.Error},
                 {"budget_ms", R.Time.BudgetMs},
                 {"sets", R.Time.Sets}};
  if (R.Time.MostRounds)
    J["time"]["most_rounds"] = R.Time.MostRounds;
  if (R.Heat)
    J["heat"] = {{"race", R.Heat->Race},
                 {"level", R.Heat->Level},
                 {"weight", R.Heat->Weight}};
  if (!R.Tools.empty())
    J["tools"] = R.Tools;
  return J;
}

static RequestKind requestKindOf(const std::string &Word) {
  for (RequestKind K :
       {RequestKind::Run, RequestKind::Compare, RequestKind::Time,
        RequestKind::Ceilings, RequestKind::Sanitize, RequestKind::Profile})
    if (wordOf(K) == Word)
      return K;
  broken("unknown kind of request '" + Word + "'");
}

static Request requestFromJson(const json &J) {
  Request R;
  R.Id = J.at("id").get<std::string>();
  R.Kind = requestKindOf(J.at("kind").get<std::string>());
  R.Group = J.value("group", "");
  R.Case = J.value("case", 0u);
  R.TimeoutMs = J.value("timeout_ms", R.TimeoutMs);
  R.MostOutput = J.value("most_output", R.MostOutput);
  if (J.contains("original"))
    R.Original = programFromJson(J.at("original"));
  if (J.contains("candidate"))
    R.Candidate = programFromJson(J.at("candidate"));
  json Allowed = J.value("tolerance", json::object());
  R.Allowed = {Allowed.value("absolute", 0.0), Allowed.value("relative", 0.0),
               Allowed.value("floor", 0.0), Allowed.value("norm", 0.0)};
  json T = J.value("time", json::object());
  R.Time.Precision = T.value("precision", R.Time.Precision);
  R.Time.Margin = T.value("margin", R.Time.Margin);
  R.Time.Error = T.value("error", R.Time.Error);
  R.Time.BudgetMs = T.value("budget_ms", R.Time.BudgetMs);
  R.Time.Sets = T.value("sets", R.Time.Sets);
  R.Time.MostRounds = T.value("most_rounds", R.Time.MostRounds);
  if (J.contains("heat")) {
    const json &H = J.at("heat");
    R.Heat = {H.at("race").get<std::string>(), H.value("level", 0u),
              H.value("weight", 1.0)};
  }
  R.Tools = J.value("tools", std::vector<std::string>());
  return R;
}

json toJson(const Batch &B) {
  json J = {{"format", "cupilot-batch"},
            {"version", BatchVersion},
            {"id", B.Id},
            {"arch", B.Arch},
            {"images", B.Images},
            {"data", B.Data},
            {"cases", json::array()},
            {"requests", json::array()}};
  for (const Case &C : B.Cases)
    J["cases"].push_back(toJson(C));
  for (const Request &R : B.Requests)
    J["requests"].push_back(toJson(R));
  return J;
}

Batch batchFromJson(const json &J) {
  if (!J.is_object() || J.value("format", "") != "cupilot-batch")
    broken("it does not say \"format\": \"cupilot-batch\"");
  if (int Version = J.value("version", 0); Version != BatchVersion)
    throw Failure(Version > BatchVersion ? FailureKind::NewerBatch
                                         : FailureKind::BrokenBatch,
                  "it has format " + std::to_string(Version) +
                      ", this runner supports format " +
                      std::to_string(BatchVersion));
  try {
    Batch B;
    B.Id = J.at("id").get<std::string>();
    B.Arch = J.value("arch", "");
    B.Images = J.at("images").get<std::map<std::string, std::string>>();
    B.Data = J.at("data").get<std::map<std::string, uint64_t>>();
    for (const json &C : J.at("cases"))
      B.Cases.push_back(caseFromJson(C));
    for (const json &R : J.at("requests"))
      B.Requests.push_back(requestFromJson(R));
    return B;
  } catch (const json::exception &E) {
    broken(E.what());
  }
}

} // namespace cupilot::runner
