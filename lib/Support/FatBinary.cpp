//===- FatBinary.cpp - Fat binaries, with LLVM's errors ---------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/FatBinary.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

Expected<std::vector<FatBinaryEntry>> readFatBinary(StringRef Bytes) {
  std::vector<FatBinaryEntry> Entries;
  if (std::optional<Failure> F =
          readFatBinary(std::string_view(Bytes), Entries))
    return usageError(F->what());
  return Entries;
}

Expected<std::string> contentsOf(const FatBinaryEntry &Entry) {
  std::string Plain;
  if (std::optional<Failure> F = Entry.unpack(Plain))
    return usageError(F->what());
  return Plain;
}

} // namespace cupilot
