//===- Inputs.cpp - Other values for a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputValues.h"

using namespace llvm;

namespace cupilot {

GateCase varied(const GateCase &Base, const Twine &Name) {
  GateCase C = Base;
  C.Name = (Base.Name + " " + Name).str();
  C.Captured = false;
  C.Doubtful = true;
  return C;
}

void addInputCases(const CaseContext &X, const GateCase &Base,
                   CaseMakers &Makers) {
  CaseMakers Floats, Integers;
  addFloatInputs(X, Base, Floats);
  addIntegerInputs(X, Base, Integers);
  // In turn, so that a small budget tries both.
  for (size_t I = 0; I < std::max(Floats.size(), Integers.size()); ++I)
    for (CaseMakers *L : {&Floats, &Integers})
      if (I < L->size())
        Makers.push_back(std::move((*L)[I]));
}

} // namespace cupilot
