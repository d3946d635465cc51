//===- DeviceOpAsm.cpp - Inline PTX that the run time executes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Hopper/DeviceOps.h"
#include "Lowering.h"
#include "Ptx/InlineAsm.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace cupilot {

/// The names and numbers of an operand: [map, {x, y}] is three.
static void flatten(const ptx::Operand &O,
                    SmallVectorImpl<const ptx::Operand *> &Into) {
  if (O.Parts.empty())
    Into.push_back(&O);
  for (const ptx::Operand &Part : O.Parts)
    flatten(Part, Into);
}

/// The values of "register", "register+number" or a number.
static Value *readPlace(BodyLowering &Asm, const ptx::Operand &O) {
  ptx::Operand Name = O;
  if (O.Kind == ptx::OperandKind::Name)
    Name.Value = Name.Sum = 0;
  Value *V = Asm.read(Name, 64);
  if (!V && !O.Sum)
    return Asm.read(Name, 1);
  return V && O.Sum ? Asm.B.CreateAdd(V, Asm.B.getInt64(O.Value)) : V;
}

std::optional<bool> emitOpStatement(BodyLowering &Asm, const PtxStatement &S) {
  std::optional<OpRule> Rule = findOp(S.parts());
  if (!Rule)
    return std::nullopt;
  SmallVector<const ptx::Operand *> Results, Sources;
  for (auto [I, Operand] : enumerate(S.Operands))
    flatten(Operand, I == 0 && !Rule->Results.empty() ? Results : Sources);
  if (Results.size() != Rule->Results.size())
    return false;
  SmallVector<Value *> Inputs;
  auto Take = [&](Value *V) {
    Inputs.push_back(V);
    return V != nullptr;
  };
  if (Rule->Accumulates)
    for (auto [Name, Bits] : zip(Results, Rule->Results))
      if (!Take(Asm.read(*Name, Bits)))
        return false;
  for (const ptx::Operand *Source : Sources) {
    Value *V = readPlace(Asm, *Source);
    // cp.async [to], [from], size, ignore: nothing is read of what is ignored,
    // as if the source's size were 0.
    if (V && V->getType()->isIntegerTy(1) && S.base() == "cp" &&
        Inputs.size() == 3)
      V = Asm.B.CreateSelect(
          V, Asm.B.getInt64(0),
          Asm.B.CreateZExtOrTrunc(Inputs.back(), Asm.B.getInt64Ty()));
    if (!Take(V))
      return false;
  }
  if (Inputs.size() < Rule->MinInputs || Inputs.size() > Rule->MaxInputs)
    return false;
  SmallVector<Value *> Values =
      emitDeviceOp(Asm.B, join(S.parts(), "."), *Rule, nullptr, Inputs);
  for (auto [Name, V, Bits] : zip(Results, Values, Rule->Results))
    if (!Asm.write(*Name, Asm.B.CreateTrunc(V, Asm.B.getIntNTy(Bits))))
      return false;
  return true;
}

void expandInlinePtx(Module &M) { lowerInlineAsm(M, emitOpStatement); }

} // namespace cupilot
