//===- Numbers.cpp - Lines that are equal but for numbers -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compare/Outputs.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>

using namespace llvm;

namespace cupilot {

static bool isBlank(char C) {
  return C == ' ' || C == '\t' || C == '\r' || C == '\n';
}

/// How many characters at the beginning of \p Text are a number of C, without
/// hexadecimal ones; 0 for none.
static size_t numberLength(StringRef Text) {
  size_t At = Text.starts_with("-") || Text.starts_with("+") ? 1 : 0;
  for (StringRef Word : {"infinity", "inf", "nan"})
    if (Text.drop_front(At).starts_with_insensitive(Word)) {
      size_t End = At + Word.size();
      return End < Text.size() && (isAlnum(Text[End]) || Text[End] == '_')
                 ? 0
                 : End;
    }
  auto Digits = [&] {
    size_t Begin = At;
    while (At < Text.size() && isDigit(Text[At]))
      ++At;
    return At - Begin;
  };
  size_t Before = Digits(), After = 0;
  if (At < Text.size() && Text[At] == '.') {
    ++At;
    After = Digits();
    if (After == 0)
      --At; // The end of a sentence.
  }
  if (Before + After == 0)
    return 0;
  size_t End = At;
  if (At < Text.size() && (Text[At] == 'e' || Text[At] == 'E')) {
    ++At;
    if (At < Text.size() && (Text[At] == '-' || Text[At] == '+'))
      ++At;
    if (Digits() > 0)
      End = At;
  }
  return End;
}

/// What is left of a line, and whether a number may begin there: "v2" and
/// "sm_90" are words.
struct Rest {
  StringRef Text;
  bool InWord = false;

  size_t blanks() {
    size_t Count = 0;
    while (Count < Text.size() && isBlank(Text[Count]))
      ++Count;
    if (Count)
      take(Count);
    return Count;
  }
  size_t number() const { return InWord ? 0 : numberLength(Text); }
  StringRef take(size_t Count) {
    StringRef Taken = Text.take_front(Count);
    InWord = isAlnum(Taken.back()) || Taken.back() == '_';
    Text = Text.drop_front(Count);
    return Taken;
  }
};

static double valueOf(StringRef Number) {
  Number.consume_front("+");
  double Value = 0;
  std::from_chars_result Result =
      std::from_chars(Number.begin(), Number.end(), Value);
  if (Result.ec == std::errc::result_out_of_range) {
    // from_chars does not say on which side.
    Value = std::strtod(Number.str().c_str(), nullptr);
  }
  return Value;
}

static bool near(StringRef A, StringRef B, double Tolerance, double &Largest) {
  if (A == B)
    return true;
  double X = valueOf(A), Y = valueOf(B);
  if (X == Y || (std::isnan(X) && std::isnan(Y)))
    return true;
  if (!std::isfinite(X) || !std::isfinite(Y))
    return false;
  double Relative =
      std::fabs(X / 2 - Y / 2) / (std::max(std::fabs(X), std::fabs(Y)) / 2);
  if (!(Relative <= Tolerance))
    return false;
  Largest = std::max(Largest, Relative);
  return true;
}

bool numbersAgree(StringRef A, StringRef B, double Tolerance, double &Largest) {
  Rest X{A}, Y{B};
  double Seen = Largest;
  bool Begin = true;
  while (true) {
    const bool BlankX = X.blanks() > 0, BlankY = Y.blanks() > 0;
    if (X.Text.empty() || Y.Text.empty()) {
      if (!X.Text.empty() || !Y.Text.empty())
        return false;
      Largest = Seen;
      return true;
    }
    const size_t NumberX = X.number(), NumberY = Y.number();
    const bool Numbers = NumberX && NumberY;
    // Columns get wider with their numbers.
    if (BlankX != BlankY && !Numbers && !Begin)
      return false;
    Begin = false;
    if (Numbers) {
      if (!near(X.take(NumberX), Y.take(NumberY), Tolerance, Seen))
        return false;
      continue;
    }
    if (X.take(1) != Y.take(1))
      return false;
  }
}

} // namespace cupilot
