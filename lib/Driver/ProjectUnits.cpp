//===- ProjectUnits.cpp - The CUDA units of compile_commands.json -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/ProjectUnits.h"
#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Launcher/NvccOptions.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Options.h"
#include "clang/Options/Options.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;
using clang::tooling::CompilationDatabase;
using clang::tooling::CompileCommand;

namespace cupilot {

std::string commandsFile(StringRef Folder) {
  SmallString<256> File(Folder);
  if (sys::fs::is_directory(File))
    sys::path::append(File, "compile_commands.json");
  return File.str().str();
}

Expected<std::unique_ptr<CompilationDatabase>> loadCommands(StringRef Folder) {
  std::string Why;
  const std::string File = commandsFile(Folder);
  std::unique_ptr<CompilationDatabase> Database =
      clang::tooling::JSONCompilationDatabase::loadFromFile(
          File, Why, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (!Database)
    return usageError(
        "cannot read '" + File + "': " + Why,
        "CMake writes this file with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON");
  return std::move(Database);
}

static std::string absolute(StringRef Path, StringRef Folder) {
  SmallString<256> Whole(Path);
  sys::path::make_absolute(Folder, Whole);
  sys::path::remove_dots(Whole, /*remove_dot_dot=*/true);
  return Whole.str().str();
}

namespace {
enum class Compiler { Nvcc, Clang, Other };

/// What a command's options say of language and output, and which words name
/// files with more of them.
struct CommandWords {
  std::string Language, Output;
  SmallVector<size_t> OptionFiles;
};
} // namespace

static Compiler compilerOf(ArrayRef<std::string> Command) {
  if (Command.empty())
    return Compiler::Other;
  StringRef Name = sys::path::filename(Command.front());
  if (isNvcc(Name))
    return Compiler::Nvcc;
  return isClang(Name) || Name.starts_with("cupilot-cpucc") ? Compiler::Clang
                                                            : Compiler::Other;
}

static Expected<CommandWords> wordsOf(ArrayRef<std::string> Command,
                                      Compiler By) {
  CommandWords Words;
  auto Take = [&](const opt::Arg &A, size_t, size_t Last) {
    const opt::Option &O = A.getOption();
    const bool ByNvcc = By == Compiler::Nvcc;
    if (ByNvcc && O.matches(nvcc::OPT_options_file))
      Words.OptionFiles.push_back(Last);
    if (O.matches(ByNvcc ? unsigned(nvcc::OPT_language)
                         : unsigned(clang::options::OPT_x)))
      Words.Language = valueOf(A).str();
    else if (O.matches(ByNvcc ? unsigned(nvcc::OPT_output_file)
                              : unsigned(clang::options::OPT_o)))
      Words.Output = valueOf(A).str();
    return Error::success();
  };
  ArrayRef<std::string> Args = Command.drop_front();
  if (Error E = By == Compiler::Nvcc ? readOptions(nvccOptions(), Args, Take)
                                     : readClangFlags(Args, Take))
    return std::move(E);
  return Words;
}

/// Makes the files absolute that \p Word, of an option of nvcc, names.
static void makeAbsolute(std::string &Word, StringRef Folder) {
  const StringRef Text = Word;
  const size_t Value = Text.starts_with("-") ? Text.find('=') + 1 : 0;
  SmallVector<StringRef> Files;
  Text.substr(Value).split(Files, ',', -1, /*KeepEmpty=*/false);
  Word =
      (Text.take_front(Value) +
       join(map_range(Files, [&](StringRef F) { return absolute(F, Folder); }),
            ","))
          .str();
}

/// Nothing, where \p C does not compile CUDA code.
static Expected<std::optional<ProjectUnit>> unitOf(const CompileCommand &C) {
  ArrayRef<std::string> Command = withoutLaunchers(C.CommandLine);
  const Compiler By = compilerOf(Command);
  if (By == Compiler::Other)
    return std::nullopt;
  Expected<CommandWords> Words = wordsOf(Command, By);
  if (!Words)
    return Words.takeError();
  StringRef Language = Words->Language;
  if (Language.empty() ? sys::path::extension(C.Filename) != ".cu"
                       : Language != (By == Compiler::Nvcc ? "cu" : "cuda"))
    return std::nullopt;
  std::string Object = !Words->Output.empty() ? Words->Output : C.Output;
  if (Object.empty())
    Object = (sys::path::stem(C.Filename) + ".o").str();
  ProjectUnit Unit{absolute(C.Filename, C.Directory), C.Directory,
                   absolute(Object, C.Directory), C.CommandLine};
  // Who reads the command elsewhere finds these files, and knows the source by
  // this name.
  for (size_t Last : Words->OptionFiles)
    makeAbsolute(Unit.Command[Unit.Command.size() - Command.size() + Last],
                 C.Directory);
  for (std::string &Word : Unit.Command)
    if (absolute(Word, C.Directory) == Unit.Source)
      Word = Unit.Source;
  return Unit;
}

Expected<ProjectUnits> readProject(StringRef Folder) {
  Expected<std::unique_ptr<CompilationDatabase>> Database =
      loadCommands(Folder);
  if (!Database)
    return Database.takeError();
  ProjectUnits Project;
  std::set<std::pair<std::string, std::vector<std::string>>> Known;
  for (const CompileCommand &C : (*Database)->getAllCompileCommands()) {
    ++Project.Commands;
    Expected<std::optional<ProjectUnit>> Unit = unitOf(C);
    if (!Unit) // A command that no compiler takes has compiled nothing.
      consumeError(Unit.takeError());
    else if (*Unit && !sys::fs::exists((*Unit)->Source))
      Project.Gone.push_back((*Unit)->Source);
    else if (*Unit && Known.emplace((*Unit)->Source, (*Unit)->Command).second)
      Project.Units.push_back(std::move(**Unit));
  }
  if (Project.Units.empty())
    return usageError("'" + commandsFile(Folder) +
                          "' names no CUDA source that is there",
                      "it must hold the commands of nvcc or clang for them; "
                      "'cupilot-launch --record-commands' writes it for Make");
  return Project;
}

} // namespace cupilot
