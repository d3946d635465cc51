//===- LaunchModel.h - How a launch follows its sizes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recorded launch is one point. To make others of the same kind, larger and
// smaller, one must know which dimension of the grid covers which argument, and
// how much memory lies behind each pointer. Both are found by running the
// original: a dimension covers an argument where one block fewer changes the
// results and one more does not, and the bytes that it touches are fitted as
// polynomials of the sizes.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_LAUNCHMODEL_H
#define CUPILOT_LIB_EVALUATION_LAUNCHMODEL_H

#include "Cases.h"
#include "CodeFacts.h"

namespace cupilot {

class OriginalRuns;

/// A size: a scalar, or a dimension of the grid that follows no scalar.
struct LaunchVar {
  bool IsGrid = false;
  unsigned Index = 0; ///< Into Kernel::Scalars, or the dimension.
  int64_t Base = 0;   ///< In the launch that was recorded.
  Expr expr() const {
    return IsGrid ? Expr::dim(GridX + Index) : Expr::symbol(Index);
  }
};

/// Grid dimension \p Dim is the product of scalars, less \p Border, over
/// \p Divisor, rounded up.
struct GridRule {
  unsigned Dim = 0;
  llvm::SmallVector<unsigned, 2> Scalars;
  uint64_t Divisor = 1;
  uint64_t Border = 0;
};

/// How launches like one base look at other sizes.
class LaunchModel {
public:
  /// Runs the original on launches near \p Base. \p Own are the facts of its
  /// code; \p Flags (indices into Kernel::Scalars) are no sizes.
  static llvm::Expected<LaunchModel> of(OriginalRuns &O, const GateCase &Base,
                                        const CodeFacts &Own,
                                        llvm::ArrayRef<unsigned> Flags);

  llvm::ArrayRef<LaunchVar> vars() const { return Vars; }
  llvm::ArrayRef<GridRule> rules() const { return Rules; }
  /// Beside rules(): the blocks that a dimension has beyond what covers its
  /// scalars.
  std::vector<Expr> surplus() const;
  /// Beside Kernel::Pointers: the bytes touched behind each, where they fit.
  llvm::ArrayRef<std::optional<Extents>> touched() const { return Touched; }

  /// \p From, which differs from the base in no size, with the sizes \p Values
  /// (beside vars()). Buffers hold what they held, repeated. Nothing where the
  /// grid would be illegal or buffers take more than \p MostBytes.
  /// \p Roomy: buffers and dynamic shared memory grow with each size, as if
  /// nothing were known of them.
  std::optional<GateCase> at(const GateCase &From,
                             llvm::ArrayRef<int64_t> Values, uint64_t MostBytes,
                             bool Roomy = false) const;
  /// The same launch without content: of its buffers only the bytes that they
  /// take, which become \p Sizes.
  std::optional<GateCase> shapeAt(const GateCase &From,
                                  llvm::ArrayRef<int64_t> Values,
                                  uint64_t MostBytes, bool Roomy,
                                  std::vector<uint64_t> &Sizes) const;
  /// The sizes of the base.
  std::vector<int64_t> baseValues() const;
  /// The sizes of \p Launch; the base's where it has none.
  std::vector<int64_t> valuesAt(const Bindings &Launch) const;

private:
  LaunchModel(OriginalRuns &O, const GateCase &Base) : O(&O), Base(&Base) {}
  llvm::Error findRules(llvm::ArrayRef<unsigned> Sizes, const CodeFacts &Own);
  llvm::Expected<bool> covers(const GridRule &R);
  /// What was touched at some sizes, behind each pointer.
  struct TouchSamples {
    bool Alike = false; ///< Of buffers full of zeros.
    using One = std::pair<std::vector<int64_t>, std::vector<Interval>>;
    std::vector<One> All = {};
  };
  llvm::Error fitTouched();
  /// Of the pointers of which nothing is known, where \p Less lies within.
  llvm::Error fitTouched(TouchSamples &Of,
                         llvm::ArrayRef<TouchSamples::One> Less);
  void findBehind();
  llvm::Expected<bool> sample(llvm::ArrayRef<int64_t> Values, TouchSamples &Of,
                              std::vector<Interval> &To);
  void growShared(GateCase &C, llvm::ArrayRef<int64_t> Values) const;
  bool applySizes(GateCase &C, llvm::ArrayRef<int64_t> Values) const;
  uint64_t bytesAt(size_t Buffer, const GateCase &C,
                   llvm::ArrayRef<int64_t> Values, bool &Roomy) const;

  OriginalRuns *O;
  const GateCase *Base;
  std::vector<LaunchVar> Vars;
  std::vector<GridRule> Rules;
  std::vector<std::optional<Extents>> Touched;
  std::vector<std::optional<uint64_t>> Behind; ///< Beside Touched.
};

/// The bytes behind each pointer (beside Kernel::Pointers) that \p Coverage of
/// the buffers of \p C has; nothing where there are none, or \p C hands in the
/// same memory at different places, so that they may be those of another.
std::vector<std::optional<Interval>>
touchedBytes(const Kernel &K, const GateCase &C,
             llvm::ArrayRef<BufferCoverage> Coverage);

/// \p C with each buffer \p Factor times as large, repeating its content.
GateCase enlarged(const GateCase &C, uint64_t Factor);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_LAUNCHMODEL_H
