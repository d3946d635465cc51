//===- Contract.h - Kernels under another precision contract -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_CONTRACT_H
#define CUPILOT_FRONTEND_CONTRACT_H

#include "cupilot/Frontend/Kernel.h"

namespace cupilot {

/// \p K, as it was extracted, under the contract \p C. The contract is part of
/// the source identity: what was proved under one proves nothing under another.
Kernel withContract(Kernel K, const PrecisionContract &C);

/// "exact", "same", "relaxed(0.004)", "relaxed(0.004, 0.0004)".
std::string contractText(const PrecisionContract &C);
/// What such a text stands for; another one is a usage error.
llvm::Expected<PrecisionContract> parseContract(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_CONTRACT_H
