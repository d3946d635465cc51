//===- FloatText.cpp - Classes of floating-point numbers for people ------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatText.h"
#include "cupilot/Model/DomainText.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

static const fltSemantics &semanticsOf(FloatRef::Format Type) {
  switch (Type) {
  case FloatRef::Format::Half:
    return APFloat::IEEEhalf();
  case FloatRef::Format::BFloat:
    return APFloat::BFloat();
  case FloatRef::Format::Float:
    return APFloat::IEEEsingle();
  case FloatRef::Format::Double:
    return APFloat::IEEEdouble();
  }
  llvm_unreachable("no other formats");
}

std::string floatText(FloatRef::Format Type, uint64_t Raw) {
  const fltSemantics &Semantics = semanticsOf(Type);
  const unsigned Bits = APFloat::getSizeInBits(Semantics);
  APFloat Number(Semantics, APInt(Bits, Raw));
  APFloat Wide = Number;
  bool Lost = false;
  Wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
  std::string Text;
  // Whole numbers that people read at a glance stand as they are.
  if (Wide.isInteger() && std::fabs(Wide.convertToDouble()) < 1e9)
    return itostr(static_cast<int64_t>(Wide.convertToDouble()));
  for (int Digits = 1; Digits <= 17; ++Digits) {
    Text.clear();
    raw_string_ostream(Text) << format("%.*g", Digits, Wide.convertToDouble());
    APFloat Again(Semantics);
    if (Error E = Again.convertFromString(Text, APFloat::rmNearestTiesToEven)
                      .takeError()) {
      consumeError(std::move(E));
      continue;
    }
    if (Again.bitwiseIsEqual(Number))
      break;
  }
  // "1e+06" is 1e6.
  size_t At = Text.find('e');
  if (At == std::string::npos)
    return Text;
  StringRef Power = StringRef(Text).drop_front(At + 1);
  bool Negative = Power.consume_front("-");
  Power.consume_front("+");
  Power = Power.ltrim('0');
  return Text.substr(0, At) + "e" + (Negative ? "-" : "") + Power.str();
}

namespace {
/// The numbers of one format by their magnitudes.
class Scale {
public:
  explicit Scale(FloatRef::Format Type)
      : Type(Type), Bits(FloatRef{0, 0, Type}.bits()),
        Infinity(
            APFloat::getInf(semanticsOf(Type)).bitcastToAPInt().getZExtValue()),
        Most((int64_t(1) << (Bits - 2)) - 1 + (int64_t(1) << (Bits - 2))) {}

  /// The number of the magnitude \p M, which is no NaN.
  std::string magnitude(int64_t M) const {
    return M == Infinity ? "inf" : floatText(Type, uint64_t(M));
  }
  /// A number by its key; \p Zero and \p NegativeZero for those.
  std::string number(int64_t Key, StringRef Zero,
                     StringRef NegativeZero) const {
    if (Key == 0)
      return Zero.str();
    if (Key == -1)
      return NegativeZero.str();
    return Key > 0 ? magnitude(Key) : "-" + magnitude(-Key - 1);
  }
  std::string payload(int64_t Key) const {
    uint64_t Raw = Key >= 0 ? uint64_t(Key)
                            : uint64_t(-Key - 1) | uint64_t(1) << (Bits - 1);
    return "0x" + utohexstr(Raw, /*LowerCase=*/true);
  }

  const FloatRef::Format Type;
  const unsigned Bits;
  const int64_t Infinity, Most; ///< Of magnitudes; NaN is what lies between.
};

/// What a set of numbers comes to: parts, or a comparison where one will do.
struct Parts {
  std::vector<std::string> In; ///< "0", "1..2", "nan".
  std::string Compared;        ///< "1 <= x <= 2", of the only one.
};
} // namespace

/// Numbers of NaN cut off at the infinities, of \p All, in order.
static std::vector<Interval> split(const Scale &S, ArrayRef<Interval> All) {
  std::vector<Interval> Cut;
  for (Interval I : All) {
    I.Least = std::max(I.Least, -S.Most - 1);
    I.Most = std::min(I.Most, S.Most);
    for (int64_t Edge : {-S.Infinity - 2, S.Infinity})
      if (I.Least <= Edge && Edge < I.Most) {
        Cut.push_back({I.Least, Edge});
        I.Least = Edge + 1;
      }
    if (I.Least <= I.Most)
      Cut.push_back(I);
  }
  return Cut;
}

/// Whether the set holds with each number the one of the other sign.
static bool isMirrored(ArrayRef<Interval> All) {
  for (size_t I = 0; I < All.size(); ++I) {
    const Interval &Other = All[All.size() - 1 - I];
    if (All[I].Least != -Other.Most - 1)
      return false;
  }
  return true;
}

