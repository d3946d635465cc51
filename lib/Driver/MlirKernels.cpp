//===- MlirKernels.cpp - Kernels of MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/MlirKernels.h"
#include "MlirPipeline.h"
#include "cupilot/Dialect/GpuSlice.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

/// What makes PTX of MLIR; the store's "mlir-22" has the identities of the MLIR
/// itself.
static const char PtxCompiler[] = "mlir-22 isa";

bool isMlirFile(StringRef File) {
  return llvm::sys::path::extension(File) == ".mlir";
}

/// Says which device code of \p M is no kernel.
static void noteOthers(ModuleOp M, std::vector<std::string> &Notes) {
  M.walk([&](Operation *Op) {
    if (isa<gpu::LaunchOp>(Op))
      Notes.push_back(mlirPlaceOf(Op) +
                      "a gpu.launch is no kernel yet; outline it "
                      "first (mlir-opt --gpu-kernel-outlining)");
    else if (auto Compiled = dyn_cast<gpu::BinaryOp>(Op))
      Notes.push_back(mlirPlaceOf(Op) + "gpu.binary @" +
                      Compiled.getName().str() +
                      " is compiled; name the module from before "
                      "gpu-module-to-binary");
  });
}

Expected<MlirKernels> extractMlirKernels(StringRef File, StringRef Pipeline) {
  DialectRegistry Registry;
  registerMlirDialects(Registry);
  MLIRContext C(Registry, MLIRContext::Threading::DISABLED);
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  Expected<OwningOpRef<ModuleOp>> M = parseMlir(C, *Text, File);
  if (!M)
    return M.takeError();
  MlirKernels Result;
  llvm::StringMap<MlirBinary> Binaries;
  if (!Pipeline.empty()) {
    Expected<std::string> Lowered = lowerMlir(File, Pipeline);
    if (!Lowered)
      return Lowered.takeError();
    Expected<OwningOpRef<ModuleOp>> After =
        parseMlir(C, *Lowered, "what the pipeline made");
    if (!After)
      return After.takeError();
    if (llvm::Error E =
            readMlirBinaries(**After, Result.Notes).moveInto(Binaries))
      return E;
  }
  noteOthers(**M, Result.Notes);
  for (auto &[Op, K] : describeGpuKernels(**M)) {
    if (!K.Refusal) {
      Expected<std::string> Slice = gpuSlice(Op);
      if (Slice)
        K.Slice = std::move(*Slice);
      else
        K.Refusal = toString(Slice.takeError());
    }
    std::vector<BuildEntry> Builds;
    std::string Module;
    auto Holder = dyn_cast<gpu::GPUModuleOp>(Op->getParentOp());
    auto It = Holder ? Binaries.find(Holder.getName()) : Binaries.end();
    if (It != Binaries.end()) {
      const MlirBinary &B = It->second;
      KernelIdentity Identity = B.Ptx.identify(K.Symbol);
      if (!Identity.Digest.empty()) {
        Builds.push_back({PtxCompiler, B.Ptx.target().str(), Identity.Digest});
        Module = B.Digest;
      } else if (Identity.Refusal) {
        Result.Notes.push_back(
            mlirPlaceOf(Op) + "the PTX of kernel '" + K.Name +
            "' has no identity: " + Identity.Refusal->text());
      }
    } else if (!Pipeline.empty()) {
      Result.Notes.push_back(mlirPlaceOf(Op) +
                             "the pipeline makes no PTX of '" + K.Name + "'");
    }
    Result.Kernels.push_back(std::move(K));
    Result.Builds.push_back(std::move(Builds));
    Result.Modules.push_back(std::move(Module));
  }
  return Result;
}

} // namespace cupilot
