//===- InlineAsm.cpp - Inline PTX as plain IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's headers write half precision, cache hints and conversions as inline
// PTX. An asm statement of which every instruction is known here becomes IR
// before anything is inlined, so that it is optimised, checked and counted like
// other code. Every other one stays: see Intrinsics.cpp.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/InlineAsm.h"
#include "InlineAsm.h"
#include "Lowering.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace cupilot {

AsmLowering::AsmLowering(CallInst &Call, ArrayRef<PtxStatement> Statements)
    : Call(Call), Statements(Statements), B(&Call) {}

Value *AsmLowering::asBits(Value *V) {
  Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  return T->isIntegerTy()
             ? V
             : B.CreateBitCast(V, B.getIntNTy(T->getPrimitiveSizeInBits()));
}

bool AsmLowering::bindOperands() {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  unsigned Number = 0, Argument = 0;
  for (const InlineAsm::ConstraintInfo &C : Asm->ParseConstraints()) {
    if (C.Type == InlineAsm::isClobber)
      continue;
    if (C.isIndirect || C.Type == InlineAsm::isLabel)
      return false;
    std::string Name = "$" + std::to_string(Number++);
    if (C.Type == InlineAsm::isOutput) {
      ++Outputs;
      continue;
    }
    if (Argument == Call.arg_size())
      return false;
    Value *V = asBits(Call.getArgOperand(Argument++));
    Registers[Name] = V;
    unsigned Tied = 0;
    if (!C.Codes.empty() && !StringRef(C.Codes[0]).getAsInteger(10, Tied))
      Registers["$" + std::to_string(Tied)] = V;
  }
  return true;
}

Value *AsmLowering::read(StringRef Name, unsigned Bits) {
  Type *T = B.getIntNTy(Bits);
  if (auto It = Registers.find(Name); It != Registers.end())
    return It->second->getType()->isIntegerTy(1) && Bits != 1
               ? nullptr
               : B.CreateZExtOrTrunc(It->second, T);
  if (Name == "WARP_SZ")
    return ConstantInt::get(T, 32);
  if (Name.consume_front("%")) {
    // As the compiler's own reads of special registers.
    std::string Register = Name.str();
    llvm::replace(Register, '_', '.');
    bool Wide = Name == "clock64" || Name.starts_with("globaltimer");
    FunctionCallee Read = Call.getModule()->getOrInsertFunction(
        "llvm.nvvm.read.ptx.sreg." + Register,
        Wide ? B.getInt64Ty() : B.getInt32Ty());
    return B.CreateZExtOrTrunc(B.CreateCall(Read), T);
  }
  if ((Name.starts_with("0f") || Name.starts_with("0F")) && Name.size() == 10) {
    uint32_t Word = 0;
    return Name.drop_front(2).getAsInteger(16, Word)
               ? nullptr
               : ConstantInt::get(T, Word);
  }
  int64_t Signed = 0;
  uint64_t Unsigned = 0;
  StringRef Digits = Name;
  Digits.consume_back("U");
  if (!Digits.getAsInteger(0, Signed))
    return ConstantInt::getSigned(B.getInt64Ty(), Signed)->getType() == T
               ? ConstantInt::getSigned(T, Signed)
               : ConstantInt::get(T, APInt(64, Signed, true).trunc(Bits));
  if (!Digits.getAsInteger(0, Unsigned))
    return ConstantInt::get(T, APInt(64, Unsigned).trunc(Bits));
  return nullptr;
}

Value *AsmLowering::readAs(StringRef Name, Type *T) {
  Value *Bits = read(Name, T->getPrimitiveSizeInBits());
  return Bits ? B.CreateBitCast(Bits, T) : nullptr;
}

void AsmLowering::write(StringRef Name, Value *V, const PtxStatement &S) {
  Value *&Register = Registers[Name];
  V = asBits(V);
  if (!S.Guard.empty() && Register) {
    Value *Condition = Registers.lookup(S.Guard);
    Value *Old = B.CreateZExtOrTrunc(Register, V->getType());
    V = S.GuardNegated ? B.CreateSelect(Condition, Old, V)
                       : B.CreateSelect(Condition, V, Old);
  }
  Register = V;
}

/// Loads and stores of global memory, whatever their cache hints.
bool AsmLowering::access(const PtxStatement &S) {
  bool Load = S.base() == "ld";
  if (S.Operands.size() != 2 || !S.Guard.empty())
    return false;
  for (StringRef Modifier :
       {"shared", "local", "param", "acquire", "release", "relaxed", "mmio",
        "shared::cta", "shared::cluster", "L2::cache_hint"})
    if (S.has(Modifier))
      return false;
  Type *Float = floatType(S.type());
  unsigned Bits = Float ? static_cast<unsigned>(Float->getPrimitiveSizeInBits())
                        : bitsOf(S.type());
  StringRef Place = S.Operands[Load ? 1 : 0].front();
  if (Bits < 8 || !Place.consume_front("[") || !Place.consume_back("]"))
    return false;
  auto [Name, Offset] = Place.split('+');
  int64_t Distance = 0;
  Value *Address = read(Name.trim(), 64);
  if (!Address || (!Offset.empty() && Offset.trim().getAsInteger(0, Distance)))
    return false;
  Value *Base = B.CreateIntToPtr(Address, B.getPtrTy());
  Type *T = B.getIntNTy(Bits);
  const std::vector<std::string> &Parts = S.Operands[Load ? 0 : 1];
  // The parts of a vector are accessed at once, and aligned as a whole.
  Type *Whole = Parts.size() == 1 ? T : FixedVectorType::get(T, Parts.size());
  Align Alignment(Bits / 8 * Parts.size());
  Base = B.CreateConstGEP1_64(B.getInt8Ty(), Base, Distance);
  if (Load) {
    Value *V = B.CreateAlignedLoad(Whole, Base, Alignment, S.has("volatile"));
    for (auto [I, Part] : enumerate(Parts))
      write(Part, Parts.size() == 1 ? V : B.CreateExtractElement(V, I), S);
    return true;
  }
  Value *V = PoisonValue::get(Whole);
  for (auto [I, Part] : enumerate(Parts)) {
    Value *Element = read(Part, Bits);
    if (!Element)
      return false;
    V = Parts.size() == 1 ? Element : B.CreateInsertElement(V, Element, I);
  }
  B.CreateAlignedStore(V, Base, Alignment, S.has("volatile"));
  return true;
}

