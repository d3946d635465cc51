//===- Patch.cpp - Edits as a unified diff -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Eject/Eject.h"
#include "cupilot/Support/LineDiff.h"

using namespace llvm;

namespace cupilot {

std::string applyEdits(StringRef Old, ArrayRef<SourceEdit> Edits) {
  std::string New;
  size_t Done = 0;
  for (const SourceEdit &E : Edits) {
    New += Old.slice(Done, E.Begin);
    New += E.Text;
    Done = E.End;
  }
  return New + Old.drop_front(Done).str();
}

std::string unifiedDiff(StringRef Path, StringRef Old,
                        ArrayRef<SourceEdit> Edits) {
  return unifiedDiff("a/" + Path, "b/" + Path, Old, applyEdits(Old, Edits));
}

} // namespace cupilot
