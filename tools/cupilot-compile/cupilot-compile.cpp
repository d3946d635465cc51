//===- cupilot-compile.cpp - Compiles texts that nobody trusts -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An internal tool: cupilot starts it. Its users are programs.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/TextCompiler.h"
#include "cupilot/CpuDevice/HostCode.h"
#include "cupilot/Support/Config.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::StringRef Arg = argc == 2 ? argv[1] : "";
  if (Arg == "--serve")
    return cupilot::serveTexts();
  if (Arg == "--serve-host-code")
    return cupilot::serveHostCode();
  if (Arg == "--version") {
    llvm::outs() << "cupilot-compile " CUPILOT_VERSION "\n";
    return 0;
  }
  llvm::errs()
      << "cupilot-compile: error: 'cupilot judge' and 'cupilot evolve' "
         "start this program; it has no other use\n";
  return 2;
}
