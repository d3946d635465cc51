//===- StoredGenomes.h - Genomes of a store, read from its code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_DRIVER_STOREDGENOMES_H
#define CUPILOT_DRIVER_STOREDGENOMES_H

#include "cupilot/Store/ProjectStore.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Reads the genomes of all variants of \p Kernels, those of \p Store, from
/// their code, as a search does, and keeps those that change. Each change goes
/// to \p Log. A variant that does not compile keeps its genome. Returns how
/// many variants changed.
llvm::Expected<unsigned>
readGenomes(ProjectStore &Store, llvm::MutableArrayRef<StoredKernel> Kernels,
            llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_STOREDGENOMES_H
