//===- ProjectStore.cpp - The store as evolution writes it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/ProjectStore.h"
#include "StoreFiles.h"
#include "StoreTransaction.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Model/DescribedBuffer.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Store/StoreRestriction.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

// What the search leaves beside the store is not for the repository, digests do
// not survive converted line ends, and build records are made from the rest.
static constexpr std::pair<StringLiteral, StringLiteral> GitFiles[] = {
    {".gitignore", "journal.sqlite*\n"},
    {".gitattributes", "* -text\n* linguist-generated\nbuilds/* -diff\n"}};

/// \p Text with the lines of \p Wanted that it lacks.
static std::string withLines(std::string Text, StringRef Wanted) {
  if (!Text.empty() && Text.back() != '\n')
    Text += '\n';
  SmallVector<StringRef> Lines, Known;
  Wanted.split(Lines, '\n', -1, /*KeepEmpty=*/false);
  std::string Old = Text;
  StringRef(Old).split(Known, '\n');
  for (StringRef Line : Lines)
    if (!is_contained(Known, Line))
      Text += (Line + "\n").str();
  return Text;
}

/// What \p Name, a file for git in \p Root, is to hold: what it holds and the
/// lines of \p Wanted.
static Expected<std::string> gitFile(StringRef Root, StringRef Name,
                                     StringRef Wanted) {
  std::string Path = (Root + "/" + Name).str();
  Expected<std::string> Text =
      sys::fs::exists(Path) ? readFile(Path) : Expected<std::string>("");
  if (!Text)
    return Text.takeError();
  return withLines(std::move(*Text), Wanted);
}

Expected<ProjectStore> ProjectStore::openOrCreate(StringRef Root) {
  if (!sys::fs::exists(Root + "/FORMAT")) {
    if (sys::fs::exists(Root) && !sys::fs::is_directory(Root))
      return usageError("'" + Root + "' is a file, not a store",
                        "name an empty folder, or one that does not exist");
    std::error_code EC;
    for (sys::fs::directory_iterator It(Root, EC), End; !EC && It != End;
         It.increment(EC))
      // What another process makes at this moment, or was killed at, is none of
      // the user's.
      if (StringRef Name = sys::path::filename(It->path());
          !Name.starts_with("FORMAT") && !Name.starts_with(".gitignore") &&
          !Name.starts_with(".gitattributes") &&
          !sys::fs::exists(Root + "/FORMAT"))
        return usageError("'" + Root + "' contains files, but is not a store",
                          "name an empty folder, or one that does not exist");
    for (auto [Name, Lines] : GitFiles) {
      Expected<std::string> Text = gitFile(Root, Name, Lines);
      if (!Text)
        return Text.takeError();
      if (Error E = updateFile((Root + "/" + Name).str(), *Text))
        return std::move(E);
    }
    // Last: with it there is a store, and the rest is made no more.
    if (Error E = updateFile((Root + "/FORMAT").str(), formatText(StoreFormat)))
      return std::move(E);
  }
  Expected<ProjectStore> Store = open(Root);
  if (Store)
    if (Error E = Store->checkWritable())
      return std::move(E);
  return Store;
}

/// Takes the store \p Root for a change, and ends what a killed process began.
static Expected<FileLock> beginChange(StringRef Root) {
  Expected<FileLock> Lock = lockForWriting(Root);
  if (Lock)
    if (Expected<bool> Ended = StoreTransaction::recover(Root); !Ended)
      return Ended.takeError();
  return Lock;
}

Expected<ProjectStore> ProjectStore::open(StringRef Root) {
  Expected<BuildStore> Readable = BuildStore::open(Root);
  if (!Readable)
    return Readable.takeError();
  if (Expected<bool> Repaired = repairStore(Root); !Repaired)
    return Repaired.takeError();
  if (StoreTransaction::isPending(Root)) {
    if (Error E = beginChange(Root).takeError())
      return std::move(E);
    Readable = BuildStore::open(Root); // It may have been an upgrade.
    if (!Readable)
      return Readable.takeError();
  }
  return ProjectStore(Readable->root().str(), Readable->isOld());
}

