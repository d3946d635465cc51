//===- HostRuntime.h - The run time of dispatch, in a module -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program does at a launch is written in C (Runtime/). The build has it
// as bitcode; a host module gets the functions that it uses, and tables that
// say which kernels and variants there are. See docs/HostRuntime.md.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
#define CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H

#include "Runtime/Launch.h"
#include "cupilot/Model/LaunchCount.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Linker;
}

namespace cupilot {

/// The run time in one host module.
class HostRuntime {
public:
  explicit HostRuntime(llvm::Module &M) : M(M) {}

  /// Emitted and linked functions get what \p F, a function of the unit, says
  /// of code generation; without one, the module's defaults alone.
  void follow(const llvm::Function &F) { Like = &F; }
  /// An internal function with an empty entry block.
  llvm::Function *createFunction(const llvm::Twine &Name,
                                 llvm::FunctionType *Type);
  /// The run time's function \p Name (Runtime/Runtime.h), which link() brings.
  llvm::Function *function(llvm::StringRef Name, llvm::FunctionType *Type);

  /// A struct of Runtime/Launch.h, of \p Size bytes, with \p Fields at their
  /// places and 0 elsewhere.
  using Field = std::pair<size_t, llvm::Constant *>;
  llvm::Constant *structure(size_t Size, llvm::ArrayRef<Field> Fields);
  llvm::Constant *number(unsigned Value);
  llvm::Constant *text(llvm::StringRef Content);
  /// A constant array of such; null for none.
  llvm::Constant *table(llvm::ArrayRef<llvm::Constant *> Elements,
                        const llvm::Twine &Name);
  /// Memory of the program, all 0.
  llvm::GlobalVariable *state(llvm::Type *T, const llvm::Twine &Name);
  /// Defines the tables `__cupilot_WHAT` and `__cupilot_num_WHAT` that the run
  /// time reads.
  llvm::GlobalVariable *define(llvm::StringRef What,
                               llvm::ArrayRef<llvm::Constant *> Elements);
  llvm::GlobalVariable *createCounter(const llvm::Twine &Name);
  /// Has CUPILOT_RUNTIME=stats show \p Counter, which counts \p What; launches
  /// outside of a domain only where there are some.
  void report(llvm::Constant *Counter, const LaunchCount &What);

  /// Links what the module uses of the run time, as internal functions. The
  /// last step.
  llvm::Error link();

private:
  void adopt(llvm::Function &F);
  llvm::Error linkPart(llvm::Linker &Linking, llvm::StringRef Code);

  llvm::Module &M;
  const llvm::Function *Like = nullptr;
  llvm::SmallVector<llvm::GlobalVariable *> Defined;
  std::vector<llvm::Constant *> Counters;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_HOSTRUNTIME_H
