//===- HostCode.cpp - Parts of modules as host code -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate's code has been through LLVM once when it comes here, but not
// through the lowering and the host's code generator. So these run in copies of
// cupilot-compile, as clang does for its text.
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/HostCode.h"
#include "HostCode.h"
#include "HostJit.h"
#include "TableArchive.h"
#include "cupilot/CpuDevice/Unsupported.h"
#include "cupilot/Support/LimitedProcess.h"
#include "cupilot/Support/Nvptx.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace llvm;

namespace cupilot {

char HostCodeError::ID = 0;

/// Optimises \p M for the GPU as LLVM does. Loads that PTX marks as of constant
/// memory are marked here too.
static Error optimizeAsCompiled(Module &M, StringRef Arch) {
  Expected<std::unique_ptr<TargetMachine>> Target = nvptxMachine(M, Arch);
  if (!Target)
    return Target.takeError();
  optimizeForNvptx(M, **Target);
  ModulePassManager Wide;
  Wide.addPass(createModuleToFunctionPassAdaptor(LoadStoreVectorizerPass()));
  Pipeline(Target->get()).run(std::move(Wide), M);
  for (Function &F : M) {
    if (F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    for (Instruction &I : instructions(F))
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
        if (const auto *A = dyn_cast<Argument>(
                getUnderlyingObject(Load->getPointerOperand(), 32));
            A && A->hasNoAliasAttr() && A->onlyReadsMemory())
          Load->setMetadata(LLVMContext::MD_invariant_load,
                            MDNode::get(M.getContext(), {}));
  }
  return Error::success();
}

/// \p AsCompiled: as LLVM optimises it for the GPU.
static Expected<CompiledPart> compileAs(bool AsCompiled, ModuleSource &Source,
                                        StringRef Name,
                                        const CpuDeviceOptions &Options) {
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M =
      Name == WholeName       ? Source.whole(Context)
      : Name == VariablesName ? Source.variables(Context)
                              : Source.only(Name, Context);
  if (!M)
    return M.takeError();
  CompiledPart Part;
  if (Name == VariablesName) {
    Part.Tables = lowerVariables(**M);
  } else {
    // What PTX says has been compiled already.
    AsCompiled &= !isMadeOfPtx(**M);
    if (AsCompiled)
      if (Error E = optimizeAsCompiled(**M, Options.Arch))
        return std::move(E);
    Expected<LoweredModule> Tables = lowerModule(**M, Options);
    if (!Tables)
      return Tables.takeError();
    Part.Tables = std::move(*Tables);
    // Intrinsics that only the optimiser makes.
    if (AsCompiled && any_of(Part.Tables.Kernels, [](const LoweredKernel &K) {
          return !K.Unsupported.empty();
        }))
      return compileAs(/*AsCompiled=*/false, Source, Name, Options);
    if (Name != WholeName)
      forgetVariables(**M, Part.Tables);
  }
  Expected<std::unique_ptr<MemoryBuffer>> Object = hostObject(**M);
  if (!Object)
    return Object.takeError();
  Part.Object = (*Object)->getBuffer().str();
  return Part;
}

Expected<CompiledPart> compilePart(ModuleSource &Source, StringRef Name,
                                   const CpuDeviceOptions &Options) {
  return compileAs(Options.Count && Options.AsCompiled, Source, Name, Options);
}

namespace {
/// What an answer begins with.
enum class HostAnswer { Part, Finding, Crash, Limits };
/// What a finding is, for who asked.
enum class FindingKind { Tool, Unsupported, Other };
} // namespace

static std::string wordOf(HostAnswer A) { return utostr(unsigned(A)); }

/// In the copy.
static Parcel answerOf(Expected<CompiledPart> Made) {
  if (Made)
    return {wordOf(HostAnswer::Part), archived(Made->Tables), Made->Object};
  Parcel P;
  auto Is = [&](FindingKind K, ExitCode Code, StringRef Text, StringRef Hint) {
    P = {wordOf(HostAnswer::Finding), utostr(unsigned(K)),
         utostr(unsigned(Code)), Text.str(), Hint.str()};
  };
  handleAllErrors(
      Made.takeError(),
      [&](const UnsupportedError &U) {
        Is(FindingKind::Unsupported, U.code(), U.text(), U.hint());
      },
      [&](const ToolError &T) {
        Is(FindingKind::Tool, T.code(), T.text(), T.hint());
      },
      [&](const ErrorInfoBase &Other) {
        Is(FindingKind::Other, ExitCode::Resource, Other.message(), "");
      });
  return P;
}

static Error unreadable() {
  return resourceError("cupilot-compile gives an answer that nobody reads",
                       "install cuPilot as a whole");
}

/// The part or the error in \p P; unreadable() in what is neither.
static Expected<CompiledPart> partFrom(const Parcel &P) {
  ParcelReader From(P);
  uint64_t What = From.number();
  if (What == unsigned(HostAnswer::Part)) {
    std::optional<LoweredModule> Tables = tablesOf(From.text());
    std::string Object = From.text();
    if (!Tables || !From.isGood())
      return unreadable();
    return CompiledPart{std::move(*Tables), std::move(Object)};
  }
  if (What == unsigned(HostAnswer::Finding)) {
    auto K = static_cast<FindingKind>(From.number());
    auto Code = static_cast<ExitCode>(From.number());
    std::string Text = From.text(), Hint = From.text();
    if (!From.isGood())
      return unreadable();
    if (K == FindingKind::Unsupported)
      return make_error<UnsupportedError>(Text, Hint);
    if (K == FindingKind::Tool)
      return make_error<ToolError>(Code, Text, Hint);
    return createStringError(Text);
  }
  std::string Message = From.text();
  if (!From.isGood() || What > unsigned(HostAnswer::Limits))
    return unreadable();
  return make_error<HostCodeError>(What == unsigned(HostAnswer::Crash)
                                       ? HostCodeError::Kind::Crash
                                       : HostCodeError::Kind::Limits,
                                   Message);
}

Expected<CompiledPart> compilePartApart(ModuleSource &Source, StringRef Name,
                                        const CpuDeviceOptions &Options) {
  // They start once for the whole program, and end with it.
  static RequestServers Servers("--serve-host-code");
  Expected<StringRef> Bitcode = Source.bitcode();
  if (!Bitcode)
    return Bitcode.takeError();
  Parcel Request = {Bitcode->str(), Name.str(), archived(Options)};
  addLimits(Request, *Options.Apart);
  Expected<Parcel> Answer = Servers.ask(Request);
  if (!Answer)
    return Answer.takeError();
  return partFrom(*Answer);
}

/// Whether \p P is something that answerOf() made.
static bool isWhole(const Parcel &P) {
  return (P.size() == 3 && P[0] == wordOf(HostAnswer::Part)) ||
         (P.size() == 5 && P[0] == wordOf(HostAnswer::Finding));
}

int serveHostCode() {
  // The copies find it done.
  if (Error E = prepareHost())
    return reportError(std::move(E), "cupilot-compile");
  return serveRequests(
      [](const Parcel &Request) -> Expected<std::optional<Parcel>> {
        ParcelReader From(Request);
        ModuleSource Source(From.text(), /*IsPtx=*/false);
        std::string Name = From.text();
        std::optional<CpuDeviceOptions> Options = optionsOf(From.text());
        ProcessLimits Limits = limitsFrom(From);
        if (!Options || !From.isGood())
          return std::nullopt;
        Expected<CopyResult> Copy = runInCopy(
            Limits,
            [&] { return answerOf(compilePart(Source, Name, *Options)); },
            isWhole);
        if (!Copy)
          return Copy.takeError();
        switch (Copy->Fate) {
        case CopyFate::Answers:
          return std::move(Copy->Answer);
        case CopyFate::Crashes:
          return Parcel{wordOf(HostAnswer::Crash),
                        "the compiler crashes on the host code of it"};
        case CopyFate::BeyondLimits:
          return Parcel{wordOf(HostAnswer::Limits), Copy->Message};
        }
        llvm_unreachable("a fate that is none");
      });
}

} // namespace cupilot