/// shfl.sync.down.b32 d|p, a, b, c, mask: what cg::reduce is made of.
bool AsmLowering::shuffle(const PtxStatement &S) {
  if (S.Op.size() != 4 || S.Op[1] != "sync" || S.type() != "b32" ||
      !is_contained(ArrayRef<StringRef>({"idx", "up", "down", "bfly"}),
                    S.Op[2]) ||
      S.Operands.size() != 5 || !S.Guard.empty())
    return false;
  SmallVector<Value *> Args;
  for (unsigned I : {4, 1, 2, 3}) {
    Args.push_back(read(S.Operands[I].front(), 32));
    if (!Args.back())
      return false;
  }
  Type *I32 = B.getInt32Ty();
  FunctionCallee Shuffle = Call.getModule()->getOrInsertFunction(
      "llvm.nvvm.shfl.sync." + S.Op[2] + ".i32p",
      StructType::get(I32, B.getInt1Ty()), I32, I32, I32, I32);
  Value *Both = B.CreateCall(Shuffle, Args);
  auto [Result, Predicate] = StringRef(S.Operands[0].front()).split('|');
  write(Result.trim(), B.CreateExtractValue(Both, 0), S);
  if (!Predicate.empty())
    write(Predicate.trim(), B.CreateExtractValue(Both, 1), S);
  return true;
}

bool AsmLowering::lower(const PtxStatement &S) {
  StringRef Op = S.base();
  if (std::optional<bool> Done = emitOpStatement(
          B, S, [&](StringRef Name, unsigned Bits) { return read(Name, Bits); },
          [&](StringRef Name, Value *V) {
            write(Name, V, S);
            return true;
          }))
    return *Done && S.Guard.empty();
  if (Op == "prefetch" || Op == "prefetchu" || Op == "griddepcontrol")
    return true;
  if (Op == "ld" || Op == "st")
    return access(S);
  if (Op == "shfl")
    return shuffle(S);
  if (S.Operands.size() < 2 || S.Op.size() < 2)
    return false;
  if (!S.Guard.empty() && !Registers.count(S.Guard))
    return false;
  // mov.b32 {low, high}, word;
  if (Op == "mov" && S.Operands[0].size() > 1) {
    unsigned Size = bitsOf(S.type());
    Value *Word = Size ? read(S.Operands[1].front(), Size) : nullptr;
    if (!Word)
      return false;
    unsigned Part = Size / static_cast<unsigned>(S.Operands[0].size());
    for (auto [I, Name] : enumerate(S.Operands[0]))
      write(Name,
            B.CreateTrunc(B.CreateLShr(Word, I * Part), B.getIntNTy(Part)), S);
    return true;
  }
  Value *V = compute(S);
  if (V)
    write(S.Operands[0].front(), V, S);
  return V != nullptr;
}

bool AsmLowering::run() {
  Instruction *Before = Call.getPrevNode();
  if (emit())
    return true;
  // A store that was emitted must not stay.
  while (Call.getPrevNode() != Before)
    Call.getPrevNode()->eraseFromParent();
  return false;
}

bool AsmLowering::emit() {
  if (!bindOperands())
    return false;
  for (const PtxStatement &S : Statements)
    if (!lower(S))
      return false;
  Type *T = Call.getType();
  if (T->isVoidTy())
    return true;
  auto *Struct = dyn_cast<StructType>(T);
  Value *Result = PoisonValue::get(T);
  for (unsigned I = 0; I < Outputs; ++I) {
    Type *Each = Struct ? Struct->getElementType(I) : T;
    Value *V = read("$" + std::to_string(I), Each->getPrimitiveSizeInBits());
    if (!V)
      return false;
    V = Each->isPointerTy() ? B.CreateIntToPtr(V, Each)
                            : B.CreateBitCast(V, Each);
    Result = Struct ? B.CreateInsertValue(Result, V, I) : V;
  }
  Call.replaceAllUsesWith(Result);
  return true;
}

void lowerInlineAsm(Module &M) {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call || !Call->isInlineAsm())
        continue;
      auto *Asm = cast<InlineAsm>(Call->getCalledOperand());
      auto Statements = parsePtx(Asm->getAsmString());
      if (Statements && AsmLowering(*Call, *Statements).run())
        Call->eraseFromParent();
    }
}

} // namespace cupilot
