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
#define CUPILOT_RUNTIME_AS(NAME, FUNCTION) void FUNCTION();
#include "RuntimeSymbols.def"
#undef CUPILOT_RUNTIME
#undef CUPILOT_RUNTIME_AS
}

static const cupilot::RuntimeSymbol Symbols[] = {
#define CUPILOT_RUNTIME(NAME) {#NAME, NAME},
#define CUPILOT_RUNTIME_AS(NAME, FUNCTION) {#NAME, FUNCTION},
#include "RuntimeSymbols.def"
#undef CUPILOT_RUNTIME
#undef CUPILOT_RUNTIME_AS
};

llvm::ArrayRef<cupilot::RuntimeSymbol> cupilot::runtimeSymbols() {
  return Symbols;
}
