//===- ExtractCommand.cpp - cupilot extract -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cupilot;

static cl::SubCommand Sub("extract",
                          "Print the kernels of a translation unit as MLIR");
static cl::opt<std::string> Input(cl::Positional, cl::Required, cl::sub(Sub),
                                  cl::value_desc("F.cu"),
                                  cl::desc("The CUDA source"));
static cl::opt<std::string>
    Output("o", cl::sub(Sub), cl::value_desc("K.mlir"),
           cl::desc("Where to write; slices go beside it. Without it, "
                    "to standard output, and slices are not written"));
static cl::opt<bool>
    PrintSlices("print-slices", cl::sub(Sub),
                cl::desc("Print the slices to standard output instead"));

static const char Examples[] =
    "  cupilot extract heat.cu -o heat.mlir -- -O2 -Iinclude\n"
    "  cupilot extract heat.cu --print-slices -- -O2\n";

static Error run(const TrailingArgs &Flags) {
  Expected<std::vector<Kernel>> Kernels = extractKernels(Input, Flags.Args);
  if (!Kernels)
    return Kernels.takeError();
  if (PrintSlices) {
    for (const Kernel &K : *Kernels)
      outs() << "// kernel: " << K.Name << "\n// digest: " << K.Digest << "\n"
             << (K.Refusal.empty() ? K.Slice
                                   : "// refused: " + K.Refusal + "\n");
    return Error::success();
  }
  mlir::MLIRContext C;
  mlir::OwningOpRef<mlir::ModuleOp> M = createModule(C);
  mlir::OpBuilder B = mlir::OpBuilder::atBlockEnd(M->getBody());
  for (const Kernel &K : *Kernels) {
    std::string Slice = K.Refusal.empty() ? shortDigest(K.Digest) + ".cu" : "";
    if (!Output.empty() && !Slice.empty()) {
      SmallString<256> Path(sys::path::parent_path(Output));
      sys::path::append(Path, Slice);
      if (Error E = updateFile(Path, K.Slice))
        return E;
    }
    addKernel(B, K, Output.empty() ? "" : Slice);
  }
  std::string Text = printModule(*M);
  if (Output.empty()) {
    outs() << Text;
    return Error::success();
  }
  return updateFile(Output, Text);
}

static Command Registered(Sub, Examples, run);
