//===- LaunchSites.cpp - The launches of a host module -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `k<<<G, B>>>(x)` is: push the configuration; when that worked, evaluate x and
// call the stub of k. The search for that call follows the branch on which it
// worked, up to where both branches meet.
//
//===----------------------------------------------------------------------===//

#include "LaunchSites.h"
#include "cupilot/Substitute/LaunchForms.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cupilot {

static bool isPush(const CallBase &Call) {
  const Function *F = Call.getCalledFunction();
  return F && F->getName() == "__cudaPushCallConfiguration";
}

CallBase *launchAfter(CallBase &Call, const KernelStubs &Stubs) {
  if (!isPush(Call))
    return nullptr;
  BasicBlock *Begin = nullptr;
  SmallPtrSet<BasicBlock *, 16> Seen;
  for (User *U : Call.users())
    if (auto *Test = dyn_cast<ICmpInst>(U))
      for (User *V : Test->users())
        if (auto *Branch = dyn_cast<BranchInst>(V);
            Branch && Branch->isConditional() && Test->isEquality()) {
          bool Equal = Test->getPredicate() == ICmpInst::ICMP_EQ;
          Begin = Branch->getSuccessor(Equal ? 0 : 1);
          Seen.insert(Branch->getSuccessor(Equal ? 1 : 0));
        }
  if (!Begin || !Seen.insert(Begin).second)
    return nullptr;
  SmallVector<BasicBlock *> Queue = {Begin};
  for (size_t I = 0; I < Queue.size(); ++I) {
    bool Ended = false;
    for (Instruction &Each : *Queue[I]) {
      auto *Next = dyn_cast<CallBase>(&Each);
      if (!Next)
        continue;
      Function *F = Next->getCalledFunction();
      bool Pointer = !F && !Next->isInlineAsm() && Next->getType()->isVoidTy();
      if (Pointer || (F && Stubs.contains(F)))
        return Next;
      Ended = isPush(*Next);
      if (Ended)
        break;
    }
    if (!Ended)
      for (BasicBlock *Next : successors(Queue[I]))
        if (Seen.insert(Next).second)
          Queue.push_back(Next);
  }
  return nullptr;
}

namespace {
class SiteFinder {
public:
  SiteFinder(const KernelStubs &Stubs, const LaunchableKernels &Kernels,
             const OwnCopies &Copies)
      : Stubs(Stubs), Kernels(Kernels), Copies(Copies) {
    for (auto [F, Copy] : Copies) {
      Originals[Copy] = F;
      // A copy of a stub is one.
      if (const auto *It = Stubs.find(F); It != Stubs.end())
        this->Stubs[Copy] = It->second;
    }
  }
  void visit(Function &F);
  std::vector<LaunchSite> Sites;

private:
  Function *original(Function *F) const {
    auto It = Originals.find(F);
    return It == Originals.end() ? F : It->second;
  }
  void add(const CallBase &Call, const Function *Kernel, BuildNote Why);
  BuildNote byStub(const Function *Callee, const Function *Kernel) const;
  BuildNote byPointer(const CallBase &Call) const;

  KernelStubs Stubs;
  const LaunchableKernels &Kernels;
  const OwnCopies &Copies;
  DenseMap<Function *, Function *> Originals;
};
} // namespace

void SiteFinder::add(const CallBase &Call, const Function *Kernel,
                     BuildNote Why) {
  LaunchSite S;
  S.Function =
      original(const_cast<Function *>(Call.getFunction()))->getName().str();
  if (const DebugLoc &At = Call.getDebugLoc()) {
    S.File = At->getFilename().str();
    S.Line = At->getLine();
  }
  auto *It = Stubs.find(const_cast<Function *>(Kernel));
  if (It != Stubs.end())
    S.Kernel = It->second;
  S.Known = Kernel ? Kernels.contains(const_cast<Function *>(Kernel))
                   : !Kernels.empty() && Why.Reason != BuildReason::NoSuchType;
  S.Why = std::move(Why);
  S.Call = &Call;
  Sites.push_back(std::move(S));
}

/// What becomes of the launch of \p Kernel by a call of the stub \p Callee.
BuildNote SiteFinder::byStub(const Function *Callee,
                             const Function *Kernel) const {
  if (!Kernels.contains(const_cast<Function *>(Kernel)))
    return BuildReason::NoVariantHere;
  if (!isShared(*Callee))
    return BuildReason::Redirected;
  return Copies.contains(const_cast<Function *>(Callee))
             ? BuildReason::SharedCaller
             : BuildReason::SharedStub;
}

/// The same for a call through a pointer, which reaches stubs of its type.
BuildNote SiteFinder::byPointer(const CallBase &Call) const {
  bool Any = false;
  for (const auto &[Stub, Variants] : Kernels) {
    if (Stub->getFunctionType() != Call.getFunctionType())
      continue;
    Any = true;
    if (!isShared(*Stub))
      continue;
    if (!hasOwnBody(*Call.getFunction()))
      return BuildReason::SharedCaller;
    if (!Copies.contains(Stub))
      return {BuildReason::SharedStubOf, {Stubs.lookup(Stub)}};
  }
  return Any ? BuildReason::Redirected : BuildReason::NoSuchType;
}

void SiteFinder::visit(Function &F) {
  // Stubs, ours and theirs, make the launch; they are not where it stands.
  if (F.isDeclaration() || F.getName().starts_with("__cupilot_") ||
      Stubs.contains(original(&F)))
    return;
  // What this unit calls is its own copy.
  if (const auto *It = Copies.find(&F);
      It != Copies.end() && !It->second->use_empty())
    return;
  if (Originals.contains(&F) && F.use_empty())
    return;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee)
      continue;
    if (isPush(*Call)) {
      CallBase *Launch = launchAfter(*Call, Stubs);
      if (!Launch)
        // The kernel may be another unit's, or its call is not understood.
        add(*Call, nullptr, BuildReason::NotDefinedHere);
      else if (Function *Stub = Launch->getCalledFunction())
        add(*Launch, original(Stub), byStub(Stub, original(Stub)));
      else
        add(*Launch, nullptr, byPointer(*Launch));
      continue;
    }
    StringRef Name = Callee->getName();
    bool Redirected = Name.consume_front("__cupilot_launch_");
    if (Value *Kernel =
            Redirected ? Call->getArgOperand(
                             Name.starts_with("cudaLaunchKernelExC") ? 1 : 0)
                       : launchedKernel(*Call)) {
      auto *Stub = dyn_cast<Function>(Kernel->stripPointerCasts());
      add(*Call, Stub,
          Redirected                       ? BuildReason::Redirected
          : Stub && Kernels.contains(Stub) ? BuildReason::SharedCaller
                                           : BuildReason::NoVariantHere);
    } else if (std::optional<BuildReason> Kept = keptLaunchForm(Name)) {
      Function *Kernel = nullptr;
      for (Value *Arg : Call->args())
        if (auto *Stub = dyn_cast<Function>(Arg->stripPointerCasts());
            Stub && Stubs.contains(Stub))
          Kernel = Stub;
      add(*Call, Kernel, *Kept);
    }
  }
}

std::vector<LaunchSite> findLaunchSites(Module &M, const KernelStubs &Stubs,
                                        const LaunchableKernels &Kernels,
                                        const OwnCopies &Copies) {
  SiteFinder Finder(Stubs, Kernels, Copies);
  for (Function &F : M)
    Finder.visit(F);
  return std::move(Finder.Sites);
}

} // namespace cupilot
