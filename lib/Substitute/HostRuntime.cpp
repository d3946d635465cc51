//===- HostRuntime.cpp - The run time of dispatch, in a module ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

// Bitcode of Runtime/*.c, by the build.
static constexpr char ObjectCode[] = {
#include "Runtime/Object.inc"
};
static constexpr char DispatchCode[] = {
#include "Runtime/Dispatch.inc"
};
static constexpr char PerThreadDispatchCode[] = {
#include "Runtime/DispatchPerThread.inc"
};
static constexpr char StateCode[] = {
#include "Runtime/State.inc"
};

/// What code generation does with a function of the unit, as its flags say:
/// processor, stack protection, registers. What instruments the unit's own
/// functions (sanitizers, profiles) is not among it.
static void addCodeGeneration(AttrBuilder &B, const Function &Like) {
  static constexpr StringLiteral Words[] = {
      "target-cpu",      "tune-cpu",
      "target-features", "stack-protector-buffer-size",
      "probe-stack",     "stack-probe-size",
      "stackrealign",    "zero-call-used-regs",
      "use-soft-float",  "indirect-tls-seg-refs",
      "warn-stack-size"};
  static constexpr Attribute::AttrKind Kinds[] = {
      Attribute::StackProtect,    Attribute::StackProtectStrong,
      Attribute::StackProtectReq, Attribute::SafeStack,
      Attribute::ShadowCallStack, Attribute::NoRedZone,
      Attribute::OptimizeForSize, Attribute::MinSize};
  for (StringRef Word : Words)
    if (Like.hasFnAttribute(Word))
      B.addAttribute(Like.getFnAttribute(Word));
  for (Attribute::AttrKind Kind : Kinds)
    if (Like.hasFnAttribute(Kind))
      B.addAttribute(Kind);
}

/// Gives \p F, linked or emitted, the unit's code generation for its own.
void HostRuntime::adopt(Function &F) {
  LLVMContext &C = M.getContext();
  // The module's flags: unwind tables, frame pointers, return thunks.
  Function *Default = Function::createWithDefaultAttr(
      F.getFunctionType(), GlobalValue::InternalLinkage,
      M.getDataLayout().getProgramAddressSpace(), "", &M);
  AttrBuilder B(C, Default->getAttributes().getFnAttrs());
  Default->eraseFromParent();
  if (Like)
    addCodeGeneration(B, *Like);
  for (Attribute A : F.getAttributes().getFnAttrs())
    if (!A.isStringAttribute() && !A.hasAttribute(Attribute::UWTable))
      B.addAttribute(A);
  F.setAttributes(
      F.getAttributes().removeFnAttributes(C).addFnAttributes(C, B));
}

Function *HostRuntime::createFunction(const Twine &Name, FunctionType *Type) {
  Function *F =
      Function::Create(Type, GlobalValue::InternalLinkage,
                       M.getDataLayout().getProgramAddressSpace(), Name, &M);
  adopt(*F);
  BasicBlock::Create(M.getContext(), "entry", F);
  return F;
}

Function *HostRuntime::function(StringRef Name, FunctionType *Type) {
  return cast<Function>(M.getOrInsertFunction(Name, Type).getCallee());
}

Constant *HostRuntime::number(unsigned Value) {
  return ConstantInt::get(Type::getInt32Ty(M.getContext()), Value);
}

Constant *HostRuntime::text(StringRef Content) {
  Constant *Bytes = ConstantDataArray::getString(M.getContext(), Content);
  auto *G =
      new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage,
                         Bytes, "__cupilot_text");
  G->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return G;
}

Constant *HostRuntime::structure(size_t Size, ArrayRef<Field> Fields) {
  Type *Byte = Type::getInt8Ty(M.getContext());
  SmallVector<Constant *> Parts;
  size_t At = 0;
  auto Fill = [&](size_t To) {
    if (To > At)
      Parts.push_back(
          ConstantAggregateZero::get(ArrayType::get(Byte, To - At)));
    At = To;
  };
  SmallVector<Field> Sorted(Fields);
  sort(Sorted, less_first());
  for (const auto &[Place, Value] : Sorted) {
    Fill(Place);
    Parts.push_back(Value);
    At += M.getDataLayout().getTypeAllocSize(Value->getType());
  }
  Fill(Size);
  return ConstantStruct::getAnon(Parts, /*Packed=*/true);
}

/// One constant for elements that may differ in type (by their padding).
static GlobalVariable *tableOf(Module &M, ArrayRef<Constant *> Elements,
                               const Twine &Name) {
  Constant *All =
      ConstantStruct::getAnon(M.getContext(), Elements, /*Packed=*/true);
  auto *G = new GlobalVariable(M, All->getType(), true,
                               GlobalValue::InternalLinkage, All, Name);
  G->setAlignment(Align(8));
  return G;
}

