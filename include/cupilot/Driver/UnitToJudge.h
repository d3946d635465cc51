//===- UnitToJudge.h - A source with kernels for the gate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_UNITTOJUDGE_H
#define CUPILOT_DRIVER_UNITTOJUDGE_H

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// The device module of a source and its kernels, compiled once.
struct UnitToJudge {
  std::string Path, Bitcode;
  std::vector<Kernel> Kernels;
  std::string File = {}; ///< Where its text lies: Path, or a copy.
  /// The PTX that is built of it, where that is no matter of a compiler of
  /// CUDA; Bitcode has its source then.
  std::string Ptx = {};
  std::string Arch = {};      ///< That Ptx is for.
  std::string NoFloat64 = {}; ///< GateSetup::NoFloat64, of its kernel.

  static llvm::Expected<UnitToJudge> load(llvm::StringRef Path,
                                          llvm::StringRef Arch,
                                          llvm::ArrayRef<std::string> Flags);
  /// The kernels of a file of PTX, without source. Those that \p Named calls,
  /// as find() does, have parameters, and Bitcode is the last one's.
  static llvm::Expected<UnitToJudge> loadPtx(llvm::StringRef Path,
                                             llvm::ArrayRef<std::string> Named);
  /// The kernel of that name or symbol; up to '<' or '(' will do where one
  /// kernel alone has it. None, or several, are a usage error.
  llvm::Expected<const Kernel *> find(llvm::StringRef Name) const;
  /// \p Plan with the symbols of these kernels: launches that name none, by the
  /// original's symbol, are of \p Variant. Other parameters than \p Original
  /// has are an error.
  llvm::Expected<LaunchPlan> resolve(LaunchPlan Plan, const Kernel &Original,
                                     llvm::StringRef Variant) const;
};

/// True for a file of PTX, by its name.
bool isPtxFile(llvm::StringRef File);

/// A text of variants that nobody trusts: compiled elsewhere, then read.
struct TextToJudge {
  std::optional<UnitToJudge> Unit;
  GateVerdict Refused; ///< Where there is no unit.
};

/// The variants in the file \p Path. Its text stands alone: macros and folders
/// of \p Flags are left out, files beside it are not seen. A copy in \p Folder
/// is what is compiled from here on.
llvm::Expected<TextToJudge> loadText(llvm::StringRef Path, llvm::StringRef Arch,
                                     llvm::ArrayRef<std::string> Flags,
                                     const OriginalCode &Original,
                                     TextCompiler &Compiler,
                                     llvm::StringRef Folder);

} // namespace cupilot

#endif // CUPILOT_DRIVER_UNITTOJUDGE_H
