//===- JsonAnswer.h - JSON in what models write -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_JSONANSWER_H
#define CUPILOT_LLM_JSONANSWER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// The JSON value in \p Text that fits \p Schema: the text itself, else what
/// stands in a code fence (those called json first), else an object in the
/// prose; of several the last, for models think first. What they think between
/// <think> tags does not count. Forgiven are commas before a closing bracket,
/// line ends in strings, code of the schema that stands in a fence of its own
/// instead of in the object, and numbers as strings or strings as numbers where
/// the schema has the other one. A finding says what does not fit.
llvm::Expected<llvm::json::Value> readAnswer(llvm::StringRef Text,
                                             const llvm::json::Value &Schema);

} // namespace cupilot

#endif // CUPILOT_LLM_JSONANSWER_H
