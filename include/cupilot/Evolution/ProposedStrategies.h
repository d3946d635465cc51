//===- ProposedStrategies.h - Strategies that models propose -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where no strategy of the library says what a kernel needs, the SCE Manager
// may propose new ones. They have names, domains and a bottleneck as others do,
// and name their origin. Those that a kept variant has go into the store,
// ROOT/strategies/NAME.mlir, and belong to the library of its later searches.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_PROPOSEDSTRATEGIES_H
#define CUPILOT_EVOLUTION_PROPOSEDSTRATEGIES_H

#include "cupilot/Evolution/StrategyLibrary.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

class Journal;

/// Those of \p Listed, the Manager's new_strategies, that a library can have
/// beside \p Known: with a name of their own, few values, and no need of what
/// nobody knows or of a GPU newer than \p Arch (compute capability times ten).
std::vector<LibraryStrategy>
proposedStrategies(const llvm::json::Array &Listed,
                   llvm::ArrayRef<LibraryStrategy> Known, unsigned Arch);

/// Adds \p S to \p Library. False, and nothing changes, where the library would
/// not hold together: it could never be used.
bool addStrategy(mlir::ModuleOp Library, const LibraryStrategy &S,
                 llvm::StringRef Origin);

/// Adds what earlier searches left in the store \p Root to \p Library, by name;
/// what is there already stays. With \p J the store is read once for the search
/// \p Run: it goes the same way when it is resumed.
llvm::Error addStoredStrategies(mlir::ModuleOp Library, llvm::StringRef Root,
                                Journal *J = nullptr, llvm::StringRef Run = "");

/// The file of the strategy \p Name of \p Library in a store: its path there,
/// and its text.
std::pair<std::string, std::string> proposedFile(mlir::ModuleOp Library,
                                                 llvm::StringRef Name);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_PROPOSEDSTRATEGIES_H
