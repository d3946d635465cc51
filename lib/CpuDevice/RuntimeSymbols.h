//===- RuntimeSymbols.h - What compiled device code may call -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIMESYMBOLS_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIMESYMBOLS_H

#include "llvm/ADT/ArrayRef.h"

namespace cupilot {

/// A function that compiled device code calls by name.
struct RuntimeSymbol {
  const char *Name;
  void (*Address)();
};

/// All of RuntimeSymbols.def.
llvm::ArrayRef<RuntimeSymbol> runtimeSymbols();

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIMESYMBOLS_H
