//===- Failure.cpp - Failures of the parts without LLVM -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Failure.h"
#include <iterator>

namespace cupilot {

static constexpr struct {
  std::string_view Word;
  int Status;
  FailureScope Scope;
} Kinds[] = {
#define CUPILOT_FAILURE(Name, Word, Status, Scope, Meaning)                    \
  {Word, Status, FailureScope::Scope},
#include "cupilot/Portable/Failure.def"
};

static constexpr bool wordsDiffer() {
  for (size_t I = 0; I < std::size(Kinds); ++I)
    for (size_t J = 0; J < I; ++J)
      if (Kinds[I].Word == Kinds[J].Word)
        return false;
  return true;
}
static_assert(wordsDiffer(), "a word stands twice in Failure.def");

std::string_view wordOf(FailureKind K) { return Kinds[size_t(K)].Word; }

FailureKind failureKindOf(std::string_view Word) {
  for (size_t I = 0; I < std::size(Kinds); ++I)
    if (Kinds[I].Word == Word)
      return FailureKind(I);
  return FailureKind::Worker;
}

FailureScope scopeOf(FailureKind K) { return Kinds[size_t(K)].Scope; }

int exitStatusOf(FailureKind K) { return Kinds[size_t(K)].Status; }

} // namespace cupilot
