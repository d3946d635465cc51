//===- Code.cpp - What a variant's code does beyond its kernels -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/CompileText.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace cupilot {

namespace {
/// Whether what lies at a pointer may be written through it, as far as the
/// module shows: a pointer that gets out of sight counts as written.
class Writes {
public:
  bool through(const Value &Pointer) {
    if (!Seen.insert(&Pointer).second)
      return false;
    return any_of(Pointer.uses(), [&](const Use &U) { return by(U); });
  }

private:
  bool by(const Use &U) {
    const User *By = U.getUser();
    if (isa<LoadInst, ICmpInst>(By))
      return false;
    if (isa<GEPOperator, BitCastOperator, AddrSpaceCastOperator, PHINode,
            SelectInst, FreezeInst>(By))
      return through(*By);
    if (const auto *G = dyn_cast<GlobalVariable>(By))
      return !G->getName().starts_with("llvm.");
    if (const auto *C = dyn_cast<Constant>(By))
      return through(*C);
    if (isa<MemTransferInst>(By))
      return U.getOperandNo() == 0;
    const auto *Call = dyn_cast<CallBase>(By);
    if (!Call || !Call->isArgOperand(&U))
      return true;
    unsigned At = Call->getArgOperandNo(&U);
    if (Call->onlyReadsMemory(At) && Call->doesNotCapture(At))
      return false;
    const Function *Called = Call->getCalledFunction();
    if (!Called || Called->isDeclaration() || At >= Called->arg_size())
      return true;
    return through(*Called->getArg(At));
  }

  SmallPtrSet<const Value *, 16> Seen;
};
} // namespace

static unsigned lineOf(StringRef Symbol, const AdmissionOptions &Options) {
  if (Options.Variables)
    for (const TextVariable &V : *Options.Variables)
      if (V.Symbol == Symbol)
        return V.Line;
  return 1;
}

std::vector<AdmissionFinding> checkCode(const llvm::Module &M,
                                        const AdmissionOptions &Options) {
  std::vector<AdmissionFinding> Findings;
  if (!Options.Original)
    return Findings;
  for (const GlobalVariable &G : M.globals()) {
    if (G.isConstant() || G.getName().starts_with("llvm.") ||
        G.getAddressSpace() != NVPTXAS::ADDRESS_SPACE_GLOBAL ||
        is_contained(Options.Original->Variables, G.getName()) ||
        !Writes().through(G))
      continue;
    unsigned Line = lineOf(G.getName(), Options);
    Findings.push_back(
        {"state", Line,
         "the kernel writes to '" + G.getName().str() +
             "', a device variable that the original does not have: it "
             "outlives "
             "the launch, and launches in other streams share it. Memory of "
             "the launch plan (scratch) is there for this"});
  }
  if (const Function *Print = M.getFunction("vprintf");
      Print && !Print->use_empty() && !Options.Original->Prints)
    Findings.push_back(
        {"output",
         Options.PrintLine && *Options.PrintLine ? *Options.PrintLine : 1,
         "prints, which the original does not"});
  return Findings;
}

} // namespace cupilot
