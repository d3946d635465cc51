//===- Sites.h - Where a fault can be made -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MUTATION_SITES_H
#define CUPILOT_LIB_MUTATION_SITES_H

#include "IntegerRanges.h"
#include "cupilot/Model/Workload.h"
#include "cupilot/Mutation/Mutation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include <functional>
#include <map>

namespace cupilot {

/// A fault and how it is made. At most one of a module is made.
struct Site {
  Mutation M;
  std::function<void()> Apply;
};

/// The faults of one module, in order.
class Sites {
public:
  /// Nothing when \p I has no line: compiler-made code is no one's fault. The
  /// result is valid until the next one; null where nothing was added.
  Mutation *add(const llvm::Instruction &I, llvm::StringRef Operator,
                const llvm::Twine &Before, const llvm::Twine &After,
                std::function<void()> Apply);
  std::vector<Site> All;
  IntegerRanges Ranges;

private:
  std::map<const llvm::Function *, std::string> Names;
};

/// Name of what \p Call calls, without parameters, namespaces and template
/// arguments: "atomicAdd"; intrinsics as they are; "" for a pointer.
std::string calleeName(const llvm::CallInst &Call);
/// The same with parameters: "min(unsigned int, unsigned int)".
std::string calleeSignature(const llvm::CallInst &Call);
/// The local variable that \p Pointer is, or nothing.
const llvm::AllocaInst *localVariable(const llvm::Value *Pointer);

/// Sends what \p I computes through \p Change.
void filterResult(
    llvm::Instruction &I,
    llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, llvm::Value *)>
        Change);

// One file each; every function looks at one instruction (or function).
void addArithmetic(llvm::Instruction &I, Sites &S);
void addConstants(llvm::Instruction &I, Sites &S);
void addPrecision(llvm::Instruction &I, Sites &S);
void addConditions(llvm::Instruction &I, Sites &S);
void addLoops(llvm::Function &F, Sites &S);
void addMemory(llvm::Instruction &I, Sites &S);
void addCalls(llvm::CallInst &Call, llvm::ArrayRef<Workload> Recorded,
              Sites &S);
void addAtomics(llvm::Instruction &I, Sites &S);
void addWidths(llvm::Instruction &I, Sites &S);
void addRecorded(llvm::Function &Kernel, llvm::ArrayRef<Workload> Recorded,
                 Sites &S);
/// The dimension \p Name of the launch, which \p Call reads, as a constant.
void addRecordedDimension(llvm::CallInst &Call, llvm::StringRef Name,
                          unsigned Value, Sites &S);

} // namespace cupilot

#endif // CUPILOT_LIB_MUTATION_SITES_H