/// Of magnitudes \p Of, from 0 up, of numbers called \p Name.
static Parts magnitudes(const Scale &S, ArrayRef<Interval> Of,
                        const std::string &Name) {
  Parts P;
  for (const Interval &I : Of) {
    if (I.Least > S.Infinity) {
      P.In.push_back(I == Interval{S.Infinity + 1, S.Most}
                         ? "nan"
                         : "nan(" + S.payload(I.Least) + ".." +
                               S.payload(I.Most) + ")");
      P.Compared = Name + " is " + P.In.back();
      continue;
    }
    // 0 and infinity as bounds that are left out read better than the numbers
    // beside them.
    bool Above = I.Least == 1 && I.Most > 1,
         Below = I.Most == S.Infinity - 1 && I.Least < I.Most;
    std::string Least = Above ? "0" : S.magnitude(I.Least),
                Most = Below ? "inf" : S.magnitude(I.Most);
    P.In.push_back(I.Least == I.Most ? Least
                                     : Least + (Above ? "<" : "") + ".." +
                                           (Below ? "<" : "") + Most);
    std::string To = (Below ? " < " : " <= ") + Most;
    P.Compared = I.Least == I.Most ? Name + " == " + Least
                 : I.Least == 0 ? Name + To
                                : Least + (Above ? " < " : " <= ") + Name + To;
  }
  return P;
}

/// Of numbers of one sign or both.
static Parts numbers(const Scale &S, ArrayRef<Interval> Of,
                     const std::string &Name) {
  Parts P;
  for (const Interval &I : Of) {
    if (I.Least > S.Infinity || I.Most < -S.Infinity - 1) {
      bool Negative = I.Least < 0;
      bool All = Negative ? I == Interval{-S.Most - 1, -S.Infinity - 2}
                          : I == Interval{S.Infinity + 1, S.Most};
      P.In.push_back(All ? (Negative ? "-nan" : "+nan")
                         : "nan(" + S.payload(Negative ? I.Most : I.Least) +
                               ".." + S.payload(Negative ? I.Least : I.Most) +
                               ")");
      P.Compared = Name + " is " + P.In.back();
      continue;
    }
    if (I == Interval{-1, 0}) {
      P.In.push_back("0");
      P.Compared = Name + " == 0";
      continue;
    }
    if (I.Least == I.Most) {
      P.In.push_back(S.number(I.Least, "+0", "-0"));
      P.Compared = Name + " == " + P.In.back();
      continue;
    }
    bool Above = I.Least == 1, Below = I.Most == -2;
    std::string Least = Above ? "0" : S.number(I.Least, "+0", "0"),
                Most = Below ? "0" : S.number(I.Most, "0", "-0");
    bool Finite = I.Most == S.Infinity - 1, NotBelow = I.Least == -S.Infinity;
    if (Finite)
      Most = "inf";
    if (NotBelow)
      Least = "-inf";
    P.In.push_back(Least + (Above || NotBelow ? "<" : "") + ".." +
                   (Below || Finite ? "<" : "") + Most);
    P.Compared = Least + (Above || NotBelow ? " < " : " <= ") + Name +
                 (Below || Finite ? " < " : " <= ") + Most;
  }
  return P;
}

std::string floatClassText(const FloatClause &C, const std::string &Name) {
  Scale S(C.Number.Type);
  std::vector<Interval> All;
  for (const Interval &I : C.In) // Those that touch are one.
    if (!All.empty() && All.back().Most != INT64_MAX &&
        I.Least == All.back().Most + 1)
      All.back().Most = I.Most;
    else
      All.push_back(I);
  All = split(S, All);
  Parts P;
  std::string Of = Name;
  if (isMirrored(All)) {
    std::vector<Interval> Upper;
    for (const Interval &I : All)
      if (I.Most >= 0)
        Upper.push_back({std::max<int64_t>(I.Least, 0), I.Most});
    if (Upper.size() == 2 && Upper[0] == Interval{0, S.Infinity} &&
        Upper[1] == Interval{S.Infinity + 1, S.Most})
      return Name + " is any number";
    if (Upper.size() == 1 && Upper[0] == Interval{0, S.Infinity})
      return Name + " is not nan";
    if (Upper.size() == 1 && Upper[0] == Interval{0, S.Infinity - 1})
      return Name + " is finite";
    // What has no sign in a comparison needs no bars.
    bool Plain = all_of(Upper, [&](const Interval &I) {
      return I == Interval{0, 0} || I.Least > S.Infinity;
    });
    if (!Plain)
      Of = "|" + Name + "|";
    P = magnitudes(S, Upper, Of);
  } else {
    P = numbers(S, All, Name);
  }
  return P.In.size() == 1 ? P.Compared : Of + " in {" + join(P.In, ", ") + "}";
}

} // namespace cupilot