Error ProjectStore::checkWritable() const {
  if (!Old)
    return Error::success();
  return usageError("the store '" + Root + "' has a format older than " +
                        Twine(FirstSplitFormat) +
                        ": builds can read it, but it cannot be changed",
                    "cupilot store upgrade --store " + Root);
}

/// Whether \p Other and \p S are the same code: of builds, or where all
/// variants of \p Other were taken out, and its builds with them, of the slice.
static bool isSameCode(StringRef Root, const StoredKernel &Other,
                       const StoredKernel &S) {
  if (!Other.Builds.empty())
    return any_of(Other.Builds, [&](const BuildEntry &Its) {
      return any_of(S.Builds, [&](const BuildEntry &Mine) {
        return Mine.Digest == Its.Digest;
      });
    });
  Expected<std::string> Slice = readFile(
      (Root + "/" + kernelFolder(Other) + "/" + originalName(Other)).str());
  if (Slice)
    return *Slice == S.K.Slice;
  consumeError(Slice.takeError());
  return false;
}

Expected<std::vector<StoredKernel>>
ProjectStore::rivals(const StoredKernel &S) const {
  Expected<std::vector<StoredKernel>> All = kernels();
  if (!All)
    return All.takeError();
  std::vector<StoredKernel> Found;
  for (StoredKernel &Other : *All)
    if (Other.K.Symbol == S.K.Symbol &&
        (Other.K.Digest != S.K.Digest || Other.K.Contract != S.K.Contract) &&
        isSameCode(Root, Other, S))
      Found.push_back(std::move(Other));
  return Found;
}

namespace {
/// One change of a store, as it is put together.
class Change {
public:
  explicit Change(StringRef Root) : Root(Root), Files(Root) {}
  /// Writes the kernel and what is beside it.
  void kernel(const StoredKernel &S);
  /// Writes a variant's file, its source and its records.
  void variant(const StoredKernel &S, const VariantFile &F, StringRef Source);
  /// Takes a variant's file out. Its records stay, empty: depfiles name them.
  void without(const StoredKernel &S, const VariantFile &F);
  void without(StringRef Path) { Gone.insert(Path.str()); }
  void file(StringRef Path, StringRef Text) { Files.write(Path, Text.str()); }
  /// Makes it. \p Format is what FORMAT says from now on.
  Error commit(StringRef Format);

private:
  std::string Root;
  StoreTransaction Files;
  std::map<std::string, std::string> Records;
  std::set<std::string> Gone, Kept;
};
} // namespace

void Change::kernel(const StoredKernel &S) {
  Files.write(kernelFolder(S) + "/" + originalName(S), S.K.Slice);
  Files.write(kernelFolder(S) + "/kernel.mlir", kernelText(S));
  for (const Workload &W : S.Workloads) {
    auto [Path, Text] = workloadFile(S, W);
    Files.write(Path, std::move(Text));
  }
}

static std::string sourcePath(const StoredKernel &S, const Variant &V) {
  return kernelFolder(S) + "/variants/" + V.Source;
}

void Change::variant(const StoredKernel &S, const VariantFile &F,
                     StringRef Source) {
  Kept.insert(sourcePath(S, F.V));
  Files.write(sourcePath(S, F.V), Source.str());
  Files.write(F.Path, F.Text);
  for (const auto &[Path, R] : recordsOf(S, F))
    Records[Path] = renderRecord(R);
}

void Change::without(const StoredKernel &S, const VariantFile &F) {
  Gone.insert({F.Path, sourcePath(S, F.V)});
  for (auto &[Path, R] : recordsOf(S, F)) {
    R.Variants.clear();
    Records.try_emplace(Path, renderRecord(R));
  }
}

Error Change::commit(StringRef Format) {
  // Records come after the sources that they name, and go before them.
  bool Changed = false;
  for (const auto &[Path, Text] : Records)
    Changed |= Files.write(Path, Text);
  // Depfiles of builds that found nothing name this file alone.
  if (Changed)
    Files.rewrite("FORMAT", Format.str());
  else
    Files.write("FORMAT", Format.str());
  for (const std::string &Path : Gone)
    if (!Kept.contains(Path))
      Files.remove(Path);
  return Files.commit();
}

