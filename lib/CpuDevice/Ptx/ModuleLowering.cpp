//===- ModuleLowering.cpp - PTX modules as NVPTX IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleLowering.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cupilot {

/// Bytes of a parameter at most (PTX ISA, "Parameter State Space").
static constexpr uint64_t MaxParameter = 32764;

/// Arrays are passed as arrays of words that have their alignment.
static Type *arrayType(LLVMContext &C, uint64_t Bytes, uint64_t Alignment) {
  uint64_t Word = std::min<uint64_t>(std::max<uint64_t>(Alignment, 1), 8);
  while (Bytes % Word != 0)
    Word /= 2;
  return ArrayType::get(Type::getIntNTy(C, static_cast<unsigned>(Word * 8)),
                        Bytes / Word);
}

ModuleLowering::ModuleLowering(const ptx::Module &Source, Module &M,
                               ForeignStatement Foreign,
                               const std::unordered_set<std::string_view> *Only)
    : Source(Source), M(M), Only(Only), Debug(M), Foreign(Foreign) {}

unsigned ModuleLowering::lineOf(ptx::Place At) const {
  if (LineEnds.empty()) {
    for (auto [Place, C] : enumerate(Source.text()))
      if (C == '\n')
        LineEnds.push_back(static_cast<uint32_t>(Place));
    LineEnds.push_back(~0u);
  }
  return 1 + static_cast<unsigned>(lower_bound(LineEnds, At.Begin) -
                                   LineEnds.begin());
}

Type *ModuleLowering::passedType(const ptx::Variable &V) {
  std::optional<uint64_t> Bytes = bytesOf(V);
  LLVMContext &C = M.getContext();
  if (!Bytes || *Bytes == 0 || *Bytes > MaxParameter || V.Count)
    return nullptr;
  if (V.In == ptx::Space::Reg)
    return V.Vector == 1 ? Type::getIntNTy(C, ptx::bitsOf(V.Of)) : nullptr;
  if (V.Dimensions.empty() && V.Vector == 1)
    return Type::getIntNTy(C, static_cast<unsigned>(*Bytes) * 8);
  return arrayType(C, *Bytes, V.Align);
}

FunctionType *ModuleLowering::functionType(ArrayRef<ptx::Variable> Results,
                                           ArrayRef<ptx::Variable> Parameters) {
  SmallVector<Type *> Out, In;
  for (const ptx::Variable &V : Results)
    Out.push_back(passedType(V));
  for (const ptx::Variable &V : Parameters)
    In.push_back(passedType(V));
  if (is_contained(Out, nullptr) || is_contained(In, nullptr))
    return nullptr;
  Type *Result = Out.empty()       ? Type::getVoidTy(M.getContext())
                 : Out.size() == 1 ? Out.front()
                                   : StructType::get(M.getContext(), Out);
  return FunctionType::get(Result, In, false);
}

/// "nvvm.maxntid"="128,1,1".
static void setTunings(Function &F, const ptx::Function &Source) {
  for (const auto &[Which, Numbers] : Source.Tunings) {
    StringRef Name;
    switch (Which) {
    case ptx::Tuning::MaxNTid:
      Name = "nvvm.maxntid";
      break;
    case ptx::Tuning::ReqNTid:
      Name = "nvvm.reqntid";
      break;
    case ptx::Tuning::MinNCtaPerSm:
      Name = "nvvm.minctasm";
      break;
    case ptx::Tuning::ReqNCtaPerCluster:
      Name = "nvvm.cluster_dim";
      break;
    case ptx::Tuning::MaxClusterRank:
      Name = "nvvm.maxclusterrank";
      break;
    default: // For ptxas alone.
      continue;
    }
    std::string Text;
    for (uint64_t Number : Numbers)
      Text += (Text.empty() ? "" : ",") + std::to_string(Number);
    F.addFnAttr(Name, Text);
  }
}

static void setTarget(Function &F, const ptx::Module &Source) {
  F.setDoesNotThrow();
  F.setConvergent();
  F.addFnAttr("target-cpu", Source.Target.empty()
                                ? StringRef("sm_70")
                                : StringRef(Source.Target.front()));
}

