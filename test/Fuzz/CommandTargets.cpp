//===- CommandTargets.cpp - Readers of compiler commands -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Substitute/PluginArguments.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot::fuzz {

static std::vector<std::string> linesOf(StringRef Bytes) {
  SmallVector<StringRef> Lines;
  Bytes.split(Lines, '\n');
  std::vector<std::string> Words;
  for (StringRef Line : Lines)
    // Arguments of a program end at a zero byte.
    Words.push_back(Line.split('\0').first.str());
  return Words;
}

/// The command without what can open a file of this machine.
static bool opensFiles(StringRef Word) {
  StringRef Name = Word.ltrim('-');
  return Name.starts_with("optf") || Name.starts_with("options-file");
}

void runNvcc(StringRef Bytes) {
  auto [Head, Options] = Bytes.split("\n\n");
  std::vector<std::string> Words = linesOf(Head);
  std::string Prepend, Append;
  if (Words.size() > 1) {
    Prepend = Words[0];
    Append = Words[1];
    Words.erase(Words.begin(), Words.begin() + 2);
  }
  static Expected<TemporaryDirectory> Folder =
      TemporaryDirectory::create("cupilot-fuzz");
  require(bool(Folder), "there is no temporary folder");
  std::string File = Folder->file("options");
  bool Reads = false;
  for (std::string &Word : Words)
    if (opensFiles(Word)) {
      Word = "--options-file=" + File;
      Reads = true;
    }
  if (Reads) {
    std::error_code EC;
    raw_fd_ostream(File, EC) << Options;
    require(!EC, "the options file cannot be written");
  }
  for (StringRef Variable : {StringRef(Prepend), StringRef(Append)})
    if (Variable.contains("optf") || Variable.contains("options-file"))
      return;
  if (Options.contains("optf") || Options.contains("options-file"))
    return;
  Expected<NvccCommand> C = parseNvccCommand(Words, Prepend, Append);
  if (!C)
    return consumeError(C.takeError());
  C->Device.context();
  // What goes to nvcc is what came, but for our own arguments: reading it again
  // takes nothing more away.
  Expected<NvccCommand> Again = parseNvccCommand(C->Args, "", "");
  if (!Again)
    consumeError(Again.takeError());
  require(bool(Again), "the command for nvcc does not read");
  require(!Again->PluginGiven, "nvcc would see an argument for cuPilot");
  require(Again->Args == C->Args, "the command for nvcc changes");
}

void runClang(StringRef Bytes) {
  std::vector<std::string> Words = linesOf(Bytes);
  PluginArguments A;
  for (StringRef Word : Words)
    if (Word.consume_front("-fplugin-arg-cupilot-"))
      if (Error E = parsePluginArgument(Word, A))
        consumeError(std::move(E));
  gpuArchitectures(Words);
  withoutArchitectures(Words);
  buildContext(llvmArguments(Words));
  std::vector<std::string> Once = variantFlags(Words);
  require(variantFlags(Once) == Once, "a variant's flags change");
}

} // namespace cupilot::fuzz
