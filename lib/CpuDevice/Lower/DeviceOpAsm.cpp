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
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace cupilot {

/// The values of "register", "register+number" or a number.
static Value *readPlace(AsmLowering &Asm, StringRef Text) {
  Text = Text.trim();
  size_t Sign = Text.find_first_of("+-", 1);
  if (Sign == StringRef::npos) {
    Value *V = Asm.read(Text, 64);
    return V ? V : Asm.read(Text, 1);
  }
  StringRef Offset = Text.drop_front(Sign);
  Offset.consume_front("+");
  int64_t Distance = 0;
  Value *Base = Asm.read(Text.take_front(Sign).rtrim(), 64);
  if (!Base || Offset.trim().getAsInteger(0, Distance))
    return nullptr;
  return Asm.B.CreateAdd(Base,
                         ConstantInt::getSigned(Asm.B.getInt64Ty(), Distance));
}

std::optional<bool> emitOpStatement(AsmLowering &Asm, const PtxStatement &S) {
  SmallVector<StringRef> Parts(S.Op.begin(), S.Op.end());
  std::optional<OpRule> Rule = findOp(Parts);
  if (!Rule)
    return std::nullopt;
  SmallVector<StringRef> Results;
  size_t FirstInput = 0;
  if (!Rule->Results.empty()) {
    if (S.Operands.empty())
      return false;
    FirstInput = 1;
    for (StringRef Part : S.Operands.front())
      for (StringRef Name : split(Part, '|'))
        Results.push_back(Name.trim());
    if (Results.size() != Rule->Results.size())
      return false;
  }
  SmallVector<Value *> Inputs;
  auto Take = [&](Value *V) {
    Inputs.push_back(V);
    return V != nullptr;
  };
  if (Rule->Accumulates)
    for (auto [Name, Bits] : zip(Results, Rule->Results))
      if (!Take(Asm.read(Name, Bits)))
        return false;
  for (const auto &Operand : drop_begin(S.Operands, FirstInput))
    for (StringRef Part : Operand) {
      // [map, {x, y}] is three operands.
      std::string Plain;
      for (char C : Part)
        if (!StringRef("[]{}").contains(C))
          Plain += C;
      for (StringRef Each : split(Plain, ','))
        if (!Take(readPlace(Asm, Each)))
          return false;
    }
  if (Inputs.size() < Rule->MinInputs || Inputs.size() > Rule->MaxInputs)
    return false;
  SmallVector<Value *> Values =
      emitDeviceOp(Asm.B, join(S.Op, "."), *Rule, nullptr, Inputs);
  for (auto [Name, V, Bits] : zip(Results, Values, Rule->Results))
    if (!Asm.write(Name, Asm.B.CreateTrunc(V, Asm.B.getIntNTy(Bits))))
      return false;
  return true;
}

} // namespace cupilot