Function *ModuleLowering::declareKernel(const ptx::Function &F) {
  LLVMContext &C = M.getContext();
  SmallVector<Type *> Types;
  for (const ptx::Variable &V : F.Parameters) {
    Type *T = passedType(V);
    if (!T)
      return nullptr;
    bool Pointer = T->isArrayTy() || (V.Pointer && T->isIntegerTy(64));
    Types.push_back(Pointer ? PointerType::get(C, 0) : T);
  }
  auto *K =
      Function::Create(FunctionType::get(Type::getVoidTy(C), Types, false),
                       GlobalValue::ExternalLinkage, StringRef(F.Name), M);
  K->setCallingConv(CallingConv::PTX_Kernel);
  setTarget(*K, Source);
  setTunings(*K, F);
  for (auto [V, A] : zip(F.Parameters, K->args()))
    if (Type *T = passedType(V); T->isArrayTy()) {
      A.addAttr(Attribute::getWithByValType(C, T));
      A.addAttr(Attribute::getWithAlignment(C, Align(std::max(V.Align, 1u))));
    }
  return K;
}

/// The functions that the run time has, in the form that clang declares.
static FunctionType *systemType(StringRef Name, LLVMContext &C) {
  Type *Ptr = PointerType::get(C, 0), *I32 = Type::getInt32Ty(C),
       *I64 = Type::getInt64Ty(C), *Void = Type::getVoidTy(C);
  if (Name == "vprintf")
    return FunctionType::get(I32, {Ptr, Ptr}, false);
  if (Name == "malloc")
    return FunctionType::get(Ptr, {I64}, false);
  if (Name == "free")
    return FunctionType::get(Void, {Ptr}, false);
  if (Name == "__assertfail")
    return FunctionType::get(Void, {Ptr, Ptr, I32, Ptr, I64}, false);
  return nullptr;
}

Function *ModuleLowering::declareFunction(const ptx::Function &F) {
  FunctionType *T = functionType(F.Results, F.Parameters);
  if (!T)
    return nullptr;
  FunctionType *System =
      F.HasBody ? nullptr : systemType(F.Name, M.getContext());
  if (System && System->getNumParams() == T->getNumParams())
    T = System;
  auto *G =
      Function::Create(T, GlobalValue::ExternalLinkage, StringRef(F.Name), M);
  if (F.HasBody)
    setTarget(*G, Source);
  return G;
}

void ModuleLowering::readFiles() {
  for (const ptx::Item &Each : Source.Items)
    if (const auto *F = Each.as<ptx::SourceFile>()) {
      std::string Path;
      for (StringRef Part : F->Names) // A folder may stand before the name.
        Path += (Path.empty() ? "" : "/") + Part.trim('"').str();
      Files[F->Number] = Debug.createFile(sys::path::filename(Path),
                                          sys::path::parent_path(Path));
    }
  if (Files.empty())
    return;
  Debug.createCompileUnit(dwarf::DW_LANG_C_plus_plus_14, Files.begin()->second,
                          "", /*isOptimized=*/true, "", 0, "",
                          DICompileUnit::LineTablesOnly);
  M.addModuleFlag(Module::Warning, "Debug Info Version",
                  DEBUG_METADATA_VERSION);
}

DebugLoc ModuleLowering::location(const ptx::Location &L, Function &F) {
  DIFile *File = Files.lookup(L.File);
  if (!File)
    return {};
  auto Line = static_cast<unsigned>(L.Line);
  if (!F.getSubprogram())
    F.setSubprogram(Debug.createFunction(
        File, F.getName(), "", File, Line,
        Debug.createSubroutineType(Debug.getOrCreateTypeArray({})), Line,
        DINode::FlagPrototyped, DISubprogram::SPFlagDefinition));
  DIScope *Scope = F.getSubprogram();
  if (F.getSubprogram()->getFile() != File)
    Scope = Debug.createLexicalBlockFile(F.getSubprogram(), File);
  return DILocation::get(M.getContext(), Line, static_cast<unsigned>(L.Column),
                         Scope);
}

