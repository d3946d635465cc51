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

namespace cupilot {

struct LibraryStrategy;

/// What the compiler made of one piece of code, as far as strategies show in
/// it.
struct CodeFacts {
  unsigned WidestAccess = 0;     ///< Bytes of global memory per instruction.
  std::string Words;             ///< Instructions, one a line, of all kernels.
  unsigned Instructions = 0;     ///< All of them.
  unsigned BackwardBranches = 0; ///< One for each loop, or more.
  bool Shared = false;           ///< Uses shared memory.
  bool Vectors = false;          ///< Moves vectors from or to global memory.
  bool Known = false;            ///< The text could be read.
  /// Whether some instruction holds \p Text: "mma.sync".
  bool has(llvm::StringRef Text) const;
};
CodeFacts codeFacts(llvm::StringRef Ptx);

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

/// Of \p Asked the genes that the code has: those that \p CarriedOut, the
/// model's own list, names and that the facts of the compiler do not deny. A
/// value that the facts show otherwise is put right; what requires a gene that
/// is not there goes, too. \p CarriedOut null: nobody was asked.
HandshakeResult shakeHands(const Genome &Asked,
                           const std::vector<std::string> *CarriedOut,
                           const HandshakeCode &Code,
                           llvm::ArrayRef<LibraryStrategy> Library);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_HANDSHAKE_H
