//===- Replay.cpp - Runs fuzz targets over kept inputs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cupilot-replay TARGET FILE...: prints each file's name before it is read, so
// that a crash names it.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace llvm;

int main(int Argc, char **Argv) {
  const cupilot::fuzz::Target *T =
      Argc > 2 ? cupilot::fuzz::findTarget(Argv[1]) : nullptr;
  if (!T) {
    errs() << "usage: cupilot-replay TARGET FILE...\n";
    return 2;
  }
  for (int I = 2; I < Argc; ++I) {
    auto File = MemoryBuffer::getFile(Argv[I], /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File) {
      errs() << Argv[I] << ": " << File.getError().message() << "\n";
      return 2;
    }
    outs() << Argv[I] << "\n";
    outs().flush();
    // As libFuzzer hands them over: nothing lies behind the last byte.
    std::vector<char> Bytes((*File)->getBufferStart(), (*File)->getBufferEnd());
    T->Run({Bytes.data(), Bytes.size()});
  }
  outs() << Argc - 2 << " inputs\n";
  return 0;
}
