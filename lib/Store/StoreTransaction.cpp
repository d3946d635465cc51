//===- StoreTransaction.cpp - Changes of a store, all or none -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreTransaction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

static std::string stagingFolder(StringRef Root) {
  return (Root + "/journal.sqlite.update").str();
}

static Error dropStaging(StringRef Root) {
  // Without its steps, what is left is only rubbish.
  std::string Folder = stagingFolder(Root);
  sys::fs::remove(Folder + "/steps");
  if (std::error_code EC = sys::fs::remove_directories(Folder, false))
    return resourceError("cannot remove '" + Folder + "': " + EC.message());
  return Error::success();
}

bool StoreTransaction::write(StringRef Path, std::string Content) {
  Expected<std::string> Old = readFile(Root + "/" + Path.str());
  bool Same = Old && *Old == Content;
  if (!Old)
    consumeError(Old.takeError());
  if (!Same)
    rewrite(Path, std::move(Content));
  return !Same;
}

void StoreTransaction::rewrite(StringRef Path, std::string Content) {
  Steps.push_back({false, Path.str(), std::move(Content)});
}

void StoreTransaction::remove(StringRef Path) {
  if (sys::fs::exists(Root + "/" + Path))
    Steps.push_back({true, Path.str(), {}});
}

/// Makes the change that \p Text describes. Steps that were made already, by a
/// process that was killed, are made no second time.
static Error applySteps(StringRef Root, StringRef Text) {
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    auto [Word, Path] = Line.split(' ');
    std::string To = (Root + "/" + Path).str();
    std::error_code EC;
    if (Word == "remove") {
      EC = sys::fs::remove(To);
      // Folders that have nothing left go with their last file.
      for (StringRef Up = sys::path::parent_path(To);
           !EC && Up.size() > Root.size() && !sys::fs::remove(Up, false);
           Up = sys::path::parent_path(Up)) {
      }
    } else if (std::string From = stagingFolder(Root) + "/" + Word.str();
               sys::fs::exists(From)) {
      if (Error E = ensureDirectory(sys::path::parent_path(To)))
        return E;
      EC = sys::fs::rename(From, To);
    }
    if (EC)
      return resourceError("cannot write '" + To + "': " + EC.message());
  }
  return dropStaging(Root);
}

Error StoreTransaction::commit() {
  if (Steps.empty())
    return Error::success();
  std::string Folder = stagingFolder(Root), Text;
  auto Stage = [&]() -> Error {
    for (auto [I, S] : enumerate(Steps)) {
      if (!S.Remove)
        if (Error E = writeFileAtomic(Folder + "/" + utostr(I), S.Content))
          return E;
      Text += (S.Remove ? "remove" : utostr(I)) + " " + S.Path + "\n";
    }
    return writeFileAtomic(Folder + "/steps", Text);
  };
  if (Error E = Stage()) {
    consumeError(dropStaging(Root)); // The first error is the one to tell.
    return E;
  }
  Steps.clear();
  return applySteps(Root, Text);
}

Expected<bool> StoreTransaction::recover(StringRef Root) {
  std::string Folder = stagingFolder(Root);
  if (!sys::fs::is_directory(Folder))
    return false;
  if (!isPending(Root)) {
    if (Error E = dropStaging(Root))
      return std::move(E);
    return false;
  }
  Expected<std::string> Text = readFile(Folder + "/steps");
  if (!Text)
    return Text.takeError();
  if (Error E = applySteps(Root, *Text))
    return std::move(E);
  return true;
}

bool StoreTransaction::isPending(StringRef Root) {
  return sys::fs::exists(stagingFolder(Root) + "/steps");
}

} // namespace cupilot
