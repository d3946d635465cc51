//===- DeviceSubstitution.cpp - Variants into device modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace cupilot {

std::string variantSymbol(StringRef Original, const BuildVariant &V) {
  // All that the host decides by: two records may hold one text under different
  // plans, guards and domains.
  std::string Key =
      DigestBuilder()
          .add(V.SourceDigest)
          .add(V.Canonical)
          .add(formatv("{0}", toJSON(V.Plan)).str())
          .add(formatv("{0}", toJSON(V.When)).str())
          .add(V.Where ? formatv("{0}", toJSON(*V.Where)).str() : std::string())
          .str();
  return (VariantPrefix + shortDigest(Key) + "_" + Original).str();
}

std::vector<std::string> variantSymbols(StringRef Original,
                                        const BuildVariant &V) {
  std::vector<std::string> Names;
  std::string First = variantSymbol(Original, V);
  for (size_t I = 0, E = V.Plan.symbols().size(); I < E; ++I)
    Names.push_back(I == 0 ? First
                           : (First.substr(0, First.size() - Original.size()) +
                              Twine(I) + "_" + Original)
                                 .str());
  return Names;
}

Expected<std::string> readVariant(const BuildVariant &V, StringRef Path) {
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (std::error_code EC = File.getError()) {
    if (EC == std::errc::no_such_file_or_directory)
      return buildError(BuildReason::SourceGone, {Path});
    return buildError(BuildReason::SourceUnreadable, {Path, EC.message()});
  }
  std::string Text = (*File)->getBuffer().str();
  if (digest(Text) == V.SourceDigest)
    return Text;
  erase(Text, '\r');
  return buildError(digest(Text) == V.SourceDigest ? BuildReason::LineEnds
                                                   : BuildReason::SourceChanged,
                    {Path});
}

/// True when both have initialisers of one type (in one context, constants are
/// equal where they are the same), and these differ.
static bool differentInitialisers(const GlobalVariable &A,
                                  const GlobalVariable &B) {
  return A.hasInitializer() && B.hasInitializer() &&
         A.getValueType() == B.getValueType() &&
         A.getInitializer() != B.getInitializer();
}

/// Whether the unit's \p Own, of the same name, may stand for the constant \p
/// G: a table that each variant had a copy of would fill the constant memory.
static bool isSameConstant(const GlobalVariable &Own, const GlobalVariable &G) {
  return Own.isConstant() && Own.hasDefinitiveInitializer() &&
         G.hasInitializer() && Own.getValueType() == G.getValueType() &&
         Own.getInitializer() == G.getInitializer() &&
         Own.getAddressSpace() == G.getAddressSpace() &&
         Own.getAlign().valueOrOne() >= G.getAlign().valueOrOne();
}

/// The bytes of a module's constant memory.
static uint64_t constantBytes(const Module &M) {
  uint64_t Bytes = 0;
  for (const GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST &&
        !G.isDeclaration())
      Bytes = alignTo(Bytes, G.getAlign().valueOrOne()) +
              M.getDataLayout().getTypeAllocSize(G.getValueType());
  return Bytes;
}

/// CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
static constexpr uint64_t ConstantMemory = 64 << 10;

/// Binds the variant's device variables to the unit's own, by name, and
/// constants of which the unit has the same. Returns why that cannot be.
static std::optional<BuildNote>
bindVariables(Module &Unit, Module &Variant,
              SmallVectorImpl<std::pair<std::string, std::string>> &Bound) {
  for (GlobalVariable &G : Variant.globals()) {
    if (G.use_empty() || !G.hasName() || G.getName().starts_with("llvm."))
      continue;
    GlobalVariable *Own =
        Unit.getGlobalVariable(G.getName(), /*AllowInternal=*/true);
    if (!isDeviceVariable(G) && (!Own || !isSameConstant(*Own, G)))
      continue;
    if (!Own || (Own->isDeclaration() && !isBuiltinVariable(G.getName())))
      return BuildNote(BuildReason::MissingVariable, {G.getName()});
    if (Own->getAddressSpace() != G.getAddressSpace() ||
        canonicalType(Own->getValueType()) != canonicalType(G.getValueType()) ||
        Own->getAlign().valueOrOne() < G.getAlign().valueOrOne() ||
        Own->isConstant() != G.isConstant() ||
        Own->isExternallyInitialized() != G.isExternallyInitialized() ||
        differentInitialisers(*Own, G))
      return BuildNote(BuildReason::OtherVariable, {G.getName()});
    std::string Original = G.getName().str(),
                Temporary = "__cupilot_bind_" + Original;
    G.setName(Temporary);
    G.setInitializer(nullptr);
    G.setLinkage(GlobalValue::ExternalLinkage);
    G.setComdat(nullptr);
    Bound.push_back({Temporary, Original});
  }
  return std::nullopt;
}

