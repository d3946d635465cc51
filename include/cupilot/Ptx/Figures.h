//===- Figures.h - Numbers by which instructions are described --*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_FIGURES_H
#define CUPILOT_PTX_FIGURES_H

#include "cupilot/Ptx/Module.h"

namespace cupilot::ptx {

/// What the words and operands of an instruction say of its size.
struct InstructionFigures {
  std::optional<unsigned> Columns;   ///< n of ".m64n256k8".
  std::optional<unsigned> Matrices;  ///< 4 of ".x4".
  std::optional<Type> Factors;       ///< tf32 of ".f32.tf32.tf32".
  std::optional<uint64_t> Immediate; ///< The first operand that is a number.
};
InstructionFigures figuresOf(const Instruction &I);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_FIGURES_H
