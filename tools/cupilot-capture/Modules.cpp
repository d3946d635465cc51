//===- Modules.cpp - GPU binaries that the program loaded -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"

namespace cupilot::capture {

/// Binaries remembered at most, in bytes of memory.
static constexpr uint64_t Limit = 1ull << 29;

void Modules::loaded(uint32_t Id, const char *Image, size_t Size) {
  if (!Image || !Size)
    return;
  std::string_view View(Image, Size);
  std::optional<CubinNames> Names = readCubinNames(View);
  if (!Names)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Module M{Id, {}, std::move(*Names)};
  if (Bytes + Size <= Limit) {
    M.Image = View;
    Bytes += Size;
  }
  Loaded.push_front(std::move(M));
}

void Modules::unloaded(uint32_t Id) {
  std::lock_guard<std::mutex> Guard(Lock);
  Loaded.remove_if([&](const Module &M) {
    if (M.Id != Id)
      return false;
    Bytes -= M.Image.size();
    return true;
  });
}

} // namespace cupilot::capture
