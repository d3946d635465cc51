//===- ObjectFile.cpp - Changing what nvcc made -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit's object with its launches renamed and the object of the dispatch
// become one by `ld -r`; afterwards nothing of either may be missing.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/ObjectFile.h"
#include "cupilot/Substitute/BuildReason.h"
#include "cupilot/Substitute/NvccPtx.h"
#include "cupilot/Support/Config.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Pipeline.h"
#include "cupilot/Support/Process.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <map>
#include <set>

using namespace llvm;

namespace cupilot {

namespace {
/// A summary of an object by which a loss is seen.
struct Contents {
  std::map<std::string, uint64_t> Sections; ///< Bytes by name, summed.
  std::set<std::string> Defined, Undefined; ///< Global symbols.
};
} // namespace

static Expected<std::unique_ptr<object::ObjectFile>> open(MemoryBufferRef B) {
  Expected<std::unique_ptr<object::ObjectFile>> Object =
      object::ObjectFile::createELFObjectFile(B);
  if (!Object)
    return buildError(BuildReason::UnknownObject,
                      {toString(Object.takeError())});
  return Object;
}

static Expected<Contents> contentsOf(const object::ObjectFile &Object) {
  Contents C;
  for (const object::SectionRef &S : Object.sections()) {
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return Name.takeError();
    C.Sections[Name->str()] += S.getSize();
  }
  for (const object::SymbolRef &S : Object.symbols()) {
    Expected<StringRef> Name = S.getName();
    Expected<uint32_t> Flags = S.getFlags();
    if (!Name)
      return Name.takeError();
    if (!Flags)
      return Flags.takeError();
    if (*Flags & object::SymbolRef::SF_Undefined)
      C.Undefined.insert(Name->str());
    else if (*Flags & object::SymbolRef::SF_Global)
      C.Defined.insert(Name->str());
  }
  return C;
}

/// The object in the file \p Path, with its bytes.
static Expected<object::OwningBinary<object::ObjectFile>> load(StringRef Path) {
  auto Buffer = MemoryBuffer::getFile(Path, false, false);
  if (!Buffer)
    return resourceError("cannot read '" + Path +
                         "': " + Buffer.getError().message());
  auto Object = open(**Buffer);
  if (!Object)
    return Object.takeError();
  return object::OwningBinary<object::ObjectFile>(std::move(*Object),
                                                  std::move(*Buffer));
}

/// Relocations are applied to the latter before the program runs; then it is
/// sealed.
static bool isReadOnly(const object::ELFSectionRef &S, StringRef Name) {
  return !(S.getFlags() & ELF::SHF_WRITE) || Name == ".data.rel.ro" ||
         Name.starts_with(".data.rel.ro.");
}

/// Names that stand for several things decide nothing.
static Expected<StringSet<>> constantsOf(const object::ObjectFile &Object) {
  StringMap<bool> ReadOnly;
  for (const object::SymbolRef &S : Object.symbols()) {
    Expected<object::SymbolRef::Type> Type = S.getType();
    if (!Type)
      return Type.takeError();
    if (*Type != object::SymbolRef::ST_Data)
      continue;
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return Name.takeError();
    Expected<object::section_iterator> Section = S.getSection();
    if (!Section)
      return Section.takeError();
    bool Sealed = false;
    if (*Section != Object.section_end()) {
      Expected<StringRef> In = (*Section)->getName();
      if (!In)
        return In.takeError();
      Sealed = isReadOnly(object::ELFSectionRef(**Section), *In);
    }
    auto [It, New] = ReadOnly.try_emplace(NvccPtx::sourceName(*Name), Sealed);
    if (!New)
      It->second = false;
  }
  StringSet<> Names;
  for (const auto &[Name, Is] : ReadOnly)
    if (Is)
      Names.insert(Name);
  return Names;
}

static Expected<ObjectFacts> factsOf(const object::ObjectFile &Object) {
  ObjectFacts Facts;
  Facts.Target = Object.makeTriple();
  if (Facts.Target.getArch() != Triple::x86_64 || !Object.isELF())
    return buildError(BuildReason::OtherMachine, {Facts.Target.getArchName()});
  if (Facts.Target.getOS() == Triple::UnknownOS)
    Facts.Target = Triple("x86_64-pc-linux-gnu");
  Expected<Contents> C = contentsOf(Object);
  if (!C)
    return C.takeError();
  // Its names are not those of the symbol table alone.
  for (const auto &[Name, Size] : C->Sections)
    if (StringRef(Name).starts_with(".gnu.lto_") ||
        StringRef(Name).starts_with(".llvm.lto"))
      return buildError(BuildReason::LinkTime);
  for (StringRef Entry : redirectedEntries())
    if (C->Undefined.contains(Entry.str()))
      Facts.Entries.push_back(Entry.str());
  return Facts;
}

static Expected<ObjectFacts> readFacts(StringRef Path) {
  auto Object = load(Path);
  if (!Object)
    return Object.takeError();
  return factsOf(*Object->getBinary());
}

Expected<ObjectFacts> readObject(MemoryBufferRef Bytes) {
  auto Object = open(Bytes);
  if (!Object)
    return Object.takeError();
  return factsOf(**Object);
}

Expected<StringSet<>> readConstants(StringRef Path) {
  auto Object = load(Path);
  if (!Object)
    return Object.takeError();
  return constantsOf(*Object->getBinary());
}

Expected<StringSet<>> readConstants(MemoryBufferRef Bytes) {
  auto Object = open(Bytes);
  if (!Object)
    return Object.takeError();
  return constantsOf(**Object);
}

/// Copies the object \p From to \p To with changed symbols.
static Error copyObject(StringRef From, StringRef To,
                        function_ref<Error(objcopy::CommonConfig &)> Change) {
  auto Object = load(From);
  if (!Object)
    return Object.takeError();
  objcopy::ConfigManager Config;
  Config.Common.InputFilename = From;
  Config.Common.OutputFilename = To;
  if (Error E = Change(Config.Common))
    return E;
  std::string Bytes;
  raw_string_ostream OS(Bytes);
  if (Error E =
          objcopy::executeObjcopyOnBinary(Config, *Object->getBinary(), OS))
    return buildError(BuildReason::ObjectNotChanged, {toString(std::move(E))});
  return writeFileAtomic(To, Bytes);
}

static Error emitObject(Module &M, StringRef Path) {
  static const bool Initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)Initialised;
  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(M.getTargetTriple(), Message);
  if (!T)
    return resourceError("this LLVM has no code generator for the object: " +
                         Message);
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      M.getTargetTriple(), "x86-64", "", TargetOptions(), Reloc::PIC_,
      std::nullopt, CodeGenOptLevel::Default));
  M.setDataLayout(TM->createDataLayout());
  Pipeline Optimizer(TM.get());
  Optimizer.run(Optimizer.level(OptimizationLevel::O2), M);
  SmallString<0> Bytes;
  raw_svector_ostream OS(Bytes);
  legacy::PassManager Codegen;
  if (TM->addPassesToEmitFile(Codegen, OS, nullptr,
                              CodeGenFileType::ObjectFile))
    return resourceError("this LLVM cannot write objects");
  Codegen.run(M);
  return writeFileAtomic(Path, Bytes);
}

