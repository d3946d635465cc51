//===- TextErrors.h - Why a build takes no text -----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PLUGIN_TEXTERRORS_H
#define CUPILOT_LIB_PLUGIN_TEXTERRORS_H

#include "cupilot/Admission/CompileText.h"
#include "cupilot/Substitute/BuildReason.h"

namespace cupilot {

/// Why a build keeps the original instead of \p Text; success where it
/// compiles.
inline llvm::Error errorOf(const CompiledText &Text) {
  switch (Text.Fate) {
  case TextFate::Compiles:
    return llvm::Error::success();
  case TextFate::Inadmissible:
    return buildError(BuildReason::Inadmissible,
                      {std::to_string(Text.Findings.front().Line),
                       Text.Findings.front().Message});
  case TextFate::Crashes:
    return buildError(BuildReason::DoesNotCompile,
                      {"the compiler crashes on it"});
  case TextFate::DoesNotCompile:
  case TextFate::BeyondLimits:
    return buildError(BuildReason::DoesNotCompile, {Text.Message});
  }
  llvm_unreachable("a fate that is none");
}

} // namespace cupilot

#endif // CUPILOT_LIB_PLUGIN_TEXTERRORS_H
