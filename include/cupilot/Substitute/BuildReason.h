//===- BuildReason.h - Why a build did what it did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_BUILDREASON_H
#define CUPILOT_SUBSTITUTE_BUILDREASON_H

#include "cupilot/Support/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace cupilot {

/// What builds say of kernels, launches and units; docs/Tools.md lists them.
enum class BuildReason {
#define CUPILOT_BUILD_REASON(Name, Word, Text) Name,
#include "cupilot/Substitute/BuildReason.def"
};

/// For programs: "no-variant".
llvm::StringRef wordOf(BuildReason R);
/// All of them, in the order of the table.
llvm::ArrayRef<BuildReason> allBuildReasons();

/// A reason, with what its text names.
struct BuildNote {
  BuildNote(BuildReason Reason, llvm::ArrayRef<llvm::StringRef> Parts = {});
  /// The table's sentence, with the parts in place of {0}, {1}, ...
  std::string text() const;

  BuildReason Reason;
  std::vector<std::string> Parts;
};

/// A finding that says why a build did something.
class BuildError : public llvm::ErrorInfo<BuildError, ToolError> {
public:
  static char ID;
  explicit BuildError(BuildNote N)
      : ErrorInfo(ExitCode::Finding, N.text()), Note(std::move(N)) {}
  const BuildNote &note() const { return Note; }

private:
  BuildNote Note;
};

llvm::Error buildError(BuildReason R,
                       llvm::ArrayRef<llvm::StringRef> Parts = {});
/// What \p E says: a BuildError's note, else Other with its text.
BuildNote noteOf(llvm::Error E);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_BUILDREASON_H