static Error halfUpgraded(StringRef Root, StringRef Folder, bool Older) {
  return usageError("the store '" + Root + "' is only partly upgraded: '" +
                        Folder + "/kernel.mlir' has " +
                        (Older ? "an older" : "the new") + " format",
                    "'cupilot store upgrade' completes the upgrade");
}

/// What the store has of \p S, format 6; without files while it has nothing.
static Expected<KernelFiles> filesOf(StringRef Root, const StoredKernel &S) {
  std::string Folder = kernelFolder(S);
  if (!sys::fs::exists(Root + "/" + Folder + "/kernel.mlir"))
    return KernelFiles();
  Expected<std::vector<KernelFiles>> All = loadFolder(Root, Folder);
  if (!All)
    return All.takeError();
  if (All->front().S.Old)
    return halfUpgraded(Root, Folder, /*Older=*/true);
  return std::move(All->front());
}

/// Puts what \p U says of its kernel into \p To.
static Error addKernelTo(Change &To, StringRef Root, const StoreUpdate &U) {
  const StoredKernel &S = *U.Kernel;
  Expected<KernelFiles> Files = filesOf(Root, S);
  if (!Files)
    return Files.takeError();
  To.kernel(S);
  std::vector<VariantFile> Wanted;
  std::vector<std::vector<Measurement>> Missing; // Of their evidence.
  unsigned Gate = 0;
  for (const Variant &V : S.Variants) {
    Expected<VariantFile> F = variantFile(S, V);
    if (!F)
      return F.takeError();
    Wanted.push_back(std::move(*F));
    Missing.push_back(Wanted.back().V.Evidence);
    for (const Measurement &M : V.Evidence)
      Gate = std::max(Gate, M.Gate);
  }
  // What is there already is never written again: git would have to merge it.
  std::vector<bool> IsThere(Wanted.size());
  for (const VariantFile &F : Files->Variants) {
    size_t Same =
        find_if(Wanted,
                [&](const VariantFile &W) { return isSameVariant(W.V, F.V); }) -
        Wanted.begin();
    bool Kept = !U.Replace && (Same < Wanted.size() ||
                               !is_contained(U.Superseded, F.V.Digest));
    // Whom a newer gate has judged again is no longer believed an older one.
    if (Kept && !F.V.Evidence.empty() &&
        all_of(F.V.Evidence,
               [&](const Measurement &M) { return M.Gate && M.Gate < Gate; }))
      Kept = false;
    // What was judged again with a domain needs its old self no more.
    if (!F.V.Where && any_of(Wanted, [&](const VariantFile &W) {
          return W.V.Where && isSameVariant(W.V, F.V, /*WithDomain=*/false);
        }))
      Kept = false;
    if (Same < Wanted.size())
      Kept |= all_of(F.V.Evidence, [&](const Measurement &M) {
        return is_contained(Wanted[Same].V.Evidence, M);
      });
    if (!Kept) {
      To.without(S, F);
      continue;
    }
    std::string Source;
    if (Same < Wanted.size()) {
      IsThere[Same] = true;
      Source = S.Sources[Same];
      erase_if(Missing[Same], [&](const Measurement &M) {
        return is_contained(F.V.Evidence, M);
      });
    } else {
      Expected<std::string> Text =
          readFile((Root + "/" + sourcePath(S, F.V)).str());
      if (!Text)
        return Text.takeError();
      Source = std::move(*Text);
    }
    To.variant(S, F, Source);
  }
  for (auto [I, F] : enumerate(Wanted))
    if (!IsThere[I] || !Missing[I].empty()) {
      F.V.Evidence = std::move(Missing[I]);
      Expected<VariantFile> Rest = variantFile(S, F.V);
      if (!Rest)
        return Rest.takeError();
      To.variant(S, *Rest, S.Sources[I]);
    }
  return Error::success();
}

