//===- LaunchDispatch.h - Choosing between kernels at a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_LAUNCHDISPATCH_H
#define CUPILOT_LIB_SUBSTITUTE_LAUNCHDISPATCH_H

#include "HostRuntime.h"
#include "LaunchBody.h"
#include "cupilot/Model/BuildRecord.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace cupilot {

/// A variant that a host module can launch.
struct Launchable {
  std::string Kernel; ///< Mangled name of the original.
  BuildVariant V;
  LaunchNames Names;   ///< Of the original's arguments.
  unsigned Params = 0; ///< Of the original.
  /// The addresses that CUDA's run time knows the kernels of the plan by, in
  /// the order of its symbols().
  llvm::SmallVector<llvm::GlobalVariable *> Handles;
  /// As CompiledVariant's.
  bool WaitsFirst = false;
};

/// The kernels of a host module that have variants, by stub.
using LaunchableKernels =
    llvm::MapVector<llvm::Function *, std::vector<Launchable>>;

/// The argument of \p Call that names the kernel, when it calls a launch entry
/// of the CUDA run time that can be redirected; else null.
llvm::Value *launchedKernel(const llvm::CallBase &Call);

/// True for the run time's functions that set an attribute of a kernel, as a
/// larger limit of dynamic shared memory.
bool setsAttribute(const llvm::Function &Entry);

/// Makes the functions that stand in for launch entries of the CUDA run time:
/// they have an entry's type, and launch the first variant whose image the
/// device runs and whose guard and domain hold, else the original.
class LaunchDispatch {
public:
  /// \p Kernels must be complete when the first function is made.
  LaunchDispatch(HostRuntime &Runtime, llvm::Module &M,
                 const LaunchableKernels &Kernels)
      : Runtime(Runtime), M(M), Kernels(Kernels) {}

  /// The program knows the kernel of \p Stub by what these variables hold when
  /// it runs; otherwise by the address of the stub.
  void setAddresses(llvm::Function *Stub, llvm::GlobalVariable *Host,
                    llvm::GlobalVariable *Handle) {
    Addresses[Stub] = {Host, Handle};
  }
  /// Stands in for \p Entry at calls that launch \p Stub, or, when that is
  /// null, any kernel.
  llvm::Function *standIn(llvm::Function &Entry, llvm::Function *Stub);
  /// Fills in the body of \p F, which stands in for \p Entry at launches of any
  /// kernel.
  void emitForAny(llvm::Function &F, llvm::Function &Entry);
  /// Stands in for \p Entry, for which setsAttribute() holds.
  llvm::Function *attributeStandIn(const llvm::Function &Entry);
  /// The table of all kernels, for the run time.
  llvm::GlobalVariable *choices();

private:
  struct KernelAddresses {
    llvm::GlobalVariable *Host = nullptr, *Handle = nullptr;
  };
  llvm::Function *forKernel(llvm::Function &Entry, llvm::Function &Stub);
  llvm::Function *with(llvm::Function &Entry);
  llvm::Function *plan(const Launchable &L);
  llvm::Function *outside(const Launchable &L);
  llvm::Constant *outsideCounts(const Launchable &L);
  llvm::Constant *variant(const Launchable &L);
  llvm::Value *values(LaunchBody &Code, llvm::ArrayRef<Launchable> Variants);

  HostRuntime &Runtime;
  llvm::Module &M;
  const LaunchableKernels &Kernels;
  llvm::GlobalVariable *Choices = nullptr;
  llvm::MapVector<std::pair<llvm::Function *, llvm::Function *>,
                  llvm::Function *>
      Made;
  llvm::DenseMap<llvm::Function *, llvm::GlobalVariable *> Originals;
  llvm::DenseMap<llvm::Function *, llvm::Constant *> Tables; ///< Of variants.
  llvm::SmallPtrSet<llvm::Function *, 4> Reported;
  llvm::DenseMap<llvm::Function *, KernelAddresses> Addresses;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHDISPATCH_H
