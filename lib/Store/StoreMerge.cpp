//===- StoreMerge.cpp - Two stores as one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/StoreMerge.h"
#include "StoreTransaction.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/StoreRestriction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace llvm;

namespace cupilot {

namespace {
/// How two files of one name that differ become one.
enum class Clash {
  KeepOurs,   ///< The texts of a kernel, which differ in comments; strategies.
  KeepBoth,   ///< What searches counted: readers add it up.
  KeepFilled, ///< A build record: not that of a variant that was taken out.
  Damage      ///< Names that hold a digest of the content.
};

struct Part {
  StringRef Folder;
  Clash OnClash;
};

class Merger {
public:
  Merger(const ProjectStore &Into, const ProjectStore &From)
      : Into(Into), From(From), To(Into.root()) {}
  Expected<StoreMerge> run();

private:
  Error addFolder(const Part &P);
  Error addOldTimes();
  Error addFile(const Part &P, const std::string &Path);
  void add(StringRef Path, std::string Text);
  Error note();

  const ProjectStore &Into, &From;
  StoreTransaction To;
  StoreMerge Done;
};
} // namespace

/// Build records come last: they name what lies in the other folders.
static constexpr Part Parts[] = {
    {"data", Clash::Damage},         {"journal.sqlite.data", Clash::Damage},
    {"kernels", Clash::Damage},      {"gate", Clash::KeepBoth},
    {"strategies", Clash::KeepBoth}, {"measured", Clash::KeepBoth},
    {"builds", Clash::KeepFilled},
};

/// Files of a kernel's folder itself.
static bool isTextOfKernel(StringRef Path) {
  StringRef Name = sys::path::filename(Path);
  return Name == "kernel.mlir" || Name == "original.cu" ||
         Name == "original.mlir";
}

/// Where the strategies that models proposed lie: the first one stays.
static bool isStrategy(StringRef Path) {
  return sys::path::parent_path(Path) == "strategies" &&
         sys::path::extension(Path) == ".mlir";
}

/// Of stores that were upgraded from a format before 6; readers take it beside
/// the files of searches.
static constexpr StringLiteral OldTimes = "measured.json";

static bool hasVariants(StringRef Text, StringRef Path) {
  Expected<BuildRecord> R = parseBuildRecord(Text, Path);
  if (R)
    return !R->Variants.empty();
  consumeError(R.takeError());
  return false;
}

void Merger::add(StringRef Path, std::string Text) {
  if (!To.write(Path, std::move(Text)))
    return;
  ++Done.Files;
  StringRef Folder = sys::path::parent_path(Path);
  if (sys::path::filename(Folder) == "variants" && Path.ends_with(".mlir"))
    ++Done.Variants;
  if (sys::path::filename(Path) == "kernel.mlir")
    ++Done.Kernels;
}

Error Merger::addFile(const Part &P, const std::string &Path) {
  Expected<std::string> Its = readFile((From.root() + "/" + Path).str());
  if (!Its)
    return Its.takeError();
  const std::string Here = (Into.root() + "/" + Path).str();
  if (!sys::fs::exists(Here)) {
    add(Path, std::move(*Its));
    return Error::success();
  }
  Expected<std::string> Ours = readFile(Here);
  if (!Ours)
    return Ours.takeError();
  if (*Ours == *Its)
    return Error::success();
  switch (isTextOfKernel(Path) || isStrategy(Path) ? Clash::KeepOurs
                                                   : P.OnClash) {
  case Clash::KeepOurs:
    break;
  case Clash::KeepBoth:
    // Under a name of its own, the same whenever it is merged.
    add((sys::path::parent_path(Path) + "/" + sys::path::stem(Path) + "-" +
         shortDigest(digest(*Its), 8) + sys::path::extension(Path))
            .str(),
        std::move(*Its));
    break;
  case Clash::KeepFilled:
    if (!hasVariants(*Ours, Here) && hasVariants(*Its, Path))
      add(Path, std::move(*Its));
    break;
  case Clash::Damage:
    return usageError("'" + Path +
                          "' differs in the two stores, and its name "
                          "is a digest of its content: one is damaged",
                      "'cupilot store check --store DIR' says which");
  }
  return Error::success();
}

Error Merger::addOldTimes() {
  if (!sys::fs::exists(From.root() + "/" + OldTimes))
    return Error::success();
  Expected<std::string> Its = readFile((From.root() + "/" + OldTimes).str());
  if (!Its)
    return Its.takeError();
  const std::string Here = (Into.root() + "/" + OldTimes).str();
  Expected<std::string> Ours =
      sys::fs::exists(Here) ? readFile(Here) : Expected<std::string>("");
  if (!Ours)
    return Ours.takeError();
  if (*Ours != *Its)
    add("measured/merged-" + shortDigest(digest(*Its)) + ".json",
        std::move(*Its));
  return Error::success();
}

Error Merger::addFolder(const Part &P) {
  const std::string Folder = (From.root() + "/" + P.Folder).str();
  if (!sys::fs::is_directory(Folder))
    return Error::success();
  std::vector<std::string> Paths;
  std::error_code EC;
  for (sys::fs::recursive_directory_iterator It(Folder, EC), End;
       !EC && It != End; It.increment(EC))
    if (!sys::fs::is_directory(It->path()))
      Paths.push_back(It->path().substr(From.root().size() + 1));
  if (EC)
    return resourceError("cannot read the folder '" + Folder +
                         "': " + EC.message());
  llvm::sort(Paths);
  for (const std::string &Path : Paths)
    if (Error E = addFile(P, Path))
      return E;
  return Error::success();
}

/// What two people decided differently.
Error Merger::note() {
  Expected<std::vector<StoredKernel>> All = Into.kernels();
  if (!All)
    return All.takeError();
  for (const StoredKernel &S : *All) {
    std::map<std::string, std::set<std::string>> Texts;
    for (const Variant &V : S.Variants)
      Texts[V.Name].insert(V.Digest);
    for (const auto &[Name, Digests] : Texts)
      if (Digests.size() > 1)
        Done.Notes.push_back("'" + S.K.Name + "' has " +
                             utostr(Digests.size()) + " variants named '" +
                             Name + "': both are kept");
    Expected<std::vector<StoredKernel>> Rivals = Into.rivals(S);
    if (!Rivals)
      return Rivals.takeError();
    for (const StoredKernel &Other : *Rivals)
      // Each pair once.
      if (S.Folder < Other.Folder && S.K.Contract != Other.K.Contract)
        Done.Notes.push_back(
            "'" + S.K.Name + "' has variants under '" +
            contractText(S.K.Contract) + "' and under '" +
            contractText(Other.K.Contract) +
            "': both are kept, and builds use those with the stricter one");
  }
  return Error::success();
}

Expected<StoreMerge> Merger::run() {
  for (const ProjectStore *S : {&Into, &From})
    if (Error E = S->checkWritable())
      return std::move(E);
  if (sys::fs::equivalent(Into.root(), From.root()))
    return usageError("'" + From.root() + "' is the store itself");
  // A text that was changed is found before anything is written.
  Expected<std::vector<StoredKernel>> Kernels = From.kernels();
  if (!Kernels)
    return Kernels.takeError();
  for (StoredKernel &S : *Kernels)
    if (Error E = From.readTexts(S))
      return std::move(E);
  Expected<FileLock> Lock = lockForWriting(Into.root());
  if (!Lock)
    return Lock.takeError();
  if (Expected<bool> Ended = StoreTransaction::recover(Into.root()); !Ended)
    return Ended.takeError();
  if (Error E = addOldTimes())
    return std::move(E);
  unsigned BeforeRecords = 0;
  for (const Part &P : Parts) {
    if (P.OnClash == Clash::KeepFilled)
      BeforeRecords = Done.Files;
    if (Error E = addFolder(P))
      return std::move(E);
  }
  if (Done.Files > BeforeRecords) {
    // Depfiles of builds that found nothing name this file alone.
    Expected<BuildStore> Ours = BuildStore::open(Into.root());
    if (!Ours)
      return Ours.takeError();
    Expected<BuildStore> Its = BuildStore::open(From.root());
    if (!Its)
      return Its.takeError();
    To.rewrite("FORMAT", formatText(std::max(Ours->format(), Its->format())));
  }
  if (Error E = To.commit())
    return std::move(E);
  if (Error E = note())
    return std::move(E);
  return std::move(Done);
}

Expected<StoreMerge> mergeStores(const ProjectStore &Into,
                                 const ProjectStore &From) {
  return Merger(Into, From).run();
}

} // namespace cupilot