/// Makes everything of \p Variant but its kernels internal, with names of its
/// own, so that nothing merges with what the unit has under the same name.
/// The kernels get \p Linkage.
static void isolate(Module &Variant, ArrayRef<Function *> Kernels,
                    ArrayRef<std::string> NewNames, StringRef Prefix,
                    GlobalValue::LinkageTypes Linkage) {
  for (NamedMDNode &Node : make_early_inc_range(Variant.named_metadata()))
    if (!Node.getName().starts_with("llvm.dbg") &&
        Node.getName() != "llvm.module.flags")
      Node.eraseFromParent();
  auto Hide = [&](GlobalObject &G) {
    if (G.isDeclaration())
      return;
    G.setComdat(nullptr);
    G.setName(Prefix + G.getName());
    G.setLinkage(GlobalValue::InternalLinkage);
    G.setVisibility(GlobalValue::DefaultVisibility);
  };
  for (Function &F : Variant)
    if (!is_contained(Kernels, &F))
      Hide(F);
  for (GlobalVariable &G : Variant.globals())
    Hide(G);
  for (auto [Kernel, NewName] : zip_equal(Kernels, NewNames)) {
    Kernel->setComdat(nullptr);
    Kernel->setName(NewName);
    Kernel->setLinkage(Linkage);
    Kernel->setVisibility(GlobalValue::DefaultVisibility);
  }
}

/// Other kernels of the variant's text, and what only they need, stay out.
static void dropUnused(Module &Variant, ArrayRef<Function *> Kernels) {
  for (StringRef Name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                         "llvm.global.annotations"})
    if (GlobalVariable *List = Variant.getNamedGlobal(Name))
      List->eraseFromParent();
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (Function &F : make_early_inc_range(Variant)) {
      F.removeDeadConstantUsers();
      if (!is_contained(Kernels, &F) && F.use_empty()) {
        F.eraseFromParent();
        Changed = true;
      }
    }
    for (GlobalVariable &G : make_early_inc_range(Variant.globals())) {
      G.removeDeadConstantUsers();
      if (G.use_empty() && !G.getName().starts_with("llvm.")) {
        G.eraseFromParent();
        Changed = true;
      }
    }
  }
}

/// In relocatable device code units that share a kernel share its variants.
static GlobalValue::LinkageTypes linkageLike(const Function &Original) {
  return Original.isWeakForLinker() ? GlobalValue::WeakODRLinkage
                                    : GlobalValue::ExternalLinkage;
}

/// Links one variant in. Returns why it does not fit, if it does not.
static std::optional<BuildNote>
linkVariant(Module &M, const Function &Launched, const BuildVariant &V,
            const SubstitutionOptions &Options) {
  std::string Original = Launched.getName().str();
  Expected<std::string> Bitcode = Options.Provider(V);
  if (!Bitcode)
    return noteOf(Bitcode.takeError());
  Expected<std::unique_ptr<Module>> Parsed =
      parseBitcodeFile(MemoryBufferRef(*Bitcode, V.Source), M.getContext());
  if (!Parsed)
    return BuildNote(BuildReason::BrokenBitcode,
                     {toString(Parsed.takeError())});
  Module &Variant = **Parsed;
  // The unit's pipeline has passed that point already.
  foldReflect(Variant);
  SmallVector<Function *> Kernels;
  std::vector<KernelIdentity> Own;
  for (const std::string &Symbol : V.Plan.symbols()) {
    Function *Kernel = Variant.getFunction(Symbol);
    if (!Kernel || Kernel->isDeclaration())
      return BuildNote(BuildReason::NoKernel, {Symbol});
    if (Kernel->arg_size() != Launched.arg_size() + V.Plan.extraParams())
      return BuildNote(BuildReason::OtherParameters,
                       {Symbol, std::to_string(Launched.arg_size()),
                        std::to_string(V.Plan.extraParams())});
    Own.push_back(identify(*Kernel, Options.Context));
    if (Own.back().Refusal)
      return *Own.back().Refusal;
    Kernels.push_back(Kernel);
  }
  if (Kernels.empty())
    return BuildNote(BuildReason::NoLaunch);
  if (digestOfPlan(Own) != V.Canonical)
    return BuildNote(BuildReason::OtherVariantCode);
  if (Options.CheckOnly)
    return std::nullopt;
  dropUnused(Variant, Kernels);
  SmallVector<std::pair<std::string, std::string>> Bound;
  if (std::optional<BuildNote> Why = bindVariables(M, Variant, Bound))
    return *Why;
  if (uint64_t More = constantBytes(Variant))
    if (uint64_t All = constantBytes(M) + More; All > ConstantMemory)
      return BuildNote(BuildReason::ConstantMemory,
                       {std::to_string(All), std::to_string(ConstantMemory)});
  std::string First = variantSymbol(Original, V);
  isolate(Variant, Kernels, variantSymbols(Original, V),
          StringRef(First).drop_back(Original.size()), linkageLike(Launched));
  // What a failed link leaves behind must not be compiled.
  if (Linker::linkModules(M, std::move(*Parsed)))
    M.getContext().emitError("cupilot: linking the variant '" + V.Name +
                             "' failed; compile without it by "
                             "-fplugin-arg-cupilot-skip=REGEX");
  for (auto &[Temporary, Name] : Bound)
    if (GlobalVariable *G = M.getNamedGlobal(Temporary)) {
      G->replaceAllUsesWith(M.getGlobalVariable(Name, /*AllowInternal=*/true));
      G->eraseFromParent();
    }
  return std::nullopt;
}

