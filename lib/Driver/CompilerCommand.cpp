//===- CompilerCommand.cpp - What follows -- on the command line -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Launcher/NvccToClang.h"
#include "cupilot/Support/Error.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;

namespace cupilot {

static StringRef variable(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

ArrayRef<std::string> withoutLaunchers(ArrayRef<std::string> Command) {
  // The launcher takes arguments for the plugin before the compiler, too.
  while (!Command.empty() &&
         (is_contained({"cupilot-launch", "ccache", "sccache"},
                       sys::path::stem(Command.front())) ||
          StringRef(Command.front()).starts_with("-fplugin") ||
          StringRef(Command.front()).starts_with("-Rpass")))
    Command = Command.drop_front();
  return Command;
}

/// \p Command begins with a compiler's name; its relative paths are meant from
/// \p Folder, if that is given.
static Expected<std::vector<std::string>>
flagsOfCommand(ArrayRef<std::string> Command, StringRef Folder) {
  Command = withoutLaunchers(Command);
  if (Command.empty())
    return usageError("the command names no compiler");
  StringRef Name = sys::path::filename(Command.front());
  Command = Command.drop_front();
  if (Name.starts_with("clang") || Name.starts_with("cupilot-cpucc"))
    return meaningfulFlags(Command, Folder);
  if (!isNvcc(Name))
    return usageError("'" + Name + "' is neither clang nor nvcc",
                      "give clang's flags alone, or a command of one of them");
  Expected<std::vector<std::string>> Flags = clangFlagsOfNvcc(
      Command, variable("NVCC_PREPEND_FLAGS"), variable("NVCC_APPEND_FLAGS"));
  if (!Flags)
    return Flags.takeError();
  return meaningfulFlags(*Flags, Folder);
}

static Expected<std::vector<std::string>> flagsOfDatabase(StringRef Source,
                                                          StringRef Folder) {
  SmallString<256> File(Folder);
  if (sys::fs::is_directory(File))
    sys::path::append(File, "compile_commands.json");
  std::string Why;
  std::unique_ptr<clang::tooling::JSONCompilationDatabase> Database =
      clang::tooling::JSONCompilationDatabase::loadFromFile(
          File, Why, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (!Database)
    return usageError("cannot read '" + File + "': " + Why,
                      "CMake writes it with "
                      "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON");
  SmallString<256> Path(Source);
  if (sys::fs::make_absolute(Path))
    return resourceError("there is no working folder");
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  for (const clang::tooling::CompileCommand &C :
       Database->getCompileCommands(Path))
    // The database guesses where it has no such file.
    if (sys::fs::equivalent(C.Filename, Path) ||
        sys::path::filename(C.Filename) == sys::path::filename(Path))
      return flagsOfCommand(C.CommandLine, C.Directory);
  return usageError("'" + File + "' has no command for '" + Source + "'");
}

Expected<std::vector<std::string>> clangFlagsFor(StringRef Source,
                                                 ArrayRef<std::string> Trailing,
                                                 StringRef BuildFolder) {
  std::vector<std::string> Flags;
  if (!BuildFolder.empty()) {
    Expected<std::vector<std::string>> Found =
        flagsOfDatabase(Source, BuildFolder);
    if (!Found)
      return Found.takeError();
    Flags = std::move(*Found);
  }
  bool IsCommand =
      !Trailing.empty() && !StringRef(Trailing.front()).starts_with("-");
  if (!IsCommand) {
    Flags.insert(Flags.end(), Trailing.begin(), Trailing.end());
    return Flags;
  }
  Expected<std::vector<std::string>> Given = flagsOfCommand(Trailing, "");
  if (!Given)
    return Given.takeError();
  Flags.insert(Flags.end(), Given->begin(), Given->end());
  return Flags;
}

} // namespace cupilot