void ModuleLowering::lack(StringRef Function, ptx::Place At, std::string What) {
  Lacks.push_back({Function.str(), lineOf(At), std::move(What), ""});
}

/// "'tex...' at app.cu:12:3 (line 40 of the PTX)".
static std::string withPlace(const PtxLack &L) {
  std::string Line =
      L.Line ? "line " + std::to_string(L.Line) + " of the PTX" : "";
  if (!L.Source.empty())
    return L.What + " at " + L.Source + (Line.empty() ? "" : " (" + Line + ")");
  return L.What + (Line.empty() ? "" : " at " + Line);
}

/// Gives \p F a body that says what is not known.
void ModuleLowering::refuse(Function &F, const std::string &What) {
  LLVMContext &C = M.getContext();
  F.deleteBody();
  F.setLinkage(GlobalValue::ExternalLinkage);
  IRBuilder<> B(BasicBlock::Create(C, "entry", &F));
  CallInst *Call = B.CreateCall(M.getOrInsertFunction(
      "__cupilot_ptx_refused", FunctionType::get(B.getVoidTy(), false)));
  Call->setMetadata(RefusedPtxName, MDNode::get(C, MDString::get(C, What)));
  B.CreateUnreachable();
}

void ModuleLowering::run() {
  M.setTargetTriple(Triple("nvptx64-nvidia-cuda"));
  M.setDataLayout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-"
                  "n16:32:64");
  readFiles();
  std::vector<std::pair<const ptx::Item *, Function *>> Bodies;
  // A definition comes before declarations of the same name.
  for (bool Definitions : {true, false})
    for (const ptx::Item &Each : Source.Items) {
      const auto *F = Each.as<ptx::Function>();
      if (!F || F->HasBody != Definitions || !isWanted(F->Name) ||
          Symbols.contains(F->Name))
        continue;
      Function *Made = F->IsKernel ? declareKernel(*F) : declareFunction(*F);
      if (!Made) {
        lack(F->Name, Each.At, "its parameters");
        continue;
      }
      Symbols[StringRef(F->Name)] = Made;
      if (F->HasBody)
        Bodies.push_back({&Each, Made});
    }
  for (bool Definitions : {true, false})
    for (const ptx::Item &Each : Source.Items)
      if (const auto *D = Each.as<ptx::Declaration>())
        for (const ptx::Variable &V : D->Variables) {
          if ((V.Link != ptx::Linkage::Extern) != Definitions ||
              !isWanted(V.Name))
            continue;
          if (GlobalVariable *G = addVariable(V))
            Symbols[StringRef(V.Name)] = G;
          else
            lack("", V.At, "the variable '" + std::string(V.Name) + "'");
        }
  for (const ptx::Item &Each : Source.Items) {
    if (const auto *A = Each.as<ptx::Alias>(); A && isWanted(A->Name)) {
      // A declaration may stand before it, a definition must not.
      auto *Is = dyn_cast_or_null<Function>(Symbols.lookup(A->Of));
      Constant *Before = Symbols.lookup(A->Name);
      auto *Declared = dyn_cast_or_null<Function>(Before);
      auto IsDefined = [&Bodies](const Function *F) {
        return is_contained(make_second_range(Bodies), F);
      };
      if (!Is || !IsDefined(Is) ||
          (Before && (!Declared || IsDefined(Declared)))) {
        lack("", Each.At, "the alias '" + std::string(A->Name) + "'");
        continue;
      }
      if (Declared) {
        Declared->replaceAllUsesWith(Is);
        Declared->eraseFromParent();
      }
      Symbols[StringRef(A->Name)] = Is;
    }
  }
  addInitialisers();
  for (auto [Each, Target] : Bodies) {
    const auto &F = *Each->as<ptx::Function>();
    size_t Known = Lacks.size();
    lowerFunction(*this, F, *Target);
    if (Lacks.size() > Known)
      refuse(*Target, withPlace(Lacks[Known]));
    else
      recoverPointers(*Target);
  }
  Debug.finalize();
}

} // namespace cupilot
