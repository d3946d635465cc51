//===- Outputs.h - What runs of a program printed ---------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outputs of runs with originals say what is always the same; outputs of runs
// with variants are held against it. docs/Compare.md, "Results".
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPARE_OUTPUTS_H
#define CUPILOT_COMPARE_OUTPUTS_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// Which lines are compared, and how.
struct LineRules {
  /// Lines that one of these matches are left out.
  std::vector<llvm::Regex> Ignore;
  /// Numbers may differ by this share of the larger magnitude; without it lines
  /// are compared byte by byte.
  std::optional<double> Tolerance;

  bool ignores(llvm::StringRef Line) const;
  /// Whether two lines say the same. \p Largest becomes the largest relative
  /// difference of two numbers that is within the tolerance.
  bool agree(llvm::StringRef A, llvm::StringRef B, double &Largest) const;
};

/// Whether two texts are equal but for numbers, which differ by at most \p
/// Tolerance of the larger magnitude, and but for blanks before numbers and at
/// the ends. NaN equals NaN; infinities equal themselves. Otherwise \p Largest
/// stays as it was.
bool numbersAgree(llvm::StringRef A, llvm::StringRef B, double Tolerance,
                  double &Largest);

/// A line on which a run with variants differs. Lines of binary outputs are
/// bytes.
struct LineDifference {
  size_t Line = 0; ///< From 1, in what the originals printed; 0: their number.
  std::string Originals, Variants;
};

/// One output of all runs: standard output, or a file.
class OutputComparison {
public:
  OutputComparison(std::string Name, const LineRules &Rules)
      : Name(std::move(Name)), Rules(&Rules) {}

  /// What a run left; nothing where it left no such file. Runs with originals
  /// may follow ones with variants, but the first is one with originals.
  void addOriginals(std::optional<std::string> Text);
  void addVariants(const std::optional<std::string> &Text);

  const std::string &name() const { return Name; }
  /// A byte of it is 0: it is compared as a whole, byte by byte.
  bool isBinary() const { return Binary; }
  /// No run with originals left such a file.
  bool isMissing() const { return !Reference; }
  /// Lines (bytes, where it is binary) that are compared; that are left out
  /// because runs with originals differ there; that LineRules::Ignore names.
  size_t compared() const;
  size_t leftOut() const { return total() - compared(); }
  size_t ignored() const { return Ignored; }
  /// How many lines differ in runs with variants, and the first of them.
  size_t differing() const;
  std::vector<LineDifference> differences(size_t Most) const;
  /// The largest relative difference of numbers that were taken for equal.
  double largest() const { return Largest; }

private:
  struct Line {
    llvm::StringRef Text; ///< With its end.
    size_t Number;        ///< From 1, ignored ones counted.
  };
  std::vector<Line> linesOf(llvm::StringRef Text, size_t &LeftOut) const;
  bool isCompared(size_t Index) const;
  size_t total() const { return Binary ? Reference->size() : Lines.size(); }
  void note(size_t Index, llvm::StringRef Theirs);
  void addVariantBytes(llvm::StringRef Text);
  void addVariantLines(llvm::StringRef Text);
  std::optional<LineDifference> wholeDifference() const;

  std::string Name;
  const LineRules *Rules;
  bool Begun = false, Binary = false;
  std::unique_ptr<std::string> Reference; ///< What the first run left.
  std::vector<Line> Lines;                ///< Of the reference.
  size_t Ignored = 0;
  /// Where runs with originals differ: in a line, in the numbers of their lines
  /// (then how many at the beginning and at the end are the same; what lies
  /// between is left out), or in a way that leaves nothing to compare.
  llvm::BitVector Varies;
  std::optional<std::pair<size_t, size_t>> Ends;
  bool AllVaries = false;
  /// Where runs with variants differ: in a line, of which the first have texts;
  /// in the number of lines or bytes; in that there is such a file.
  llvm::BitVector Differs;
  std::map<size_t, LineDifference> Texts;
  std::optional<size_t> OtherSize;
  std::optional<bool> OtherPresence;
  size_t DifferentBytes = 0;
  double Largest = 0;
};

/// \p Text for a terminal: without its line's end, control characters as \xNN,
/// and of a long one the part around where it begins to differ from \p Other.
std::string shownLine(llvm::StringRef Text, llvm::StringRef Other);

} // namespace cupilot

#endif // CUPILOT_COMPARE_OUTPUTS_H
