//===- DomainText.cpp - Guards and domains for people --------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/DomainText.h"
#include "FloatText.h"
#include "LaunchWords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace cupilot {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {
/// A sum: each expression with its factor, and a constant.
struct Sum {
  std::vector<std::pair<int64_t, Expr>> Terms;
  int64_t Rest = 0;
};
} // namespace

/// Adds \p Factor times \p E; false where a number overflows.
static bool addTo(Sum &S, const Expr &E, int64_t Factor) {
  if (E.K == Expr::Kind::Constant) {
    int64_t Value = 0;
    return !MulOverflow(E.Value, Factor, Value) &&
           !AddOverflow(S.Rest, Value, S.Rest);
  }
  if (E.K == Expr::Kind::Add)
    return addTo(S, E.Operands[0], Factor) && addTo(S, E.Operands[1], Factor);
  if (E.K == Expr::Kind::Mul)
    for (unsigned I : {0, 1})
      if (int64_t By = 0; E.Operands[I].K == Expr::Kind::Constant)
        return !MulOverflow(E.Operands[I].Value, Factor, By) && By != 0 &&
               addTo(S, E.Operands[1 - I], By);
  S.Terms.emplace_back(Factor, E);
  return true;
}

/// How tightly an expression holds together.
enum class Binding { Sum, Product, Atom };

static std::string text(const Expr &E, const LaunchNames &N, Binding Around);

/// "n * 4": \p Factor, not 0, times \p E.
static std::string term(int64_t Factor, const Expr &E, const LaunchNames &N) {
  if (Factor == 1)
    return text(E, N, Binding::Sum);
  return text(E, N, Binding::Product) + " * " + itostr(Factor);
}

/// A sum without its signs turned: "a - b + 3".
static std::string text(const Sum &S, const LaunchNames &N) {
  std::string Text;
  for (const auto &[Factor, E] : S.Terms) {
    // The least number has no positive counterpart.
    bool Minus = Factor < 0 && Factor != INT64_MIN && !Text.empty();
    if (!Text.empty())
      Text += Minus ? " - " : " + ";
    Text += term(Minus ? -Factor : Factor, E, N);
  }
  if (Text.empty())
    return itostr(S.Rest);
  if (S.Rest > 0)
    Text += " + " + itostr(S.Rest);
  else if (S.Rest < 0)
    Text += " - " + utostr(-static_cast<uint64_t>(S.Rest));
  return Text;
}

static std::string text(const Expr &E, const LaunchNames &N, Binding Around) {
  switch (E.K) {
  case Expr::Kind::Symbol:
    return N.scalar(static_cast<size_t>(E.Value));
  case Expr::Kind::Constant:
  case Expr::Kind::Dim:
    return E.str();
  default:
    break;
  }
  std::string Text;
  Binding Own = Binding::Product;
  if (Sum S; E.K == Expr::Kind::Add && addTo(S, E, 1)) {
    Text = text(S, N);
    Own = Binding::Sum;
  } else {
    Text = text(E.Operands[0], N,
                E.K == Expr::Kind::Mul ? Binding::Product : Binding::Atom) +
           " " + operatorName(E.K).str() + " " +
           text(E.Operands[1], N, Binding::Atom);
  }
  return Own < Around ? "(" + Text + ")" : Text;
}

