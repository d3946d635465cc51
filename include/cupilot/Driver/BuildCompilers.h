//===- BuildCompilers.h - Whose code is judged -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_BUILDCOMPILERS_H
#define CUPILOT_DRIVER_BUILDCOMPILERS_H

#include "cupilot/Driver/CompilerCommand.h"
#include "cupilot/Driver/UnitIdentities.h"
#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "llvm/Support/raw_ostream.h"

namespace cupilot {

/// Who builds what \p Command compiles, the command's own compiler first. The
/// others are \p Named, commands that the user gave; without any, the toolkit's
/// nvcc beside clang, and nobody beside nvcc. A command that cannot be read or
/// run is an error. Where clang's flags mean nothing to the toolkit's nvcc, it
/// is left out with a message to \p Log.
llvm::Expected<std::vector<BuildCompiler>>
buildCompilers(const UnitCommand &Command, llvm::ArrayRef<std::string> Named,
               llvm::raw_ostream &Log);

/// \p By as it builds units with \p K: nvcc needs --extended-lambda for some,
/// where the user did not choose its flags.
BuildCompiler compilerOf(const Kernel &K, BuildCompiler By);

/// The build identities of a unit's kernels, by several compilers.
class BuildIdentities {
public:
  /// \p Unit is the whole source ("": only slices are there).
  explicit BuildIdentities(llvm::StringRef Unit) : Unit(Unit) {}
  /// The identity of \p K for \p Arch as \p By builds it, in the whole unit
  /// where that is at hand. Findings say why there is none: the compiler emits
  /// no code for it, or its slice has other code than the unit.
  llvm::Expected<std::string>
  identityOf(const Kernel &K, const std::string &Arch, const BuildCompiler &By);

private:
  llvm::Expected<std::string> byNvcc(const Kernel &K, const std::string &Arch,
                                     const NvccUse &Use);

  std::string Unit;
  /// By the compiler's name.
  std::map<std::string,
           std::pair<std::vector<std::string>, std::unique_ptr<UnitIdentities>>>
      Clang;
  /// Units take seconds and have many kernels: by architecture and flags.
  std::map<std::string, NvccPtx> Whole;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_BUILDCOMPILERS_H
