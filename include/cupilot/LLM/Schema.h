//===- Schema.h - JSON schemas of answers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_SCHEMA_H
#define CUPILOT_LLM_SCHEMA_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace cupilot {

/// What is wrong with \p V, by the part of JSON Schema that prompts use (type,
/// properties, required, additionalProperties: false, items, enum, anyOf,
/// minimum, maximum, minItems, maxItems, minLength, pattern): a finding that
/// names the place, "genes[0].name: ...".
llvm::Error checkSchema(const llvm::json::Value &V,
                        const llvm::json::Value &Schema);

/// A schema that uses anything else, or is not made of objects, is a usage
/// error: what is not checked must not be written.
llvm::Error checkIsSchema(const llvm::json::Value &Schema);

/// \p Schema as providers take it: without keywords that only cuPilot reads
/// ("contentMediaType") or that strict modes refuse.
llvm::json::Value schemaForProvider(const llvm::json::Value &Schema);

/// The properties of the top object with "contentMediaType" "text/x-cuda":
/// texts that a model may give in a code fence of their own.
std::vector<std::string> codeProperties(const llvm::json::Value &Schema);

} // namespace cupilot

#endif // CUPILOT_LLM_SCHEMA_H
