//===- DeriveDomain.cpp - Boxes around the launches that were tried -------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveDomain.h"
#include "BoxMaker.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <map>

using namespace llvm;

namespace cupilot {

/// The value of an expression whose operands are \p A and \p B.
static std::optional<int64_t> valueOf(Expr::Kind Kind, int64_t A, int64_t B) {
  return evaluate(Expr::binary(Kind, Expr::constant(A), Expr::constant(B)),
                  Bindings());
}

/// What follows from the ranges of its operands. All kinds but remainders are
/// monotone in each operand, whatever the other is.
static std::optional<Interval> rangeOfOperands(const Expr &E,
                                               const DomainBox &Box) {
  if (E.Operands.empty())
    return std::nullopt;
  std::optional<Interval> A = rangeIn(E.Operands[0], Box),
                          B = rangeIn(E.Operands[1], Box);
  if (!A || !B)
    return std::nullopt;
  const bool Divides = E.K == Expr::Kind::FloorDiv ||
                       E.K == Expr::Kind::CeilDiv || E.K == Expr::Kind::Mod;
  if (Divides && B->Least < 1)
    return std::nullopt;
  if (E.K == Expr::Kind::Mod)
    return Interval{0, B->Most - 1};
  std::optional<Interval> All;
  for (int64_t X : {A->Least, A->Most})
    for (int64_t Y : {B->Least, B->Most}) {
      std::optional<int64_t> V = valueOf(E.K, X, Y);
      if (!V)
        return std::nullopt;
      All = All ? Interval{std::min(All->Least, *V), std::max(All->Most, *V)}
                : Interval{*V, *V};
    }
  return All;
}

std::optional<Interval> rangeIn(const Expr &E, const DomainBox &Box) {
  if (E.K == Expr::Kind::Constant)
    return Interval{E.Value, E.Value};
  std::optional<Interval> Known = rangeOfOperands(E, Box);
  for (const RangeClause &C : Box.Ranges) {
    if (!(C.E == E) || C.In.empty())
      continue;
    if (C.In.front().Least != std::numeric_limits<int64_t>::min())
      return Interval{C.In.front().Least, C.In.back().Most};
    if (Known)
      Known->Most = std::min(Known->Most, C.In.back().Most);
  }
  return Known;
}

static Combination combinationOf(const DomainFrame &F, const TriedLaunch &L) {
  Combination C;
  for (size_t I = 0; I < F.K->Pointers.size(); ++I)
    C.Null.push_back(F.Facts.Pointers[I].Used &&
                     addressOf(L, F.K->Pointers[I]) == 0);
  for (auto [A, B] : F.Pairs)
    C.Equal.push_back(addressOf(L, F.K->Pointers[A]) ==
                      addressOf(L, F.K->Pointers[B]));
  for (unsigned I : F.Flags)
    C.Flags.push_back(L.B.Symbols[I]);
  return C;
}

/// One box for those that differ in one flag alone: its values make a set.
static void joinFlags(const DomainFrame &F, std::vector<DomainBox> &Boxes) {
  for (size_t Flag = 0; Flag < F.Flags.size(); ++Flag)
    for (size_t I = 0; I < Boxes.size(); ++I)
      for (size_t K = I + 1; K < Boxes.size();) {
        DomainBox Other = Boxes[K];
        Other.Ranges[Flag].In = Boxes[I].Ranges[Flag].In;
        if (!(Other == Boxes[I])) {
          ++K;
          continue;
        }
        std::vector<Interval> &In = Boxes[I].Ranges[Flag].In;
        append_range(In, Boxes[K].Ranges[Flag].In);
        llvm::sort(In, [](const Interval &A, const Interval &B) {
          return A.Least < B.Least;
        });
        std::vector<Interval> Joined;
        for (const Interval &Each : In)
          if (!Joined.empty() && Joined.back().Most + 1 == Each.Least)
            Joined.back().Most = Each.Most;
          else
            Joined.push_back(Each);
        In = std::move(Joined);
        Boxes.erase(Boxes.begin() + K);
      }
}

Domain deriveDomain(const DomainFrame &F, ArrayRef<TriedLaunch> Tried,
                    std::vector<DomainEnd> &Ends) {
  constexpr size_t MostBoxes = 16;
  // In the order in which they were first tried: recorded ones lead.
  std::vector<Combination> Order;
  std::map<Combination, std::vector<const TriedLaunch *>> Groups;
  for (const TriedLaunch &L : Tried) {
    Combination C = combinationOf(F, L);
    std::vector<const TriedLaunch *> &Group = Groups[C];
    if (Group.empty())
      Order.push_back(C);
    Group.push_back(&L);
  }
  Domain D;
  NumberKeys WrongTogether;
  auto MakeBoxes = [&] {
    NumberKeys All;
    const size_t Before = Ends.size();
    D.Boxes.clear();
    for (const Combination &C : Order) {
      BoxMaker Maker(F, C, Groups.find(C)->second, WrongTogether, Ends);
      if (std::optional<DomainBox> Box = Maker.make())
        D.Boxes.push_back(std::move(*Box));
      for (const auto &[I, Keys] : Maker.wrongTogether())
        All[I].insert(Keys.begin(), Keys.end());
    }
    if (All == WrongTogether)
      return;
    WrongTogether = std::move(All);
    Ends.resize(Before);
  };
  // What is found in one box is known to all.
  MakeBoxes();
  if (!WrongTogether.empty())
    MakeBoxes();
  joinFlags(F, D.Boxes);
  if (D.Boxes.size() > MostBoxes)
    D.Boxes.resize(MostBoxes);
  return D;
}

} // namespace cupilot
