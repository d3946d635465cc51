//===- LaunchNames.cpp - What people call what a kernel gets -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/LaunchNames.h"
#include "LaunchWords.h"
#include "cupilot/Model/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

std::string LaunchNames::field(unsigned Param, unsigned Offset,
                               unsigned Bytes) const {
  std::string Name;
  uint64_t Size = Bytes;
  if (Param < Params.size()) {
    Name = Params[Param].Name;
    Size = Params[Param].Size;
  }
  if (Name.empty() || is_contained(DimNames, StringRef(Name)))
    Name = "argument" + utostr(Param);
  return Size == Bytes && Offset == 0 ? Name : Name + "." + utostr(Offset);
}

std::string LaunchNames::scalar(size_t Symbol) const {
  if (Symbol >= Scalars.size())
    return "s" + utostr(Symbol);
  const ScalarRef &S = Scalars[Symbol];
  return field(S.Param, S.Offset, S.Bits / 8);
}

std::string LaunchNames::pointer(const PointerRef &P) const {
  return field(P.Param, P.Offset, 8);
}

LaunchNames launchNames(const Kernel &K) {
  LaunchNames N;
  for (const KernelParam &P : K.Params)
    N.Params.push_back({P.Name, P.Size});
  N.Scalars = K.Scalars;
  return N;
}

} // namespace cupilot
