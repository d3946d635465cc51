//===- Cases.h - The launches that a variant is judged on -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_CASES_H
#define CUPILOT_LIB_EVALUATION_CASES_H

#include "cupilot/Evaluation/Gate.h"

namespace cupilot {

using Bytes = std::vector<uint8_t>;

/// How the elements of a buffer are compared.
enum class ElementKind { Bytes, Float, Double };

/// A launch with everything it starts from.
struct GateCase {
  std::string Name; ///< "w0 x3".
  size_t Workload = 0;
  LaunchShape Shape;
  std::vector<Bytes> Args; ///< Pointer words are zero.
  std::vector<WorkloadPointer> Pointers;
  std::vector<Bytes> Buffers;     ///< Content before the launch.
  std::vector<ElementKind> Kinds; ///< Of the buffers.
  std::vector<std::pair<std::string, Bytes>> Globals;
  uint64_t Shift = 0;    ///< Bytes that all buffers are misaligned by.
  bool Doubtful = false; ///< Not captured: the original may not bear it.
};

/// The captured launches and their variations.
llvm::Expected<std::vector<GateCase>> buildCases(const GateSetup &Setup);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_CASES_H
