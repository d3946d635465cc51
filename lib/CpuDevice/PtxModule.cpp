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
#include "cupilot/Ptx/Reach.h"
#include "cupilot/Support/ReadPtx.h"
#include "llvm/Bitcode/BitcodeWriter.h"
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

Expected<std::string> bitcodeOfPtx(StringRef Ptx) {
  LLVMContext Context;
  std::vector<PtxLack> Lacks; // Their places refuse to run.
  Expected<std::unique_ptr<Module>> M = moduleOfPtx(Ptx, Context, Lacks);
  if (!M)
    return M.takeError();
  (*M)->getOrInsertNamedMetadata(MadeOfPtxName);
  std::string Result;
  raw_string_ostream OS(Result);
  WriteBitcodeToFile(**M, OS);
  return Result;
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
    for (std::string_view Name : ptx::reachOf(*Source, F->Name))
      for (const PtxLack &L : Lacks)
        if (L.Function == Name)
          K.Missing.push_back({L.What, L.Line, std::string(Name)});
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
