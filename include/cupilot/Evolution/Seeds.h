//===- Seeds.h - What helped similar kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_SEEDS_H
#define CUPILOT_EVOLUTION_SEEDS_H

#include "cupilot/Model/Kernel.h"
#include "cupilot/Retrieval/Embedding.h"

namespace cupilot {

/// A genome with which a search may begin, and whose it is.
struct SeedGenome {
  std::string Genome;    ///< As genomeText writes it.
  std::string Kernel;    ///< The kernel that it helped.
  double Similarity = 0; ///< Of that kernel and the one that is searched.
  double Ratio = 0;      ///< How much it helped, at least: 1.5 times as fast.
  std::string Source;    ///< The variant's .cu.
  /// How Ratio is known: "measured on NVIDIA H200", "modelled".
  std::string Provenance;
};

/// What the stores in \p Roots know of kernels like \p K (paper, section 3):
/// the genomes of the variants of the \p Count nearest kernels, nearest first.
/// Kernels that are K itself, or have no more in common with it than any two
/// kernels, teach nothing, nor do variants under a weaker contract than K's or
/// for a newer architecture than \p Arch. Code is compiled for \p Arch with \p Flags; stored
/// code that does not compile with these is passed over. The machine cache
/// keeps points. A folder that is no store is an error.
llvm::Expected<std::vector<SeedGenome>>
seedGenomes(const Kernel &K, llvm::ArrayRef<std::string> Roots,
            const KernelEmbedder &Embedder, llvm::StringRef Arch,
            llvm::ArrayRef<std::string> Flags, size_t Count);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_SEEDS_H
