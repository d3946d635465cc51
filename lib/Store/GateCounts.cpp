//===- GateCounts.cpp - How often each reason rejected -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/GateCounts.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

std::pair<std::string, std::string> gateCountsFile(const GateCounts &C) {
  std::string Text = "kernel " + C.Kernel + "\nidentity " + C.Identity +
                     "\ngate " + utostr(C.Gate) + "\njudged " +
                     utostr(C.Judged) + "\npassed " + utostr(C.Passed) + "\n";
  for (const auto &[Word, Count] : C.Reasons)
    Text += "reason " + Word + " " + utostr(Count) + "\n";
  // One file a search: two stores that are merged share none but equal ones.
  std::string Name = shortDigest(C.Identity) + "-" + utostr(C.Gate) + "-" +
                     shortDigest(C.Search) + ".txt";
  return {"gate/" + Name, std::move(Text)};
}

Expected<GateCounts> parseGateCounts(StringRef Text, StringRef Path) {
  GateCounts C;
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    auto [Word, Rest] = Line.split(' ');
    bool Broken = Rest.empty();
    if (Word == "kernel") {
      C.Kernel = Rest.str();
    } else if (Word == "identity") {
      C.Identity = Rest.str();
      Broken |= !isDigest(Rest);
    } else if (Word == "gate") {
      Broken |= Rest.getAsInteger(10, C.Gate);
    } else if (Word == "judged") {
      Broken |= Rest.getAsInteger(10, C.Judged);
    } else if (Word == "passed") {
      Broken |= Rest.getAsInteger(10, C.Passed);
    } else if (Word == "reason") {
      auto [Reason, Count] = Rest.split(' ');
      Broken |= Count.getAsInteger(10, C.Reasons[Reason.str()]);
    } else {
      Broken = true;
    }
    if (Broken)
      return usageError(
          "'" + Path + "' is broken at '" + Line + "'",
          "restore the file, or delete it: it contains counts only");
  }
  return C;
}

Expected<std::vector<GateCounts>> gateCounts(StringRef Root) {
  Expected<std::vector<std::string>> Paths =
      filesIn((Root + "/gate").str(), ".txt");
  if (!Paths)
    return Paths.takeError();
  std::map<std::pair<std::string, unsigned>, GateCounts> Sums;
  for (const std::string &Path : *Paths) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Expected<GateCounts> C = parseGateCounts(*Text, Path);
    if (!C)
      return C.takeError();
    GateCounts &Sum = Sums[{C->Identity, C->Gate}];
    Sum.Kernel = C->Kernel;
    Sum.Identity = C->Identity;
    Sum.Gate = C->Gate;
    Sum.Judged += C->Judged;
    Sum.Passed += C->Passed;
    for (const auto &[Word, Count] : C->Reasons)
      Sum.Reasons[Word] += Count;
  }
  std::vector<GateCounts> Result;
  Result.reserve(Sums.size());
  for (auto &[Key, Sum] : Sums)
    Result.push_back(std::move(Sum));
  llvm::sort(Result, [](const GateCounts &A, const GateCounts &B) {
    return std::tie(A.Kernel, A.Identity, A.Gate) <
           std::tie(B.Kernel, B.Identity, B.Gate);
  });
  return Result;
}

} // namespace cupilot
