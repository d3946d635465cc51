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
#include "cupilot/Model/BuildRecord.h"
#include "llvm/ADT/MapVector.h"

namespace cupilot {

/// A variant that a host module can launch.
struct Launchable {
  std::string Kernel; ///< Mangled name of the original.
  BuildVariant V;
  std::vector<ScalarRef> Scalars;
  unsigned Params = 0; ///< Of the original.
  /// Of the kernels of the plan, in the order of its symbols().
  std::vector<HandleState> Handles;
  VariantState State;
};

/// Makes \p Handles the ones of \p L, whose plan they are launched by.
void setHandles(Launchable &L, HostRuntime &Runtime,
                llvm::ArrayRef<llvm::GlobalVariable *> Handles);

/// The kernels of a host module that have variants, by stub.
using LaunchableKernels =
    llvm::MapVector<llvm::Function *, std::vector<Launchable>>;

/// The argument of \p Call that names the kernel, when it calls a launch entry
/// of the CUDA run time that can be redirected; else null.
llvm::Value *launchedKernel(const llvm::CallBase &Call);

/// Makes the functions that stand in for launch entries of the CUDA run time:
/// they have an entry's type, and launch the first variant whose image the
/// device runs and whose guard holds, else the original.
class LaunchDispatch {
public:
  LaunchDispatch(HostRuntime &Runtime, LaunchableKernels &Kernels)
      : Runtime(Runtime), Kernels(Kernels) {}

  /// Stands in for \p Entry at calls that launch \p Stub, or, when that is
  /// null, any kernel.
  llvm::Function *standIn(llvm::Function &Entry, llvm::Function *Stub);

private:
  llvm::Function *forKernel(llvm::Function &Entry, llvm::Function &Stub);
  llvm::Function *forAny(llvm::Function &Entry);

  HostRuntime &Runtime;
  LaunchableKernels &Kernels;
  llvm::MapVector<std::pair<llvm::Function *, llvm::Function *>,
                  llvm::Function *>
      Made;
  llvm::MapVector<llvm::Function *, llvm::GlobalVariable *> Fallbacks;
};

} // namespace cupilot

#endif // CUPILOT_LIB_SUBSTITUTE_LAUNCHDISPATCH_H
