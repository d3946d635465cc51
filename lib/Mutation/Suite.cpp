//===- Suite.cpp - Files of kernels with known verdicts -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/Suite.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

namespace {
/// A comment with its continuation lines.
struct Remark {
  unsigned Line;
  std::string Word, Text;
};
} // namespace

static std::vector<Remark> remarksOf(StringRef Text) {
  std::vector<Remark> Found;
  unsigned Number = 0;
  bool Open = false; // The line above was a remark.
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    ++Number;
    Line = Line.trim();
    bool Was = std::exchange(Open, false);
    if (!Line.consume_front("//"))
      continue;
    if (Line.consume_front("+")) {
      if (Was)
        Found.back().Text += (" " + Line.trim()).str();
      Open = Was;
      continue;
    }
    auto [Word, Value] = Line.split(':');
    for (StringRef Known :
         {"kernel", "contract", "workload", "inside", "honest", "cheat",
          "bounded", "outside", "narrower"})
      if (Word.trim() == Known) {
        Found.push_back({Number, Known.str(), Value.trim().str()});
        Open = true;
      }
  }
  return Found;
}

static SuiteVariant variantOf(const Remark &R, SuiteVariant::Due Verdict) {
  bool Cheat = Verdict == SuiteVariant::Due::Rejected;
  SmallVector<StringRef> Parts;
  StringRef(R.Text).split(Parts, '|');
  auto Part = [&](size_t I) {
    return I < Parts.size() ? Parts[I].trim() : StringRef();
  };
  SuiteVariant V;
  V.Verdict = Verdict;
  V.Name = Part(0).str();
  V.Line = R.Line;
  SmallVector<StringRef> Reasons;
  if (Cheat)
    Part(1).split(Reasons, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Reason : Reasons)
    V.Reasons.push_back(Reason.trim().str());
  V.Plan = Part(Cheat + 1).str();
  V.Guard = Part(Cheat + 2).str();
  return V;
}

Expected<std::vector<SuiteEntry>> parseSuite(StringRef Text, StringRef File) {
  std::vector<SuiteEntry> Entries;
  auto Broken = [&](unsigned Line, const Twine &Why) {
    return usageError("'" + File + "' line " + Twine(Line) + ": " + Why,
                      "docs/Mutation.md describes the comments");
  };
  for (const Remark &R : remarksOf(Text)) {
    if (R.Text.empty())
      return Broken(R.Line, "there is no text after '" + R.Word + ":'");
    if (R.Word == "kernel") {
      Entries.emplace_back();
      Entries.back().Kernel = R.Text;
      Entries.back().Line = R.Line;
      continue;
    }
    if (Entries.empty())
      return Broken(R.Line, "'" + R.Word + ":' comes before any 'kernel:'");
    SuiteEntry &E = Entries.back();
    if (R.Word == "contract") {
      Expected<PrecisionContract> C = parseContract(R.Text);
      if (!C)
        return C.takeError();
      E.Contract = *C;
    } else if (R.Word == "workload") {
      E.Workloads.push_back(R.Text);
    } else if (R.Word == "inside") {
      E.Inside.push_back(R.Text);
    } else if (R.Word == "outside") {
      if (E.Variants.empty() ||
          E.Variants.back().Verdict != SuiteVariant::Due::Bounded)
        return Broken(R.Line, "'outside:' does not follow a 'bounded:'");
      E.Variants.back().Outside.push_back(R.Text);
    } else if (R.Word == "narrower") {
      if (E.Variants.empty() ||
          E.Variants.back().Verdict != SuiteVariant::Due::Pass)
        return Broken(R.Line, "'narrower:' does not follow an 'honest:'");
      auto [Extents, Why] = StringRef(R.Text).split('|');
      if (Why.trim().empty())
        return Broken(R.Line, "'narrower:' needs a reason, as in 'narrower: "
                              "bx * by | a tile of 1024 numbers'");
      for (StringRef Extent : split(Extents, ','))
        E.Variants.back().Narrower.push_back(Extent.trim().str());
    } else {
      SuiteVariant V =
          variantOf(R, R.Word == "cheat"     ? SuiteVariant::Due::Rejected
                       : R.Word == "bounded" ? SuiteVariant::Due::Bounded
                                             : SuiteVariant::Due::Pass);
      if (V.Verdict == SuiteVariant::Due::Rejected && V.Reasons.empty())
        return Broken(R.Line, "a cheat needs the reason of its rejection, as "
                              "in 'cheat: NAME | mismatch'");
      E.Variants.push_back(std::move(V));
    }
  }
  for (const SuiteEntry &E : Entries)
    for (const SuiteVariant &V : E.Variants)
      if (V.Verdict == SuiteVariant::Due::Bounded && V.Outside.empty())
        return Broken(V.Line, "a bounded variant needs a launch on which it is "
                              "wrong, as in 'outside: grid=4, block=128, ...'");
  for (const SuiteEntry &E : Entries)
    if (E.Workloads.empty())
      return Broken(E.Line, "'" + E.Kernel + "' has no 'workload:'");
  if (Entries.empty())
    return usageError("'" + File + "' has no comment 'kernel:'",
                      "docs/Mutation.md describes the comments");
  return Entries;
}

} // namespace cupilot
