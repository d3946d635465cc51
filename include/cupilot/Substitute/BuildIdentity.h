//===- BuildIdentity.h - Build identities of kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_BUILDIDENTITY_H
#define CUPILOT_SUBSTITUTE_BUILDIDENTITY_H

#include "cupilot/Substitute/BuildReason.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class GlobalVariable;
class Module;
class Type;
} // namespace llvm

namespace cupilot {

/// The build identity of one kernel of a device module.
struct KernelIdentity {
  std::string Symbol; ///< Mangled name.
  std::string Digest; ///< "b3:..."; empty when there is a refusal.
  /// Why it has none: an undefined function in its closure, optnone, dynamic
  /// parallelism ...
  std::optional<BuildNote> Refusal;
};

/// What changes device code and is nowhere in its IR: the -mllvm arguments of
/// the compilation, without those that clang itself always gives.
std::string buildContext(llvm::ArrayRef<std::string> LLVMArgs);

/// The canonical text of the closure of \p Kernel (what the identity digests);
/// see docs/BuildIdentity.md. \p Context is what changes its code and is
/// nowhere in the IR (buildContext); "" for the defaults. The error says why
/// the kernel has none.
llvm::Expected<std::string> canonicalText(const llvm::Function &Kernel,
                                          llvm::StringRef Context = "");

/// True for state that outlives a launch or that the host can see: __device__
/// and __constant__ variables, also static ones inside of functions. There is
/// one of each, known by name.
bool isDeviceVariable(const llvm::GlobalVariable &G);

/// Clang's stand-ins for special registers: their addresses are passed around
/// (`uint3 t = threadIdx;`), and nothing is ever loaded from them.
bool isBuiltinVariable(llvm::StringRef Name);

/// The closure of a kernel.
struct CanonicalCode {
  std::string Text; ///< canonicalText's.
  /// The device variables that it uses, in the order of first use.
  std::vector<const llvm::GlobalVariable *> Variables;
};

/// Both by one walk. Arguments and errors as canonicalText's.
llvm::Expected<CanonicalCode> canonicalCode(const llvm::Function &Kernel,
                                            llvm::StringRef Context = "");

/// \p T as in canonical texts: by structure, without the names of structs.
std::string canonicalType(llvm::Type *T);

/// Folds __nvvm_reflect, as the NVPTX target does at the start of every
/// pipeline: identities are taken after that.
void foldReflect(llvm::Module &DeviceModule);

/// The identity of \p Kernel, as the compiler at hand sees it before
/// optimisation.
KernelIdentity identify(const llvm::Function &Kernel,
                        llvm::StringRef Context = "");

/// The identities of all kernels that \p DeviceModule defines, in module order.
std::vector<KernelIdentity> identifyKernels(const llvm::Module &DeviceModule,
                                            llvm::StringRef Context = "");

/// The same for bitcode. Broken bitcode is a usage error.
llvm::Expected<std::vector<KernelIdentity>>
identifyKernels(llvm::StringRef Bitcode, llvm::StringRef Context = "");

/// The digest of the kernel \p Symbol among \p All; why there is none is a
/// finding.
llvm::Expected<std::string> digestOf(llvm::ArrayRef<KernelIdentity> All,
                                     llvm::StringRef Symbol);

/// What a variant's evidence names: the digest of its kernel, or, where its
/// plan launches several, one over theirs in the order of the plan's symbols().
/// Each of \p Kernels has one.
std::string digestOfPlan(llvm::ArrayRef<KernelIdentity> Kernels);

/// The same for the kernels \p Symbols of \p All. A finding says why one has no
/// identity.
llvm::Expected<std::string> digestOfPlan(llvm::ArrayRef<KernelIdentity> All,
                                         llvm::ArrayRef<std::string> Symbols);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_BUILDIDENTITY_H
