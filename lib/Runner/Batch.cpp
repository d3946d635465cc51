//===- Batch.cpp - Requests to a GPU machine, as plain data -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Batch.h"
#include "BrokenBatch.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Runner/Files.h"
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

using nlohmann::json;

namespace cupilot::runner {

std::string wordOf(RequestKind K) {
  switch (K) {
  case RequestKind::Run:
    return "run";
  case RequestKind::Compare:
    return "compare";
  case RequestKind::Time:
    return "time";
  case RequestKind::Ceilings:
    return "ceilings";
  case RequestKind::Sanitize:
    return "sanitize";
  case RequestKind::Profile:
    return "profile";
  }
  return "";
}

/// Ids become file names on two machines.
static bool isId(const std::string &Text) {
  return !Text.empty() && Text.size() <= 128 && Text[0] != '.' &&
         Text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ0123456789._-") == std::string::npos;
}

static void checkContent(const Batch &B, const Buffer &Buf) {
  if (!Buf.Before.Data.empty()) {
    auto It = B.Data.find(Buf.Before.Data);
    if (It == B.Data.end())
      broken("data " + Buf.Before.Data + " is not listed");
    if (It->second != Buf.Size)
      broken("data " + Buf.Before.Data + " has another size than its buffer");
  }
}

static void checkProgram(const Batch &B, const Case &C, const Program &P) {
  if (P.Launches.empty() || P.Launches.size() > 64)
    broken("a program has no launch, or more than 64");
  for (const KernelLaunch &L : P.Launches) {
    if (!B.Images.count(L.Image))
      broken("image " + L.Image + " is not listed");
    for (unsigned D = 0; D < 3; ++D)
      if (!isGridSize(D, L.Grid[D]) || !isBlockSize(D, L.Block[D]) ||
          L.Cluster[D] > 64)
        broken("'" + L.Symbol +
               "' is launched with a shape that CUDA does not support");
    for (const Patch &Q : L.Patches) {
      size_t Count = Q.Scratch ? P.Scratch.size() : C.Buffers.size();
      if (Q.Index >= Count)
        broken("'" + L.Symbol + "' points to a buffer that does not exist");
    }
    for (const MapArgument &M : L.Maps)
      if (M.Buffer >= C.Buffers.size())
        broken("a tensor map of '" + L.Symbol + "' has no buffer");
  }
}

static void checkRequest(const Batch &B, const Request &R) {
  if (R.Kind == RequestKind::Ceilings)
    return;
  if (R.Case >= B.Cases.size())
    broken("request '" + R.Id + "' names a case that does not exist");
  bool Both = R.Kind == RequestKind::Compare || R.Kind == RequestKind::Time;
  if (Both && !R.Original)
    broken("request '" + R.Id + "' does not name the original");
  if (Both && !R.Candidate)
    broken("request '" + R.Id + "' does not name the candidate");
  if (!R.Original && !R.Candidate)
    broken("request '" + R.Id + "' has no program");
  if (!(R.Time.Error > 0 && R.Time.Error < 1) || !(R.Time.Precision > 0) ||
      !(R.Time.Margin >= 0) || R.Time.Sets == 0 || R.Time.Sets > 64)
    broken("request '" + R.Id + "' has invalid time limits");
  if (R.Heat && (R.Group.empty() || R.Heat->Race.empty() ||
                 !std::isfinite(R.Heat->Weight) || R.Heat->Weight < 0))
    broken("request '" + R.Id + "' has no place in its race");
  for (const auto *P : {&R.Original, &R.Candidate})
    if (*P)
      checkProgram(B, B.Cases[R.Case], **P);
}

static void check(const Batch &B) {
  if (!isId(B.Id))
    broken("its id '" + B.Id + "' is not a file name");
  for (const auto &[Digest, Kind] : B.Images)
    if (!isDigest(Digest) || (Kind != "cubin" && Kind != "ptx"))
      broken("image " + Digest + " is not a digest, or not cubin or ptx");
  for (const auto &[Digest, Size] : B.Data)
    if (!isDigest(Digest))
      broken("'" + Digest + "' is not a digest");
  for (const Case &C : B.Cases) {
    for (const Buffer &Buf : C.Buffers)
      checkContent(B, Buf);
    for (const Variable &V : C.Variables)
      checkContent(B, V.Value);
  }
  std::set<std::string> Ids;
  for (const Request &R : B.Requests) {
    if (!isId(R.Id))
      broken("the id '" + R.Id + "' is not a file name");
    if (!Ids.insert(R.Id).second)
      broken("two requests have the id '" + R.Id + "'");
    checkRequest(B, R);
  }
}

Batch readBatch(const std::string &Folder) {
  std::string Path = Folder + "/batch.json";
  if (!exists(Path))
    throw Failure(FailureKind::NoBatch,
                  "'" + Folder + "' has no file batch.json");
  std::string Text = readWhole(Path);
  json J = json::parse(Text, nullptr, /*allow_exceptions=*/false);
  if (J.is_discarded())
    throw Failure(FailureKind::TruncatedBatch,
                  "'" + Path + "' is incomplete: it is not JSON");
  // The last field says what the others digest to: half a copy is no batch.
  std::string Want = J.value("digest", "");
  J.erase("digest");
  if (Want != digest(J.dump()))
    throw Failure(FailureKind::TruncatedBatch,
                  "'" + Path +
                      "' has changed since it was written: its digest differs");
  Batch B = batchFromJson(J);
  check(B);
  return B;
}

void writeBatch(const std::string &Folder, const Batch &B) {
  check(B);
  json J = toJson(B);
  J["digest"] = digest(J.dump());
  writeWhole(Folder + "/batch.json", J.dump(1) + "\n");
}

std::string requestDigest(const Batch &B, const Request &R) {
  json J = {{"format", BatchVersion}, {"arch", B.Arch}, {"request", toJson(R)}};
  if (R.Kind != RequestKind::Ceilings)
    J["case"] = toJson(B.Cases[R.Case]);
  return digest(J.dump());
}

static bool isSameRace(const Request &A, const Request &B) {
  return A.Heat && B.Heat && A.Heat->Race == B.Heat->Race;
}

std::vector<std::vector<const Request *>> groupsOf(const Batch &B) {
  std::vector<std::vector<const Request *>> Groups;
  for (const Request &R : B.Requests) {
    if (Groups.empty() || R.Group.empty() ||
        (Groups.back().back()->Group != R.Group &&
         !isSameRace(*Groups.back().back(), R)))
      Groups.emplace_back();
    Groups.back().push_back(&R);
  }
  return Groups;
}

} // namespace cupilot::runner
