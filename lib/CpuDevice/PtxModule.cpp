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

static constexpr char MadeOfPtxName[] = "cupilot.ptx";

bool isMadeOfPtx(const Module &M) {
  return M.getNamedMetadata(MadeOfPtxName) != nullptr;
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

namespace {
/// What a kernel names, and what that names in turn.
class Reach {
public:
  explicit Reach(const ptx::Module &M) : M(M) {}
  /// The functions among it, \p Kernel first.
  std::vector<StringRef> from(std::string_view Kernel);

private:
  void name(std::string_view Name) {
    if (!Name.empty() && M.find(Name))
      Names.insert(StringRef(Name));
  }
  void operand(const ptx::Operand &O);
  void item(const ptx::Item &I);

  const ptx::Module &M;
  SetVector<StringRef> Names;
};
} // namespace

void Reach::operand(const ptx::Operand &O) {
  name(O.Name);
  for (const ptx::Operand &Part : O.Parts)
    operand(Part);
}

void Reach::item(const ptx::Item &I) {
  if (const auto *A = I.as<ptx::Alias>())
    name(A->Of);
  if (const auto *D = I.as<ptx::Declaration>())
    for (const ptx::Variable &V : D->Variables)
      for (const ptx::InitialAddress &A : V.Initial.Addresses)
        name(A.Name);
  const auto *F = I.as<ptx::Function>();
  if (!F)
    return;
  for (const ptx::Statement &S : F->Body) {
    if (const auto *Each = S.as<ptx::Instruction>())
      for (const ptx::Operand &O : Each->Operands)
        operand(O);
    else if (const auto *T = S.as<ptx::Targets>(); T && T->OfCalls)
      for (std::string_view Each : T->Names)
        name(Each);
  }
}

std::vector<StringRef> Reach::from(std::string_view Kernel) {
  std::vector<StringRef> Functions;
  Names.clear();
  name(Kernel);
  for (size_t I = 0; I < Names.size(); ++I) {
    const ptx::Item *Is = M.find(std::string_view(Names[I]));
    if (Is->as<ptx::Function>())
      Functions.push_back(Names[I]);
    item(*Is);
  }
  return Functions;
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
    for (StringRef Name : Reach(*Source).from(F->Name))
      for (const PtxLack &L : Lacks)
        if (L.Function == Name)
          K.Missing.push_back({L.What, L.Line, Name.str()});
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
