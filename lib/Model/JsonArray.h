//===- JsonArray.h - A list as an array of JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MODEL_JSONARRAY_H
#define CUPILOT_LIB_MODEL_JSONARRAY_H

#include "llvm/Support/JSON.h"
#include <vector>

namespace cupilot {

/// Each of \p Items by the toJSON of its type.
template <typename T> llvm::json::Array toArray(const std::vector<T> &Items) {
  llvm::json::Array Result;
  for (const T &Item : Items)
    Result.push_back(toJSON(Item));
  return Result;
}

} // namespace cupilot

#endif // CUPILOT_LIB_MODEL_JSONARRAY_H
