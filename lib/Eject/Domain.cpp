//===- Domain.cpp - Domains as CUDA C++ -----------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "cupilot/Model/DomainText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

/// The least number has no literal of its own.
static std::string number(int64_t V) {
  return V == INT64_MIN ? "-9223372036854775807 - 1" : std::to_string(V);
}

/// One of the conditions, in brackets where there are several.
static std::string anyOf(ArrayRef<std::string> Conditions) {
  return Conditions.size() == 1 ? Conditions.front()
                                : "(" + join(Conditions, " || ") + ")";
}

static std::string between(const std::string &Checked, ArrayRef<Interval> In) {
  std::vector<std::string> Each;
  for (const Interval &I : In)
    Each.push_back("isBetween(" + Checked + ", " + number(I.Least) + ", " +
                   number(I.Most) + ")");
  return anyOf(Each);
}

static std::string extents(const EjectHost &Host, const PointerRef &P,
                           const Extents &E) {
  return "Bytes(" + addressText(Host, P) + ", " + checkedText(Host, E.Begin) +
         ", " + checkedText(Host, E.End) + ")";
}

namespace {
/// The clauses of a box as conditions, in their order.
class ClauseWriter {
public:
  explicit ClauseWriter(const EjectHost &Host) : Host(Host) {}

  std::string write(const DomainBox &Box, size_t Index) const {
    if (Index < Box.Ranges.size())
      return between(checkedText(Host, Box.Ranges[Index].E),
                     Box.Ranges[Index].In);
    Index -= Box.Ranges.size();
    if (Index < Box.Residues.size())
      return residue(Box.Residues[Index]);
    Index -= Box.Residues.size();
    if (Index < Box.Floats.size())
      return floats(Box.Floats[Index]);
    Index -= Box.Floats.size();
    if (Index < Box.Nulls.size())
      return addressText(Host, Box.Nulls[Index].Pointer) +
             (Box.Nulls[Index].IsNull ? " == 0" : " != 0");
    Index -= Box.Nulls.size();
    if (Index < Box.Alignments.size())
      return addressText(Host, Box.Alignments[Index].Pointer) + " % " +
             std::to_string(Box.Alignments[Index].Bytes) + " == 0";
    const PairClause &C = Box.Pairs[Index - Box.Alignments.size()];
    if (C.Equal)
      return addressText(Host, C.A) + " == " + addressText(Host, C.B);
    return "isApart(" + extents(Host, C.A, C.OfA) + ", " +
           extents(Host, C.B, C.OfB) + ")";
  }

private:
  std::string residue(const ResidueClause &C) const {
    std::vector<Interval> In;
    for (int64_t Each : C.In)
      if (!In.empty() && Each == In.back().Most + 1)
        In.back().Most = Each;
      else
        In.push_back({Each, Each});
    return between("modulo(" + checkedText(Host, C.E) + ", Checked(" +
                       number(C.Modulus) + "))",
                   In);
  }
  std::string floats(const FloatClause &C) const {
    auto At = find_if(Host.Floats,
                      [&](const auto &Each) { return Each.first == C.Number; });
    return between("numberKey(" + At->second + ")", C.In);
  }

  const EjectHost &Host;
};
} // namespace

std::string domainText(const EjectHost &Host, const Domain &Where) {
  ClauseWriter Writer(Host);
  const LaunchNames Names = launchNames(Host.Of->K);
  std::vector<std::vector<std::string>> Boxes;
  for (const DomainBox &Box : Where.Boxes) {
    std::vector<std::string> &Each = Boxes.emplace_back();
    for (size_t I = 0; I < Box.size(); ++I)
      Each.push_back(Writer.write(Box, I));
  }
  auto IsCommon = [&](const std::string &Condition) {
    return all_of(Boxes, [&](const std::vector<std::string> &Each) {
      return is_contained(Each, Condition);
    });
  };
  // What all boxes ask, with what it says; then one of the boxes.
  std::string Text;
  for (size_t I = 0; I < Boxes.front().size(); ++I)
    if (IsCommon(Boxes.front()[I]))
      Text += "  // " + clauseText(Where.Boxes.front(), I, Names) +
              "\n  if (!(" + Boxes.front()[I] + "))\n    return false;\n";
  std::vector<std::string> Others;
  std::string Says;
  for (auto [Box, Conditions] : zip_equal(Where.Boxes, Boxes)) {
    std::vector<std::string> Own, Words;
    for (auto [I, Condition] : enumerate(Conditions))
      if (!IsCommon(Condition)) {
        Own.push_back("(" + Condition + ")");
        Words.push_back(clauseText(Box, I, Names));
      }
    if (Own.empty())
      return Text;
    Others.push_back("(" + join(Own, " &&\n         ") + ")");
    Says +=
        (Says.empty() ? "  // Either " : "  // or ") + join(Words, "; ") + "\n";
  }
  return Text + Says + "  if (!(" + join(Others, " ||\n        ") +
         "))\n    return false;\n";
}

} // namespace cupilot
