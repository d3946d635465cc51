//===- RuntimeSymbols.cpp - What compiled device code may call -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeSymbols.h"

// Declared without their parameters: only the addresses are needed here.
extern "C" {
#define CUPILOT_RUNTIME(NAME) void NAME();
#include "RuntimeSymbols.def"
#undef CUPILOT_RUNTIME
}

static const cupilot::RuntimeSymbol Symbols[] = {
#define CUPILOT_RUNTIME(NAME) {#NAME, NAME},
#include "RuntimeSymbols.def"
#undef CUPILOT_RUNTIME
};

llvm::ArrayRef<cupilot::RuntimeSymbol> cupilot::runtimeSymbols() {
  return Symbols;
}
