//===- Remarks.cpp - What became of kernels, as remarks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/Remarks.h"
#include "cupilot/Portable/UnitName.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

StringRef nameOf(SubstitutionResult R) {
  switch (R) {
  case SubstitutionResult::VariantApplied:
    return "VariantApplied";
  case SubstitutionResult::VariantStale:
    return "VariantStale";
  case SubstitutionResult::NoVariant:
    return "NoVariant";
  case SubstitutionResult::NotChosen:
    return "NotChosen";
  case SubstitutionResult::Refused:
    return "Refused";
  }
  llvm_unreachable("a result of its own");
}

std::string SubstitutionOutcome::message() const {
  if (Result == SubstitutionResult::Refused)
    return (Kernel.empty() ? "the originals stay: " : "the original stays: ") +
           Why.text();
  if (!Variant.empty())
    return "variant " + Variant + " left out: " + Why.text();
  return Why.text();
}

static void emit(Module &M, const SubstitutionOutcome &O) {
  Function *F = M.getFunction(O.Function.empty() ? O.Kernel : O.Function);
  // A remark about the whole unit hangs on any of its functions.
  for (Function &Other : M)
    if ((!F || F->isDeclaration()) && !Other.isDeclaration())
      F = &Other;
  if (!F || F->isDeclaration())
    return;
  OptimizationRemarkEmitter Emitter(F);
  DiagnosticLocation Loc(F->getSubprogram());
  std::string Text =
      (O.Kernel.empty() ? "" : demangle(withoutUnitName(O.Kernel)) + ": ") +
      O.message();
  if (O.isApplied()) {
    OptimizationRemark R("cupilot", nameOf(O.Result), Loc, &F->getEntryBlock());
    Emitter.emit(R << Text);
  } else {
    OptimizationRemarkMissed R("cupilot", nameOf(O.Result), Loc,
                               &F->getEntryBlock());
    Emitter.emit(R << Text);
  }
}

void emitRemarks(Module &M, ArrayRef<SubstitutionOutcome> Outcomes, bool Device,
                 bool CheckOnly) {
  for (const SubstitutionOutcome &O : Outcomes)
    if (O.isApplied() != Device || O.Kernel.empty() || CheckOnly)
      emit(M, O);
}

static std::string kernelOf(const LaunchSite &S) {
  return S.Kernel.empty() ? "a kernel called through a pointer"
                          : "'" + demangle(withoutUnitName(S.Kernel)) + "'";
}

void emitRemarks(ArrayRef<LaunchSite> Sites) {
  for (const LaunchSite &S : Sites) {
    if (!S.Known)
      continue;
    OptimizationRemarkEmitter Emitter(S.Call->getFunction());
    if (S.isRedirected())
      Emitter.emit(OptimizationRemark("cupilot", "LaunchRedirected", S.Call)
                   << "launch of " << kernelOf(S)
                   << " redirected to its variants");
    else
      Emitter.emit(OptimizationRemarkMissed("cupilot", "LaunchKept", S.Call)
                   << "launch of " << kernelOf(S)
                   << " not redirected: " << S.Why.text());
  }
}

std::string describe(const LaunchSite &S) {
  return "launch of " + kernelOf(S) +
         (S.Line ? " at " + S.File + ":" + std::to_string(S.Line) : "") +
         " in '" + demangle(S.Function) +
         (S.isRedirected() ? "': redirected"
                           : "': not redirected: " + S.Why.text());
}

} // namespace cupilot
