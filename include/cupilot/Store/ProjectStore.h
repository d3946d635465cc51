//===- ProjectStore.h - The store as evolution writes it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_PROJECTSTORE_H
#define CUPILOT_STORE_PROJECTSTORE_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/Variant.h"
#include "cupilot/Model/Workload.h"
#include "cupilot/Store/BuildStore.h"
#include <optional>

namespace cupilot {

/// A kernel as the store keeps it.
struct StoredKernel {
  Kernel K;
  std::vector<BuildEntry> Builds;   ///< That its variants were proved for.
  std::vector<Variant> Variants;    ///< Best first; each with its evidence.
  std::vector<std::string> Sources; ///< Of the variants, in the same order.
  /// What it was judged on; data files are named relative to the store.
  std::vector<Workload> Workloads = {};
  /// Where it lies, relative to the store; "" until it is first written.
  std::string Folder = {};
  bool Old = false; ///< Of a format before 6.
};

/// All that a search, or the judgement of a variant, adds to a store: written
/// as a whole or not at all.
struct StoreUpdate {
  /// The kernel with its variants, their sources and workloads. These stand
  /// beside what the store has of it.
  std::optional<StoredKernel> Kernel;
  /// Variants of Kernel that it does not hold are taken out, and evidence.
  bool Replace = false;
  /// Kernels that are taken out; see rivals().
  std::vector<StoredKernel> Without;
  /// Further files by path relative to the store, named after the search that
  /// writes them: counts, records of strategies, measured times.
  std::vector<std::pair<std::string, std::string>> Files;
  /// Variants of Kernel with a text of one of these digests are taken out,
  /// unless it holds them.
  std::vector<std::string> Superseded = {};
};

/// Write access to a project store: text that can be reviewed, and that git
/// merges. docs/Store.md says what lies where.
class ProjectStore {
public:
  /// Opens the store in \p Root for writing, or makes one there. One of a
  /// format before 6 is a usage error that names the way out.
  static llvm::Expected<ProjectStore> openOrCreate(llvm::StringRef Root);
  /// Opens the store in \p Root; that there is none is a usage error. Ends what
  /// a killed process began to write. Older formats can be read.
  static llvm::Expected<ProjectStore> open(llvm::StringRef Root);
  /// Makes the store in \p Root one of format 6. Returns the number of kernels
  /// that were not; a store that is half upgraded is upgraded whole. A store
  /// that cannot be read whole is left as it is.
  static llvm::Expected<unsigned> upgrade(llvm::StringRef Root);

  /// Writes \p U in one step. A kill leaves a store with all of it or with none
  /// of it.
  llvm::Error commit(const StoreUpdate &U);
  /// Replaces what is known of a kernel. \p Instead, of rivals(S), are taken
  /// out.
  llvm::Error put(const StoredKernel &S,
                  llvm::ArrayRef<StoredKernel> Instead = {}) {
    return commit({S, /*Replace=*/true, Instead.vec(), {}});
  }
  /// Kernels of the store that have builds of \p S: the same source under
  /// another contract. A build has variants of one.
  llvm::Expected<std::vector<StoredKernel>> rivals(const StoredKernel &S) const;
  /// Makes \p All, whose data lies in \p Folder, the workloads of \p S, and
  /// copies their data here: into data/, or, when it is too much for a
  /// repository, into a folder that the store's .gitignore leaves out.
  llvm::Error keepWorkloads(StoredKernel &S, llvm::ArrayRef<Workload> All,
                            llvm::StringRef Folder) const;
  /// Adds those of \p More that \p S lacks, as keepWorkloads does, under names
  /// that are free in \p S. What was described stays a description.
  llvm::Error addWorkloads(StoredKernel &S, llvm::ArrayRef<Workload> More,
                           llvm::StringRef Folder) const;
  /// All kernels, sorted by name.
  llvm::Expected<std::vector<StoredKernel>> kernels() const;
  /// Reads the slice and the variants' texts of \p S, one of kernels(). A text
  /// that is missing or not the one that was proved is a usage error.
  llvm::Error readTexts(StoredKernel &S) const;
  /// Differences between the MLIR and what builds read; empty when they agree.
  llvm::Expected<std::vector<std::string>> check() const;
  llvm::StringRef root() const { return Root; }
  /// One of a format before 6 can be read and not be written: a usage error.
  llvm::Error checkWritable() const;

private:
  ProjectStore(std::string Root, bool Old) : Root(std::move(Root)), Old(Old) {}
  std::string Root;
  bool Old;
};

/// The build files that \p S stands for, all variants of a build in one.
std::vector<BuildRecord> buildRecords(const StoredKernel &S);

/// The name of \p W in evidence and in the store: "w_" and 16 digits of a
/// digest of the launch and its data, however often it is launched.
std::string caseName(const Workload &W);
/// The names of those of \p All that variants are judged on: without a GPU not
/// of launches that are for GPUs only.
std::vector<std::string> casesOf(llvm::ArrayRef<Workload> All, bool OnGpu);

} // namespace cupilot

#endif // CUPILOT_STORE_PROJECTSTORE_H
