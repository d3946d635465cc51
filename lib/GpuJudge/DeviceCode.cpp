//===- DeviceCode.cpp - PTX from device bitcode -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/DeviceCode.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Nvptx.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace cupilot {

Expected<std::string> generatePtx(StringRef Bitcode, StringRef Arch) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Bitcode, Context);
  if (!M)
    return M.takeError();
  StripDebugInfo(**M);
  Expected<std::unique_ptr<TargetMachine>> TM = nvptxMachine(**M, Arch);
  if (!TM)
    return TM.takeError();
  optimizeForNvptx(**M, **TM);

  SmallString<0> Ptx;
  raw_svector_ostream OS(Ptx);
  legacy::PassManager Codegen;
  if ((*TM)->addPassesToEmitFile(Codegen, OS, nullptr,
                                 CodeGenFileType::AssemblyFile))
    return resourceError("this LLVM cannot print PTX");
  Codegen.run(**M);
  return Ptx.str().str();
}

std::string deviceCodeDigest(StringRef Ptx) {
  DigestBuilder Builder;
  while (!Ptx.empty()) {
    auto [Line, Rest] = Ptx.split('\n');
    Ptx = Rest;
    Line = Line.split("//").first.trim();
    if (!Line.empty() && !Line.starts_with(".file") &&
        !Line.starts_with(".loc"))
      Builder.add(Line);
  }
  return Builder.str();
}

std::vector<std::string> kernelsOf(StringRef Ptx) {
  std::vector<std::string> Symbols;
  for (StringRef Rest = Ptx; !Rest.empty();) {
    auto [Line, Behind] = Rest.split('\n');
    Rest = Behind;
    auto [Before, Name] = Line.split(".entry ");
    if (Line.starts_with(".") && Before.size() < Line.size())
      Symbols.push_back(
          Name.take_until([](char C) { return C == '(' || C == ' '; }).str());
  }
  return Symbols;
}

} // namespace cupilot
