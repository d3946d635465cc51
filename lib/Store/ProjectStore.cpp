//===- ProjectStore.cpp - The store as evolution writes it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/ProjectStore.h"
#include "StoreFiles.h"
#include "cupilot/Store/StoreRestriction.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

Expected<ProjectStore> ProjectStore::openOrCreate(StringRef Root) {
  if (!sys::fs::exists(Root + "/FORMAT")) {
    if (sys::fs::exists(Root) && !sys::fs::is_directory(Root))
      return usageError("'" + Root + "' is a file and no store",
                        "name an empty folder, or one that does not exist");
    std::error_code EC;
    for (sys::fs::directory_iterator It(Root, EC), End; !EC && It != End;
         It.increment(EC))
      // What another process makes at this moment, or was killed at, is none of
      // the user's: it writes FORMAT first.
      if (!sys::path::filename(It->path()).starts_with("FORMAT") &&
          !sys::fs::exists(Root + "/FORMAT"))
        return usageError("'" + Root + "' holds files and is no store",
                          "name an empty folder, or one that does not exist");
    if (Error E = updateFile((Root + "/FORMAT").str(), "cupilot-store 1\n"))
      return std::move(E);
    // What the search leaves beside the store is not for the repository, and
    // digests do not survive converted line ends.
    if (Error E = updateFile((Root + "/.gitignore").str(), "journal.sqlite*\n"))
      return std::move(E);
    if (Error E = updateFile((Root + "/.gitattributes").str(), "* -text\n"))
      return std::move(E);
  }
  return open(Root);
}

Expected<ProjectStore> ProjectStore::open(StringRef Root) {
  Expected<BuildStore> Readable = BuildStore::open(Root);
  if (!Readable)
    return Readable.takeError();
  if (Expected<bool> Repaired = repairStore(Root); !Repaired)
    return Repaired.takeError();
  return ProjectStore(Readable->root().str());
}

/// The records of what \p Path, a kernel.mlir, holds now.
static std::set<std::string> recordPaths(StringRef Root,
                                         const std::string &Path) {
  std::set<std::string> Paths;
  if (!sys::fs::exists(Path))
    return Paths;
  mlir::MLIRContext C;
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> M = loadModule(C, Path);
  if (!M) {
    consumeError(M.takeError()); // It is about to be replaced.
    return Paths;
  }
  for (KernelOp Op : (*M)->getOps<KernelOp>())
    for (const BuildEntry &B : buildsOf(Op))
      Paths.insert(buildRecordPath(Root, B.Digest, toKernel(Op).Symbol));
  return Paths;
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
        any_of(Other.Builds, [&](const BuildEntry &Its) {
          return any_of(S.Builds, [&](const BuildEntry &Mine) {
            return Mine.Digest == Its.Digest;
          });
        }))
      Found.push_back(std::move(Other));
  return Found;
}

Error ProjectStore::put(const StoredKernel &S, ArrayRef<StoredKernel> Instead) {
  Expected<FileLock> Lock = lockForWriting(Root);
  if (!Lock)
    return Lock.takeError();
  std::string Folder = Root + "/" + kernelFolder(S);
  std::set<std::string> Gone = recordPaths(Root, Folder + "/kernel.mlir");
  std::vector<std::string> Others; // Folders.
  for (const StoredKernel &Other : Instead)
    if (Other.Folder != kernelFolder(S))
      Others.push_back(Root + "/" + Other.Folder);
  for (const std::string &Other : Others)
    Gone.merge(recordPaths(Root, Other + "/kernel.mlir"));
  if (Error E = updateFile(Folder + "/" + originalName(S), S.K.Slice))
    return E;
  for (auto [V, Source] : zip(S.Variants, S.Sources))
    if (Error E = updateFile(Folder + "/" + V.Source, Source))
      return E;
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  KernelOp Op = addKernel(B, S.K, originalName(S), S.Builds);
  B.setInsertionPointToEnd(&Op.getBody().front());
  for (const Workload &W : S.Workloads)
    addWorkload(B, W);
  for (const Variant &V : S.Variants)
    addVariant(B, V, S.K.Scalars.size());
  if (Error E = updateFile(Folder + "/kernel.mlir", printModule(*M)))
    return E;
  // Without it a folder is no kernel's: none claims the records any more.
  for (const std::string &Other : Others)
    sys::fs::remove(Other + "/kernel.mlir");
  bool Changed = false;
  for (const BuildRecord &R : buildRecords(S)) {
    std::string Path = buildRecordPath(Root, R.Identity, R.Symbol),
                Text = renderRecord(R);
    Gone.erase(Path);
    Expected<std::string> Old = readFile(Path);
    if (Old && *Old == Text)
      continue;
    if (!Old)
      consumeError(Old.takeError());
    Changed = true;
    if (Error E = writeFileAtomic(Path, Text))
      return E;
  }
  // Of builds that are no longer recorded: their variants are gone.
  for (const std::string &Path : Gone)
    Changed |= !sys::fs::remove(Path);
  // Depfiles of builds that found nothing name this file alone.
  if (Changed) {
    Expected<std::string> Format = readFile(Root + "/FORMAT");
    if (!Format)
      return Format.takeError();
    if (Error E = writeFileAtomic(Root + "/FORMAT", *Format))
      return E;
  }
  for (const std::string &Other : Others)
    if (std::error_code EC = sys::fs::remove_directories(Other, false))
      return resourceError("cannot remove '" + Other + "': " + EC.message());
  // Sources of variants that are no longer there.
  std::set<std::string> Wanted = {originalName(S), "kernel.mlir"};
  for (const Variant &V : S.Variants)
    Wanted.insert(V.Source);
  std::error_code EC;
  for (sys::fs::directory_iterator It(Folder, EC), End; !EC && It != End;
       It.increment(EC))
    if (!Wanted.contains(sys::path::filename(It->path()).str()))
      sys::fs::remove(It->path());
  return Error::success();
}

