//===- MlirUnit.cpp - Kernels of MLIR modules for the gate ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is judged is the PTX that the user's pipeline makes. What the kernel
// means, for the float64 run and for all that reads code, says the LLVM IR of
// its gpu.module, as it is before the pipeline makes PTX of it.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/MlirUnit.h"
#include "MlirAdmission.h"
#include "MlirPipeline.h"
#include "cupilot/Compile/TextFiles.h"
#include "cupilot/Dialect/GpuSlice.h"
#include "cupilot/Ptx/Module.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/ReadPtx.h"
#include "cupilot/Support/Toolchain.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

std::string usualMlirPipeline(StringRef Arch) {
  return ("builtin.module(gpu-lower-to-nvvm-pipeline{cubin-chip=" + Arch +
          " cubin-features=+ptx80 cubin-format=isa})")
      .str();
}

namespace {
/// A module of MLIR, and where it is.
struct Parsed {
  DialectRegistry Registry;
  std::unique_ptr<MLIRContext> Context;
  OwningOpRef<ModuleOp> Module;
};
} // namespace

static llvm::Error parseInto(Parsed &P, StringRef Text, StringRef Name) {
  registerMlirDialects(P.Registry);
  registerAllGPUToLLVMIRTranslations(P.Registry);
  P.Context = std::make_unique<MLIRContext>(P.Registry,
                                            MLIRContext::Threading::DISABLED);
  return parseMlir(*P.Context, Text, Name).moveInto(P.Module);
}

/// Puts in what \p M calls of libdevice.
static llvm::Error linkLibdevice(llvm::Module &M) {
  auto Calls = [](const llvm::Function &F) {
    return F.isDeclaration() && F.getName().starts_with("__nv_");
  };
  if (none_of(M, Calls))
    return llvm::Error::success();
  Expected<Toolchain> Tools = Toolchain::findCuda({});
  if (!Tools)
    return Tools.takeError();
  std::string Path = Tools->CudaPath + "/nvvm/libdevice/libdevice.10.bc";
  Expected<std::string> Bytes = readFile(Path);
  if (!Bytes)
    return Bytes.takeError();
  Expected<std::unique_ptr<llvm::Module>> Library = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(*Bytes, Path), M.getContext());
  if (!Library)
    return Library.takeError();
  // Only that of M counts.
  (*Library)->setTargetTriple(M.getTargetTriple());
  (*Library)->setDataLayout(M.getDataLayout());
  llvm::StringSet<> Own;
  for (const llvm::Function &F : M)
    if (!F.isDeclaration())
      Own.insert(F.getName());
  if (llvm::Linker::linkModules(M, std::move(*Library),
                                llvm::Linker::LinkOnlyNeeded))
    return resourceError("'" + Path + "' cannot be linked");
  for (llvm::Function &F : M)
    if (!F.isDeclaration() && !Own.contains(F.getName()))
      F.setLinkage(llvm::GlobalValue::InternalLinkage);
  return llvm::Error::success();
}

/// The bitcode of \p Module, which is lowered to NVVM.
static Expected<std::string> bitcodeOf(gpu::GPUModuleOp Module,
                                       StringRef Arch) {
  llvm::LLVMContext Context;
  std::string Messages;
  std::unique_ptr<llvm::Module> M;
  {
    ScopedDiagnosticHandler Handler(Module.getContext(), [&](Diagnostic &D) {
      Messages += D.str() + "\n";
    });
    M = translateModuleToLLVMIR(Module, Context, Module.getName());
  }
  if (!M)
    return usageError("gpu.module @" + Module.getName() +
                          " is not LLVM IR before code is made of it:\n" +
                          StringRef(Messages).rtrim(),
                      "lower all of it before gpu-module-to-binary");
  M->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  M->setDataLayout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-"
                   "n16:32:64");
  for (llvm::Function &F : *M)
    if (!F.isDeclaration())
      F.addFnAttr("target-cpu", Arch);
  if (llvm::Error E = linkLibdevice(*M))
    return std::move(E);
  std::string Bitcode;
  llvm::raw_string_ostream OS(Bitcode);
  llvm::WriteBitcodeToFile(*M, OS);
  return Bitcode;
}

