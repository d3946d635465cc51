//===- MutantMaker.h - Faults of a kernel, and the code with one -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_MUTANTMAKER_H
#define CUPILOT_MUTATION_MUTANTMAKER_H

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Launcher/NvccUse.h"
#include "cupilot/Mutation/Mutation.h"
#include <memory>

namespace cupilot {

/// A kernel's code, with a fault or without.
struct MutantCode {
  GateCode Code;
  std::string Digest;  ///< Of the device code that is built; equal: the same.
  std::string Refusal; ///< The compiler's messages: there is no code.
};

/// The mutants of one kernel. What is asked of it once is kept, so that
/// processes forked afterwards have it.
class MutantMaker {
public:
  virtual ~MutantMaker();
  /// All faults, in a fixed order: their indices.
  virtual llvm::Expected<std::vector<Mutation>> list() = 0;
  /// The kernel without a fault.
  virtual llvm::Expected<MutantCode> original() = 0;
  /// The kernel with fault number \p Index.
  virtual llvm::Expected<MutantCode> make(unsigned Index) = 0;
  /// The same for people. An index beyond the list is a usage error.
  virtual llvm::Expected<std::string> text(unsigned Index) = 0;
};

/// Mutants of clang's \p Bitcode of the kernel \p Symbol alone: listMutations.
std::unique_ptr<MutantMaker> bitcodeMutants(std::string Bitcode,
                                            llvm::StringRef Symbol,
                                            llvm::ArrayRef<Workload> Recorded,
                                            llvm::StringRef Arch);

/// A source, and who compiles it.
struct MutatedSource {
  std::string Path, Text;
  std::string Arch;
  std::vector<std::string> Flags; ///< For clang.
  std::optional<NvccUse> Nvcc;    ///< Who builds it; nothing: clang.
};

/// Mutants of the text of \p Source, each compiled in its place, of the kernel
/// \p Symbol: listTextMutations.
std::unique_ptr<MutantMaker> textMutants(MutatedSource Source,
                                         llvm::StringRef Symbol,
                                         llvm::ArrayRef<Workload> Recorded);

} // namespace cupilot

#endif // CUPILOT_MUTATION_MUTANTMAKER_H
