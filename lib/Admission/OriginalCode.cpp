//===- OriginalCode.cpp - What variants may have as their original has it -===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/Admission.h"
#include "cupilot/Support/Bitcode.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using llvm::StringRef;

namespace cupilot {

OriginalCode OriginalCode::of(const llvm::Module &M) {
  OriginalCode Code;
  for (const llvm::GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL ||
        G.getAddressSpace() == llvm::NVPTXAS::ADDRESS_SPACE_CONST)
      Code.Variables.push_back(G.getName().str());
  const llvm::Function *Print = M.getFunction("vprintf");
  Code.Prints = Print && !Print->use_empty();
  return Code;
}

llvm::Expected<OriginalCode> OriginalCode::ofBitcode(StringRef Bitcode) {
  llvm::LLVMContext Context;
  auto M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  return of(**M);
}

} // namespace cupilot
