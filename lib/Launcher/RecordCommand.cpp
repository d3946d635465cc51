//===- RecordCommand.cpp - compile_commands.json, written by the launcher -*-
// C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/RecordCommand.h"
#include "BareCommand.h"
#include "cupilot/Launcher/NvccCommand.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace llvm;

namespace cupilot {

static bool isSource(StringRef Word, bool AsCuda) {
  StringRef Ending = sys::path::extension(Word);
  return Ending == ".cu" ||
         (AsCuda && is_contained({".c", ".cc", ".cpp", ".cxx"}, Ending));
}

/// Clang's own table of options is not for launchers: the words that matter
/// here have one form in practice.
static void readClang(RecordedCommand &R) {
  bool AsCuda = false;
  ArrayRef<std::string> Args = ArrayRef(R.Arguments).drop_front();
  std::vector<StringRef> Inputs;
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    if (Arg == "-o" || Arg == "-x") {
      StringRef Value = ++I < Args.size() ? StringRef(Args[I]) : "";
      if (Arg == "-o")
        R.Output = Value.str();
      else
        AsCuda = Value == "cuda";
    } else if (Arg == "-xcuda") {
      AsCuda = true;
    } else if (!Arg.starts_with("-")) {
      Inputs.push_back(Arg);
    }
  }
  for (StringRef Input : Inputs)
    if (isSource(Input, AsCuda))
      R.Sources.push_back(Input.str());
}

static void readNvcc(RecordedCommand &R) {
  Expected<NvccCommand> C =
      parseNvccCommand(ArrayRef(R.Arguments).drop_front(), "", "");
  if (!C) { // nvcc says what is wrong.
    consumeError(C.takeError());
    return;
  }
  const bool AsCuda = any_of(C->Options, [](const NvccOption &O) {
    return O.Id == nvcc::OPT_language && O.Value == "cu";
  });
  copy_if(C->Inputs, std::back_inserter(R.Sources),
          [&](StringRef Input) { return isSource(Input, AsCuda); });
  if (!C->OutputAt.empty())
    R.Output = C->Output;
}

RecordedCommand readRecordedCommand(ArrayRef<std::string> Command) {
  RecordedCommand R;
  const std::vector<std::string> Own = takeOwnArguments(Command);
  if (namesNoCompiler(Command)) {
    if (Command.empty())
      return R;
    R.Arguments = {defaultNvcc()};
    append_range(R.Arguments, Own);
    append_range(R.Arguments, Command);
  } else {
    const auto *Compiler = find_if(
        Command, [](StringRef Word) { return isNvcc(Word) || isClang(Word); });
    if (Compiler == Command.end())
      return R;
    R.Arguments.assign(Compiler, Command.end());
  }
  if (isNvcc(R.Arguments.front()))
    readNvcc(R);
  else
    readClang(R);
  if (R.Sources.size() > 1) // The program's, if it links.
    R.Output.clear();
  return R;
}

static Expected<json::Array> readList(StringRef File) {
  if (!sys::fs::exists(File))
    return json::Array();
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  Expected<json::Value> Read = json::parse(*Text);
  if (Read && Read->getAsArray())
    return std::move(*Read->getAsArray());
  if (!Read)
    consumeError(Read.takeError());
  return usageError("'" + File + "' is no list of compile commands",
                    "remove it, or name another file");
}

/// True where \p A and \p B say how the same thing is made.
static bool isSameEntry(const json::Value &A, const json::Object &B) {
  const json::Object *O = A.getAsObject();
  return O &&
         all_of(ArrayRef({"directory", "file", "output"}), [&](StringRef Key) {
           return O->getString(Key) == B.getString(Key);
         });
}

Error recordCommand(StringRef File, ArrayRef<std::string> Command) {
  RecordedCommand R = readRecordedCommand(Command);
  if (R.Sources.empty())
    return Error::success();
  SmallString<256> Here;
  if (std::error_code EC = sys::fs::current_path(Here))
    return resourceError("cannot determine the working folder: " +
                         EC.message());
  if (StringRef Folder = sys::path::parent_path(File); !Folder.empty())
    if (Error E = ensureDirectory(Folder))
      return E;
  // An entry takes milliseconds; builds have many commands at a time.
  Expected<std::optional<FileLock>> Lock = FileLock::lockWithin(
      (File + ".lock").str(), /*Place=*/0, std::chrono::seconds(60));
  if (!Lock)
    return Lock.takeError();
  if (!*Lock)
    return resourceError("another process holds the lock '" + File + ".lock'",
                         "end it, or name another file");
  Expected<json::Array> List = readList(File);
  if (!List)
    return List.takeError();
  for (const std::string &Source : R.Sources) {
    json::Object Entry{{"directory", Here.str()},
                       {"file", Source},
                       {"arguments", json::Array(R.Arguments)}};
    if (!R.Output.empty())
      Entry["output"] = R.Output;
    auto Known = find_if(
        *List, [&](const json::Value &V) { return isSameEntry(V, Entry); });
    if (Known != List->end())
      *Known = std::move(Entry);
    else
      List->push_back(std::move(Entry));
  }
  return writeFileAtomic(
      File, formatv("{0:2}\n", json::Value(std::move(*List))).str());
}

} // namespace cupilot
