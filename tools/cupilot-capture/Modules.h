//===- Modules.h - GPU binaries that the program loaded -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_MODULES_H
#define CUPILOT_TOOLS_CAPTURE_MODULES_H

#include "cupilot/Capture/Cubin.h"
#include <cstdint>
#include <list>
#include <mutex>

namespace cupilot::capture {

/// Remembers loaded GPU binaries, because variables and replays need them.
class Modules {
public:
  void loaded(uint32_t Id, const char *Image, size_t Size);
  void unloaded(uint32_t Id);
  /// Calls \p Use(names, image) for the newest binary that defines \p Kernel;
  /// false where there is none.
  template <typename Callback>
  bool with(const std::string &Kernel, Callback Use) {
    std::lock_guard<std::mutex> Guard(Lock);
    for (const Module &M : Loaded)
      for (const std::string &Name : M.Names.Kernels)
        if (Name == Kernel) {
          Use(M.Names, M.Image);
          return true;
        }
    return false;
  }

private:
  struct Module {
    uint32_t Id;
    std::string Image; ///< Empty beyond the limit.
    CubinNames Names;
  };
  std::mutex Lock;
  std::list<Module> Loaded; ///< Newest first.
  uint64_t Bytes = 0;
};

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_MODULES_H
