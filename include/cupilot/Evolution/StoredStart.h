//===- StoredStart.h - A search that begins with a store's code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_STOREDSTART_H
#define CUPILOT_EVOLUTION_STOREDSTART_H

#include "cupilot/Evolution/Search.h"

namespace cupilot {

/// What \p Store has of the kernel \p K itself, under its contract or a
/// stricter one, for \p Arch or an older one: best first, no code twice. A
/// store that cannot be read is an error.
llvm::Expected<std::vector<SubmittedVariant>>
storedVariants(const Kernel &K, const ProjectStore &Store,
               llvm::StringRef Arch);

/// Those of \p Stored that the run \p Run begins with: the first few. The
/// journal keeps which, as the store has the run's own at its end: a search
/// that is resumed begins with the same.
llvm::Expected<std::vector<SubmittedVariant>>
chooseStored(std::vector<SubmittedVariant> Stored, Journal &J,
             llvm::StringRef Run);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_STOREDSTART_H
