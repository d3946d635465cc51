//===- Embedding.h - Kernels as points -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of one kind do similar things to similar memory, whatever they are
// called. What their device code does becomes a point, so that a search can
// begin with what helped its neighbours (paper section 3, "retrieval-based
// start populations").
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RETRIEVAL_EMBEDDING_H
#define CUPILOT_RETRIEVAL_EMBEDDING_H

#include "cupilot/Roofline/CostModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
} // namespace llvm

namespace cupilot {

/// Where a kernel stands among others.
struct KernelPoint {
  std::vector<float> Code; ///< Of length 1, of KernelEmbedder's dimension.
  /// What bounds it, as its code tells at an H200's ceilings (opinionOfCode);
  /// nothing where the code does not tell.
  std::optional<Bottleneck> Class = std::nullopt;
};

struct EmbeddedKernel {
  std::string Symbol; ///< The kernel's mangled name.
  KernelPoint Point;
};

/// Makes points of kernels: the first part is IR2Vec's vector of the optimised
/// code (VenkataKeerthy et al., TACO 2020), by a vocabulary of device code; the
/// second tells what a call to an intrinsic hides from it, such as barriers,
/// shuffles, kinds of memory and of arithmetic.
class KernelEmbedder {
public:
  /// Reads a vocabulary as llvm-ir2vec writes and reads it. A file that is none
  /// is a usage error.
  static llvm::Expected<KernelEmbedder> load(llvm::StringRef Path);
  KernelEmbedder(KernelEmbedder &&) noexcept;
  KernelEmbedder &operator=(KernelEmbedder &&) noexcept;
  ~KernelEmbedder();

  /// The kernels that \p Bitcode defines, in its order; it is optimised first.
  /// Bitcode that cannot be read is an error.
  llvm::Expected<std::vector<EmbeddedKernel>>
  embed(llvm::StringRef Bitcode) const;

  /// Of the vocabulary: points of two are not comparable.
  llvm::StringRef digest() const { return Digest; }

private:
  struct Words;
  explicit KernelEmbedder(std::unique_ptr<Words> W);
  std::vector<float> point(const llvm::Function &Kernel) const;
  std::unique_ptr<Words> Known;
  std::string Digest;
};

/// The cosine of the angle between two points' code, 1 for the same direction,
/// and less by a little where they are of different classes. Points of
/// different dimensions have nothing in common: 0.
double similarity(const KernelPoint &A, const KernelPoint &B);

/// A point of a list, and how near it is.
struct Neighbour {
  size_t Index = 0;
  double Similarity = 0;
};

/// The \p Count points of \p Among that are nearest to \p Point, nearest first;
/// of equals, the first in the list.
std::vector<Neighbour> nearest(const KernelPoint &Point,
                               llvm::ArrayRef<KernelPoint> Among, size_t Count);

} // namespace cupilot

#endif // CUPILOT_RETRIEVAL_EMBEDDING_H
