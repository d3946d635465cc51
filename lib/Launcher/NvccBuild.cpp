//===- NvccBuild.cpp - One object by nvcc, with variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/NvccBuild.h"
#include "cupilot/Launcher/NvccVariant.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Model/Compiler.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace cupilot {

/// The object has machine code made of the PTX for \p Target ("sm_90a"), not
/// that PTX alone: for -arch=sm_90a nvcc 13 adds the PTX of compute_90 on its
/// own account. NVCC's documentation, "Options for Steering GPU Code
/// Generation".
static bool hasMachineCode(const NvccCommand &Command, StringRef Target) {
  auto IsSource = [Source = Architecture::parse(Target)](StringRef Arch) {
    return Source && Architecture::parseNvcc(Arch) == Source;
  };
  auto IsMachineCode = [](StringRef Word) {
    return Architecture::parse(Word).has_value();
  };
  auto WordsOf = [](StringRef Value) {
    SmallVector<StringRef> Words;
    SplitString(Value, Words, ",=[]'\" ");
    return Words;
  };
  StringRef Arch, Code;
  bool Named = false;
  for (const auto &[Id, Value] : Command.Options) {
    if (Id == nvcc::OPT_gpu_architecture) {
      Arch = Value;
    } else if (Id == nvcc::OPT_gpu_code) {
      Code = Value;
    } else if (Id == nvcc::OPT_generate_code) {
      Named = true;
      // arch=compute_90a,code=[sm_90a,compute_90a]
      SmallVector<StringRef> Words = WordsOf(Value);
      auto *Of = find(Words, "arch");
      if (Of != Words.end() && ++Of != Words.end() && IsSource(*Of) &&
          any_of(Words, IsMachineCode))
        return true;
    }
  }
  if (Arch.empty())
    return !Named;
  if (Arch == "native" || Arch.starts_with("all"))
    return true;
  return IsSource(Arch) &&
         (Code.empty() ? IsMachineCode(Arch)
                       : any_of(WordsOf(Code), IsMachineCode));
}

namespace {
class Selection {
public:
  Selection(const BuildStore &Store, ArrayRef<NvccPtx> Modules, StringRef Nvcc,
            const NvccCommand &Command)
      : Store(Store), Modules(Modules), Nvcc(Nvcc), Command(Command) {}
  Error run();
  NvccSelection Result;

private:
  Error select(StringRef Symbol);
  Expected<std::vector<BuildRecord>> recordsOf(StringRef Symbol) const;
  Error take(StringRef Symbol, const BuildRecord &R, ObjectKernel &K);
  OriginalCode codeOf(StringRef Symbol) const;
  std::optional<BuildNote> whyReplaceable(const NvccPtx &M,
                                          StringRef Symbol) const;
  Error checkCopies(const CompiledVariant &C);
  void tell(StringRef Symbol, SubstitutionResult What, BuildNote Why,
            StringRef Variant = "") {
    Result.Outcomes.push_back(
        {Symbol.str(), What, std::move(Why), Variant.str()});
  }

  const BuildStore &Store;
  ArrayRef<NvccPtx> Modules;
  StringRef Nvcc;
  const NvccCommand &Command;
  std::optional<StringSet<>> Constants; ///< Of the unit's object.
  unsigned Applied = 0;
};
} // namespace

/// The unit may have come to write what was a constant.
Error Selection::checkCopies(const CompiledVariant &C) {
  // Most variants copy nothing, and most builds have no variant.
  if (!C.Copies.empty() && !Constants) {
    Expected<StringSet<>> Read = readConstants(Command.Output);
    if (!Read)
      return Read.takeError();
    Constants = std::move(*Read);
  }
  for (const std::string &Name : C.Copies)
    if (!Constants->contains(Name))
      return buildError(BuildReason::DeviceVariable, {Name});
  return Error::success();
}

/// What the kernel's own code has, in any of the images.
OriginalCode Selection::codeOf(StringRef Symbol) const {
  OriginalCode Code;
  for (const NvccPtx &M : Modules) {
    std::string Name = M.find(Symbol);
    if (Name.empty())
      continue;
    Expected<NvccPtx::Closure> Found =
        M.closure(Name, Command.Device.context());
    if (!Found) { // Then it has no identity, and no variant is looked for.
      consumeError(Found.takeError());
      continue;
    }
    Code.Prints |= StringRef(Found->Text).contains("vprintf");
    for (const std::string &Variable : Found->Variables)
      Code.Variables.push_back(NvccPtx::sourceName(Variable));
  }
  return Code;
}

