//===- LaunchBody.h - The function that stands in for a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types of CUDA's launch functions are the target's, because a dim3 is
// passed by value. So what has to do with them is emitted; the run time sees a
// CupilotLaunch.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_LAUNCHBODY_H
#define CUPILOT_LIB_SUBSTITUTE_LAUNCHBODY_H

#include "Runtime/Launch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace cupilot {

/// How an entry takes the shape of a launch.
enum class LaunchForm {
  Unknown,
  Words,  ///< x86-64: dim3 as i64 and i32; kernel, grid, block, arguments,
          ///< shared, stream. __cudaLaunchKernel of nvcc's stubs has the same,
          ///< with a cudaKernel_t for the kernel.
  Arrays, ///< AArch64: the same with dim3 as [2 x i64].
  Config, ///< cudaLaunchConfig_t *, kernel, arguments.
};

LaunchForm launchFormOf(const llvm::Function &Entry);

/// The type of CupilotLaunch::with.
llvm::FunctionType *variantLaunchType(llvm::LLVMContext &Context);

/// Fills in the body of \p F, a CupilotLaunch::with: launches by \p Entry.
void emitVariantLaunch(llvm::Function &F, llvm::Function &Entry);

/// The body of one stand-in, which has the type of \p Entry.
class LaunchBody {
public:
  LaunchBody(llvm::Function &F, llvm::Function &Entry)
      : F(F), Entry(Entry), How(launchFormOf(Entry)), B(&F.getEntryBlock()) {}

  /// Writes the launch into the CupilotLaunch at \p To.
  void describe(llvm::Value *To, llvm::Function *With);
  /// Returns what the launch by the entry, of the original, returns.
  void returnOriginal();
  llvm::Value *kernel() { return F.getArg(How == LaunchForm::Config ? 1 : 0); }
  /// The entry's twin: "_ptsz" or "".
  llvm::StringRef suffix() const {
    return Entry.getName().ends_with("_ptsz") ? "_ptsz" : "";
  }
  /// Memory of the stand-in's frame; null for none.
  llvm::Value *local(uint64_t Bytes) {
    if (!Bytes)
      return llvm::ConstantPointerNull::get(B.getPtrTy());
    llvm::IRBuilder<> Start(&F.getEntryBlock(), F.getEntryBlock().begin());
    llvm::AllocaInst *A =
        Start.CreateAlloca(Start.getInt8Ty(), Start.getInt64(Bytes));
    A->setAlignment(llvm::Align(8));
    return A;
  }
  void store(llvm::Value *V, llvm::Value *To, size_t Place) {
    B.CreateAlignedStore(V,
                         B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), To, Place),
                         llvm::Align(4));
  }
  llvm::BasicBlock *block(const llvm::Twine &Name) {
    return llvm::BasicBlock::Create(F.getContext(), Name, &F);
  }

private:
  llvm::Function &F, &Entry;
  LaunchForm How;

public:
  llvm::IRBuilder<> B;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHBODY_H
