//===- Tool.h - The tools of the bench -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_TOOL_H
#define CUPILOT_EVOLUTION_TOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace cupilot {

enum class Tool {
#define CUPILOT_TOOL(Name, Word, Title, UsesGpu, IsFree) Name,
#include "cupilot/Evolution/Tool.def"
};

llvm::StringRef wordOf(Tool T);
bool usesGpu(Tool T);
bool isFree(Tool T);
std::optional<Tool> toolOf(llvm::StringRef Word);
llvm::ArrayRef<Tool> allTools();

/// What a client is told of \p T: name, title, description, schemas, hints.
/// \p Answer is the schema of translators' answers, with the forms of plans and
/// guards.
llvm::json::Object describeTool(Tool T, const llvm::json::Value &Answer);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_TOOL_H