static Expected<std::string> findLinker() {
  for (StringRef Name : {"ld", "ld.lld-22", "ld.lld"})
    if (ErrorOr<std::string> Path = sys::findProgramByName(Name))
      return *Path;
  if (ErrorOr<std::string> Path =
          sys::findProgramByName("ld.lld", {CUPILOT_LLVM_BIN}))
    return *Path;
  return resourceError("no linker was found", "install binutils");
}

/// Checks that \p Merged has all of \p Unit and of the dispatch.
static Error checkMerged(StringRef Merged, const Contents &Unit,
                         const Contents &Dispatch,
                         ArrayRef<ObjectKernel> Kernels) {
  auto Object = load(Merged);
  if (!Object)
    return Object.takeError();
  Expected<Contents> All = contentsOf(*Object->getBinary());
  if (!All)
    return All.takeError();
  for (const std::string &Name : Unit.Defined)
    if (!All->Defined.contains(Name))
      return buildError(BuildReason::LostSymbol, {Name});
  StringRef Binaries;
  for (const object::SectionRef &S : Object->getBinary()->sections())
    if (Expected<StringRef> Name = S.getName(); !Name)
      consumeError(Name.takeError());
    else if (*Name == ".nv_fatbin") {
      Expected<StringRef> Bytes = S.getContents();
      if (!Bytes)
        return Bytes.takeError();
      Binaries = *Bytes;
    }
  auto Sum = [&](const char *Name) {
    auto Of = [&](const Contents &C) {
      auto It = C.Sections.find(Name);
      return It == C.Sections.end() ? 0 : It->second;
    };
    return Of(Unit) + Of(Dispatch) <= Of(*All);
  };
  // ".nv_fatbin" may grow by padding, wrappers may not. The others are of
  // relocatable device code: what the device linker reads, and finds it by.
  if (!Sum(".nv_fatbin") || !Sum(".nvFatBinSegment") ||
      !Sum("__nv_relfatbin") || !Sum("__nv_module_id"))
    return buildError(BuildReason::LostCode);
  for (const ObjectKernel &K : Kernels)
    for (const CompiledVariant &V : K.Variants)
      if (!Binaries.contains(V.Fatbin))
        return buildError(BuildReason::LostVariant, {V.Symbols.front()});
  return Error::success();
}

