//===- CompilerCommand.cpp - What follows -- on the command line ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/BuildCommand.h"
#include "cupilot/Driver/ProjectUnits.h"
#include "cupilot/Frontend/Extraction.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Launcher/NvccToClang.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
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

/// What nvcc reads from the variable \p Name.
static std::vector<std::string> wordsIn(const char *Name) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *> Words;
  cl::TokenizeGNUCommandLine(variable(Name), Saver, Words);
  return {Words.begin(), Words.end()};
}

/// nvcc's own flags for \p Source, with what its variables add, behind its
/// name.
static Expected<std::vector<std::string>>
nvccLine(ArrayRef<std::string> Command, StringRef Source) {
  Expected<std::vector<std::string>> Own =
      sourceFlags(Command.drop_front(), Source, /*ForNvcc=*/true);
  if (!Own)
    return Own.takeError();
  std::vector<std::string> Whole = {Command.front()};
  append_range(Whole, wordsIn("NVCC_PREPEND_FLAGS"));
  append_range(Whole, *Own);
  append_range(Whole, wordsIn("NVCC_APPEND_FLAGS"));
  return Whole;
}

/// Without an architecture among \p Flags, that of nvcc's own choice is added
/// (nvcc's documentation, "GPU Feature List"); nothing where there is no nvcc.
static void addDefaultArchitecture(StringRef Nvcc,
                                   std::vector<std::string> &Flags) {
  if (withoutArchitectures(Flags).size() != Flags.size())
    return;
  ErrorOr<std::string> Program = sys::findProgramByName(Nvcc);
  if (!Program)
    return;
  Expected<std::string> Name = nvccVersion(*Program);
  unsigned Major = 0;
  if (!Name) {
    consumeError(Name.takeError());
    return;
  }
  StringRef Version = *Name;
  if (Version.consume_front("nvcc-") && !Version.consumeInteger(10, Major))
    Flags.push_back(Major >= 13 ? "--cuda-gpu-arch=sm_75"
                                : "--cuda-gpu-arch=sm_52");
}

/// \p Command begins with a compiler's name and compiles \p Source; its
/// relative paths are meant from \p Folder, if that is given. Without \p
/// WhoBuilds, the flags alone are read: nvcc may lack, or keep all originals.
static Expected<UnitCommand> readCommand(ArrayRef<std::string> Command,
                                         StringRef Source, StringRef Folder,
                                         bool WhoBuilds) {
  Command = withoutLaunchers(Command);
  if (Command.empty())
    return usageError("the command does not begin with a compiler");
  StringRef Name = sys::path::filename(Command.front());
  ArrayRef<std::string> Whole = Command;
  Command = Command.drop_front();
  if (Name.starts_with("clang") || Name.starts_with("cupilot-cpucc"))
    return UnitCommand{meaningfulFlags(Command, Folder), std::nullopt};
  if (!isNvcc(Name))
    return usageError("'" + Name + "' is neither clang nor nvcc",
                      "give only clang's flags, or a command of clang or nvcc");
  Expected<std::vector<std::string>> Flags = clangFlagsOfNvcc(
      Command, variable("NVCC_PREPEND_FLAGS"), variable("NVCC_APPEND_FLAGS"));
  if (!Flags)
    return Flags.takeError();
  addDefaultArchitecture(Whole.front(), *Flags);
  UnitCommand C{meaningfulFlags(*Flags, Folder), std::nullopt};
  if (!WhoBuilds)
    return C;
  Expected<std::vector<std::string>> Line = nvccLine(Whole, Source);
  if (!Line)
    return Line.takeError();
  Expected<NvccUse> Use = readNvccUse(*Line, Folder);
  if (!Use)
    return Use.takeError();
  C.Nvcc = std::move(*Use);
  return C;
}

static Expected<UnitCommand>
commandOfDatabase(StringRef Source, StringRef Folder, bool WhoBuilds) {
  Expected<std::unique_ptr<clang::tooling::CompilationDatabase>> Database =
      loadCommands(Folder);
  if (!Database)
    return Database.takeError();
  SmallString<256> Path(Source);
  if (sys::fs::make_absolute(Path))
    return resourceError("cannot determine the working folder");
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  for (const clang::tooling::CompileCommand &C :
       (*Database)->getCompileCommands(Path))
    // The database guesses where it has no such file.
    if (sys::fs::equivalent(C.Filename, Path) ||
        sys::path::filename(C.Filename) == sys::path::filename(Path))
      return readCommand(C.CommandLine, C.Filename, C.Directory, WhoBuilds);
  return usageError("'" + commandsFile(Folder) + "' has no command for '" +
                    Source + "'");
}

/// Adds \p Trailing, flags or a whole command, to \p C.
static Expected<UnitCommand> withTrailing(UnitCommand C, StringRef Source,
                                          ArrayRef<std::string> Trailing,
                                          bool WhoBuilds) {
  bool IsCommand =
      !Trailing.empty() && !StringRef(Trailing.front()).starts_with("-");
  if (!IsCommand) {
    append_range(C.Flags, Trailing);
    return C;
  }
  Expected<UnitCommand> Given = readCommand(Trailing, Source, "", WhoBuilds);
  if (!Given)
    return Given.takeError();
  append_range(C.Flags, Given->Flags);
  C.Nvcc = std::move(Given->Nvcc);
  return C;
}

static Expected<UnitCommand> commandFor(StringRef Source,
                                        ArrayRef<std::string> Trailing,
                                        StringRef BuildFolder, bool WhoBuilds) {
  UnitCommand C;
  if (!BuildFolder.empty())
    if (Error E = commandOfDatabase(Source, BuildFolder, WhoBuilds).moveInto(C))
      return std::move(E);
  return withTrailing(std::move(C), Source, Trailing, WhoBuilds);
}

Expected<UnitCommand> unitCommandOf(const ProjectUnit &Unit,
                                    ArrayRef<std::string> Trailing) {
  Expected<UnitCommand> C = readCommand(Unit.Command, Unit.Source, Unit.Folder,
                                        /*WhoBuilds=*/true);
  if (!C)
    return C.takeError();
  return withTrailing(std::move(*C), Unit.Source, Trailing,
                      /*WhoBuilds=*/true);
}

Expected<UnitCommand> unitCommandFor(StringRef Source,
                                     ArrayRef<std::string> Trailing,
                                     StringRef BuildFolder) {
  return commandFor(Source, Trailing, BuildFolder, /*WhoBuilds=*/true);
}

Expected<std::vector<std::string>> clangFlagsFor(StringRef Source,
                                                 ArrayRef<std::string> Trailing,
                                                 StringRef BuildFolder) {
  Expected<UnitCommand> C =
      commandFor(Source, Trailing, BuildFolder, /*WhoBuilds=*/false);
  if (!C)
    return C.takeError();
  return std::move(C->Flags);
}

} // namespace cupilot