/// Takes \p S, one of kernels(), out with all that lies in its folder.
static Error removeKernel(Change &From, StringRef Root, const StoredKernel &S) {
  Expected<KernelFiles> Files = filesOf(Root, S);
  if (!Files)
    return Files.takeError();
  for (const VariantFile &F : Files->Variants)
    From.without(S, F);
  std::error_code EC;
  for (sys::fs::recursive_directory_iterator It(Root + "/" + S.Folder, EC), End;
       !EC && It != End; It.increment(EC))
    if (!sys::fs::is_directory(It->path()))
      From.without(StringRef(It->path()).drop_front(Root.size() + 1));
  if (EC)
    return resourceError("cannot read the folder '" + Root + "/" + S.Folder +
                         "': " + EC.message());
  return Error::success();
}

Error ProjectStore::commit(const StoreUpdate &U) {
  if (Error E = checkWritable())
    return E;
  Expected<FileLock> Lock = beginChange(Root);
  if (!Lock)
    return Lock.takeError();
  Change To(Root);
  if (U.Kernel)
    if (Error E = addKernelTo(To, Root, U))
      return E;
  for (const StoredKernel &Other : U.Without)
    if (!U.Kernel || Other.Folder != kernelFolder(*U.Kernel))
      if (Error E = removeKernel(To, Root, Other))
        return E;
  for (const auto &[Path, Text] : U.Files)
    To.file(Path, Text);
  return To.commit(formatText(StoreFormat));
}

/// All folders of the store \p Root, whose format \p Old says.
static Expected<std::vector<KernelFiles>> loadAll(StringRef Root, bool Old) {
  Expected<std::set<std::string>> Folders = kernelFolders(Root);
  if (!Folders)
    return Folders.takeError();
  std::vector<KernelFiles> All;
  for (const std::string &Folder : *Folders) {
    Expected<std::vector<KernelFiles>> Files = loadFolder(Root, Folder);
    if (!Files)
      return Files.takeError();
    for (KernelFiles &F : *Files) {
      if (F.S.Old != Old)
        return halfUpgraded(Root, Folder, F.S.Old);
      All.push_back(std::move(F));
    }
  }
  return All;
}

static void sortByName(std::vector<StoredKernel> &All) {
  llvm::sort(All, [](const StoredKernel &A, const StoredKernel &B) {
    return A.K.Name < B.K.Name;
  });
}

Expected<std::vector<StoredKernel>> ProjectStore::kernels() const {
  Expected<std::vector<KernelFiles>> Files = loadAll(Root, Old);
  if (!Files)
    return Files.takeError();
  std::vector<StoredKernel> All;
  for (const KernelFiles &F : *Files)
    All.push_back(merge(F));
  sortByName(All);
  return All;
}

/// The most that one buffer may bring into a repository, in bytes.
static constexpr uint64_t MostData = 1 << 20;

Error ProjectStore::keepWorkloads(StoredKernel &S, ArrayRef<Workload> All,
                                  StringRef Folder) const {
  S.Workloads = All.vec();
  Error Failed = Error::success();
  for (Workload &W : S.Workloads)
    eachBuffer(W, [&](WorkloadBuffer &B) {
      leaveDescription(B);
      if (B.File.empty() || Failed)
        return;
      std::string From = (Folder + "/" + B.File).str();
      B.File = (B.Size > MostData ? "journal.sqlite.data/" : "data/") +
               dataFileName(B.Digest);
      std::string To = Root + "/" + B.File;
      if (sys::fs::exists(To))
        return;
      Expected<std::string> Content = readFile(From);
      Failed = Content ? writeFileAtomic(To, *Content) : Content.takeError();
    });
  return Failed;
}

Error ProjectStore::addWorkloads(StoredKernel &S, ArrayRef<Workload> More,
                                 StringRef Folder) const {
  StringSet<> Known, Names;
  for (const Workload &W : S.Workloads) {
    Known.insert(caseName(W));
    Names.insert(W.Name);
  }
  std::vector<Workload> Added;
  for (const Workload &W : More) {
    if (!Known.insert(caseName(W)).second)
      continue;
    Added.push_back(W);
    for (size_t N = S.Workloads.size();; ++N)
      if (Added.back().Name = "w" + utostr(N);
          Names.insert(Added.back().Name).second)
        break;
  }
  StoredKernel New;
  if (Error E = keepWorkloads(New, Added, Folder))
    return E;
  append_range(S.Workloads, New.Workloads);
  return Error::success();
}

