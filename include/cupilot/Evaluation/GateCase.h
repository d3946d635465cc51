//===- GateCase.h - A launch and what it starts from -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_GATECASE_H
#define CUPILOT_EVALUATION_GATECASE_H

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Evaluation/Layout.h"
#include "cupilot/Model/Domain.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cupilot {

using Bytes = std::vector<uint8_t>;

/// A launch with everything it starts from.
struct GateCase {
  std::string Name; ///< "w0 x3".
  size_t Workload = 0;
  LaunchShape Shape;
  std::vector<Bytes> Args; ///< Pointer words are zero.
  std::vector<WorkloadPointer> Pointers;
  std::vector<Bytes> Buffers;  ///< Content before the launch.
  std::vector<Layout> Layouts; ///< Of the buffers.
  std::vector<std::pair<std::string, Bytes>> Globals;
  std::vector<bool> PureOutput; ///< Buffers that the original only writes;
                                ///< empty until that is known.
  uint64_t Shift = 0;           ///< Bytes that all buffers are misaligned by.
  bool Captured = false;        ///< The launch as it was recorded.
  bool Doubtful = false;        ///< Not captured: the original may not bear it.
  bool Aliased = false;     ///< Buffers share memory that they did not share.
  bool Grown = false;       ///< Dropped where the original does far more in it
                            ///< than in what was captured.
  bool NeedsNaN = false;    ///< Proves something only if NaN comes out ...
  bool NeedsFinite = false; ///< ... or only if no NaN and no infinity does.
  bool OnlyFinite = false;  ///< Numbers of which the original makes NaN or
                            ///< infinity are not compared.
  /// Results may have all bits set, as memory that nobody wrote usually does
  /// here: another pattern stands for it.
  bool OtherFill = false;
  /// The floating arguments that are not as in the base.
  std::vector<FloatRef> ChangedFloats;
  /// The dimensions of the grid that have more blocks than its sizes need.
  llvm::SmallVector<unsigned, 3> Crowded;
  bool Ordered = false;  ///< Run in both orders.
  bool Probe = false;    ///< Shows whether inputs matter, not how exactly.
  bool Thorough = false; ///< Run with all checks, too.
  bool Far = false;    ///< Asks how far a variant is right. The float64 run is
                       ///< made where a comparison needs it.
  bool Idle = false;   ///< Some size is 0 or less: buffers of which the
                       ///< original touches nothing are taken away.
  bool Roomy = false;  ///< Buffers may be larger than it needs, and hide what
                       ///< is read beyond these.
  bool Deep = false;   ///< Far, and too large to be run in both orders.
  bool Scaled = false; ///< Dropped where the original's numbers leave the
                       ///< range of their formats.
  bool Leanless = false; ///< Under a relaxed contract, errors must not lean to
                         ///< one side.
};

/// Workload \p Index as it was captured, with the content of its buffers.
llvm::Expected<GateCase> capturedCase(const GateSetup &Setup,
                                      const KernelLayout &Types, size_t Index);

/// Changes each number of \p Content that \p Wanted admits: by its index.
void transformFloats(
    Bytes &Content, const Layout &L,
    llvm::function_ref<double(uint64_t Index, double Value)> Change);
} // namespace cupilot

#endif // CUPILOT_EVALUATION_GATECASE_H