std::string exprText(const Expr &E, const LaunchNames &N) {
  return text(E, N, Binding::Sum);
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// What \p E is by its type alone.
static Interval rangeOf(const Expr &E, const LaunchNames &N) {
  Interval All{INT64_MIN, INT64_MAX};
  if (E.K == Expr::Kind::Dim)
    All.Least = E.Value == SharedBytes ? 0 : 1;
  if (E.K != Expr::Kind::Symbol ||
      static_cast<size_t>(E.Value) >= N.Scalars.size())
    return All;
  const ScalarRef &S = N.Scalars[static_cast<size_t>(E.Value)];
  if (S.Signed)
    return {minIntN(S.Bits), maxIntN(S.Bits)};
  // 64 bits without a sign are read as if they had one.
  return S.Bits == 64 ? All
                      : Interval{0, static_cast<int64_t>(maxUIntN(S.Bits))};
}

static std::string clause(const RangeClause &C, const LaunchNames &N) {
  const std::string What = exprText(C.E, N);
  const Interval Type = rangeOf(C.E, N);
  std::vector<Interval> In;
  for (const Interval &I : C.In) // Those that touch are one.
    if (!In.empty() && In.back().Most != INT64_MAX &&
        I.Least == In.back().Most + 1)
      In.back().Most = I.Most;
    else
      In.push_back(I);
  auto FromStart = [&](const Interval &I) { return I.Least <= Type.Least; };
  auto ToEnd = [&](const Interval &I) { return I.Most >= Type.Most; };
  if (In.size() == 1) {
    const Interval &I = In.front();
    if (I.Least == I.Most)
      return What + " == " + itostr(I.Least);
    if (FromStart(I))
      return ToEnd(I) ? What + " is any integer"
                      : What + " <= " + itostr(I.Most);
    if (ToEnd(I))
      return What + " >= " + itostr(I.Least);
    return itostr(I.Least) + " <= " + What + " <= " + itostr(I.Most);
  }
  if (In.size() == 2 && FromStart(In[0]) && ToEnd(In[1]) &&
      In[1].Least - In[0].Most == 2)
    return What + " != " + itostr(In[0].Most + 1);
  std::vector<std::string> Parts;
  Parts.reserve(In.size());
  for (const Interval &I : In)
    Parts.push_back(I.Least == I.Most
                        ? itostr(I.Least)
                        : (FromStart(I) ? "" : itostr(I.Least)) + ".." +
                              (ToEnd(I) ? "" : itostr(I.Most)));
  return What + " in {" + join(Parts, ", ") + "}";
}

static std::string clause(const ResidueClause &C, const LaunchNames &N) {
  std::vector<std::string> Parts;
  Parts.reserve(C.In.size());
  for (int64_t Rest : C.In)
    Parts.push_back(itostr(Rest));
  std::string What = text(C.E, N, Binding::Atom) + " mod " + itostr(C.Modulus);
  return Parts.size() == 1 ? What + " == " + Parts.front()
                           : What + " in {" + join(Parts, ", ") + "}";
}

static std::string alignment(const Alignment &A, const LaunchNames &N) {
  return N.pointer(A.Pointer) + " aligned to " + utostr(A.Bytes);
}

/// "n * 4 bytes", "bytes -4 to n * 4".
static std::string bytesText(const Extents &E, const LaunchNames &N) {
  std::string End = exprText(E.End, N);
  return E.Begin == Expr::constant(0)
             ? End + " bytes"
             : "bytes " + exprText(E.Begin, N) + " to " + End;
}

/// Both pointers' bytes are apart.
static std::string apart(const PointerRef &A, const Extents &OfA,
                         const PointerRef &B, const Extents &OfB,
                         const LaunchNames &N) {
  std::string NameA = N.pointer(A), NameB = N.pointer(B);
  return NameA + " and " + NameB + " do not overlap (" +
         (OfA == OfB ? bytesText(OfA, N)
                     : NameA + ": " + bytesText(OfA, N) + ", " + NameB + ": " +
                           bytesText(OfB, N)) +
         ")";
}

static std::string clause(const PairClause &C, const LaunchNames &N) {
  if (C.Equal)
    return N.pointer(C.A) + " == " + N.pointer(C.B);
  return apart(C.A, C.OfA, C.B, C.OfB, N);
}

std::string clauseText(const DomainBox &Box, size_t Index,
                       const LaunchNames &N) {
  if (Index < Box.Ranges.size())
    return clause(Box.Ranges[Index], N);
  Index -= Box.Ranges.size();
  if (Index < Box.Residues.size())
    return clause(Box.Residues[Index], N);
  Index -= Box.Residues.size();
  if (Index < Box.Floats.size()) {
    const FloatClause &C = Box.Floats[Index];
    return floatClassText(
        C, N.field(C.Number.Param, C.Number.Offset, C.Number.bits() / 8));
  }
  Index -= Box.Floats.size();
  if (Index < Box.Nulls.size())
    return N.pointer(Box.Nulls[Index].Pointer) +
           (Box.Nulls[Index].IsNull ? " == null" : " != null");
  Index -= Box.Nulls.size();
  if (Index < Box.Alignments.size())
    return alignment(Box.Alignments[Index], N);
  return clause(Box.Pairs[Index - Box.Alignments.size()], N);
}

//===----------------------------------------------------------------------===//
// Domains and guards
//===----------------------------------------------------------------------===//

std::string domainText(const Domain &D, const LaunchNames &N,
                       StringRef Between) {
  bool ByGpu = any_of(D.Boxes, [](const DomainBox &Box) {
    return Box.Seen == DomainBox::By::Gpu;
  });
  std::vector<std::vector<std::string>> Boxes;
  for (const DomainBox &Box : D.Boxes) {
    std::vector<std::string> &Each = Boxes.emplace_back();
    for (size_t I = 0; I < Box.size(); ++I)
      Each.push_back(clauseText(Box, I, N));
  }
  std::vector<std::string> Common;
  if (Boxes.size() > 1) {
    copy_if(Boxes.front(), std::back_inserter(Common),
            [&](const std::string &Clause) {
              return all_of(Boxes, [&](const std::vector<std::string> &Each) {
                return is_contained(Each, Clause);
              });
            });
    for (std::vector<std::string> &Each : Boxes)
      erase_if(Each, [&](const std::string &Clause) {
        return is_contained(Common, Clause);
      });
  }
  std::string Text = join(Common, "; ");
  for (auto [Box, Clauses] : zip_equal(D.Boxes, Boxes)) {
    if (Boxes.size() > 1) {
      bool First = &Clauses == &Boxes.front();
      if (!First || !Common.empty())
        Text += (First ? "; and" : ";") + Between.str();
      Text += First ? "either: " : "or: ";
    }
    Text += Clauses.empty() ? (Common.empty() ? "every launch" : "nothing more")
                            : join(Clauses, "; ");
    if (ByGpu)
      Text +=
          Box.Seen == DomainBox::By::Gpu ? " (compared on a GPU)" : " (proved)";
  }
  return Text;
}

/// `E == 0` or `E >= 0`, with what is subtracted on the other side.
static std::string constraint(const Constraint &C, const LaunchNames &N) {
  Sum All, Left, Right;
  if (!addTo(All, C.E, 1))
    return exprText(C.E, N) + (C.IsEq ? " == 0" : " >= 0");
  for (const auto &[Factor, E] : All.Terms)
    if (Factor >= 0)
      Left.Terms.emplace_back(Factor, E);
    else if (Factor == INT64_MIN)
      return exprText(C.E, N) + (C.IsEq ? " == 0" : " >= 0");
    else
      Right.Terms.emplace_back(-Factor, E);
  StringRef Relation = C.IsEq ? " == " : " >= ";
  // "c - n >= 0" is "n <= c".
  if (Left.Terms.empty() && !Right.Terms.empty()) {
    std::swap(Left.Terms, Right.Terms);
    Right.Rest = All.Rest;
    Relation = C.IsEq ? " == " : " <= ";
  } else if (All.Rest != INT64_MIN) {
    Right.Rest = -All.Rest;
  } else {
    Left.Rest = All.Rest;
  }
  return text(Left, N) + Relation.str() + text(Right, N);
}

std::string guardText(const Guard &G, const LaunchNames &N) {
  std::vector<std::string> Parts;
  Parts.reserve(G.Constraints.size() + G.Alignments.size());
  for (const Constraint &C : G.Constraints)
    Parts.push_back(constraint(C, N));
  for (const Alignment &A : G.Alignments)
    Parts.push_back(alignment(A, N));
  // Generated guards name a pair in both orders.
  for (auto [I, D] : enumerate(G.Disjoints))
    if (none_of(ArrayRef(G.Disjoints).take_front(I), [&](const Disjoint &Else) {
          return Else == D || Else == Disjoint{D.B, D.A, D.ExtentB, D.ExtentA};
        }))
      Parts.push_back(apart(D.A, {Expr::constant(0), D.ExtentA}, D.B,
                            {Expr::constant(0), D.ExtentB}, N));
  return join(Parts, "; ");
}

} // namespace cupilot
