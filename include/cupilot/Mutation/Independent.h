//===- Independent.h - A second opinion on survivors -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_INDEPENDENT_H
#define CUPILOT_MUTATION_INDEPENDENT_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

struct IndependentOptions {
  unsigned Inputs = 1000; ///< That the original bears.
  uint64_t Seed = 1;
  std::string Arch = "sm_90";
};

struct IndependentResult {
  unsigned Inputs = 0;  ///< Compared.
  unsigned Refused = 0; ///< That the original does not bear.
  bool Differs = false;
  std::string Evidence; ///< The input and the difference.
};

/// Runs \p Mutant beside \p Original on random inputs around the launches
/// \p Around: sizes, values, launch dimensions. Its inputs and its comparison
/// are its own, not the gate's. Errors: code that the cpu device refuses.
llvm::Expected<IndependentResult>
compareIndependently(const Kernel &K, llvm::StringRef Original,
                     llvm::StringRef Mutant, llvm::ArrayRef<Workload> Around,
                     const IndependentOptions &Options);

} // namespace cupilot

#endif // CUPILOT_MUTATION_INDEPENDENT_H
