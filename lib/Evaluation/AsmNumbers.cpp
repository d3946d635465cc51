//===- AsmNumbers.cpp - What inline PTX compares with ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsmNumbers.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace cupilot {

static bool compares(StringRef Opcode) {
  return StringSwitch<bool>(Opcode)
      .Cases({"setp", "set", "slct", "min", "max"}, true)
      .Default(false);
}

AsmNumbers comparedIn(const CallBase &Call) {
  AsmNumbers Found;
  const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
  if (!Asm)
    return Found;
  Expected<ptx::Fragment> Text = readAsm(Asm->getAsmString());
  if (!Text) {
    consumeError(Text.takeError());
    return Found;
  }
  for (const ptx::Statement &S : Text->Statements) {
    const auto *I = S.as<ptx::Instruction>();
    if (!I || !compares(StringRef(I->Opcode)))
      continue;
    for (const ptx::Operand &O : I->Operands)
      if (O.Kind == ptx::OperandKind::Integer)
        Found.Integers.push_back(static_cast<int64_t>(O.Value));
      else if (O.Kind == ptx::OperandKind::Single)
        Found.Floats.push_back(bit_cast<float>(static_cast<uint32_t>(O.Value)));
      else if (O.Kind == ptx::OperandKind::Double)
        Found.Floats.push_back(bit_cast<double>(O.Value));
  }
  return Found;
}

} // namespace cupilot
