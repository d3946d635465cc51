//===- StoreFiles.cpp - What lies where in a project store ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreFiles.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace llvm;

namespace cupilot {

std::string kernelFolder(const StoredKernel &S) {
  // What is added later, for other flags, moves nothing.
  if (!S.Folder.empty())
    return S.Folder;
  DigestBuilder B;
  B.add(S.K.Digest);
  // Whether there was an nvcc when it was searched makes no other folder.
  for (const BuildEntry &Build : S.Builds)
    if (!StringRef(Build.Compiler).starts_with("nvcc"))
      B.add(Build.Digest);
  return "kernels/" + shortDigest(B.str());
}

/// The order in which a launch asks the guards: measured times before modelled
/// ones, then the larger ratio that is sure. Equals stay as they are.
static void orderByEvidence(std::vector<BuildVariant> &Variants,
                            ArrayRef<const Measurement *> Proofs) {
  std::vector<size_t> Order(Variants.size());
  std::iota(Order.begin(), Order.end(), size_t(0));
  auto Key = [&](size_t I) {
    return std::tuple(Proofs[I]->Basis != Basis::Measured, -Proofs[I]->Low, I);
  };
  llvm::sort(Order, [&](size_t A, size_t B) { return Key(A) < Key(B); });
  std::vector<BuildVariant> Sorted;
  Sorted.reserve(Order.size());
  for (size_t I : Order)
    Sorted.push_back(std::move(Variants[I]));
  Variants = std::move(Sorted);
}

std::string originalName(const StoredKernel &S) {
  bool Mlir = !S.Builds.empty() &&
              StringRef(S.Builds.front().Compiler).starts_with("mlir-");
  return Mlir ? "original.mlir" : "original.cu";
}

std::vector<BuildRecord> buildRecords(const StoredKernel &S) {
  std::vector<BuildRecord> Records;
  std::string Folder = kernelFolder(S);
  for (const BuildEntry &B : S.Builds) {
    BuildRecord R;
    R.Identity = B.Digest;
    R.Kernel = S.K.Name;
    R.Symbol = S.K.Symbol;
    R.Compiler = B.Compiler;
    R.Arch = B.Arch;
    R.Scalars = S.K.Scalars;
    R.Params = static_cast<unsigned>(S.K.Params.size());
    std::vector<const Measurement *> Proofs;
    for (const Variant &V : S.Variants) {
      if (!V.Plan || !V.When || V.When->Arch != B.Arch)
        continue;
      for (const Measurement &M : V.Evidence)
        if (M.Compiler == B.Compiler && M.Arch == B.Arch) {
          R.Variants.push_back({V.Name, Folder + "/" + V.Source, V.Digest,
                                M.Digest, *V.Plan, *V.When,
                                genomeText(V.Genes)});
          Proofs.push_back(&M);
          break;
        }
    }
    orderByEvidence(R.Variants, Proofs);
    Records.push_back(std::move(R));
  }
  return Records;
}

std::string renderRecord(const BuildRecord &R) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << formatv("{0:2}", toJSON(R)) << "\n";
  return Text;
}

Expected<std::set<std::string>> kernelFolders(StringRef Root) {
  std::set<std::string> Folders;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Root + "/kernels", EC), End;
       !EC && It != End; It.increment(EC))
    if (sys::fs::exists(It->path() + "/kernel.mlir"))
      Folders.insert(It->path());
  if (EC && EC != std::errc::no_such_file_or_directory)
    return resourceError("cannot read the folder '" + Root +
                         "/kernels': " + EC.message());
  return Folders;
}

void eachBuffer(Workload &W, function_ref<void(WorkloadBuffer &)> Use) {
  for (WorkloadBuffer &B : W.Buffers)
    Use(B);
  for (WorkloadGlobal &G : W.Globals)
    Use(G.Content);
}

} // namespace cupilot
