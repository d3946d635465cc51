//===- MlirKernels.cpp - Kernels of MLIR modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/MlirKernels.h"
#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Dialect/GpuSlice.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

// A pipeline that takes longer, or more, does not end.
static constexpr unsigned PipelineSeconds = 120;
static constexpr unsigned PipelineMiB = 8192;

/// What makes PTX of MLIR; the store's "mlir-22" has the identities of the MLIR
/// itself.
static const char PtxCompiler[] = "mlir-22 isa";

bool isMlirFile(StringRef File) {
  return llvm::sys::path::extension(File) == ".mlir";
}

static const char KnownDialects[] =
    "cupilot-opt reads the dialects of LLVM 22; lower others before";

/// The module in \p Text, which \p Name stands for in messages.
static Expected<OwningOpRef<ModuleOp>> parse(MLIRContext &C, StringRef Text,
                                             StringRef Name) {
  std::string Messages;
  llvm::raw_string_ostream OS(Messages);
  auto Source = std::make_shared<llvm::SourceMgr>();
  Source->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(Text, Name),
                             llvm::SMLoc());
  SourceMgrDiagnosticHandler Handler(*Source, &C, OS);
  OwningOpRef<ModuleOp> M = parseSourceFile<ModuleOp>(Source, &C);
  if (!M)
    return usageError("'" + Name + "' is no valid MLIR:\n" +
                          StringRef(Messages).rtrim(),
                      KnownDialects);
  return M;
}

/// What \p Pipeline makes of \p File.
static Expected<std::string> lower(StringRef File, StringRef Pipeline) {
  std::string Tool = installedPath("bin/cupilot-opt");
  Expected<ProcessResult> Result =
      runProcess({Tool, "--pass-pipeline=" + Pipeline.str(), File.str()},
                 PipelineSeconds, {}, PipelineMiB);
  if (!Result)
    return Result.takeError();
  if (Result->Status == 0)
    return std::move(Result->Out);
  StringRef Messages = StringRef(Result->Err).rtrim();
  std::string What = "the pipeline fails on '" + File.str() + "'";
  if (Result->TimedOut)
    What = "the pipeline does not end within " +
           std::to_string(PipelineSeconds) + " s on '" + File.str() + "'";
  else if (Result->Status < 0)
    What = "the pipeline ended its process on '" + File.str() + "'";
  if (!Messages.empty())
    What += ":\n" + Messages.take_front(4000).str();
  return usageError(
      What, "cupilot-opt --pass-pipeline='...' " + File +
                " shows the same; for sm_90, gpu-lower-to-nvvm-pipeline needs "
                "cubin-features=+ptx80");
}

namespace {
/// The PTX of one gpu.binary.
struct Binary {
  NvccPtx Ptx;
  std::string Digest; ///< Of its text.
};
} // namespace

/// The PTX that \p Lowered holds, by the name of the gpu.binary. What is in
/// another format goes to \p Notes.
static Expected<llvm::StringMap<Binary>>
readBinaries(ModuleOp Lowered, std::vector<std::string> &Notes) {
  llvm::StringMap<Binary> All;
  llvm::Error Failed = llvm::Error::success();
  Lowered.walk([&](gpu::BinaryOp Op) {
    for (Attribute A : Op.getObjects()) {
      auto Object = cast<gpu::ObjectAttr>(A);
      if (Object.getFormat() != gpu::CompilationTarget::Assembly)
        continue;
      // A zero may end it, for the driver.
      StringRef Text = Object.getObject().getValue().take_until(
          [](char Each) { return Each == '\0'; });
      Expected<NvccPtx> Ptx = NvccPtx::parse(Text.str());
      if (!Ptx) {
        Failed = llvm::joinErrors(std::move(Failed), Ptx.takeError());
        return;
      }
      All.try_emplace(Op.getName(), Binary{std::move(*Ptx), digest(Text)});
      return;
    }
    Notes.push_back("gpu.binary @" + Op.getName().str() +
                    " holds no PTX; the pipeline makes it with "
                    "cubin-format=isa (gpu-module-to-binary: format=isa)");
  });
  if (Failed)
    return std::move(Failed);
  return All;
}

/// "p.mlir:12: " of \p Op.
static std::string placeOf(Operation *Op) {
  auto At = Op->getLoc()->findInstanceOf<FileLineColLoc>();
  return At ? At.getFilename().str() + ":" + std::to_string(At.getLine()) + ": "
            : "";
}

/// Says which device code of \p M is no kernel.
static void noteOthers(ModuleOp M, std::vector<std::string> &Notes) {
  M.walk([&](Operation *Op) {
    if (isa<gpu::LaunchOp>(Op))
      Notes.push_back(placeOf(Op) + "a gpu.launch is no kernel yet; outline it "
                                    "first (mlir-opt --gpu-kernel-outlining)");
    else if (auto Compiled = dyn_cast<gpu::BinaryOp>(Op))
      Notes.push_back(placeOf(Op) + "gpu.binary @" + Compiled.getName().str() +
                      " is compiled; name the module from before "
                      "gpu-module-to-binary");
  });
}

Expected<MlirKernels> extractMlirKernels(StringRef File, StringRef Pipeline) {
  DialectRegistry Registry;
  registerAllDialects(Registry);
  Registry.insert<CupilotDialect>();
  MLIRContext C(Registry, MLIRContext::Threading::DISABLED);
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  Expected<OwningOpRef<ModuleOp>> M = parse(C, *Text, File);
  if (!M)
    return M.takeError();
  MlirKernels Result;
  llvm::StringMap<Binary> Binaries;
  if (!Pipeline.empty()) {
    Expected<std::string> Lowered = lower(File, Pipeline);
    if (!Lowered)
      return Lowered.takeError();
    Expected<OwningOpRef<ModuleOp>> After =
        parse(C, *Lowered, "what the pipeline made");
    if (!After)
      return After.takeError();
    if (llvm::Error E = readBinaries(**After, Result.Notes).moveInto(Binaries))
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
      const Binary &B = It->second;
      KernelIdentity Identity = B.Ptx.identify(K.Symbol);
      if (!Identity.Digest.empty()) {
        Builds.push_back({PtxCompiler, B.Ptx.target().str(), Identity.Digest});
        Module = B.Digest;
      } else if (Identity.Refusal) {
        Result.Notes.push_back(
            placeOf(Op) + "the PTX of kernel '" + K.Name +
            "' has no identity: " + Identity.Refusal->text());
      }
    } else if (!Pipeline.empty()) {
      Result.Notes.push_back(placeOf(Op) + "the pipeline makes no PTX of '" +
                             K.Name + "'");
    }
    Result.Kernels.push_back(std::move(K));
    Result.Builds.push_back(std::move(Builds));
    Result.Modules.push_back(std::move(Module));
  }
  return Result;
}

} // namespace cupilot
