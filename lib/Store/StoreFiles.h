//===- StoreFiles.h - What lies where in a project store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_STORE_STOREFILES_H
#define CUPILOT_LIB_STORE_STOREFILES_H

#include "cupilot/Store/ProjectStore.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <set>

namespace cupilot {

/// A file of variants/: one variant as one search, or one refresh, found it.
/// Nothing is ever written into it again.
struct VariantFile {
  std::string Path; ///< Relative to the store.
  std::string Text;
  Variant V;
  /// The digits that its records have in their names.
  llvm::StringRef digits() const;
};

/// A folder of kernels/ as it lies there.
struct KernelFiles {
  StoredKernel S; ///< Of format 6 the kernel alone, else all that there is.
  std::vector<VariantFile> Variants;                       ///< By path.
  std::vector<std::pair<std::string, Workload>> Workloads; ///< By path.
};

/// A folder for each source and what it was built as: what was found for other
/// flags stays.
std::string kernelFolder(const StoredKernel &S);
/// The folders of all kernels of the store \p Root, in order, relative to it.
llvm::Expected<std::set<std::string>> kernelFolders(llvm::StringRef Root);
/// What lies in \p Folder, relative to \p Root. Of format 5 and before a folder
/// can hold several kernels.
llvm::Expected<std::vector<KernelFiles>> loadFolder(llvm::StringRef Root,
                                                    llvm::StringRef Folder);
/// The kernel with the variants and workloads of all files, each once.
StoredKernel merge(const KernelFiles &F);

/// The file of the original: CUDA, or MLIR for kernels that mlir-opt built.
std::string originalName(const StoredKernel &S);
/// The text of kernel.mlir.
std::string kernelText(const StoredKernel &S);
/// The file, in format 6, of \p V of \p S, whose evidence it has. An error
/// where readers could not read it again.
llvm::Expected<VariantFile> variantFile(const StoredKernel &S, Variant V);
/// Path and text of the file of \p W of \p S.
std::pair<std::string, std::string> workloadFile(const StoredKernel &S,
                                                 Workload W);
/// Whether two differ in nothing but what is known of them. Where they were
/// proved counts: evidence for one domain is none for another.
bool isSameVariant(const Variant &A, const Variant &B, bool WithDomain = true);
/// The records of a variant's file by path relative to the store: one for each
/// build of its evidence.
std::map<std::string, BuildRecord> recordsOf(const StoredKernel &S,
                                             const VariantFile &F);
/// The text of a build file.
std::string renderRecord(const BuildRecord &R);
/// Calls \p Use with all contents that \p W names.
void eachBuffer(Workload &W, llvm::function_ref<void(WorkloadBuffer &)> Use);

} // namespace cupilot

#endif // CUPILOT_LIB_STORE_STOREFILES_H
