//===- BuildReason.h - Why a build did what it did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_BUILDREASON_H
#define CUPILOT_SUBSTITUTE_BUILDREASON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace cupilot {

/// What builds say of kernels, launches and units; docs/Tools.md lists them.
enum class BuildReason {
#define CUPILOT_BUILD_REASON(Name, Word, Text) Name,
#include "cupilot/Substitute/BuildReason.def"
};

/// For programs: "no-variant".
llvm::StringRef wordOf(BuildReason R);
/// A sentence, with \p Parts in place of {0}, {1}, ...
std::string textOf(BuildReason R, llvm::ArrayRef<llvm::StringRef> Parts = {});
/// All of them, in the order of the table.
llvm::ArrayRef<BuildReason> allBuildReasons();
/// The reason whose text \p Message is, or ends with after "...: ", as
/// messages pass through errors. Nothing for the texts of other programs.
std::optional<BuildReason> buildReasonOf(llvm::StringRef Message);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_BUILDREASON_H
