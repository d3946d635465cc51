//===- NvccCode.cpp - What nvcc builds of a text --------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/NvccCode.h"
#include "cupilot/CpuDevice/PtxModule.h"
#include "cupilot/Evaluation/DeviceModule.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Support/Bitcode.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

using Renames = std::vector<std::pair<std::string, std::string>>;

/// nvcc gives static variables, and those of anonymous namespaces, names of its
/// own; the host knows them by clang's.
static Error renameVariables(ArrayRef<std::string> Found, StringRef Source,
                             Renames &Names) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M = parseBitcode(Source, Context);
  if (!M)
    return M.takeError();
  for (const std::string &Name : Found)
    if (!(*M)->getNamedGlobal(Name))
      for (const GlobalVariable &G : (*M)->globals())
        if (NvccPtx::sourceName(G.getName()) == NvccPtx::sourceName(Name)) {
          Names.push_back({Name, G.getName().str()});
          break;
        }
  return Error::success();
}

Expected<NvccCode> nvccCodeOf(const NvccPtx &Ptx, const NvccUse &Use,
                              StringRef Source, ArrayRef<std::string> Symbols) {
  std::vector<KernelIdentity> Kernels;
  Renames Names;
  for (const std::string &Symbol : Symbols) {
    std::string Name = Ptx.find(Symbol);
    if (Name.empty())
      return findingError("nvcc emits no code for it");
    Kernels.push_back(Ptx.identify(Name, Use.Device.context()));
    if (Kernels.back().Digest.empty())
      return make_error<BuildError>(*Kernels.back().Refusal);
    if (Name != Symbol)
      Names.push_back({Name, Symbol});
    Expected<NvccPtx::Closure> Closure =
        Ptx.closure(Name, Use.Device.context());
    if (!Closure)
      return Closure.takeError();
    if (Error E = renameVariables(Closure->Variables, Source, Names))
      return std::move(E);
  }
  NvccCode Code;
  Code.Identity = digestOfPlan(Kernels);
  Code.Ptx = Ptx.renamed(Names);
  Expected<std::string> Whole = bitcodeOfPtx(Code.Ptx);
  if (!Whole)
    return Whole.takeError();
  if (Error E = onlyKernels(*Whole, Symbols).moveInto(Code.Bitcode))
    return std::move(E);
  return Code;
}

Expected<NvccCode> codeOfPtx(StringRef Text, ArrayRef<std::string> Symbols) {
  Expected<NvccPtx> Ptx = NvccPtx::parse(Text.str());
  if (!Ptx)
    return Ptx.takeError();
  std::vector<KernelIdentity> Kernels;
  for (const std::string &Symbol : Symbols) {
    if (!is_contained(Ptx->kernels(), Symbol))
      return findingError("its PTX has no kernel '" + Symbol + "'");
    Kernels.push_back(Ptx->identify(Symbol));
    if (Kernels.back().Digest.empty())
      return make_error<BuildError>(*Kernels.back().Refusal);
  }
  NvccCode Code;
  Code.Identity = digestOfPlan(Kernels);
  Code.Ptx = Text.str();
  Expected<std::string> Whole = bitcodeOfPtx(Text);
  if (!Whole)
    return Whole.takeError();
  if (Error E = onlyKernels(*Whole, Symbols).moveInto(Code.Bitcode))
    return std::move(E);
  return Code;
}

Expected<NvccCode> compileByNvcc(const NvccUse &Use, StringRef Text,
                                 StringRef Arch, StringRef Source,
                                 ArrayRef<std::string> Symbols,
                                 std::optional<ProcessLimits> Limits) {
  // The path is in what debuggers read, and names of variables hang on it: a
  // batch for a GPU is to be the same when a search goes on.
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::createFor("cupilot-nvcc", Text);
  if (!Dir)
    return Dir.takeError();
  // Where a unit defines nothing that others see, nvcc takes the number of its
  // process for these names.
  if (Error E = writeFileAtomic(Dir->file("text.cu"),
                                (Text + "\nvoid cupilotText() {}\n").str()))
    return std::move(E);
  Expected<NvccPtx> Ptx = compileNvccPtx(Use.Nvcc, Dir->file("text.cu"), Arch,
                                         withLineInfo(Use.Device.Flags),
                                         /*Files=*/nullptr, Limits);
  if (!Ptx)
    return Ptx.takeError();
  return nvccCodeOf(*Ptx, Use, Source, Symbols);
}

} // namespace cupilot
