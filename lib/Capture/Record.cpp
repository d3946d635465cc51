//===- Record.cpp - What a capture folder says -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Record.h"
#include "cupilot/Portable/Digest.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace cupilot::capture {

static json toJson(const Content &C) {
  json J = {{"size", C.Size}, {"align", C.Align}, {"digest", C.Digest}};
  if (!C.After.empty())
    J["after"] = C.After;
  if (!C.HasAfter)
    J["afterKept"] = false;
  if (C.isDescribed())
    J["generator"] = C.Generator;
  if (C.Changed)
    J["changed"] = C.Changed;
  return J;
}

/// Files have the words, in the order of the outcomes.
static constexpr std::string_view ReplayWords[] = {"same", "close", "differs",
                                                   "failed"};

std::string ReplayResult::text() const {
  std::string Word(ReplayWords[static_cast<int>(What)]);
  return Details.empty() ? Word : Word + ": " + Details;
}

std::optional<ReplayResult> ReplayResult::parse(const std::string &Text) {
  size_t End = std::min(Text.find(": "), Text.size());
  const auto *It = std::ranges::find(ReplayWords, Text.substr(0, End));
  if (It == std::end(ReplayWords))
    return std::nullopt;
  return ReplayResult{static_cast<Outcome>(It - ReplayWords),
                      Text.substr(std::min(End + 2, Text.size()))};
}

json toJson(const Launch &L) {
  json J = {{"kernel", L.Kernel},
            {"grid", L.Dims.Grid},
            {"block", L.Dims.Block},
            {"shared", L.Dims.Shared},
            {"count", L.Count},
            {"cost", L.Cost},
            {"kept", L.Kept},
            {"args", json::array()},
            {"pointers", json::array()},
            {"buffers", json::array()},
            {"globals", json::array()}};
  for (const std::string &Arg : L.Args)
    J["args"].push_back(hexOf(Arg));
  for (const Pointer &P : L.Pointers)
    J["pointers"].push_back({{"param", P.Param},
                             {"offset", P.Offset},
                             {"buffer", P.Buffer},
                             {"at", P.At}});
  for (const Content &B : L.Buffers)
    J["buffers"].push_back(toJson(B));
  for (const Global &G : L.Globals) {
    json Value = toJson(G.Value);
    Value["symbol"] = G.Symbol;
    J["globals"].push_back(std::move(Value));
  }
  if (L.Dims.Cluster != std::array<uint64_t, 3>{1, 1, 1})
    J["cluster"] = L.Dims.Cluster;
  if (L.Dims.Cooperative)
    J["cooperative"] = true;
  if (L.Timed != L.Count)
    J["timed"] = L.Timed;
  if (L.Device)
    J["device"] = L.Device;
  if (L.Stream)
    J["stream"] = L.Stream;
  if (L.InGraph)
    J["graph"] = true;
  if (L.Inferred)
    J["inferred"] = true;
  if (!L.Library.empty())
    J["library"] = L.Library;
  if (!L.Module.empty()) {
    J["module"] = L.Module;
    J["moduleSize"] = L.ModuleSize;
  }
  if (!L.Obstacles.empty())
    J["obstacles"] = L.Obstacles;
  if (!L.Remarks.empty())
    J["remarks"] = L.Remarks;
  if (L.Replay)
    J["replay"] = L.Replay->text();
  return J;
}

[[noreturn]] static void wrong(const char *Field) {
  throw Failure(FailureKind::BadRecording, std::string("the field '") + Field +
                                               "' of a launch is invalid");
}

template <typename T>
static void read(const json &J, const char *Name, T &Value, bool Must) {
  auto It = J.find(Name);
  if (It == J.end()) {
    if (Must)
      wrong(Name);
    return;
  }
  // A sign would wrap around silently.
  if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
    if (!It->is_number_unsigned())
      wrong(Name);
  try {
    Value = It->template get<T>();
  } catch (const json::exception &) {
    wrong(Name);
  }
}