/// In relocatable device code the device linker takes one of all functions of a
/// name if they are weak: the kernel's code is not known before. PTX shows no
/// difference between inline functions, which are the same everywhere, and
/// others.
std::optional<BuildNote> Selection::whyReplaceable(const NvccPtx &M,
                                                   StringRef Symbol) const {
  if (!Command.Relocatable)
    return std::nullopt;
  Expected<NvccPtx::Closure> Found =
      M.closure(Symbol, Command.Device.context());
  if (!Found)
    return noteOf(Found.takeError());
  if (Found->WeakFunction.empty())
    return std::nullopt;
  return BuildNote(BuildReason::Replaceable,
                   {NvccPtx::sourceName(Found->WeakFunction)});
}

Error Selection::take(StringRef Symbol, const BuildRecord &R, ObjectKernel &K) {
  const PluginArguments &Asked = Command.Plugin;
  Expected<bool> Modelled = Asked.takesModelled();
  if (!Modelled)
    return Modelled.takeError();
  const EvidencePolicy Policy{Asked.Strict, Asked.UseLegacy, *Modelled};
  for (const BuildVariant &V : R.Variants) {
    if (std::optional<SubstitutionOutcome> Out =
            whyNotBuilt(Symbol, V, Policy, Store.root())) {
      Result.Outcomes.push_back(std::move(*Out));
      continue;
    }
    if (Applied >= Asked.Limit) {
      tell(Symbol, SubstitutionResult::NotChosen,
           {BuildReason::Limit, {V.Name, utostr(Asked.Limit)}});
      continue;
    }
    Expected<CompiledVariant> C = compileNvccVariant(
        Nvcc, V, Store.sourcePath(V), Symbol, codeOf(Symbol), Command.Device);
    if (C)
      if (Error E = checkCopies(*C))
        C = std::move(E);
    if (!C) {
      tell(Symbol, SubstitutionResult::VariantStale, noteOf(C.takeError()),
           V.Name);
      continue;
    }
    ++Applied;
    C->Names = R.names();
    C->Params = R.Params;
    restrictDomain(C->V, Policy);
    Result.Outcomes.push_back(
        {Symbol.str(), SubstitutionResult::VariantApplied,
         noteOfApplied(V, V.Genome + " (for " + V.When.Arch + ")" +
                              contractRemark(R.Contract)),
         /*Variant=*/"", /*Function=*/"", conditionsOf(C->V, R)});
    K.Variants.push_back(std::move(*C));
  }
  return Error::success();
}

/// The records of this kernel, which clang may have mangled otherwise.
Expected<std::vector<BuildRecord>>
Selection::recordsOf(StringRef Symbol) const {
  ItaniumPartialDemangler Demangler;
  std::string Word(withoutUnitName(Symbol));
  if (!Demangler.partialDemangle(Word.c_str()))
    if (char *Base = Demangler.getFunctionBaseName(nullptr, nullptr)) {
      Word = Base;
      std::free(Base);
    }
  Expected<std::vector<BuildRecord>> Records = Store.recordsNaming(Word);
  if (Records)
    erase_if(*Records, [&](const BuildRecord &R) {
      return !NvccPtx::isSameKernel(R.Symbol, Symbol);
    });
  return Records;
}