Error ProjectStore::readTexts(StoredKernel &S) const {
  std::string Folder = Root + "/" + kernelFolder(S);
  Expected<std::string> Slice = readFile(Folder + "/" + originalName(S));
  if (!Slice)
    return Slice.takeError();
  S.K.Slice = std::move(*Slice);
  S.Sources.clear();
  for (const Variant &V : S.Variants) {
    std::string Path = Folder + (S.Old ? "/" : "/variants/") + V.Source;
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    if (digest(*Text) != V.Digest)
      return usageError(describeDifference(Path, *Text,
                                           "has changed since it was proved",
                                           [&](StringRef Plain) {
                                             return digest(Plain) == V.Digest;
                                           }),
                        "restore the file, or run cupilot evolve again");
    S.Sources.push_back(std::move(*Text));
  }
  return Error::success();
}

/// The text in \p Path must be one of which \p IsRight.
static void checkText(StringRef Path, StringRef What,
                      function_ref<bool(StringRef)> IsRight,
                      std::vector<std::string> &Problems) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    Problems.push_back(toString(Text.takeError()));
  else if (!IsRight(*Text))
    Problems.push_back(describeDifference(Path, *Text, What, IsRight));
}

/// The build record \p Path must hold \p Right.
static void checkRecord(const std::string &Path, StringRef Right,
                        std::vector<std::string> &Problems) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Problems.push_back(toString(Text.takeError()));
  if (Expected<BuildRecord> Read = parseBuildRecord(*Text, Path); !Read)
    return Problems.push_back(toString(Read.takeError()));
  if (*Text != Right)
    Problems.push_back(
        describeDifference(Path, *Text, "does not match the kernel's MLIR",
                           [&](StringRef Plain) { return Plain == Right; }));
}

/// Whether \p Path is the record of a variant that was taken out.
static bool isEmptied(const std::string &Path) {
  Expected<std::string> Text = readFile(Path);
  Expected<BuildRecord> R = Text ? parseBuildRecord(*Text, Path)
                                 : Expected<BuildRecord>(Text.takeError());
  if (!R) {
    consumeError(R.takeError());
    return false;
  }
  return !R->Contract.empty() && R->Variants.empty();
}

/// Checks the texts of a kernel, \p S, and what names them; adds the paths of
/// its records to \p Known.
static void checkFiles(const std::string &Root, const KernelFiles &F,
                       const StoredKernel &S, std::set<std::string> &Known,
                       std::vector<std::string> &Problems) {
  auto HasDigest = [](StringRef Digest) {
    return [Digest](StringRef Text) { return digest(Text) == Digest; };
  };
  for (const Variant &V : S.Variants)
    checkText(Root + "/" + kernelFolder(S) + (S.Old ? "/" : "/variants/") +
                  V.Source,
              "has changed since it was proved", HasDigest(V.Digest), Problems);
  for (const VariantFile &V : F.Variants)
    checkText(
        Root + "/" + V.Path, "has changed since it was written",
        [&](StringRef Text) { return shortDigest(digest(Text)) == V.digits(); },
        Problems);
  for (const auto &[Path, W] : F.Workloads)
    checkText(
        Root + "/" + Path, "has changed since it was written",
        [&](StringRef Text) {
          return sys::path::stem(Path) ==
                 W.Name + "-" + shortDigest(digest(Text), 8);
        },
        Problems);
  for (Workload W : S.Workloads)
    eachBuffer(W, [&](WorkloadBuffer &B) {
      if (StringRef(B.File).starts_with("data/")) // Others are not everywhere.
        checkText(Root + "/" + B.File, "has changed since it was recorded",
                  HasDigest(B.Digest), Problems);
    });
  auto Record = [&](const std::string &Path, const BuildRecord &R) {
    Known.insert(sys::path::filename(Path).str());
    checkRecord(Path, renderRecord(R), Problems);
  };
  if (S.Old)
    for (const BuildRecord &R : buildRecords(S))
      Record(buildRecordPath(Root, R.Identity, R.Symbol), R);
  for (const VariantFile &V : F.Variants)
    for (const auto &[Path, R] : recordsOf(S, V))
      Record(Root + "/" + Path, R);
}

