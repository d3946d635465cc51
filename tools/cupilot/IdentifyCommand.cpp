//===- IdentifyCommand.cpp - cupilot identify -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace identify_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{
      cl::Positional, cl::Required, In, cl::value_desc("F.cu|F.bc|F.ll|F.ptx"),
      cl::desc("A CUDA source, device IR before optimisation, or nvcc's PTX")};
  cl::opt<bool> Text{
      "text", In, cl::desc("Print the canonical text instead of the digest")};
};
} // namespace

static const char Examples[] =
    "  cupilot identify heat.cu -- -O2 --cuda-gpu-arch=sm_90\n"
    "  cupilot identify device.ll --text\n"
    "  cupilot identify device.ptx\n";

static Error print(const Module &M, StringRef Context, bool Text) {
  for (const Function &F : M) {
    if (F.isDeclaration() || F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    if (Text) {
      Expected<std::string> Canonical = canonicalText(F, Context);
      if (!Canonical)
        return Canonical.takeError();
      outs() << *Canonical;
      continue;
    }
    KernelIdentity Id = identify(F, Context);
    outs() << Id.Symbol << " "
           << (Id.Refusal ? "none: " + Id.Refusal->text() : Id.Digest) << "\n";
  }
  return Error::success();
}

static Error printPtx(StringRef Input, bool Text) {
  Expected<std::string> Ptx = readFile(Input);
  if (!Ptx)
    return Ptx.takeError();
  Expected<NvccPtx> M = NvccPtx::parse(std::move(*Ptx));
  if (!M)
    return M.takeError();
  for (const std::string &Kernel : M->kernels()) {
    if (Text) {
      Expected<std::string> Canonical = M->canonicalText(Kernel);
      if (!Canonical)
        return Canonical.takeError();
      outs() << *Canonical;
      continue;
    }
    KernelIdentity Id = M->identify(Kernel);
    outs() << Id.Symbol << " "
           << (Id.Refusal ? "none: " + Id.Refusal->text() : Id.Digest) << "\n";
  }
  return Error::success();
}

static Error run(const Options &O, const TrailingArgs &Flags) {
  if (sys::path::extension(O.Input) == ".ptx")
    return printPtx(O.Input, O.Text);
  LLVMContext Context;
  SMDiagnostic Diagnostic;
  std::unique_ptr<Module> M;
  if (sys::path::extension(O.Input) == ".cu") {
    Expected<std::string> Bitcode = compileDeviceBitcode(
        O.Input, gpuArchitectures(Flags.Args).front(), Flags.Args);
    if (!Bitcode)
      return Bitcode.takeError();
    M = parseIR(MemoryBufferRef(*Bitcode, O.Input), Diagnostic, Context);
  } else {
    M = parseIRFile(O.Input, Diagnostic, Context);
  }
  if (!M)
    return usageError("'" + O.Input +
                      "' is not valid LLVM IR: " + Diagnostic.getMessage());
  foldReflect(*M);
  return print(*M, buildContext(llvmArguments(Flags.Args)), O.Text);
}

static const Command
    Registered("identify", "Print the build identities of a unit's kernels",
               "FLAGS", Examples, run);

} // namespace identify_command