Constant *HostRuntime::table(ArrayRef<Constant *> Elements, const Twine &Name) {
  if (Elements.empty())
    return ConstantPointerNull::get(PointerType::get(M.getContext(), 0));
  return tableOf(M, Elements, Name);
}

GlobalVariable *HostRuntime::state(Type *T, const Twine &Name) {
  return new GlobalVariable(M, T, false, GlobalValue::InternalLinkage,
                            Constant::getNullValue(T), Name);
}

GlobalVariable *HostRuntime::define(StringRef What,
                                    ArrayRef<Constant *> Elements) {
  auto *Number = new GlobalVariable(
      M, Type::getInt32Ty(M.getContext()), true, GlobalValue::ExternalLinkage,
      number(Elements.size()), "__cupilot_num_" + What);
  GlobalVariable *Table = tableOf(M, Elements, "__cupilot_" + What);
  Table->setLinkage(GlobalValue::ExternalLinkage);
  Defined.append({Number, Table});
  return Table;
}

GlobalVariable *HostRuntime::createCounter(const Twine &Name) {
  return state(Type::getInt64Ty(M.getContext()), Name);
}

void HostRuntime::report(Constant *Counter, const LaunchCount &What) {
  std::string Record = formatv("{0}", toJSON(What)).str();
  Counters.push_back(structure(
      sizeof(CupilotCounter),
      {{offsetof(CupilotCounter, label), text(textOf(What))},
       {offsetof(CupilotCounter, record), text(StringRef(Record).drop_back())},
       {offsetof(CupilotCounter, count), Counter},
       {offsetof(CupilotCounter, rare),
        number(What.Kind == LaunchCountKind::Outside)}}));
}

/// Links what \p Linking's module needs of \p Code.
Error HostRuntime::linkPart(Linker &Linking, StringRef Code) {
  Expected<std::unique_ptr<Module>> Parsed = getLazyBitcodeModule(
      MemoryBufferRef(Code, "cupilot-runtime"), M.getContext());
  if (!Parsed)
    return resourceError("the host run time: " + toString(Parsed.takeError()));
  Module &Part = **Parsed;
  SmallVector<std::string> Own, Called;
  AttributeMask Words; // Of the processor that cuPilot was built for.
  for (StringRef Word : {"target-cpu", "target-features", "tune-cpu",
                         "no-trapping-math", "stack-protector-buffer-size"})
    Words.addAttribute(Word);
  if (none_of(Part, [&](const Function &F) {
        return !F.isDeclaration() && !F.hasLocalLinkage() &&
               M.getFunction(F.getName());
      }))
    return Error::success();
  for (Function &F : Part) {
    if (F.isIntrinsic())
      continue;
    if (F.isDeclaration()) {
      F.removeFnAttrs(Words);
      Called.push_back(F.getName().str());
      continue;
    }
    adopt(F);
    if (F.hasLocalLinkage())
      continue;
    Own.push_back(F.getName().str());
  }
  for (GlobalVariable &G : Part.globals())
    if (!G.isDeclaration() && !G.hasLocalLinkage())
      Own.push_back(G.getName().str());
  // All that it says of its target is the unit's to say: the code is the same
  // for every 64-bit host.
  for (NamedMDNode &Node : make_early_inc_range(Part.named_metadata()))
    Node.eraseFromParent();
  Part.setTargetTriple(M.getTargetTriple());
  Part.setDataLayout(M.getDataLayout());
  if (Linking.linkInModule(std::move(*Parsed), Linker::LinkOnlyNeeded))
    return resourceError("linking the host run time failed");
  for (StringRef Name : Own)
    if (GlobalValue *G = M.getNamedValue(Name); G && !G->isDeclaration()) {
      G->setLinkage(GlobalValue::InternalLinkage);
      G->setVisibility(GlobalValue::DefaultVisibility);
    }
  if (M.getRtLibUseGOT()) // -fno-plt
    for (StringRef Name : Called)
      if (Function *F = M.getFunction(Name); F && F->isDeclaration())
        F->addFnAttr(Attribute::NonLazyBind);
  return Error::success();
}

Error HostRuntime::link() {
  define("counters", Counters);
  Linker Linking(M);
  // In this order: later parts define what earlier ones use.
  for (StringRef Code :
       {StringRef(ObjectCode, sizeof(ObjectCode)),
        StringRef(DispatchCode, sizeof(DispatchCode)),
        StringRef(PerThreadDispatchCode, sizeof(PerThreadDispatchCode)),
        StringRef(StateCode, sizeof(StateCode))})
    if (Error E = linkPart(Linking, Code))
      return E;
  for (GlobalVariable *G : Defined) {
    G->setLinkage(GlobalValue::InternalLinkage);
    if (G->use_empty())
      G->eraseFromParent();
  }
  return Error::success();
}

} // namespace cupilot
