//===- StrategyLibrary.cpp - Strategies as the agents see them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Dialect/Conversion.h"

using namespace llvm;

namespace cupilot {

std::vector<LibraryStrategy> libraryStrategies(mlir::Operation *Library) {
  std::vector<LibraryStrategy> All;
  for (StrategyInfo &Info : strategiesOf(Library))
    All.push_back({std::move(Info), "", "", 0, {}});
  for (auto [S, Op] :
       zip_equal(All, Library->getRegion(0).getOps<StrategyOp>())) {
    S.Summary = Op.getSummary().str();
    S.Bottleneck = stringifyBottleneckKind(Op.getBottleneck()).str();
    S.MinArch = int64_t(Op.getMinArch());
    append_range(S.ShownBy, Op.getShownBy().getAsRange<SignAttr>());
  }
  return All;
}

} // namespace cupilot