/// Whether the kernel \p K of \p Ptx has other parameters than launches of the
/// module pass.
static Expected<bool> hasOtherParameters(const MlirBinary &B, const Kernel &K) {
  Expected<ptx::Module> Read = readPtx(B.Text);
  if (!Read)
    return Read.takeError();
  const ptx::Function *F = Read->function(std::string_view(K.Symbol));
  return F && F->Parameters.size() != K.Params.size();
}

/// What gpu-module-to-binary makes of \p Lowered, as PTX.
static Expected<std::string> asPtx(StringRef Lowered) {
  Expected<TemporaryDirectory> Folder =
      TemporaryDirectory::create("cupilot-isa");
  if (!Folder)
    return Folder.takeError();
  std::string File = Folder->file("before.mlir");
  if (llvm::Error E = writeFileAtomic(File, Lowered))
    return std::move(E);
  return lowerMlir(File, "builtin.module(gpu-module-to-binary{format=isa})");
}

/// Gives \p U the code that \p Pipeline makes of the gpu.module \p Name of its
/// file, in which \p K is.
static llvm::Error lowerInto(UnitToJudge &U, StringRef Pipeline, StringRef Name,
                             const Kernel &K) {
  std::string Before;
  Expected<std::string> Lowered = lowerMlir(U.File, Pipeline, &Before);
  if (!Lowered && Before.empty())
    return Lowered.takeError();
  if (Before.empty())
    return usageError("the pipeline makes no code of '" + U.Path +
                          "': it has no gpu-module-to-binary",
                      "let it end as gpu-lower-to-nvvm-pipeline does");
  std::vector<std::string> Unused;
  llvm::StringMap<MlirBinary> Binaries;
  auto Read = [&](StringRef Text) -> llvm::Error {
    Parsed After;
    if (llvm::Error E = parseInto(After, Text, "what the pipeline made"))
      return E;
    return readMlirBinaries(*After.Module, Unused).moveInto(Binaries);
  };
  if (Lowered)
    if (llvm::Error E = Read(*Lowered))
      return E;
  // Another format than PTX may need what is not here, such as ptxas.
  if (!Binaries.contains(Name)) {
    Expected<std::string> Again = asPtx(Before);
    if (!Again) {
      if (Lowered)
        return Again.takeError();
      llvm::consumeError(Again.takeError());
      return Lowered.takeError();
    }
    if (!Lowered)
      llvm::consumeError(Lowered.takeError());
    if (llvm::Error E = Read(*Again))
      return E;
  }
  auto It = Binaries.find(Name);
  if (It == Binaries.end())
    return usageError("the pipeline makes no PTX of gpu.module @" + Name,
                      "attach an NVVM target: nvvm-attach-target, or "
                      "gpu-lower-to-nvvm-pipeline");
  Expected<bool> Others = hasOtherParameters(It->second, K);
  if (!Others)
    return Others.takeError();
  if (*Others)
    return usageError("the pipeline gives '" + K.Name +
                          "' other parameters than pointers, offsets, sizes "
                          "and strides of its memrefs",
                      "leave out kernel-bare-ptr-calling-convention");
  Parsed Source;
  if (llvm::Error E = parseInto(Source, Before, "what the pipeline lowers"))
    return E;
  // Lines, as clang's code has them.
  PassManager Lines(Source.Context.get());
  Lines.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(Lines.run(*Source.Module)))
    return usageError("what the pipeline lowers has broken locations");
  auto Module = Source.Module->lookupSymbol<gpu::GPUModuleOp>(Name);
  if (!Module)
    return usageError("the pipeline leaves no gpu.module @" + Name);
  U.Arch = It->second.Ptx.target().str();
  U.Ptx = It->second.Text;
  return bitcodeOf(Module, U.Arch).moveInto(U.Bitcode);
}

namespace {
/// The kernels of a file and the gpu.modules that they are in.
struct Described {
  UnitToJudge Unit;
  std::vector<std::string> Modules; ///< "" outside of one.
};
} // namespace

static Described describeKernels(ModuleOp M, StringRef File) {
  Described D;
  D.Unit.Path = D.Unit.File = File.str();
  for (auto &[Op, K] : describeGpuKernels(M)) {
    auto Module = dyn_cast<gpu::GPUModuleOp>(Op->getParentOp());
    D.Modules.push_back(Module ? Module.getName().str() : "");
    if (!Module && !K.Refusal)
      K.Refusal = "it is in no gpu.module";
    K.Lowered = true;
    D.Unit.Kernels.push_back(std::move(K));
  }
  return D;
}

