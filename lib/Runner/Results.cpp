//===- Results.cpp - The results of a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Files.h"
#include "cupilot/Runner/ReadResults.h"
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::runner {

ResultFolder::ResultFolder(std::string Path, const Batch &B)
    : Folder(std::move(Path)), B(B) {
  makeFolder(Folder + "/results/data");
  makeFolder(Folder + "/attempts");
}

std::optional<json> readResult(const std::string &Folder, const Batch &B,
                               const Request &R) {
  std::string Path = Folder + "/results/" + R.Id + ".json";
  if (!exists(Path))
    return std::nullopt;
  json J = json::parse(readWhole(Path), nullptr, /*allow_exceptions=*/false);
  if (!J.is_object() || J.value("format", "") != "cupilot-result")
    return std::nullopt;
  if (J.value("version", 0) > BatchVersion)
    throw Failure(FailureKind::NewerBatch,
                  "'" + Path + "' was written by a newer runner");
  std::string Want = J.value("checksum", "");
  J.erase("checksum");
  if (Want != digest(J.dump()) || J.value("digest", "") != requestDigest(B, R))
    return std::nullopt;
  return J;
}

std::optional<json> ResultFolder::find(const Request &R) const {
  return readResult(Folder, B, R);
}

void ResultFolder::put(const Request &R, json Result) {
  Result["format"] = "cupilot-result";
  Result["version"] = BatchVersion;
  Result["batch"] = B.Id;
  Result["request"] = R.Id;
  Result["kind"] = wordOf(R.Kind);
  Result["digest"] = requestDigest(B, R);
  Result["checksum"] = digest(Result.dump());
  std::lock_guard<std::mutex> Guard(Lock);
  if (Closed)
    return;
  writeWhole(Folder + "/results/" + R.Id + ".json", Result.dump(1) + "\n");
  ::unlink(attempts(R.Id).c_str());
  Begun.erase(R.Id);
}

std::string ResultFolder::putData(std::string_view Bytes) {
  std::string Digest = digest(Bytes);
  std::string Path = Folder + "/results/data/" + dataFileName(Digest, 64);
  if (!exists(Path))
    writeWhole(Path, Bytes);
  return Digest;
}

unsigned ResultFolder::begin(const Request &R) {
  const std::string Path = attempts(R.Id);
  unsigned Before = 0;
  if (exists(Path))
    Before = unsigned(std::strtoul(readWhole(Path).c_str(), nullptr, 10));
  std::lock_guard<std::mutex> Guard(Lock);
  if (Closed)
    return Before;
  writeWhole(Path, std::to_string(Before + 1) + "\n");
  Begun[R.Id] = Before;
  return Before;
}

void ResultFolder::withdraw() {
  std::lock_guard<std::mutex> Guard(Lock);
  Closed = true;
  for (const auto &[Id, Before] : Begun)
    if (Before)
      writeWhole(attempts(Id), std::to_string(Before) + "\n");
    else
      ::unlink(attempts(Id).c_str());
}

} // namespace cupilot::runner
