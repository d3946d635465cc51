//===- Placement.h - Where the buffers of a case lie ------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_PLACEMENT_H
#define CUPILOT_LIB_EVALUATION_PLACEMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace cupilot {

/// Memory for buffers, far apart, at addresses that a name decides: other ones,
/// in another order, for each case and each way to run it, and the same in
/// every process. A kernel that looks at addresses so does the same each time,
/// and not the same in all cases.
class Placement {
public:
  /// Places for buffers of \p Sizes bytes, multiples of 256, with room for
  /// \p Band bytes before and after each, and another 256.
  static std::unique_ptr<Placement> create(llvm::ArrayRef<uint64_t> Sizes,
                                           uint64_t Band, llvm::StringRef Name,
                                           uint64_t Salt);
  ~Placement();
  Placement(const Placement &) = delete;
  Placement &operator=(const Placement &) = delete;
  /// Whether \p Address is one that a name decided.
  static bool decides(uint64_t Address);
  uint8_t *begin(size_t I) const { return Begins[I]; }

private:
  Placement() = default;
  void *Map = nullptr;
  uint64_t MapSize = 0;
  std::vector<uint8_t *> Begins;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_PLACEMENT_H
