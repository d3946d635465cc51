//===- PassPlugin.cpp - The substitution as passes of opt -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   opt -load-pass-plugin=cupilot.so
//   -passes='cupilot-device<store=S;bitcode=B>' opt
//   -load-pass-plugin=cupilot.so -passes='cupilot-host<store=S>'
//
// The substitution on IR alone, for tests and for pipelines that are not
// clang's. There is no front end here: the bitcode of a variant's source F.cu
// is read from B/F.bc.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"
#include "cupilot/Substitute/Remarks.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace cupilot;

namespace {
struct IrSubstitution : PassInfoMixin<IrSubstitution> {
  bool Device = false, CheckOnly = false;
  EvidencePolicy Evidence;
  std::string Store, Bitcode;

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};
} // namespace

static Expected<std::string> readBitcode(StringRef Folder,
                                         const BuildVariant &V) {
  std::string Path = (Folder + "/" + sys::path::stem(V.Source) + ".bc").str();
  ErrorOr<std::unique_ptr<MemoryBuffer>> File = MemoryBuffer::getFile(Path);
  if (!File)
    return buildError(BuildReason::SourceUnreadable,
                      {Path, File.getError().message()});
  return (*File)->getBuffer().str();
}

PreservedAnalyses IrSubstitution::run(Module &M, ModuleAnalysisManager &) {
  auto Fail = [&](Error E) {
    M.getContext().diagnose(
        DiagnosticInfoGeneric("cupilot: " + toString(std::move(E))));
    return PreservedAnalyses::none();
  };
  Expected<BuildStore> Opened = BuildStore::open(Store);
  if (!Opened)
    return Fail(Opened.takeError());
  SubstitutionOptions Options;
  Options.Store = &*Opened;
  Options.CheckOnly = CheckOnly;
  Options.Evidence = Evidence;
  Options.Provider = [&](const BuildVariant &V) {
    return readBitcode(Bitcode, V);
  };
  Expected<std::vector<SubstitutionOutcome>> Outcomes =
      Device ? substituteDevice(M, Options) : substituteHost(M, Options);
  if (!Outcomes)
    return Fail(Outcomes.takeError());
  emitRemarks(M, *Outcomes, Device, CheckOnly);
  return PreservedAnalyses::none();
}

/// Takes "cupilot-device<...>" and "cupilot-host<...>".
static bool parsePass(StringRef Name, ModulePassManager &Passes,
                      ArrayRef<PassBuilder::PipelineElement>) {
  IrSubstitution P;
  if (Name.consume_front("cupilot-device"))
    P.Device = true;
  else if (!Name.consume_front("cupilot-host"))
    return false;
  if (!Name.empty() && (!Name.consume_front("<") || !Name.consume_back(">")))
    return false;
  for (StringRef Each : split(Name, ';')) {
    auto [Key, Value] = Each.split('=');
    if (Key == "store")
      P.Store = Value.str();
    else if (Key == "bitcode")
      P.Bitcode = Value.str();
    else if (Key == "check")
      P.CheckOnly = true;
    else if (Key == "strict")
      P.Evidence.ProvedOnly = true;
    else if (Each == "legacy=use")
      P.Evidence.TakeLegacy = true;
    else if (Each == "basis=modelled")
      P.Evidence.TakeModelled = true;
    else if (!Each.empty())
      return false;
  }
  Passes.addPass(std::move(P));
  return true;
}

extern "C" LLVM_ATTRIBUTE_WEAK
    __attribute__((visibility("default"))) PassPluginLibraryInfo
    llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cupilot", CUPILOT_VERSION,
          [](PassBuilder &Builder) {
            Builder.registerPipelineParsingCallback(parsePass);
          }};
}
