//===- Contract.cpp - Kernels under another precision contract ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Contract.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::string contractText(const PrecisionContract &C) {
  switch (C.K) {
  case PrecisionContract::Kind::Exact:
    return "exact";
  case PrecisionContract::Kind::Relaxed:
    if (C.NormTolerance > 0)
      return formatv("relaxed({0}, {1})", format("%.10g", C.RelativeTolerance),
                     format("%.10g", C.NormTolerance))
          .str();
    return formatv("relaxed({0})", format("%.10g", C.RelativeTolerance)).str();
  case PrecisionContract::Kind::Same:
    break;
  }
  return "same";
}

/// Whether \p Text is a number between 0 and 1.
static bool readShare(StringRef Text, double &Share) {
  return !Text.trim().getAsDouble(Share) && Share > 0 && Share < 1;
}

Expected<PrecisionContract> parseContract(StringRef Text) {
  PrecisionContract C;
  if (Text == "same")
    return C;
  if (Text == "exact") {
    C.K = PrecisionContract::Kind::Exact;
    return C;
  }
  StringRef Numbers = Text;
  C.K = PrecisionContract::Kind::Relaxed;
  if (Numbers.consume_front("relaxed(") && Numbers.consume_back(")")) {
    auto [Each, Norm] = Numbers.split(',');
    if (readShare(Each, C.RelativeTolerance) &&
        (Each.size() == Numbers.size() || readShare(Norm, C.NormTolerance)))
      return C;
  }
  return usageError("unknown contract '" + Text + "'",
                    "use exact, same, relaxed(R) or relaxed(R, N) with R and N "
                    "between 0 and 1");
}

} // namespace cupilot
