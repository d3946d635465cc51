//===- StrategyLibrary.cpp - Strategies as the agents see them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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
    S.Evident = Op.getEvident();
    append_range(S.Reads, Op.getReads().getAsRange<ReadingAttr>());
  }
  return All;
}

std::vector<StrategyInfo> infosOf(ArrayRef<LibraryStrategy> Library) {
  std::vector<StrategyInfo> All;
  for (const LibraryStrategy &S : Library)
    All.push_back(S.Info);
  return All;
}

Error readNotes(StringRef Strategies, MutableArrayRef<LibraryStrategy> All) {
  for (LibraryStrategy &S : All) {
    SmallString<128> Path(Strategies);
    sys::path::append(Path, S.Info.Name + ".md");
    if (!sys::fs::exists(Path))
      continue;
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    S.Notes = StringRef(*Text).trim().str();
  }
  return Error::success();
}

} // namespace cupilot
