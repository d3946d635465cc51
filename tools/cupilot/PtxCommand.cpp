//===- PtxCommand.cpp - cupilot ptx --------------------------- -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/CpuDevice/PtxSource.h"
#include "cupilot/Ptx/Touch.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

namespace ptx_command {

namespace {
struct Options : CommandOptions {
  using CommandOptions::CommandOptions;

  cl::opt<std::string> Input{cl::Positional, cl::Required, In,
                             cl::value_desc("F.ptx"),
                             cl::desc("The PTX of one translation unit")};
  cl::opt<std::string> Mark{
      "mark", In, cl::value_desc("kernel"),
      cl::desc("Print the PTX of a copy of the kernel (its mangled name) that "
               "marks the memory that it touches, as `capture` runs it on a "
               "GPU")};
  cl::opt<std::string> Source{
      "source", In, cl::value_desc("kernel"),
      cl::desc(
          "Print what the gate reads of the kernel in the place of clang's "
          "code: LLVM IR with types and pointers")};
};
} // namespace

static const char Examples[] =
    "  cupilot ptx heat.ptx        # of nvcc -ptx -arch=sm_90 heat.cu\n"
    "  cupilot ptx heat.ptx | grep 'cannot run'\n"
    "  cupilot ptx heat.ptx --mark=_Z4stepPfPKfi > marked.ptx\n\n"
    "For developers of cuPilot: what a kernel lacks follows it, with the line "
    "of the file.\n"
    "Exit status 1: a kernel cannot run. 2: the file is no PTX.\n";

static Error printMarked(const Options &O, std::string Text) {
  ptx::Diagnostic D;
  std::optional<ptx::Module> M = ptx::readModule(std::move(Text), D);
  if (!M)
    return usageError(O.Input + ":" + D.str());
  if (!M->function(O.Mark))
    return usageError("'" + O.Input + "' has no kernel '" + O.Mark + "'",
                      "name it as the PTX does, mangled");
  std::string Why;
  std::optional<ptx::MarkedKernel> Marked =
      ptx::markAccesses(*M, StringRef(O.Mark), Why);
  if (!Marked)
    return findingError("'" + O.Mark + "' cannot be marked: " + Why);
  outs() << Marked->Text;
  return Error::success();
}

static Error printSource(StringRef Kernel, StringRef Text) {
  Expected<PtxSource> Source = sourceOfPtx(Text, Kernel);
  if (!Source)
    return Source.takeError();
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Source->Bitcode, Context);
  if (!M)
    return M.takeError();
  if (!Source->NoFloat64.empty())
    outs() << "; no float64 run: " << Source->NoFloat64 << "\n";
  (*M)->print(outs(), nullptr);
  return Error::success();
}

static void print(StringRef File, const PtxKernel &K) {
  outs() << "kernel: " << demangle(K.Name)
         << (K.Missing.empty() ? ": can run\n" : ": cannot run\n");
  for (const PtxMissing &Each : K.Missing) {
    outs() << "  ";
    if (Each.Line)
      outs() << File << ":" << Each.Line << ": ";
    outs() << Each.What;
    if (Each.Function != K.Name)
      outs() << ", in " << demangle(Each.Function);
    outs() << "\n";
  }
}

static Error run(const Options &O, const TrailingArgs &) {
  Expected<std::string> Text = readFile(O.Input);
  if (!Text)
    return Text.takeError();
  if (O.Mark.getNumOccurrences())
    return printMarked(O, std::move(*Text));
  if (O.Source.getNumOccurrences())
    return printSource(O.Source, *Text);
  size_t Refused = 0, Count = 0;
  Error Failed = kernelsOfPtx(*Text, [&](const PtxKernel &K) {
    ++Count;
    Refused += !K.Missing.empty();
    print(O.Input, K);
  });
  if (Failed)
    return handleErrors(std::move(Failed), [&](const ToolError &E) {
      return make_error<ToolError>(E.code(), O.Input + ": " + E.text(),
                                   E.hint());
    });
  outs() << Count - Refused << " of " << Count << " kernels can run\n";
  return Refused ? findingError("the cpu device cannot run every kernel of '" +
                                O.Input + "'")
                 : Error::success();
}

static const Command
    Registered("ptx", "Say which kernels of a PTX file the cpu device can run",
               "", Examples, run);

} // namespace ptx_command
