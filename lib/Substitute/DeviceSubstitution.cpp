//===- DeviceSubstitution.cpp - Variants into device modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/BuildIdentity.h"
#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Substitute/Substitute.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace cupilot {

std::string variantSymbol(StringRef Original, const BuildVariant &V) {
  // All that the host decides by: two records may hold one text under different
  // plans and guards.
  std::string Key = DigestBuilder()
                        .add(V.SourceDigest)
                        .add(V.Canonical)
                        .add(formatv("{0}", toJSON(V.Plan)).str())
                        .add(formatv("{0}", toJSON(V.When)).str())
                        .str();
  return (VariantPrefix + shortDigest(Key) + "_" + Original).str();
}

static bool chosen(const SubstitutionOptions &Options, StringRef Symbol) {
  std::string Name = demangle(Symbol);
  if (!Options.Only.empty() && !Regex(Options.Only).match(Name))
    return false;
  return Options.Skip.empty() || !Regex(Options.Skip).match(Name);
}

/// True when both have initialisers of one type (in one context, constants are
/// equal where they are the same), and these differ.
static bool differentInitialisers(const GlobalVariable &A,
                                  const GlobalVariable &B) {
  return A.hasInitializer() && B.hasInitializer() &&
         A.getValueType() == B.getValueType() &&
         A.getInitializer() != B.getInitializer();
}

/// Binds the variant's device variables to the unit's own, by name. Returns why
/// that cannot be, or "".
static std::string
bindVariables(Module &Unit, Module &Variant,
              SmallVectorImpl<std::pair<std::string, std::string>> &Bound) {
  for (GlobalVariable &G : Variant.globals()) {
    if (!isDeviceVariable(G) || G.use_empty() ||
        G.getName().starts_with("llvm."))
      continue;
    GlobalVariable *Own =
        Unit.getGlobalVariable(G.getName(), /*AllowInternal=*/true);
    if (!Own)
      return textOf(BuildReason::MissingVariable, {G.getName()});
    if (Own->getAddressSpace() != G.getAddressSpace() ||
        canonicalType(Own->getValueType()) != canonicalType(G.getValueType()) ||
        Own->getAlign().valueOrOne() < G.getAlign().valueOrOne() ||
        Own->isConstant() != G.isConstant() ||
        Own->isExternallyInitialized() != G.isExternallyInitialized() ||
        differentInitialisers(*Own, G))
      return textOf(BuildReason::OtherVariable, {G.getName()});
    std::string Original = G.getName().str(),
                Temporary = "__cupilot_bind_" + Original;
    G.setName(Temporary);
    G.setInitializer(nullptr);
    G.setLinkage(GlobalValue::ExternalLinkage);
    G.setComdat(nullptr);
    Bound.push_back({Temporary, Original});
  }
  return "";
}

/// Makes everything of \p Variant but its kernel internal, with names of its
/// own, so that nothing merges with what the unit has under the same name.
static void isolate(Module &Variant, Function &Kernel,
                    const std::string &NewName) {
  for (NamedMDNode &Node : make_early_inc_range(Variant.named_metadata()))
    if (!Node.getName().starts_with("llvm.dbg") &&
        Node.getName() != "llvm.module.flags")
      Node.eraseFromParent();
  StringRef Prefix =
      StringRef(NewName).take_front(NewName.size() - Kernel.getName().size());
  auto Hide = [&](GlobalObject &G) {
    if (G.isDeclaration())
      return;
    G.setComdat(nullptr);
    G.setName(Prefix + G.getName());
    G.setLinkage(GlobalValue::InternalLinkage);
    G.setVisibility(GlobalValue::DefaultVisibility);
  };
  for (Function &F : Variant)
    if (&F != &Kernel)
      Hide(F);
  for (GlobalVariable &G : Variant.globals())
    Hide(G);
  Kernel.setComdat(nullptr);
  Kernel.setName(NewName);
  Kernel.setLinkage(GlobalValue::ExternalLinkage);
  Kernel.setVisibility(GlobalValue::DefaultVisibility);
}

