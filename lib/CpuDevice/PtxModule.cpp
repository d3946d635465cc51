//===- PtxModule.cpp - PTX text as IR ------------------------- -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxModule.h"
#include "Lower/Lowering.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace cupilot {

static Expected<std::unique_ptr<Module>> lowered(const ptx::Module &Source,
                                                 LLVMContext &Context,
                                                 std::vector<PtxLack> &Lacks) {
  auto M = std::make_unique<Module>("ptx", Context);
  ModuleLowering Lowering(Source, *M, emitOpStatement);
  Lowering.run();
  Lacks = std::move(Lowering.Lacks);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(*M, &OS))
    return createStringError("the lowered PTX is broken, which is a fault of "
                             "cupilot: " +
                             Broken);
  return std::move(M);
}

Expected<std::unique_ptr<Module>>
moduleOfPtx(StringRef Text, LLVMContext &Context, std::vector<PtxLack> &Lacks) {
  Expected<ptx::Module> Source = readPtx(Text.str());
  if (!Source)
    return Source.takeError();
  return lowered(*Source, Context, Lacks);
}

/// The functions that \p Kernel reaches by calls or takes the address of,
/// itself first, by name.
static std::vector<std::string> reachedFrom(Function &Kernel) {
  SetVector<const Value *> Seen;
  Seen.insert(&Kernel);
  std::vector<std::string> Names;
  for (size_t I = 0; I < Seen.size(); ++I) {
    auto Visit = [&Seen](const User &U) {
      for (const Use &Operand : U.operands())
        if (isa<Constant>(Operand))
          Seen.insert(Operand);
    };
    if (const auto *F = dyn_cast<Function>(Seen[I])) {
      Names.push_back(F->getName().str());
      for (const Instruction &Each : instructions(*F))
        Visit(Each);
    } else if (const auto *U = dyn_cast<User>(Seen[I])) {
      Visit(*U);
    }
  }
  return Names;
}

Expected<std::vector<PtxKernel>> kernelsOfPtx(StringRef Ptx) {
  Expected<ptx::Module> Source = readPtx(Ptx.str());
  if (!Source)
    return Source.takeError();
  LLVMContext Context;
  std::vector<PtxLack> Lacks;
  Expected<std::unique_ptr<Module>> M = lowered(*Source, Context, Lacks);
  if (!M)
    return M.takeError();
  std::vector<PtxKernel> Kernels;
  for (const ptx::Function *F : Source->kernels()) {
    PtxKernel &K = Kernels.emplace_back(PtxKernel{std::string(F->Name), {}});
    std::vector<std::string> Reached = {K.Name};
    if (Function *Lowered = (*M)->getFunction(K.Name))
      Reached = reachedFrom(*Lowered);
    for (const std::string &Name : Reached)
      for (const PtxLack &L : Lacks)
        if (L.Function == Name)
          K.Missing.push_back({L.What, L.Line, Name});
  }
  // What the instructions have in common with other code is known later.
  Expected<LoweredModule> Tables = lowerModule(**M, CpuDeviceOptions());
  if (!Tables)
    return Tables.takeError();
  for (const LoweredKernel &L : Tables->Kernels)
    for (PtxKernel &K : Kernels)
      if (K.Name == L.Name && K.Missing.empty() && !L.Unsupported.empty())
        K.Missing.push_back({L.Unsupported, 0, K.Name});
  return Kernels;
}

} // namespace cupilot
