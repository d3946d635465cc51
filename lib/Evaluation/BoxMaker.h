//===- BoxMaker.h - One box of a domain -------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_BOXMAKER_H
#define CUPILOT_LIB_EVALUATION_BOXMAKER_H

#include "DeriveDomain.h"
#include <map>
#include <set>

namespace cupilot {

/// The address that \p L hands in as \p P; 0 where it has none.
uint64_t addressOf(const TriedLaunch &L, const PointerRef &P);

/// The number that \p L hands in as \p F, in the order of its format.
int64_t keyOf(const TriedLaunch &L, const FloatRef &F);

/// What all addresses of \p L are multiples of; 256 where they are as CUDA's
/// allocations.
uint64_t alignedBy(const TriedLaunch &L);

/// What is left of \p Value, which may be negative: 0 to \p Modulus - 1.
int64_t restOf(int64_t Value, int64_t Modulus);

/// A number of the launch or an argument, and no product of them.
bool isVariable(const Expr &E);

/// Rests that a clause lists.
inline constexpr size_t MostRests = 64;

/// What launches of a box have in common.
struct Combination {
  std::vector<bool> Null;     ///< Beside Kernel::Pointers.
  std::vector<bool> Equal;    ///< Beside DomainFrame::Pairs.
  std::vector<int64_t> Flags; ///< Beside DomainFrame::Flags.
  auto operator<=>(const Combination &) const = default;
};

/// A launch in the space of a box: its values in each coordinate.
struct Point {
  const TriedLaunch *L = nullptr;
  std::vector<int64_t> At = {};
  bool IsAnchor = false; ///< It stays inside of the box.
};

/// By CodeFacts::Floats: keys that are wrong.
using NumberKeys = std::map<size_t, std::set<int64_t>>;

/// Derives the box of one combination.
class BoxMaker {
public:
  /// \p WrongElsewhere are wrong together in another combination, which few
  /// launches try anew in each.
  BoxMaker(const DomainFrame &F, const Combination &C,
           std::vector<const TriedLaunch *> Launches,
           const NumberKeys &WrongElsewhere, std::vector<DomainEnd> &Ends)
      : F(F), C(C), Launches(std::move(Launches)), Ends(Ends),
        WrongNumbers(WrongElsewhere) {}
  std::optional<DomainBox> make();
  /// Numbers that are wrong together, of a launch each.
  const NumberKeys &wrongTogether() const { return WrongTogether; }

private:
  void chooseCoordinates();
  bool place(const TriedLaunch &L, Point &To) const;
  void placeAll();
  void dropProportional();
  bool inside(const Point &P) const;
  bool leavesOut(const Point &P, size_t I) const;
  std::set<int64_t> restsOf(size_t I, int64_t Modulus) const;
  bool isOfAnchor(const FloatRef &Number, int64_t Key) const;
  bool hasOtherNumbers(const Point &W) const;
  bool excludeNumbers(const Point &Wrong);
  bool excludeBlock(const Point &Wrong);
  bool isSeenToExcuse(const Point &Wrong, size_t I) const;
  bool cut(const Point &Wrong);
  std::optional<std::pair<size_t, int64_t>> restToCut(const Point &Wrong,
                                                      size_t Least) const;
  bool listValues(const Point &Wrong);
  void findHull();
  void nameEnds();
  bool hasLeast(size_t I) const;
  void addRanges(DomainBox &Box) const;
  void addResidues(DomainBox &Box) const;
  void addFloats(DomainBox &Box) const;
  void addPointers(DomainBox &Box) const;

  const DomainFrame &F;
  const Combination &C;
  std::vector<const TriedLaunch *> Launches;
  std::vector<DomainEnd> &Ends;
  std::vector<Expr> Coordinates;
  std::vector<bool> Idle;     ///< Coordinates that bound nothing so far.
  std::vector<bool> Listed;   ///< Coordinates of which single values are known.
  std::vector<bool> CutBelow; ///< Coordinates that a wrong launch lies below.
  /// Coordinates and moduli of which single rests are known.
  std::set<std::pair<size_t, int64_t>> ListedRests;
  NumberKeys WrongNumbers, WrongTogether;
  std::vector<Point> Right, Wrong;
  std::vector<Interval> Hull, Anchor; ///< Anchors stay inside.
  /// Addresses that are multiples of no more than this were wrong.
  uint64_t WrongShift = 0;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_BOXMAKER_H
