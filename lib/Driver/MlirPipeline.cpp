//===- MlirPipeline.cpp - MLIR modules on their way to PTX ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirPipeline.h"
#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

// A pipeline that takes longer, or more, does not end.
static constexpr unsigned PipelineSeconds = 120;
static constexpr unsigned PipelineMiB = 8192;

void registerMlirDialects(DialectRegistry &Registry) {
  registerAllDialects(Registry);
  Registry.insert<CupilotDialect>();
}

static const char KnownDialects[] =
    "cupilot-opt reads the dialects of LLVM 22; lower others before";

Expected<OwningOpRef<ModuleOp>> parseMlir(MLIRContext &C, StringRef Text,
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

/// The file in \p Folder, or in a folder there.
static std::string onlyFileIn(StringRef Folder) {
  std::error_code EC;
  for (llvm::sys::fs::recursive_directory_iterator I(Folder, EC), End;
       I != End && !EC; I.increment(EC))
    if (llvm::sys::path::extension(I->path()) == ".mlir")
      return I->path();
  return "";
}

Expected<std::string> lowerMlir(StringRef File, StringRef Pipeline,
                                std::string *Before) {
  std::vector<std::string> Command = {installedPath("bin/cupilot-opt"),
                                      "--pass-pipeline=" + Pipeline.str(),
                                      File.str()};
  std::optional<TemporaryDirectory> Folder;
  if (Before) {
    Expected<TemporaryDirectory> Made =
        TemporaryDirectory::create("cupilot-pipeline");
    if (!Made)
      return Made.takeError();
    Folder.emplace(std::move(*Made));
    Command.push_back("--mlir-print-ir-before=gpu-module-to-binary");
    Command.push_back("--mlir-print-debuginfo");
    Command.push_back("--mlir-print-ir-tree-dir=" + Folder->path().str());
  }
  // Where LLVM looks for libdevice.
  std::vector<std::string> Environment;
  if (!llvm::sys::Process::GetEnv("CUDA_ROOT")) {
    Expected<Toolchain> Tools = Toolchain::find({});
    if (!Tools)
      return Tools.takeError();
    if (!Tools->CudaPath.empty())
      Environment.push_back("CUDA_ROOT=" + Tools->CudaPath);
  }
  Expected<ProcessResult> Result =
      runProcess(Command, PipelineSeconds, Environment, PipelineMiB);
  if (!Result)
    return Result.takeError();
  if (Before)
    if (std::string Path = onlyFileIn(Folder->path()); !Path.empty())
      if (llvm::Error E = readFile(Path).moveInto(*Before))
        return std::move(E);
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

Expected<llvm::StringMap<MlirBinary>>
readMlirBinaries(ModuleOp Lowered, std::vector<std::string> &Notes) {
  llvm::StringMap<MlirBinary> All;
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
      All.try_emplace(Op.getName(),
                      MlirBinary{std::move(*Ptx), Text.str(), digest(Text)});
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

std::string mlirPlaceOf(Operation *Op) {
  auto At = Op->getLoc()->findInstanceOf<FileLineColLoc>();
  return At ? At.getFilename().str() + ":" + std::to_string(At.getLine()) + ": "
            : "";
}

} // namespace cupilot
