//===- Cubin.h - Names in a GPU binary -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_CUBIN_H
#define CUPILOT_CAPTURE_CUBIN_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::capture {

/// The mangled names that a GPU binary (an ELF file) defines.
struct CubinNames {
  std::vector<std::string> Kernels;
  std::vector<std::string> Variables; ///< __device__ and __constant__.
};

/// Nothing where \p Image is no ELF file, or a damaged one.
std::optional<CubinNames> readCubinNames(std::string_view Image);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_CUBIN_H
