//===- StoredBuild.h - A stored kernel as it was compiled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_STOREDBUILD_H
#define CUPILOT_DRIVER_STOREDBUILD_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Store/ProjectStore.h"

namespace cupilot {

/// "clang-22" and those of \p Flags that may matter: what evidence and builds
/// of a store are called that were proved with them.
std::string clangName(llvm::ArrayRef<std::string> Flags);

/// The words of the name of \p B: the compiler, and its flags.
std::vector<std::string> wordsOfBuild(const BuildEntry &B);

/// The flags of clang that the name of \p B stands for, which clangName() or a
/// search made; nvcc's are translated. Searches leave theirs out of the name. A
/// name that cannot be read is a usage error.
llvm::Expected<std::vector<std::string>> flagsOfBuild(const BuildEntry &B);

/// The kernel of \p S, in the store \p Root, on its own workloads.
SearchProblem storedProblem(const StoredKernel &S, llvm::StringRef Root,
                            llvm::StringRef Arch,
                            std::vector<std::string> Flags, uint64_t Seed);

/// The entry of \p V in \p S with the domain \p Where: domains are of builds,
/// so that a variant has one for each domain that compilers' codes were proved
/// on. A new one has no evidence; its text is \p Source.
Variant &entryOf(StoredKernel &S, const Variant &V, llvm::StringRef Source,
                 const std::optional<Domain> &Where);

} // namespace cupilot

#endif // CUPILOT_DRIVER_STOREDBUILD_H