/// Other kernels of the variant's text, and what only they need, stay out.
static void dropUnused(Module &Variant, Function &Kernel) {
  for (StringRef Name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                         "llvm.global.annotations"})
    if (GlobalVariable *List = Variant.getNamedGlobal(Name))
      List->eraseFromParent();
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (Function &F : make_early_inc_range(Variant)) {
      F.removeDeadConstantUsers();
      if (&F != &Kernel && F.use_empty()) {
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

/// Links one variant in. Returns why it does not fit, or "".
static Expected<std::string> linkVariant(Module &M, StringRef Original,
                                         const BuildVariant &V,
                                         const SubstitutionOptions &Options) {
  Expected<std::string> Bitcode = Options.Provider(V);
  if (!Bitcode)
    return toString(Bitcode.takeError());
  Expected<std::unique_ptr<Module>> Parsed =
      parseBitcodeFile(MemoryBufferRef(*Bitcode, V.Source), M.getContext());
  if (!Parsed)
    return textOf(BuildReason::BrokenBitcode, {toString(Parsed.takeError())});
  Module &Variant = **Parsed;
  if (V.Plan.Launches.size() != 1)
    return textOf(BuildReason::SeveralLaunches);
  Function *Kernel = Variant.getFunction(V.Plan.Launches.front().Symbol);
  if (!Kernel || Kernel->isDeclaration())
    return textOf(BuildReason::NoKernel, {V.Plan.Launches.front().Symbol});
  // The unit's pipeline has passed that point already.
  foldReflect(Variant);
  KernelIdentity Own = identify(*Kernel, Options.Context);
  if (Own.Digest.empty() || Own.Digest != V.Canonical)
    return Own.Digest.empty() ? Own.Refusal
                              : textOf(BuildReason::OtherVariantCode);
  if (Options.CheckOnly)
    return std::string();
  dropUnused(Variant, *Kernel);
  SmallVector<std::pair<std::string, std::string>> Bound;
  if (std::string Why = bindVariables(M, Variant, Bound); !Why.empty())
    return Why;
  isolate(Variant, *Kernel, variantSymbol(Original, V));
  if (Linker::linkModules(M, std::move(*Parsed)))
    return resourceError("linking the variant '" + V.Name + "' failed");
  for (auto &[Temporary, Name] : Bound)
    if (GlobalVariable *G = M.getNamedGlobal(Temporary)) {
      G->replaceAllUsesWith(M.getGlobalVariable(Name, /*AllowInternal=*/true));
      G->eraseFromParent();
    }
  return std::string();
}

/// A kernel that is never launched: every image must hold every name that the
/// host registers. Guards compare the image's architecture before a launch.
static void addPlaceholder(Module &M, StringRef Name,
                           const Function &Original) {
  if (M.getFunction(Name))
    return;
  Function *F = Function::Create(Original.getFunctionType(),
                                 GlobalValue::ExternalLinkage, Name, M);
  F->setCallingConv(CallingConv::PTX_Kernel);
  F->copyAttributesFrom(&Original);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "entry", F));
  B.CreateIntrinsic(Intrinsic::trap, {});
  B.CreateRetVoid();
}

/// 90 for "sm_90" and "sm_90a": what the host can ask an image for.
static unsigned capability(StringRef Arch) {
  unsigned Number = 0;
  if (!Arch.consume_front("sm_") || Arch.consumeInteger(10, Number))
    return 0;
  return Number;
}

Expected<std::vector<SubstitutionOutcome>>
substituteDevice(Module &M, const SubstitutionOptions &Options) {
  std::vector<SubstitutionOutcome> Outcomes;
  std::vector<Function *> Kernels;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel)
      Kernels.push_back(&F);
  unsigned Applied = 0;
  for (Function *Kernel : Kernels) {
    std::string Symbol = Kernel->getName().str();
    if (!chosen(Options, Symbol)) {
      Outcomes.push_back(
          {Symbol, "NotChosen", textOf(BuildReason::NotChosen), false});
      continue;
    }
    KernelIdentity Identity = identify(*Kernel, Options.Context);
    if (Identity.Digest.empty()) {
      Outcomes.push_back({Symbol, "Refused",
                          "the original stays: " + Identity.Refusal, false});
      continue;
    }
    Expected<std::optional<BuildRecord>> Record =
        Options.Store->lookup(Identity.Digest, Symbol);
    if (!Record)
      return Record.takeError();
    Expected<std::vector<BuildRecord>> All = Options.Store->recordsFor(Symbol);
    if (!All)
      return All.takeError();
    StringRef Arch = Kernel->getFnAttribute("target-cpu").getValueAsString();
    bool Stale = false;
    for (const BuildRecord &R : *All) {
      Stale |= R.Arch == Arch;
      // Where the host could not tell the images apart (sm_90 and sm_90a), the
      // name stays missing, and the host leaves the variant alone.
      if (!Options.CheckOnly && capability(R.Arch) != capability(Arch))
        for (const BuildVariant &V : R.Variants)
          addPlaceholder(M, variantSymbol(Symbol, V), *Kernel);
    }
    // Pruning, or a bisection, may leave a record without variants.
    bool None = *Record && (*Record)->Variants.empty();
    Stale &= !None;
    if (!*Record || None) {
      Outcomes.push_back(
          {Symbol, Stale ? "VariantStale" : "NoVariant",
           textOf(Stale ? BuildReason::OtherCode : BuildReason::NoVariant),
           false});
      continue;
    }
    for (const BuildVariant &V : (*Record)->Variants) {
      if (Applied >= Options.Limit) {
        Outcomes.push_back({Symbol, "NotChosen",
                            textOf(BuildReason::Limit,
                                   {V.Name, std::to_string(Options.Limit)}),
                            false});
        continue;
      }
      Expected<std::string> Why = linkVariant(M, Symbol, V, Options);
      if (!Why)
        return Why.takeError();
      if (Why->empty()) {
        ++Applied;
        Outcomes.push_back({Symbol, "VariantApplied",
                            "variant " + V.Name + ": " + V.Genome, true});
      } else {
        Outcomes.push_back({Symbol, "VariantStale",
                            "variant " + V.Name + " left out: " + *Why, false});
      }
    }
  }
  return Outcomes;
}

} // namespace cupilot
