//===- PluginArguments.h - cuPilot's arguments in builds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_PLUGINARGUMENTS_H
#define CUPILOT_SUBSTITUTE_PLUGINARGUMENTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace cupilot {

/// The kernels that builds put variants in for: regular expressions over
/// demangled names, or "".
struct KernelFilter {
  std::string Only, Skip;

  bool takes(llvm::StringRef Name) const;
};

/// What users say by -fplugin-arg-cupilot-KEY=VALUE, to the plugin and to the
/// launcher alike.
struct PluginArguments {
  enum class Mode { Apply, Check, Off };

  std::string Store, Report, DumpDir;
  KernelFilter Filter;
  Mode How = Mode::Apply;
  unsigned Limit = ~0u;
  bool Strict = false, Help = false, Version = false;
  bool UseLegacy = false; ///< Variants without a domain are taken.
  /// Those whose time nobody measured, too; nothing: as the environment says.
  std::optional<bool> UseModelled = std::nullopt;

  /// By mode=off or CUPILOT_DISABLE.
  bool isOff() const;
  /// By basis=, else CUPILOT_BASIS, whose bad values are usage errors.
  llvm::Expected<bool> takesModelled() const;
};

/// Takes one KEY=VALUE over into \p A. An unknown key and a bad value are usage
/// errors.
llvm::Error parsePluginArgument(llvm::StringRef Argument, PluginArguments &A);

/// What `help` prints, after the line that names the tool.
llvm::StringRef pluginArgumentsHelp();

/// Appends \p Line to the file CUPILOT_LOG names, if any; a log that cannot be
/// written stops no build.
void appendToLog(llvm::StringRef Line);

/// Appends \p Line to the report \p Path ("-": standard error, "": nowhere). A
/// file that cannot be written is a resource error.
llvm::Error appendToReport(llvm::StringRef Path, llvm::StringRef Line);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_PLUGINARGUMENTS_H