Expected<std::vector<std::string>> ProjectStore::check() const {
  Expected<std::vector<KernelFiles>> Files = loadAll(Root, Old);
  if (!Files)
    return Files.takeError();
  std::vector<StoredKernel> All;
  std::vector<std::string> Problems;
  std::set<std::string> Known;
  for (const KernelFiles &F : *Files) {
    All.push_back(merge(F));
    checkFiles(Root, F, All.back(), Known, Problems);
  }
  sortByName(All);
  // Two people may have granted different contracts before their work was
  // merged.
  for (size_t I = 0; I < All.size(); ++I)
    for (size_t J = I + 1; J < All.size(); ++J) {
      const StoredKernel &A = All[I], &B = All[J];
      if (!Old && A.K.Symbol == B.K.Symbol && A.K.Contract != B.K.Contract &&
          any_of(A.Builds, [&](const BuildEntry &Mine) {
            return any_of(B.Builds, [&](const BuildEntry &Its) {
              return Mine.Digest == Its.Digest;
            });
          }))
        Problems.push_back("'" + A.K.Name + "' has variants under '" +
                           contractText(A.K.Contract) + "' in '" + A.Folder +
                           "' and under '" + contractText(B.K.Contract) +
                           "' in '" + B.Folder +
                           "': builds use those with the stricter contract; "
                           "delete the folder of the other");
    }
  Expected<std::vector<std::string>> Records = filesIn(Root + "/builds");
  if (!Records)
    return Records.takeError();
  for (const std::string &Path : *Records)
    if (StringRef Name = sys::path::filename(Path);
        !Known.contains(Name.str()) && (Old || !isEmptied(Path)))
      Problems.push_back("'" + Path + "' " +
                         (Name.contains(".tmp-")
                              ? "is a leftover of an interrupted write"
                              : "does not belong to a kernel of the store") +
                         "; it may be deleted");
  return Problems;
}

Expected<unsigned> ProjectStore::upgrade(StringRef Root) {
  Expected<ProjectStore> Store = open(Root);
  if (!Store)
    return Store.takeError();
  Expected<FileLock> Lock = beginChange(Root);
  if (!Lock)
    return Lock.takeError();
  Expected<std::set<std::string>> Folders = kernelFolders(Store->Root);
  if (!Folders)
    return Folders.takeError();
  Change To(Store->Root);
  unsigned Upgraded = 0;
  for (const std::string &Folder : *Folders) {
    Expected<std::vector<KernelFiles>> Files = loadFolder(Store->Root, Folder);
    if (!Files)
      return Files.takeError();
    for (KernelFiles &F : *Files) {
      if (!F.S.Old)
        continue;
      if (Files->size() > 1)
        return usageError("'" + Folder +
                              "/kernel.mlir' contains several kernels",
                          "run cupilot evolve again, into another store");
      if (Error E = Store->readTexts(F.S))
        return std::move(E);
      for (const Variant &V : F.S.Variants)
        To.without(Folder + "/" + V.Source);
      F.S.Old = false;
      To.kernel(F.S);
      for (auto [V, Source] : zip_equal(F.S.Variants, F.S.Sources)) {
        Expected<VariantFile> File = variantFile(F.S, V);
        if (!File)
          return File.takeError();
        To.variant(F.S, *File, Source);
      }
      ++Upgraded;
    }
  }
  Expected<std::vector<std::string>> Records =
      filesIn(Store->Root + "/builds", ".json");
  if (!Records)
    return Records.takeError();
  for (StringRef Path : *Records)
    if (StringRef Name = sys::path::filename(Path); isOldRecordName(Name))
      To.without("builds/" + Name.str());
  for (auto [Name, Lines] : GitFiles) {
    Expected<std::string> Text = gitFile(Store->Root, Name, Lines);
    if (!Text)
      return Text.takeError();
    To.file(Name, *Text);
  }
  if (Error E = To.commit(formatText(StoreFormat)))
    return std::move(E);
  return Upgraded;
}

} // namespace cupilot
