//===- MakeBatch.cpp - Batches for tests -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// make-batch RECIPE.json DIR: writes a batch from a recipe, which is a
// batch.json without digests: "@image:FILE" and "@data:FILE" stand for those of
// files, which are put into the batch; "images", "data", "format" and "version"
// are filled in.
//
// make-batch --results DIR RESULTS.json: puts results into a batch, which no
// runner made: an object that maps ids of requests to them.
//
//===----------------------------------------------------------------------===//

#include "Results.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Batch.h"
#include "cupilot/Runner/Files.h"
#include <cstdio>
#include <nlohmann/json.hpp>

using nlohmann::json;
using namespace cupilot;
using namespace cupilot::runner;

namespace {
struct Maker {
  std::string Folder, Source;
  json Images = json::object(), Data = json::object();
  void replace(json &J);
};
} // namespace

void Maker::replace(json &J) {
  if (J.is_structured()) {
    for (json &Inner : J)
      replace(Inner);
    return;
  }
  if (!J.is_string())
    return;
  auto Text = J.get<std::string>();
  bool Image = Text.starts_with("@image:");
  if (!Image && !Text.starts_with("@data:"))
    return;
  std::string Path = Text.substr(Text.find(':') + 1);
  if (!Path.starts_with("/"))
    Path = Source + "/" + Path;
  std::string Bytes = readWhole(Path), Digest = digest(Bytes);
  if (Image) {
    std::string Kind = Path.ends_with(".ptx") ? "ptx" : "cubin";
    Images[Digest] = Kind;
    writeWhole(Folder + "/images/" + shortDigest(Digest, 64) + "." + Kind,
               Bytes);
  } else {
    Data[Digest] = Bytes.size();
    writeWhole(Folder + "/data/" + shortDigest(Digest, 64) + ".bin", Bytes);
  }
  J = Digest;
}

static void putResults(const std::string &Folder, const std::string &Path) {
  Batch B = readBatch(Folder);
  ResultFolder Results(Folder, B);
  json All = json::parse(readWhole(Path));
  for (const Request &R : B.Requests)
    if (All.contains(R.Id))
      Results.put(R, All[R.Id]);
}

int main(int argc, char **argv) {
  bool IsResults = argc == 4 && std::string(argv[1]) == "--results";
  if (argc != 3 && !IsResults) {
    fprintf(stderr, "make-batch RECIPE.json DIR\n"
                    "make-batch --results DIR RESULTS.json\n");
    return 2;
  }
  try {
    if (IsResults) {
      putResults(argv[2], argv[3]);
      return 0;
    }
    std::string Recipe = argv[1];
    Maker M;
    M.Folder = argv[2];
    size_t Slash = Recipe.rfind('/');
    M.Source = Slash == std::string::npos ? "." : Recipe.substr(0, Slash);
    makeFolder(M.Folder + "/images");
    makeFolder(M.Folder + "/data");
    json J = json::parse(readWhole(Recipe));
    M.replace(J);
    J["format"] = "cupilot-batch";
    J["version"] = BatchVersion;
    J["images"] = M.Images;
    J["data"] = M.Data;
    writeBatch(M.Folder, batchFromJson(J));
    return 0;
  } catch (const std::exception &E) {
    fprintf(stderr, "make-batch: error: %s\n", E.what());
    return 2;
  }
}
