//===- Mutation.h - Single faults in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mutant is a kernel with one small fault, made on the IR that clang emits
// before any optimisation: there each instruction still belongs to one
// expression of the source. Or it is made in the text: TextMutations.h.
// docs/Mutation.md describes the operators.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_MUTATION_H
#define CUPILOT_MUTATION_MUTATION_H

#include "cupilot/Model/Workload.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// One fault that can be made.
struct Mutation {
  unsigned Index = 0; ///< Place in the enumeration, the same on every run.
  std::string File;   ///< File name without its folder.
  unsigned Line = 0, Column = 0;
  std::string Function; ///< Where it is, demangled.
  std::string Operator; ///< "compare", "barrier", "index" ...
  std::string Before, After;
  /// Nobody sees it: what it narrows always fits. It keeps its place in the
  /// enumeration, but is neither listed nor judged.
  bool Unseen = false;
  /// Where sizes pass this power of two, it may show; 0: that does not matter.
  unsigned Bits = 0;
  /// A fault of the text (TextMutations.h), not of bitcode: what is known of
  /// the one is not known of the other.
  bool OfText = false;

  /// "blur.cu:12:7 compare: slt -> sle"; of text
  /// "blur.cu:12:7 text: compare: < -> <=".
  std::string str() const;
};

/// All faults of the code that the kernel \p Symbol of \p Bitcode reaches and
/// that was written in the unit's own folder, in a fixed order. The bitcode is
/// unoptimised and has line tables; a broken one, or one without lines, is a
/// usage error. Some faults are right for the launches \p Recorded: arguments
/// and dimensions that are constants.
llvm::Expected<std::vector<Mutation>>
listMutations(llvm::StringRef Bitcode, llvm::StringRef Symbol,
              llvm::ArrayRef<Workload> Recorded = {});

/// \p Bitcode with fault number \p Index of that list.
llvm::Expected<std::string>
applyMutation(llvm::StringRef Bitcode, llvm::StringRef Symbol, unsigned Index,
              llvm::ArrayRef<Workload> Recorded = {});

/// \p Bitcode as text.
llvm::Expected<std::string> printModule(llvm::StringRef Bitcode);

} // namespace cupilot

#endif // CUPILOT_MUTATION_MUTATION_H