static Expected<Contents> contentsOfFile(StringRef Path) {
  auto Object = load(Path);
  if (!Object)
    return Object.takeError();
  return contentsOf(*Object->getBinary());
}

Error addDispatch(StringRef Path, ArrayRef<ObjectKernel> Kernels,
                  StringRef Folder) {
  Expected<ObjectFacts> Facts = readFacts(Path);
  if (!Facts)
    return Facts.takeError();
  auto File = [&](const char *Name) { return (Folder + "/" + Name).str(); };
  std::string Unit = File("cupilot-unit.o"), Own = File("cupilot-dispatch.o"),
              Merged = File("cupilot-merged.o"),
              Final = File("cupilot-final.o");
  std::vector<std::string> Names; // The configuration only refers to them.
  for (const std::string &Entry : Facts->Entries)
    Names.push_back(standInName(Entry));
  if (Error E = copyObject(Path, Unit, [&](objcopy::CommonConfig &C) {
        for (auto [Entry, Name] : zip(Facts->Entries, Names))
          C.SymbolsToRename[Entry] = Name;
        return Error::success();
      }))
    return E;
  LLVMContext Context;
  Expected<std::unique_ptr<Module>> M =
      createObjectDispatch(Context, Facts->Target, Facts->Entries, Kernels);
  if (!M)
    return M.takeError();
  if (Error E = emitObject(**M, Own))
    return E;
  Expected<Contents> Before = contentsOfFile(Unit), Added = contentsOfFile(Own);
  if (!Before || !Added)
    return joinErrors(Before.takeError(), Added.takeError());
  Expected<std::string> Linker = findLinker();
  if (!Linker)
    return Linker.takeError();
  Expected<ProcessResult> Linked =
      runProcess({*Linker, "-r", "-o", Merged, Unit, Own});
  if (!Linked)
    return Linked.takeError();
  if (Linked->Status != 0)
    return buildError(BuildReason::MergeFailed,
                      {*Linker, StringRef(Linked->Err).rtrim()});
  if (Error E =
          copyObject(Merged, Final, [&](objcopy::CommonConfig &C) -> Error {
            for (StringRef Name : Names)
              if (Error E = C.SymbolsToLocalize.addMatcher(
                      objcopy::NameOrPattern::create(
                          Name, objcopy::MatchStyle::Literal,
                          [](Error E) { return E; })))
                return E;
            return Error::success();
          }))
    return E;
  if (Error E = checkMerged(Final, *Before, *Added, Kernels))
    return E;
  Expected<std::string> Bytes = readFile(Final);
  if (!Bytes)
    return Bytes.takeError();
  return writeFileAtomic(Path, *Bytes);
}

} // namespace cupilot
