//===- Contract.cpp - Kernels under another precision contract ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/Contract.h"
#include "cupilot/Support/Digest.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::string contractText(const PrecisionContract &C) {
  switch (C.K) {
  case PrecisionContract::Kind::Exact:
    return "exact";
  case PrecisionContract::Kind::Relaxed:
    return formatv("relaxed({0})", format("%.10g", C.RelativeTolerance)).str();
  case PrecisionContract::Kind::Same:
    break;
  }
  return "same";
}

Kernel withContract(Kernel K, const PrecisionContract &C) {
  if (contractText(C) != contractText(K.Contract))
    K.Digest = DigestBuilder().add(K.Digest).add(contractText(C)).str();
  K.Contract = C;
  return K;
}

} // namespace cupilot
