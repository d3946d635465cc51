//===- Handshake.h - Which genes code really has -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_HANDSHAKE_H
#define CUPILOT_EVOLUTION_HANDSHAKE_H

#include "cupilot/Evolution/Advice.h"
#include "cupilot/Ptx/Figures.h"

namespace cupilot {

struct LibraryStrategy;

/// An instruction as strategies' signs name it.
struct PtxLine {
  std::string Text; ///< Without its predicate.
  ptx::InstructionFigures Figures;
};

/// What the compiler made of one piece of code, as far as strategies show in
/// it.
struct PtxFacts {
  unsigned WidestAccess = 0;     ///< Bytes of global memory per instruction.
  std::vector<PtxLine> Lines;    ///< Instructions of all functions.
  std::string Words;             ///< Their heads and declarations.
  unsigned ClusterBlocks = 0;    ///< That kernels ask for; 0: none do.
  unsigned Instructions = 0;     ///< All of them.
  unsigned BackwardBranches = 0; ///< One for each loop, or more.
  bool Shared = false;           ///< Uses shared memory.
  bool Vectors = false;          ///< Moves vectors from or to global memory.
  bool Known = false;            ///< The text could be read.
  /// Whether an instruction or directive holds \p Pattern: "mma.sync", ".cs".
  /// Words are not divided: "red." is not in "shared.".
  bool has(llvm::StringRef Pattern) const;
};
PtxFacts ptxFacts(llvm::StringRef Ptx);

struct HandshakeResult {
  Genome Carried; ///< What the code has.
  std::vector<DeniedGene> Denied;
};

/// Whose code it is.
struct HandshakeCode {
  const SearchProblem &P;
  llvm::StringRef OriginalPtx;
  const Candidate &Variant; ///< Compiled.
};

/// The genes that the code has. Of \p Asked those that \p CarriedOut, the
/// model's own list, names and that the facts of the compiler do not deny;
/// beside them what is evident in the code and not in the original, and what
/// the list names and the code shows, each with what it requires. A value that
/// the facts show otherwise is put right; what requires a gene that is not
/// there goes, too. \p CarriedOut null: nobody was asked.
HandshakeResult shakeHands(const Genome &Asked,
                           const std::vector<std::string> *CarriedOut,
                           const HandshakeCode &Code,
                           llvm::ArrayRef<LibraryStrategy> Library);

/// The genes that an answer names. Parameters that it does not name, or not
/// from their domain, are those of \p Before, else the first of the domain.
Genome genesNamed(llvm::ArrayRef<std::string> Names, const Genome &Before,
                  llvm::ArrayRef<LibraryStrategy> Library);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_HANDSHAKE_H
