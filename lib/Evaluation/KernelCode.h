//===- KernelCode.h - A kernel's IR with everything inlined -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_KERNELCODE_H
#define CUPILOT_LIB_EVALUATION_KERNELCODE_H

#include "cupilot/Model/LaunchPlan.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace cupilot {

/// Device code as clang wrote it, with device functions inlined into the
/// kernels and variables in registers, and nothing else optimised.
struct KernelCode {
  std::unique_ptr<llvm::LLVMContext> Context;
  std::unique_ptr<llvm::Module> M;

  /// Reads \p Bitcode. Functions that call themselves or are called through
  /// pointers stay; what goes through them is not seen.
  static llvm::Expected<KernelCode> of(llvm::StringRef Bitcode);
  /// Null where there is none.
  const llvm::Function *kernel(llvm::StringRef Symbol) const;
};

/// Of what \p Bitcode does: names of files, lines and comments change nothing.
llvm::Expected<uint64_t> codeDigest(llvm::StringRef Bitcode);

/// The pointer argument, or pointer field of an argument, that \p Address is
/// computed from; nothing when it is none or may be several.
std::optional<PointerRef> rootOf(const llvm::Value *Address);

/// The pointers of \p F behind which it changes memory by atomic operations and
/// in no other way.
std::vector<PointerRef> changedByAtomics(const llvm::Function &F);

/// "k.cu:12:3"; "" where that is not known.
std::string locationOf(const llvm::Instruction &I);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_KERNELCODE_H
