//===- RecordCommand.h - compile_commands.json, written by the launcher -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LAUNCHER_RECORDCOMMAND_H
#define CUPILOT_LAUNCHER_RECORDCOMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// What a compiler's command compiles.
struct RecordedCommand {
  std::vector<std::string> Arguments; ///< The compiler's name first.
  std::vector<std::string> Sources;
  std::string Output; ///< Of one source; "" if the command does not say.
};

/// Reads \p Command, which may begin with launchers and their arguments. No
/// sources: it compiles no CUDA code, or no compiler takes it.
RecordedCommand readRecordedCommand(llvm::ArrayRef<std::string> Command);

/// Puts an entry for each CUDA source of \p Command into the list \p File
/// (Clang's documentation, "JSON Compilation Database Format Specification"),
/// in place of one with the same folder, source and output. \p File is whole
/// after each call, whoever else writes it. A file that is no such list is a
/// usage error.
llvm::Error recordCommand(llvm::StringRef File,
                          llvm::ArrayRef<std::string> Command);

} // namespace cupilot

#endif // CUPILOT_LAUNCHER_RECORDCOMMAND_H
