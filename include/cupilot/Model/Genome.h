//===- Genome.h - Strategies with chosen parameters -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_GENOME_H
#define CUPILOT_MODEL_GENOME_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// One chosen value of a gene's parameter; strategies' parameters are integers
/// or words.
struct GeneParam {
  std::string Name;
  int64_t Value = 0;
  std::string Word; ///< Set for parameters whose domain is words.
};

/// A strategy with chosen parameters, as plain data.
struct Gene {
  std::string Strategy; ///< Symbol name without "@": "block_size".
  std::vector<GeneParam> Params;
  /// "block_size{x=128}".
  std::string str() const;
};

using Genome = std::vector<Gene>;

/// The genome as text: "block_size{x=128}, unroll{factor=4}".
std::string genomeText(const Genome &G);
/// The reverse; nothing for other text.
std::optional<Genome> parseGenome(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_MODEL_GENOME_H
