//===- LaunchBody.h - The function that stands in for a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_LAUNCHBODY_H
#define CUPILOT_LIB_SUBSTITUTE_LAUNCHBODY_H

#include "cupilot/Substitute/EmitGuard.h"
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

/// The body of one stand-in: reads the launch from its arguments, and makes
/// launches with other kernels and shapes.
class LaunchBody {
public:
  LaunchBody(llvm::Function &F, llvm::Function &Entry)
      : F(F), Entry(Entry), How(launchFormOf(Entry)), B(&F.getEntryBlock()) {}

  LaunchValues read();
  /// True when the launch carries nothing but a shape and a stream.
  llvm::Value *plain();
  llvm::Value *stream();
  /// Calls the entry for the original.
  llvm::CallInst *launchOriginal() {
    return launch(kernel(), nullptr, nullptr);
  }
  /// Calls the entry, or what launches clusters, for the variant's \p Kernel.
  llvm::CallInst *launch(llvm::Value *Kernel, const EmittedShape &Shape,
                         llvm::Value *Args) {
    return Shape.Cluster[0] ? launchCluster(Kernel, Shape, Args)
                            : launch(Kernel, &Shape, Args);
  }
  llvm::Value *kernel() { return F.getArg(How == LaunchForm::Config ? 1 : 0); }
  /// The entry's twin: "_ptsz" or "".
  llvm::StringRef suffix() const {
    return Entry.getName().ends_with("_ptsz") ? "_ptsz" : "";
  }
  /// Memory of the stand-in's frame.
  llvm::AllocaInst *local(unsigned Bytes) {
    llvm::IRBuilder<> Start(&F.getEntryBlock(), F.getEntryBlock().begin());
    llvm::AllocaInst *A =
        Start.CreateAlloca(Start.getInt8Ty(), Start.getInt64(Bytes));
    A->setAlignment(llvm::Align(8));
    return A;
  }
  llvm::Value *at(llvm::Value *From, unsigned Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From, Offset);
  }

  llvm::BasicBlock *block(const llvm::Twine &Name) {
    return llvm::BasicBlock::Create(F.getContext(), Name, &F);
  }

private:
  llvm::Value *field(llvm::Value *Config, unsigned Offset, llvm::Type *T) {
    return B.CreateAlignedLoad(T, at(Config, Offset), llvm::Align(4));
  }
  llvm::CallInst *launch(llvm::Value *Kernel, const EmittedShape *Shape,
                         llvm::Value *NewArgs);
  llvm::CallInst *launchCluster(llvm::Value *Kernel, const EmittedShape &Shape,
                                llvm::Value *Args);
  void writeShape(llvm::Value *Config, const EmittedShape &Shape);
  llvm::Value *copy();

  llvm::Function &F, &Entry;
  LaunchForm How;
  llvm::AllocaInst *Copy = nullptr, *Attribute = nullptr;

public:
  llvm::IRBuilder<> B;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHBODY_H
