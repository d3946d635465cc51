//===- Kernel.cpp - Kernels under another contract -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Kernel.h"
#include "cupilot/Portable/Digest.h"

using namespace llvm;

namespace cupilot {

Kernel withContract(Kernel K, const PrecisionContract &C) {
  if (contractText(C) != contractText(K.Contract))
    K.Digest = DigestBuilder().add(K.Digest).add(contractText(C)).str();
  K.Contract = C;
  return K;
}

} // namespace cupilot
