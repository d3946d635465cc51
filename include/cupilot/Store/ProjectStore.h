//===- ProjectStore.h - The store as evolution writes it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_PROJECTSTORE_H
#define CUPILOT_STORE_PROJECTSTORE_H

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Store/BuildStore.h"

namespace cupilot {

/// A kernel as the store keeps it.
struct StoredKernel {
  Kernel K;
  std::vector<BuildEntry> Builds;
  std::vector<Variant> Variants;    ///< Best first; each with its evidence.
  std::vector<std::string> Sources; ///< Of the variants, in the same order.
  /// What it was judged on; data files are named relative to the store.
  std::vector<Workload> Workloads = {};
  /// Where it lies, relative to the store; "" until it is first written.
  std::string Folder = {};
};

/// Write access to a project store: text that can be reviewed. For each kernel
/// a folder kernels/<identity> with kernel.mlir, the slice and the variants'
/// .cu; for each build identity a plain file in builds/.
class ProjectStore {
public:
  /// Opens the store in \p Root, or makes one there.
  static llvm::Expected<ProjectStore> openOrCreate(llvm::StringRef Root);
  /// Opens the store in \p Root; that there is none is a usage error.
  static llvm::Expected<ProjectStore> open(llvm::StringRef Root);

  /// Replaces what is known of a kernel. Sources are written first and build
  /// files last, each in one step: a kill leaves a store that builds can read.
  /// \p Instead, of rivals(S), are taken out.
  llvm::Error put(const StoredKernel &S,
                  llvm::ArrayRef<StoredKernel> Instead = {});
  /// Kernels of the store that have builds of \p S: the same source under
  /// another contract. A build has variants of one, that which was granted
  /// last.
  llvm::Expected<std::vector<StoredKernel>> rivals(const StoredKernel &S) const;
  /// Makes \p All, whose data lies in \p Folder, the workloads of \p S, and
  /// copies their data here: into data/, or, when it is too much for a
  /// repository, into a folder that the store's .gitignore leaves out.
  llvm::Error keepWorkloads(StoredKernel &S, llvm::ArrayRef<Workload> All,
                            llvm::StringRef Folder) const;
  /// All kernels, sorted by name.
  llvm::Expected<std::vector<StoredKernel>> kernels() const;
  /// Reads the slice and the variants' texts of \p S, one of kernels(). A text
  /// that is missing or not the one that was proved is a usage error.
  llvm::Error readTexts(StoredKernel &S) const;
  /// Differences between the MLIR and what builds read; empty when they agree.
  llvm::Expected<std::vector<std::string>> check() const;
  llvm::StringRef root() const { return Root; }

private:
  explicit ProjectStore(std::string Root) : Root(std::move(Root)) {}
  std::string Root;
};

/// The build files that \p S stands for.
std::vector<BuildRecord> buildRecords(const StoredKernel &S);

} // namespace cupilot

#endif // CUPILOT_STORE_PROJECTSTORE_H