Error Selection::select(StringRef Symbol) {
  ObjectKernel K;
  K.Symbol = Symbol.str();
  Expected<std::vector<BuildRecord>> Named = recordsOf(Symbol);
  if (!Named)
    return Named.takeError();
  for (const NvccPtx &M : Modules) {
    if (!is_contained(M.kernels(), Symbol))
      continue;
    KernelIdentity Id = M.identify(Symbol, Command.Device.context());
    if (Id.Refusal) {
      tell(Symbol, SubstitutionResult::Refused, *Id.Refusal);
      continue;
    }
    if (std::optional<BuildNote> Why = whyReplaceable(M, Symbol)) {
      tell(Symbol, SubstitutionResult::Refused, std::move(*Why));
      continue;
    }
    Expected<std::vector<BuildRecord>> Same = Store.recordsWith(Id.Digest);
    if (!Same)
      return Same.takeError();
    auto Record = find_if(*Same, [&](const BuildRecord &R) {
      return isMadeByNvcc(R.Compiler) && R.Arch == M.target() &&
             NvccPtx::isSameKernel(R.Symbol, Symbol);
    });
    bool Stale = false, Other = false;
    // A record may have lost its variants (cupilot store prune).
    for (const BuildRecord &R : *Named)
      if (R.Arch == M.target() && !R.Variants.empty())
        (isMadeByNvcc(R.Compiler) ? Stale : Other) = true;
    if (Record == Same->end() || Record->Variants.empty()) {
      tell(Symbol,
           Stale ? SubstitutionResult::VariantStale
                 : SubstitutionResult::NoVariant,
           Stale   ? BuildReason::OtherCode
           : Other ? BuildReason::OtherCompiler
                   : BuildReason::NoVariant);
      continue;
    }
    // The host asks an image for its number only: sm_90 and sm_90a are one. But
    // the driver takes machine code of the device before any PTX (CUDA guide,
    // "Application Compatibility").
    bool Certain = hasMachineCode(Command, M.target());
    if (count_if(Modules, [&](const NvccPtx &Else) {
          return capabilityNumber(Else.target()) ==
                     capabilityNumber(M.target()) &&
                 (!Certain || hasMachineCode(Command, Else.target())) &&
                 is_contained(Else.kernels(), Symbol);
        }) > 1) {
      tell(Symbol, SubstitutionResult::Refused,
           {BuildReason::TwinImages, {utostr(capabilityNumber(M.target()))}});
      continue;
    }
    if (Error E = take(Symbol, *Record, K))
      return E;
  }
  if (!K.Variants.empty())
    Result.Kernels.push_back(std::move(K));
  return Error::success();
}

Error Selection::run() {
  SetVector<StringRef> Symbols;
  for (const NvccPtx &M : Modules)
    Symbols.insert(M.kernels().begin(), M.kernels().end());
  for (StringRef Symbol : Symbols) {
    ++Result.Seen;
    if (!Command.Plugin.Filter.takes(NvccPtx::sourceName(Symbol))) {
      tell(Symbol, SubstitutionResult::NotChosen, BuildReason::NotChosen);
      continue;
    }
    if (Error E = select(Symbol))
      return E;
  }
  return Error::success();
}

Expected<NvccSelection> selectVariants(const BuildStore &Store,
                                       ArrayRef<NvccPtx> Modules,
                                       StringRef Nvcc,
                                       const NvccCommand &Command) {
  Selection S(Store, Modules, Nvcc, Command);
  if (Error E = S.run())
    return std::move(E);
  return std::move(S.Result);
}

Expected<std::vector<NvccPtx>> loadPtx(StringRef Folder) {
  Expected<std::vector<std::string>> Paths = filesIn(Folder, ".ptx");
  if (!Paths)
    return Paths.takeError();
  if (Paths->empty())
    return buildError(BuildReason::NoPtx);
  std::vector<NvccPtx> Modules;
  for (const std::string &Path : *Paths) {
    Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    Expected<NvccPtx> M = NvccPtx::parse(std::move(*Text));
    if (!M)
      return M.takeError();
    Modules.push_back(std::move(*M));
  }
  llvm::sort(Modules, [](const NvccPtx &A, const NvccPtx &B) {
    return std::pair(capabilityNumber(A.target()), A.target()) <
           std::pair(capabilityNumber(B.target()), B.target());
  });
  return Modules;
}

Error addDependencies(StringRef Path, ArrayRef<std::string> Files) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  // The first rule is the object's; -MP adds others.
  size_t End = 0;
  do {
    End = Text->find('\n', End);
    if (End == std::string::npos)
      End = Text->size();
  } while (End != Text->size() && End && (*Text)[End - 1] == '\\' && ++End);
  std::string More;
  for (StringRef File : Files) {
    More += " \\\n    ";
    for (char C : File) {
      if (C == ' ' || C == '#')
        More += '\\';
      if (C == '$')
        More += '$';
      More += C;
    }
  }
  Text->insert(End, More);
  return writeFileAtomic(Path, *Text);
}

} // namespace cupilot
