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
  if (C.Changed)
    J["changed"] = C.Changed;
  return J;
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
  if (!L.Module.empty()) {
    J["module"] = L.Module;
    J["moduleSize"] = L.ModuleSize;
  }
  if (!L.Obstacles.empty())
    J["obstacles"] = L.Obstacles;
  if (!L.Remarks.empty())
    J["remarks"] = L.Remarks;
  if (!L.Replay.empty())
    J["replay"] = L.Replay;
  return J;
}

namespace {
/// Reads fields and remembers the first one that is not as it should be.
struct Fields {
  const json &J;
  std::string &Wrong;
  template <typename T> void read(const char *Name, T &Value, bool Must) {
    auto It = J.find(Name);
    if (It == J.end()) {
      if (Must)
        Wrong = Wrong.empty() ? Name : Wrong;
      return;
    }
    try {
      // A sign would wrap around silently.
      if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
        if (!It->is_number_unsigned())
          throw 0;
      Value = It->template get<T>();
    } catch (...) {
      Wrong = Wrong.empty() ? Name : Wrong;
    }
  }
  const json &list(const char *Name) {
    static const json Empty = json::array();
    auto It = J.find(Name);
    if (It != J.end() && It->is_array())
      return *It;
    Wrong = Wrong.empty() ? Name : Wrong;
    return Empty;
  }
};
} // namespace

static void readContentFields(const json &J, std::string &Wrong, Content &C) {
  Fields F{J, Wrong};
  F.read("size", C.Size, true);
  F.read("align", C.Align, false);
  F.read("digest", C.Digest, true);
  F.read("after", C.After, false);
  F.read("changed", C.Changed, false);
  // Digests name files: nothing else may get through.
  if ((!C.Digest.empty() && !isDigest(C.Digest)) ||
      (!C.After.empty() && !isDigest(C.After)))
    Wrong = Wrong.empty() ? "digest" : Wrong;
}

std::optional<Failure> fromJson(const json &J, Launch &L) {
  std::string Wrong;
  Fields F{J, Wrong};
  F.read("kernel", L.Kernel, true);
  F.read("grid", L.Dims.Grid, true);
  F.read("block", L.Dims.Block, true);
  F.read("cluster", L.Dims.Cluster, false);
  F.read("shared", L.Dims.Shared, true);
  F.read("cooperative", L.Dims.Cooperative, false);
  F.read("count", L.Count, true);
  L.Timed = L.Count;
  F.read("timed", L.Timed, false);
  F.read("cost", L.Cost, true);
  F.read("kept", L.Kept, true);
  F.read("device", L.Device, false);
  F.read("stream", L.Stream, false);
  F.read("graph", L.InGraph, false);
  F.read("module", L.Module, false);
  F.read("moduleSize", L.ModuleSize, false);
  F.read("obstacles", L.Obstacles, false);
  F.read("remarks", L.Remarks, false);
  F.read("replay", L.Replay, false);
  if (!L.Module.empty() && !isDigest(L.Module))
    Wrong = "module";
  for (const json &Arg : F.list("args")) {
    L.Args.emplace_back();
    if (!Arg.is_string() ||
        !appendBytesOf(Arg.get<std::string>(), L.Args.back()))
      Wrong = "args";
  }
  for (const json &B : F.list("buffers"))
    readContentFields(B, Wrong, L.Buffers.emplace_back());
  for (const json &G : F.list("globals")) {
    L.Globals.emplace_back();
    readContentFields(G, Wrong, L.Globals.back().Value);
    Fields{G, Wrong}.read("symbol", L.Globals.back().Symbol, true);
  }
  for (const json &P : F.list("pointers")) {
    Pointer &Out = L.Pointers.emplace_back();
    Fields Inner{P, Wrong};
    Inner.read("param", Out.Param, true);
    Inner.read("offset", Out.Offset, true);
    Inner.read("buffer", Out.Buffer, true);
    Inner.read("at", Out.At, true);
    if (Wrong.empty() &&
        (Out.Param >= L.Args.size() ||
         uint64_t(Out.Offset) + 8 > L.Args[Out.Param].size() ||
         Out.Buffer >= L.Buffers.size() || Out.At > L.Buffers[Out.Buffer].Size))
      Wrong = "pointers";
  }
  for (const Content &B : L.Buffers)
    if (L.Kept && B.Digest.empty())
      Wrong = "buffers";
  if (!Wrong.empty())
    return Failure(FailureKind::BadRecording,
                   "the field '" + Wrong + "' of a launch is invalid");
  return std::nullopt;
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