static const json &list(const json &J, const char *Name) {
  auto It = J.find(Name);
  if (It == J.end() || !It->is_array())
    wrong(Name);
  return *It;
}

static void readContentFields(const json &J, Content &C) {
  read(J, "size", C.Size, true);
  read(J, "align", C.Align, false);
  read(J, "digest", C.Digest, true);
  read(J, "after", C.After, false);
  read(J, "afterKept", C.HasAfter, false);
  read(J, "changed", C.Changed, false);
  read(J, "generator", C.Generator, false);
  // Digests name files: nothing else may get through.
  if ((!C.Digest.empty() && !isDigest(C.Digest)) ||
      (!C.After.empty() && !isDigest(C.After)))
    wrong("digest");
}

static void readLaunch(const json &J, Launch &L) {
  read(J, "kernel", L.Kernel, true);
  read(J, "grid", L.Dims.Grid, true);
  read(J, "block", L.Dims.Block, true);
  read(J, "cluster", L.Dims.Cluster, false);
  read(J, "shared", L.Dims.Shared, true);
  read(J, "cooperative", L.Dims.Cooperative, false);
  read(J, "count", L.Count, true);
  L.Timed = L.Count;
  read(J, "timed", L.Timed, false);
  read(J, "cost", L.Cost, true);
  read(J, "kept", L.Kept, true);
  read(J, "device", L.Device, false);
  read(J, "stream", L.Stream, false);
  read(J, "graph", L.InGraph, false);
  read(J, "inferred", L.Inferred, false);
  read(J, "library", L.Library, false);
  read(J, "module", L.Module, false);
  read(J, "moduleSize", L.ModuleSize, false);
  read(J, "obstacles", L.Obstacles, false);
  read(J, "remarks", L.Remarks, false);
  std::string Replay;
  read(J, "replay", Replay, false);
  if (!Replay.empty() && !(L.Replay = ReplayResult::parse(Replay)))
    wrong("replay");
  if (!L.Module.empty() && !isDigest(L.Module))
    wrong("module");
  for (const json &Arg : list(J, "args")) {
    L.Args.emplace_back();
    if (!Arg.is_string() ||
        !appendBytesOf(Arg.get<std::string>(), L.Args.back()))
      wrong("args");
  }
  for (const json &B : list(J, "buffers"))
    readContentFields(B, L.Buffers.emplace_back());
  for (const json &G : list(J, "globals")) {
    L.Globals.emplace_back();
    readContentFields(G, L.Globals.back().Value);
    read(G, "symbol", L.Globals.back().Symbol, true);
  }
  for (const json &P : list(J, "pointers")) {
    Pointer &Out = L.Pointers.emplace_back();
    read(P, "param", Out.Param, true);
    read(P, "offset", Out.Offset, true);
    read(P, "buffer", Out.Buffer, true);
    read(P, "at", Out.At, true);
    if (Out.Param >= L.Args.size() ||
        uint64_t(Out.Offset) + 8 > L.Args[Out.Param].size() ||
        Out.Buffer >= L.Buffers.size() || Out.At > L.Buffers[Out.Buffer].Size)
      wrong("pointers");
  }
  for (const Content &B : L.Buffers)
    if (L.Kept && B.Digest.empty())
      wrong("buffers");
}

std::optional<Failure> fromJson(const json &J, Launch &L) {
  try {
    readLaunch(J, L);
    return std::nullopt;
  } catch (const Failure &F) {
    return F;
  }
}

std::string print(const Record &R) {
  json J = {{"format", FormatVersion},
            {"basis", R.basis()},
            {"launches", json::array()}};
  for (const Launch &L : R.Launches)
    J["launches"].push_back(toJson(L));
  for (const DeviceFacts &D : R.Devices)
    J["devices"].push_back(
        {{"name", D.Name}, {"arch", D.Arch}, {"bandwidth", D.Bandwidth}});
  if (!R.Notes.empty())
    J["notes"] = R.Notes;
  if (!R.Failures.empty())
    J["failures"] = R.Failures;
  if (R.Processes)
    J["processes"] = R.Processes;
  return J.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace cupilot::capture
