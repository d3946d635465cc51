//===- Contract.cpp - How exact a variant must be -------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Contract.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

const MagnitudeRange *PrecisionContract::rangeOf(StringRef Name) const {
  const MagnitudeRange *OfAll = nullptr;
  for (const MagnitudeRange &R : Ranges) {
    if (R.Buffer == Name)
      return &R;
    if (R.Buffer.empty())
      OfAll = &R;
  }
  return OfAll;
}

std::string contractText(const PrecisionContract &C) {
  switch (C.K) {
  case PrecisionContract::Kind::Exact:
    return "exact";
  case PrecisionContract::Kind::Relaxed:
    break;
  case PrecisionContract::Kind::Same:
    return "same";
  }
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "relaxed(" << format("%.10g", C.RelativeTolerance);
  if (C.NormTolerance > 0)
    OS << ", " << format("%.10g", C.NormTolerance);
  for (const MagnitudeRange &R : C.Ranges) {
    OS << ", range";
    if (!R.Buffer.empty())
      OS << '(' << R.Buffer << ')';
    OS << '=' << format("%.10g", R.Low) << ".." << format("%.10g", R.High);
  }
  OS << (C.Biased ? ", biased)" : ")");
  return Text;
}

static std::string nameOf(const MagnitudeRange &R) {
  return R.Buffer.empty() ? "range" : "range(" + R.Buffer + ")";
}

std::string faultOf(const PrecisionContract &C) {
  if (C.K != PrecisionContract::Kind::Relaxed)
    return C.Ranges.empty() && !C.Biased
               ? ""
               : "a range and 'biased' belong to relaxed, and to no other";
  for (const MagnitudeRange &R : C.Ranges)
    if (!(R.Low > 0) || !std::isfinite(R.Low) || !std::isfinite(R.High))
      return "'" + nameOf(R) +
             "' needs two numbers greater than 0, the magnitudes from which "
             "and up to which numbers go";
    else if (R.Low > R.High)
      return "'" + nameOf(R) +
             "' contains no number: it ends below where it "
             "begins";
  for (size_t I = 1; I < C.Ranges.size(); ++I)
    if (C.Ranges[I - 1].Buffer >= C.Ranges[I].Buffer)
      return "'" + nameOf(C.Ranges[I]) + "' is given twice";
  return "";
}

/// Whether \p Text is a number between 0 and 1.
static bool readShare(StringRef Text, double &Share) {
  return !Text.trim().getAsDouble(Share) && Share > 0 && Share < 1;
}

static bool isName(StringRef Text) {
  return !Text.empty() && !isDigit(Text.front()) &&
         all_of(Text, [](char C) { return isAlnum(C) || C == '_'; });
}

/// "range=1e-3..1e4", "range(x)=..."; false when \p Text is none at all. What
/// is no number becomes one that faultOf() names.
static bool readRange(StringRef Text, MagnitudeRange &R) {
  if (!Text.consume_front("range"))
    return false;
  auto [Buffer, Numbers] = Text.split('=');
  Buffer = Buffer.trim();
  if (!Buffer.empty()) {
    if (!Buffer.consume_front("(") || !Buffer.consume_back(")") ||
        !isName(Buffer.trim()))
      return false;
    R.Buffer = Buffer.trim().str();
  }
  auto [Low, High] = Numbers.split("..");
  if (Low.trim().getAsDouble(R.Low) || High.trim().getAsDouble(R.High))
    R.Low = R.High = NAN;
  return true;
}

Expected<PrecisionContract> parseContract(StringRef Text) {
  PrecisionContract C;
  if (Text == "same")
    return C;
  if (Text == "exact") {
    C.K = PrecisionContract::Kind::Exact;
    return C;
  }
  auto Unknown = [&] {
    return usageError("unknown contract '" + Text + "'",
                      "use exact, same, relaxed(R) or relaxed(R, N) with R and "
                      "N between 0 and 1; range=A..B, range(BUFFER)=A..B and "
                      "biased may follow them: docs/Gate.md, \"The contract\"");
  };
  StringRef Inside = Text;
  C.K = PrecisionContract::Kind::Relaxed;
  if (!Inside.consume_front("relaxed(") || !Inside.consume_back(")"))
    return Unknown();
  SmallVector<StringRef> Parts;
  Inside.split(Parts, ',');
  if (!readShare(Parts.front(), C.RelativeTolerance))
    return Unknown();
  for (size_t I = 1; I < Parts.size(); ++I) {
    StringRef Part = Parts[I].trim();
    MagnitudeRange R;
    if (Part == "biased" && !C.Biased)
      C.Biased = true;
    else if (readRange(Part, R))
      C.Ranges.push_back(std::move(R));
    else if (I != 1 || !readShare(Part, C.NormTolerance))
      return Unknown();
  }
  llvm::sort(C.Ranges, [](const MagnitudeRange &A, const MagnitudeRange &B) {
    return A.Buffer < B.Buffer;
  });
  if (std::string Fault = faultOf(C); !Fault.empty())
    return usageError("the contract '" + Text + "' cannot hold: " + Fault,
                      "write for instance range=0.001..10000, or "
                      "range(BUFFER)=0.001..10000 for one pointer parameter");
  return C;
}

std::string contractRemark(StringRef Contract) {
  Expected<PrecisionContract> C = parseContract(Contract);
  if (!C) {
    consumeError(C.takeError());
    return "";
  }
  return C->Biased || !C->Ranges.empty() ? ", under " + contractText(*C) : "";
}

} // namespace cupilot
