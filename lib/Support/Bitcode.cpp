//===- Bitcode.cpp - Device bitcode read --------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

Expected<std::unique_ptr<Module>> parseBitcode(StringRef Bitcode,
                                               LLVMContext &Context) {
  printErrorsOnly(Context);
  Expected<std::unique_ptr<Module>> M =
      parseBitcodeFile(MemoryBufferRef(Bitcode, "device"), Context);
  if (!M)
    return usageError("broken device bitcode: " + toString(M.takeError()));
  return M;
}

} // namespace cupilot
