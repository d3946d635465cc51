//===- GridWait.cpp - Kernels that wait for the launch before theirs -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/GridWait.h"
#include <algorithm>

namespace cupilot::ptx {

/// Registers in, registers out.
static bool isArithmetic(const Instruction &I) {
  static constexpr std::string_view Names[] = {
      "abs", "add",   "and",  "bfe",  "bfi", "brev",  "clz",   "cnot", "cos",
      "cvt", "cvta",  "div",  "ex2",  "fma", "lg2",   "lop3",  "mad",  "max",
      "min", "mov",   "mul",  "neg",  "not", "or",    "popc",  "prmt", "rcp",
      "rem", "rsqrt", "sad",  "selp", "set", "setp",  "shf",   "shl",  "shr",
      "sin", "slct",  "sqrt", "sub",  "xor", "mul24", "mad24", "bfind"};
  return std::ranges::find(Names, I.Opcode) != std::end(Names);
}

bool waitsFirst(const Function &Kernel) {
  const std::vector<Statement> &Body = Kernel.Body;
  std::unordered_map<std::string_view, size_t> Labels;
  for (size_t I = 0; I < Body.size(); ++I)
    if (const auto *L = Body[I].as<Label>())
      Labels[L->Name] = I;
  std::vector<bool> Seen(Body.size());
  std::vector<size_t> Open = {0};
  bool Waits = false;
  while (!Open.empty()) {
    size_t At = Open.back();
    Open.pop_back();
    for (; At < Body.size() && !Seen[At]; ++At) {
      Seen[At] = true;
      const auto *I = Body[At].as<Instruction>();
      if (!I || isArithmetic(*I))
        continue;
      const bool Always = I->Guard.empty();
      if (I->Opcode == "griddepcontrol") {
        Waits |= I->has("wait");
        if (Always && I->has("wait"))
          break;
      } else if (I->Opcode == "ret" || I->Opcode == "exit") {
        if (Always)
          break;
      } else if (I->Opcode == "bra" && I->Operands.size() == 1 &&
                 Labels.count(I->Operands[0].Name)) {
        Open.push_back(Labels[I->Operands[0].Name]);
        if (Always)
          break;
      } else if (I->Opcode != "ld" || !I->has("param")) {
        return false;
      }
    }
  }
  return Waits;
}

} // namespace cupilot::ptx