static Expected<Described> describeFile(StringRef File) {
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  Parsed P;
  if (llvm::Error E = parseInto(P, *Text, File))
    return std::move(E);
  return describeKernels(*P.Module, File);
}

Expected<UnitToJudge> describeMlirUnit(StringRef File) {
  Expected<Described> D = describeFile(File);
  if (!D)
    return D.takeError();
  return std::move(D->Unit);
}

Expected<UnitToJudge> loadMlirUnit(StringRef File, StringRef Pipeline,
                                   StringRef Named) {
  Expected<Described> D = describeFile(File);
  if (!D)
    return D.takeError();
  Expected<const Kernel *> K = D->Unit.find(Named);
  if (!K)
    return K.takeError();
  if ((*K)->Refusal)
    return usageError("'" + (*K)->Name +
                      "' cannot be judged: " + *(*K)->Refusal);
  // Those of the same name in other modules are others.
  const size_t Index = *K - D->Unit.Kernels.data();
  if (llvm::Error E = lowerInto(D->Unit, Pipeline, D->Modules[Index], **K))
    return std::move(E);
  return std::move(D->Unit);
}

static GateVerdict refused(std::vector<GateFinding> Findings) {
  GateVerdict V;
  V.Findings = std::move(Findings);
  return V;
}

/// The verdict on a text of which \p E says what is wrong; outside resources
/// that fail stay errors.
static Expected<TextToJudge> refusedFor(llvm::Error E) {
  std::string Why;
  if (llvm::Error Other = llvm::handleErrors(
          std::move(E), [&](std::unique_ptr<ToolError> T) -> llvm::Error {
            if (T->code() == ExitCode::Resource)
              return llvm::Error(std::move(T));
            Why = T->text();
            return llvm::Error::success();
          }))
    return std::move(Other);
  return TextToJudge{std::nullopt,
                     refused({{GateReason::CompileError, "", Why}})};
}

/// What cannot be said of a text whose reader crashed here.
static TextToJudge crashed() {
  return {std::nullopt, refused({{GateReason::CompilerCrash, "",
                                  "MLIR crashes on the text"}})};
}

Expected<TextToJudge> loadMlirText(StringRef File, StringRef Pipeline) {
  // Whether it is MLIR at all, a process of its own finds out.
  if (Expected<std::string> Valid = lowerMlir(File, "builtin.module()"); !Valid)
    return refusedFor(Valid.takeError());
  Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  std::vector<GateFinding> Findings;
  Described D;
  llvm::Error Failed = llvm::Error::success();
  if (!runGuarded([&] {
        Parsed P;
        if (llvm::Error E = parseInto(P, *Text, File)) {
          Failed = llvm::joinErrors(std::move(Failed), std::move(E));
          return;
        }
        Findings = admitMlir(*P.Module);
        D = describeKernels(*P.Module, File);
      })) {
    llvm::consumeError(std::move(Failed));
    return crashed();
  }
  if (Failed)
    return refusedFor(std::move(Failed));
  if (!Findings.empty())
    return TextToJudge{std::nullopt, refused(std::move(Findings))};
  if (D.Unit.Kernels.empty())
    return TextToJudge{std::nullopt, refused({{GateReason::CompileError, "",
                                               "the text has no kernel"}})};
  for (const Kernel &K : D.Unit.Kernels)
    if (K.Refusal)
      return TextToJudge{
          std::nullopt, refused({{GateReason::CompileError, "",
                                  "'" + K.Name +
                                      "' has no parameters that a launch could "
                                      "pass: " +
                                      *K.Refusal}})};
  if (!runGuarded([&] {
        if (llvm::Error E = lowerInto(D.Unit, Pipeline, D.Modules.front(),
                                      D.Unit.Kernels.front()))
          Failed = llvm::joinErrors(std::move(Failed), std::move(E));
      })) {
    llvm::consumeError(std::move(Failed));
    return crashed();
  }
  if (Failed)
    return refusedFor(std::move(Failed));
  return TextToJudge{std::move(D.Unit), {}};
}

} // namespace cupilot
