//===- Domain.h - Where a variant was proved -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowered form of #cupilot.domain: boxes around the launches on which the
// gate saw a variant do what its original does. A build runs the variant inside
// of a box only. The guard is the author's, the domain the gate's. It says
// nothing of what lies in memory.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_DOMAIN_H
#define CUPILOT_MODEL_DOMAIN_H

#include "cupilot/Model/LaunchPlan.h"

namespace cupilot {

/// A floating-point number that a kernel gets: an argument, or a field of a
/// by-value argument.
struct FloatRef {
  enum class Format { Half, BFloat, Float, Double };
  unsigned Param = 0;
  unsigned Offset = 0; ///< Byte offset in the parameter.
  Format Type = Format::Float;
  unsigned bits() const {
    return Type == Format::Double ? 64 : Type == Format::Float ? 32 : 16;
  }
  bool operator==(const FloatRef &) const = default;
};

/// The place of a number of \p Bits bits in the order of its format, in
/// integers: 0 is 0, -0 is -1, infinity lies above all finite numbers and NaN
/// above infinity; negative numbers (and NaN with a sign) mirror that. \p Raw
/// holds its bits.
constexpr int64_t floatKey(uint64_t Raw, unsigned Bits) {
  const uint64_t Sign = uint64_t(1) << (Bits - 1), Magnitude = Raw & (Sign - 1);
  return Raw & Sign ? -static_cast<int64_t>(Magnitude) - 1
                    : static_cast<int64_t>(Magnitude);
}

/// The integers from \p Least to \p Most, both included.
struct Interval {
  int64_t Least = 0, Most = 0;
  bool contains(int64_t V) const { return Least <= V && V <= Most; }
  bool operator==(const Interval &) const = default;
};

/// \p E lies in one of the intervals, which are in order and apart. A value
/// that overflows lies in none.
struct RangeClause {
  Expr E;
  std::vector<Interval> In;
  bool operator==(const RangeClause &) const = default;
};

/// \p E mod \p Modulus (never negative, as Expr::Kind::Mod) is one of \p In.
struct ResidueClause {
  Expr E;
  int64_t Modulus = 1;
  std::vector<int64_t> In;
  bool operator==(const ResidueClause &) const = default;
};

/// The floatKey() of \p Number lies in one of the intervals.
struct FloatClause {
  FloatRef Number;
  std::vector<Interval> In;
  bool operator==(const FloatClause &) const = default;
};

/// The pointer is null, or it is not.
struct NullClause {
  PointerRef Pointer;
  bool IsNull = false;
  bool operator==(const NullClause &) const = default;
};

/// Bytes behind a pointer: [P + Begin, P + End). Begin may be negative.
struct Extents {
  Expr Begin = Expr::constant(0), End = Expr::constant(0);
  bool operator==(const Extents &) const = default;
};

/// Two pointers are equal, or the bytes behind them have none in common. Where
/// one of them is null, or its extents are empty, they are apart.
struct PairClause {
  PointerRef A, B;
  bool Equal = false;
  Extents OfA, OfB; ///< Unless Equal.
  bool operator==(const PairClause &) const = default;
};

/// What was tried together. All clauses must hold.
struct DomainBox {
  /// Who saw the variant there.
  enum class By {
    Gate, ///< It was proved on the cpu device, with every check.
    Gpu   ///< A GPU's results were compared with the original's.
  };
  By Seen = By::Gate;
  std::vector<RangeClause> Ranges;
  std::vector<ResidueClause> Residues;
  std::vector<FloatClause> Floats;
  std::vector<NullClause> Nulls;
  std::vector<Alignment> Alignments;
  std::vector<PairClause> Pairs;
  size_t size() const {
    return Ranges.size() + Residues.size() + Floats.size() + Nulls.size() +
           Alignments.size() + Pairs.size();
  }
  bool operator==(const DomainBox &) const = default;
};

/// Where a variant may run: in one of the boxes.
struct Domain {
  std::vector<DomainBox> Boxes; ///< Never empty in a store.
  /// What a variant has that nobody judged, and whoever added it answers for.
  static Domain everything() { return {{DomainBox{}}}; }
  bool operator==(const Domain &) const = default;
};

/// Whether the launch lies in \p Box.
bool contains(const DomainBox &Box, const Bindings &B,
              llvm::ArrayRef<std::vector<uint8_t>> Args);
/// Whether it lies in a box of \p D.
bool contains(const Domain &D, const Bindings &B,
              llvm::ArrayRef<std::vector<uint8_t>> Args);

/// A clause of a box, counted over Ranges, Residues, Floats, Nulls, Alignments
/// and Pairs in this order.
struct ClauseRef {
  size_t Box = 0, Clause = 0;
  bool operator==(const ClauseRef &) const = default;
};
/// Why a launch lies outside: of the box in which the fewest clauses fail (the
/// first of such), the first that fails; nothing for a launch inside.
std::optional<ClauseRef>
clauseOutside(const Domain &D, const Bindings &B,
              llvm::ArrayRef<std::vector<uint8_t>> Args);

/// A usage error where \p D is no domain of a kernel with so many scalars and
/// parameters: it has no box, intervals are out of order, a name is not there.
llvm::Error checkDomain(const Domain &D, size_t NumScalars, size_t NumParams);

/// The boxes of both: each was proved by itself. One that is in both stands
/// once, and what the gate saw wins. The order is the boxes' own.
Domain unite(Domain A, const Domain &B);
/// The boxes that the gate saw; nothing where there is none.
std::optional<Domain> provedPart(const Domain &D);

// JSON, as in the store's build files. What is not known is an error: a part
// that a newer version wrote must not be left out.
llvm::json::Value toJSON(const Domain &D);
bool fromJSON(const llvm::json::Value &V, Domain &D, llvm::json::Path P);

/// Whether clause \p Index of \p Box, counted as in ClauseRef, holds.
bool holds(const DomainBox &Box, size_t Index, const Bindings &B,
           llvm::ArrayRef<std::vector<uint8_t>> Args);

} // namespace cupilot

#endif // CUPILOT_MODEL_DOMAIN_H
