//===- ObjectDispatch.h - Dispatch for objects of other compilers -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects that another compiler made launch kernels by calls of the CUDA run
// time that the linker resolves. Under other names these calls reach functions
// of a second object, made here, that choose between variant and original as
// the host half of the clang plugin does.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_OBJECTDISPATCH_H
#define CUPILOT_SUBSTITUTE_OBJECTDISPATCH_H

#include "cupilot/Model/BuildRecord.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class Triple;
} // namespace llvm

namespace cupilot {

/// A variant as machine code.
struct CompiledVariant {
  BuildVariant V;
  LaunchNames Names;   ///< Of the original's arguments.
  unsigned Params = 0; ///< Of the original.
  /// The names of its kernels in the fat binary, in the order of the plan's
  /// symbols().
  std::vector<std::string> Symbols;
  std::string Fatbin; ///< One image, for the architecture of V.When.
  /// The device variables that it has a copy of, as the source names them: the
  /// unit's must be constants, as its own are.
  std::vector<std::string> Copies;
  /// Its plan is one launch, of a kernel that waits for the launch before it
  /// before anything else.
  bool WaitsFirst = false;
};

/// A kernel of the object, with its variants, best first.
struct ObjectKernel {
  std::string Symbol; ///< The device name that the object registers it under.
  std::vector<CompiledVariant> Variants;
};

/// The functions of the CUDA run time whose calls are redirected: launches and
/// what tells which kernel they launch.
llvm::ArrayRef<llvm::StringRef> redirectedEntries();

/// The name that calls of \p Entry are redirected to.
std::string standInName(llvm::StringRef Entry);

/// The module with the stand-ins for \p Entries (a part of
/// redirectedEntries()), the fat binaries, and the code that registers them.
/// x86-64 only.
llvm::Expected<std::unique_ptr<llvm::Module>>
createObjectDispatch(llvm::LLVMContext &Context, const llvm::Triple &Target,
                     llvm::ArrayRef<std::string> Entries,
                     llvm::ArrayRef<ObjectKernel> Kernels);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_OBJECTDISPATCH_H
