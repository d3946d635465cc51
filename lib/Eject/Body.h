//===- Body.h - What a variant's text has that its slice has not -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EJECT_BODY_H
#define CUPILOT_LIB_EJECT_BODY_H

#include "Text.h"
#include "cupilot/Frontend/Pieces.h"
#include <memory>

namespace cupilot {

/// The text of a piece, from the file where it stands; [Begin, End) is where,
/// with the macro calls that make it.
std::string pieceText(const ParsedUnit &Unit, const PieceTable &Pieces,
                      const Piece &P, unsigned &Begin, unsigned &End);

/// What at namespace level holds \p F: itself, or a class.
const clang::Decl *outermost(const clang::FunctionDecl *F);

/// Compares variants of one kernel with its slice.
class EjectBodies {
public:
  EjectBodies(const Kernel &K, llvm::ArrayRef<std::string> Flags);
  ~EjectBodies();
  /// Body, kernels and includes of \p V; a finding when it cannot come in.
  llvm::Expected<EjectCode> codeOf(const EjectVariant &V);

private:
  struct Text;
  llvm::Expected<Text> read(llvm::StringRef Source,
                            llvm::ArrayRef<std::string> Symbols) const;
  const Kernel &K;
  llvm::ArrayRef<std::string> Flags;
  std::unique_ptr<Text> Slice; ///< Read once.
};

} // namespace cupilot

#endif // CUPILOT_LIB_EJECT_BODY_H