Expected<std::vector<StoredKernel>> ProjectStore::kernels() const {
  Expected<std::set<std::string>> Folders = kernelFolders(Root);
  if (!Folders)
    return Folders.takeError();
  std::vector<StoredKernel> All;
  for (const std::string &Folder : *Folders) {
    mlir::MLIRContext C;
    Expected<mlir::OwningOpRef<mlir::ModuleOp>> M =
        loadModule(C, Folder + "/kernel.mlir");
    if (!M)
      return M.takeError();
    if ((*M)->getOps<KernelOp>().empty())
      return usageError("'" + Folder + "/kernel.mlir' holds no kernel",
                        "restore the file, or run cupilot evolve again");
    for (KernelOp Op : (*M)->getOps<KernelOp>()) {
      StoredKernel S;
      S.K = toKernel(Op);
      S.Builds = buildsOf(Op);
      S.Folder = ("kernels/" + sys::path::filename(Folder)).str();
      for (WorkloadOp W : Op.getBody().getOps<WorkloadOp>())
        S.Workloads.push_back(toWorkload(W));
      for (VariantOp V : Op.getBody().getOps<VariantOp>())
        S.Variants.push_back(toVariant(V));
      All.push_back(std::move(S));
    }
  }
  llvm::sort(All, [](const StoredKernel &A, const StoredKernel &B) {
    return A.K.Name < B.K.Name;
  });
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
      if (B.File.empty() || Failed)
        return;
      std::string From = (Folder + "/" + B.File).str();
      B.File = (B.Size > MostData ? "journal.sqlite.data/" : "data/") +
               shortDigest(B.Digest, 32) + ".bin";
      std::string To = Root + "/" + B.File;
      if (sys::fs::exists(To))
        return;
      Expected<std::string> Content = readFile(From);
      Failed = Content ? writeFileAtomic(To, *Content) : Content.takeError();
    });
  return Failed;
}

Error ProjectStore::readTexts(StoredKernel &S) const {
  std::string Folder = Root + "/" + kernelFolder(S);
  Expected<std::string> Slice = readFile(Folder + "/" + originalName(S));
  if (!Slice)
    return Slice.takeError();
  S.K.Slice = std::move(*Slice);
  S.Sources.clear();
  for (const Variant &V : S.Variants) {
    std::string Path = Folder + "/" + V.Source;
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    if (digest(*Text) != V.Digest)
      return usageError(describeDifference(Path, *Text,
                                           "is not the text that was proved",
                                           [&](StringRef Plain) {
                                             return digest(Plain) == V.Digest;
                                           }),
                        "restore the file, or run cupilot evolve again");
    S.Sources.push_back(std::move(*Text));
  }
  return Error::success();
}

Expected<std::vector<std::string>> ProjectStore::check() const {
  Expected<std::vector<StoredKernel>> All = kernels();
  if (!All)
    return All.takeError();
  std::vector<std::string> Problems;
  std::set<std::string> Known;
  for (const StoredKernel &S : *All) {
    std::string Folder = Root + "/" + kernelFolder(S);
    for (const Variant &V : S.Variants) {
      Expected<std::string> Source = readFile(Folder + "/" + V.Source);
      if (!Source)
        Problems.push_back(toString(Source.takeError()));
      else if (digest(*Source) != V.Digest)
        Problems.push_back(describeDifference(
            Folder + "/" + V.Source, *Source, "is not the text that was proved",
            [&](StringRef Text) { return digest(Text) == V.Digest; }));
    }
    for (Workload W : S.Workloads)
      eachBuffer(W, [&](WorkloadBuffer &B) {
        if (!StringRef(B.File).starts_with("data/"))
          return; // It is not for every machine.
        Expected<std::string> Data = readFile(Root + "/" + B.File);
        if (!Data)
          Problems.push_back(toString(Data.takeError()));
        else if (digest(*Data) != B.Digest)
          Problems.push_back("'" + Root + "/" + B.File +
                             "' is not the data that was recorded");
      });
    for (const BuildRecord &R : buildRecords(S)) {
      std::string Path = buildRecordPath(Root, R.Identity, R.Symbol);
      Known.insert(sys::path::filename(Path).str());
      Expected<std::string> Text = readFile(Path);
      if (!Text)
        Problems.push_back(toString(Text.takeError()));
      else if (Expected<BuildRecord> Read = parseBuildRecord(*Text, Path);
               !Read)
        Problems.push_back(toString(Read.takeError()));
      else if (std::string Right = renderRecord(R); *Text != Right)
        Problems.push_back(describeDifference(
            Path, *Text, "does not agree with the kernel's MLIR",
            [&](StringRef Plain) { return Plain == Right; }));
    }
  }
  std::error_code EC;
  for (sys::fs::directory_iterator It(Root + "/builds", EC), End;
       !EC && It != End; It.increment(EC))
    if (StringRef Name = sys::path::filename(It->path());
        !Known.contains(Name.str()))
      Problems.push_back("'" + It->path() + "' " +
                         (Name.contains(".tmp-")
                              ? "is left of a write that was interrupted"
                              : "belongs to no kernel of the store") +
                         "; it may be deleted");
  return Problems;
}

} // namespace cupilot
