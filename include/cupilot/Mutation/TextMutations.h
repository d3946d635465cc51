//===- TextMutations.h - Single faults in a source's text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fault of the text is compiled by whoever compiles the source, nvcc too. It
// is a replacement of one piece of text. docs/Mutation.md describes the
// operators.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_TEXTMUTATIONS_H
#define CUPILOT_MUTATION_TEXTMUTATIONS_H

#include "cupilot/Mutation/Mutation.h"

namespace cupilot {

/// One replacement.
struct TextMutation {
  Mutation M;
  size_t Offset = 0, Length = 0; ///< Bytes that go.
  std::string Text;              ///< What comes in their place.
};

/// All faults of the text of the kernel \p Symbol, and of the functions of the
/// same file that it calls, in a fixed order. What macros expand to has none.
/// \p Flags are clang's. Text that does not parse and an unknown kernel are
/// usage errors. Some faults are right for the launches \p Recorded.
llvm::Expected<std::vector<TextMutation>>
listTextMutations(llvm::StringRef Path, llvm::ArrayRef<std::string> Flags,
                  llvm::StringRef Symbol, llvm::ArrayRef<Workload> Recorded);

/// \p Text with \p M.
std::string withMutation(llvm::StringRef Text, const TextMutation &M);

} // namespace cupilot

#endif // CUPILOT_MUTATION_TEXTMUTATIONS_H
