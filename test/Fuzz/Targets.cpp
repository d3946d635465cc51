//===- Targets.cpp - Readers under arbitrary input -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace cupilot::fuzz {

ArrayRef<Target> targets() {
  static const Target All[] = {
      {"record", runRecord},     {"module", runModule},
      {"counts", runCounts},     {"nvcc", runNvcc},
      {"clang", runClang},       {"ptx", runPtx},
      {"object", runObject},     {"gpubinary", runGpuBinary},
      {"lowering", runLowering},
  };
  return All;
}

const Target *findTarget(StringRef Name) {
  const auto *It =
      find_if(targets(), [&](const Target &T) { return T.Name == Name; });
  return It == targets().end() ? nullptr : It;
}

void require(bool Holds, const char *What) {
  if (Holds)
    return;
  errs() << "fault: " << What << "\n";
  std::abort();
}

} // namespace cupilot::fuzz
