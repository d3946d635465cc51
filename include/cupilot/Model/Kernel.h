//===- Kernel.h - A kernel as extraction finds it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_KERNEL_H
#define CUPILOT_MODEL_KERNEL_H

#include "cupilot/Model/Contract.h"
#include "cupilot/Model/LaunchPlan.h"

namespace cupilot {

/// One parameter of a kernel.
struct KernelParam {
  std::string Name;
  std::string Type;  ///< As the source spells it, canonical: "const float *".
  uint64_t Size = 0; ///< Bytes.
  bool IsPointer = false;
  bool PointeeConst = false;
  bool Restrict = false;
  std::string Pointee;      ///< "float"; empty unless a pointer.
  uint64_t PointeeSize = 0; ///< Bytes; 0 for void.
};

/// A kernel of a translation unit.
struct Kernel {
  std::string
      Name; ///< Qualified name with parameter types and template
            ///< arguments: "blur::rows<4>(const float *, float *, int)".
  std::string Symbol; ///< Mangled name as clang's device side has it.
  std::string Digest; ///< Source identity, "b3:...".
  std::string Slice;  ///< Self-contained .cu text; empty when refused.
  /// Why there is no slice, with a way out.
  std::optional<std::string> Refusal;
  std::string File;  ///< Where it is defined ...
  unsigned Line = 0; ///< ... and on which line.
  std::vector<KernelParam> Params;
  std::vector<ScalarRef> Scalars;   ///< The symbols of its maps, in order.
  std::vector<PointerRef> Pointers; ///< Pointer arguments and pointer fields.
  PrecisionContract Contract;
  /// Nobody knows a source in C++ of it: of its parameters the sizes count, and
  /// what are pointers.
  bool Lowered = false;
};

/// \p K, as it was extracted, under the contract \p C. The contract is part of
/// the source identity: what was proved under one proves nothing under another.
Kernel withContract(Kernel K, const PrecisionContract &C);

} // namespace cupilot

#endif // CUPILOT_MODEL_KERNEL_H
