//===- LibFuzzer.cpp - The entry points that libFuzzer calls -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One program for all targets: CUPILOT_FUZZ names the one to run.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace cupilot::fuzz;

static const Target *Chosen;

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  const char *Name = std::getenv("CUPILOT_FUZZ");
  Chosen = Name ? findTarget(Name) : nullptr;
  if (Chosen)
    return 0;
  llvm::errs() << "set CUPILOT_FUZZ to one of:";
  for (const Target &T : targets())
    llvm::errs() << " " << T.Name;
  llvm::errs() << "\n";
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Chosen->Run({reinterpret_cast<const char *>(Data), Size});
  return 0;
}

// What LLVM's allocators poison in our code, its libraries do not unpoison.
extern "C" const char *__asan_default_options() {
  return "detect_leaks=0:allow_user_poisoning=0:detect_container_overflow=0";
}