/// A kernel that is never launched: every image must hold every name that the
/// host registers. Guards compare the image's architecture before a launch.
static void addPlaceholder(Module &M, StringRef Name,
                           const Function &Original) {
  if (M.getFunction(Name))
    return;
  Function *F = Function::Create(Original.getFunctionType(),
                                 linkageLike(Original), Name, M);
  F->setCallingConv(CallingConv::PTX_Kernel);
  F->copyAttributesFrom(&Original);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", F));
  B.CreateIntrinsic(Intrinsic::trap, {});
  B.CreateRetVoid();
}

namespace {
/// A kernel of the unit and what the store has for it.
struct Candidate {
  Function *Kernel;
  std::string Symbol;
  bool Taken = true; ///< By only= and skip=.
  std::optional<BuildNote> Refusal;
  std::optional<BuildRecord> Record; ///< For the kernel's code as it is.
  std::vector<BuildRecord> All;      ///< For its name.
};
} // namespace

/// All that the store is asked for, before the module is changed.
static Expected<std::vector<Candidate>>
findCandidates(Module &M, const SubstitutionOptions &Options) {
  std::vector<Candidate> Candidates;
  for (Function &F : M) {
    if (F.isDeclaration() || F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    Candidate &C = Candidates.emplace_back(&F, F.getName().str());
    C.Taken = Options.Filter.takes(demangle(withoutUnitName(C.Symbol)));
    if (!C.Taken)
      continue;
    KernelIdentity Identity = identify(F, Options.Context);
    C.Refusal = std::move(Identity.Refusal);
    if (C.Refusal)
      continue;
    if (Error E =
            Options.Store->lookup(Identity.Digest, withoutUnitName(C.Symbol))
                .moveInto(C.Record))
      return std::move(E);
    if (Error E = Options.Store->recordsFor(withoutUnitName(C.Symbol))
                      .moveInto(C.All))
      return std::move(E);
  }
  return Candidates;
}

Expected<std::vector<SubstitutionOutcome>>
substituteDevice(Module &M, const SubstitutionOptions &Options) {
  using Result = SubstitutionResult;
  Expected<std::vector<Candidate>> Candidates = findCandidates(M, Options);
  if (!Candidates)
    return Candidates.takeError();
  std::vector<SubstitutionOutcome> Outcomes;
  unsigned Applied = 0;
  for (const auto &[Kernel, Symbol, Chosen, Refusal, Record, All] :
       *Candidates) {
    if (!Chosen) {
      Outcomes.push_back({Symbol, Result::NotChosen, BuildReason::NotChosen});
      continue;
    }
    if (Refusal) {
      Outcomes.push_back({Symbol, Result::Refused, *Refusal});
      continue;
    }
    StringRef Arch = Kernel->getFnAttribute("target-cpu").getValueAsString();
    bool Stale = false;
    for (const BuildRecord &R : All) {
      Stale |= R.Arch == Arch;
      // Where the host could not tell the images apart (sm_90 and sm_90a), the
      // name stays missing, and the host leaves the variant alone.
      if (!Options.CheckOnly &&
          capabilityNumber(R.Arch) != capabilityNumber(Arch))
        for (const BuildVariant &V : R.Variants)
          for (const std::string &Name : variantSymbols(Symbol, V))
            addPlaceholder(M, Name, *Kernel);
    }
    // Pruning, or a bisection, may leave a record without variants.
    bool None = Record && Record->Variants.empty();
    Stale &= !None;
    if (!Record || None) {
      Outcomes.push_back(
          {Symbol, Stale ? Result::VariantStale : Result::NoVariant,
           Stale ? BuildReason::OtherCode : BuildReason::NoVariant});
      continue;
    }
    for (const BuildVariant &V : Record->Variants) {
      if (std::optional<SubstitutionOutcome> Out =
              whyNotBuilt(Symbol, V, Options.Evidence, Options.Store->root())) {
        Outcomes.push_back(std::move(*Out));
        continue;
      }
      if (Applied >= Options.Limit) {
        Outcomes.push_back(
            {Symbol,
             Result::NotChosen,
             {BuildReason::Limit, {V.Name, std::to_string(Options.Limit)}}});
        continue;
      }
      if (std::optional<BuildNote> Why = linkVariant(M, *Kernel, V, Options)) {
        Outcomes.push_back({Symbol, Result::VariantStale, *Why, V.Name});
        continue;
      }
      ++Applied;
      BuildVariant Taken = V;
      restrictDomain(Taken, Options.Evidence);
      Outcomes.push_back(
          {Symbol, Result::VariantApplied,
           noteOfApplied(V, V.Genome + contractRemark(Record->Contract)),
           /*Variant=*/"",
           /*Function=*/"", conditionsOf(Taken, *Record)});
    }
  }
  return Outcomes;
}

} // namespace cupilot
