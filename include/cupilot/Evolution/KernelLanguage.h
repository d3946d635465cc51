//===- KernelLanguage.h - Kernels that are no CUDA C++ ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_KERNELLANGUAGE_H
#define CUPILOT_EVOLUTION_KERNELLANGUAGE_H

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/Frontend/Rules.h"
#include "cupilot/Model/Variant.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

/// The way from texts of a language that is no CUDA C++ to code, as a search
/// needs it. All functions may be called by several threads.
class KernelLanguage {
public:
  virtual ~KernelLanguage();
  virtual SourceLanguage kind() const = 0;
  /// What digests a search's options for its name, "the pipeline ...".
  virtual llvm::StringRef key() const = 0;
  /// The code of \p Text, which nobody trusts. Bitcode says what it means, and
  /// Ptx is what is built of it. Errors are resources that failed.
  virtual llvm::Expected<CompiledText> compile(llvm::StringRef Text) const = 0;
  /// The strategies that rules can carry out.
  virtual llvm::ArrayRef<llvm::StringRef> strategies() const = 0;
  /// As translateByRules. Rules may take arguments for constants that all of
  /// \p Launches have in common; their guards ask for them.
  virtual llvm::Expected<Translation>
  translate(const Kernel &K, llvm::ArrayRef<Workload> Launches,
            const Genome &G) const = 0;
  /// How builds for \p Arch know the kernel \p Symbol of \p Text that read it
  /// itself, and not code that was made of it.
  virtual llvm::Expected<BuildEntry>
  sourceBuild(llvm::StringRef Text, llvm::StringRef Symbol,
              llvm::StringRef Arch) const = 0;
  /// What evidence for such builds names of the variant's kernel \p Symbol in
  /// \p Text.
  virtual llvm::Expected<std::string>
  sourceIdentity(llvm::StringRef Text, llvm::StringRef Symbol) const = 0;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_KERNELLANGUAGE_H
