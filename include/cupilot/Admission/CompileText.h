//===- CompileText.h - Admission and code in one parse -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ADMISSION_COMPILETEXT_H
#define CUPILOT_ADMISSION_COMPILETEXT_H

#include "cupilot/Admission/Admission.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace clang {
class CompilerInvocation;
} // namespace clang

namespace cupilot {

struct ParsedPrefix;

/// What becomes of a text that somebody else wrote.
enum class TextFate {
  Compiles,
  Inadmissible,   ///< Findings say why.
  DoesNotCompile, ///< Message has the compiler's errors.
  Crashes,        ///< The compiler.
  BeyondLimits,   ///< Message says which.
};

struct CompiledText {
  TextFate Fate = TextFate::Compiles;
  std::vector<AdmissionFinding> Findings;
  std::string Message = {};
  std::string Bitcode = {}; ///< Before optimisation, with libdevice.
  std::string Ptx = {};     ///< generatePtx's; not from emitText.
};

/// Admits \p Text, which \p Invocation names \p Path, and makes its bitcode, in
/// one parse and in this process. What it may see of \p Below is toolkitFiles.
/// \p Files, if given, gets the names of the files that were read.
CompiledText emitText(const clang::CompilerInvocation &Invocation,
                      llvm::StringRef Path, llvm::StringRef Text,
                      const ParsedPrefix *Prefix,
                      const AdmissionOptions &Options,
                      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Below,
                      std::vector<std::string> *Files = nullptr);

/// What of the optimised module \p M a variant may not have beside
/// \p Options.Original: writes to device variables of its own, which are hidden
/// state, and output. Variables give the lines.
std::vector<AdmissionFinding> checkCode(const llvm::Module &M,
                                        const AdmissionOptions &Options);

} // namespace cupilot

#endif // CUPILOT_ADMISSION_COMPILETEXT_H
