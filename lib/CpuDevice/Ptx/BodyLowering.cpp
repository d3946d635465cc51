//===- BodyLowering.cpp - Bodies of PTX as plain IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyLowering.h"
#include "DeviceValues.h"
#include "PtxRegisters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;
using cupilot::ptx::OperandKind;

namespace cupilot {

BodyLowering::~BodyLowering() = default;

AllocaInst *BodyLowering::variable(unsigned Bits) {
  IRBuilder<> Entry(&Body->getEntryBlock(), Body->getEntryBlock().begin());
  return Entry.CreateAlloca(Entry.getIntNTy(Bits));
}

void BodyLowering::declare(StringRef Name, AllocaInst *Register) {
  Scopes[Open.back()].Registers[Name] = Register;
}

AllocaInst *BodyLowering::find(StringRef Name) {
  for (unsigned Number : reverse(Open)) {
    Scope &S = Scopes[Number];
    if (AllocaInst *Register = S.Registers.lookup(Name))
      return Register;
    if (S.Ranges.empty())
      continue;
    // A stem may end with digits, too.
    for (size_t End = Name.size(); End > 0 && isDigit(Name[End - 1]); --End) {
      StringRef Digits = Name.drop_front(End - 1);
      auto Stem = S.Ranges.find(Name.take_front(End - 1));
      unsigned Index = 0;
      if (Stem == S.Ranges.end() || Digits.getAsInteger(10, Index) ||
          Index >= Stem->second.Count ||
          (Digits.size() > 1 && Digits.front() == '0'))
        continue;
      return S.Registers[Name] = variable(Stem->second.Bits);
    }
  }
  return nullptr;
}

BasicBlock *BodyLowering::label(StringRef Name) const {
  for (unsigned Number : reverse(Open))
    if (BasicBlock *Block = Scopes[Number].Labels.lookup(Name))
      return Block;
  return nullptr;
}

/// The bits of a number of floating point as one of \p Bits.
static APInt floatBits(const ptx::Operand &O, unsigned Bits) {
  if (O.Kind == OperandKind::Single)
    return APInt(32, O.Value).zextOrTrunc(Bits);
  APInt Double(64, O.Value);
  if (Bits != 32)
    return Double.zextOrTrunc(Bits);
  APFloat Number(APFloat::IEEEdouble(), Double);
  bool Loses = false;
  Number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &Loses);
  return Number.bitcastToAPInt();
}

Value *BodyLowering::read(const ptx::Operand &O, unsigned Bits) {
  Type *T = B.getIntNTy(Bits);
  if (O.Kind == OperandKind::Integer)
    return ConstantInt::get(T, O.Unsigned
                                   ? APInt(64, O.Value).zextOrTrunc(Bits)
                                   : APInt(64, O.Value).sextOrTrunc(Bits));
  if (O.Kind == OperandKind::Single || O.Kind == OperandKind::Double)
    return ConstantInt::get(T, floatBits(O, Bits));
  if (O.Kind != OperandKind::Name || O.Minus || (O.Negated && Bits != 1))
    return nullptr;
  StringRef Name = O.Name;
  if (AllocaInst *Register = find(Name)) {
    unsigned Has = Register->getAllocatedType()->getIntegerBitWidth();
    if ((Has == 1) != (Bits == 1) || O.Sum)
      return nullptr;
    Value *V = B.CreateLoad(Register->getAllocatedType(), Register);
    return O.Negated ? B.CreateNot(V) : B.CreateZExtOrTrunc(V, T);
  }
  if (O.Negated || Bits == 1)
    return nullptr;
  if (Value *Place = symbol(Name)) {
    Value *Number = B.CreateAdd(B.CreatePtrToInt(Place, B.getInt64Ty()),
                                B.getInt64(O.Value));
    return B.CreateZExtOrTrunc(Number, T);
  }
  if (O.Sum)
    return nullptr;
  if (Name == "WARP_SZ")
    return ConstantInt::get(T, 32);
  return Name.starts_with("%") ? readPtxRegister(*this, Name, Bits) : nullptr;
}

Value *BodyLowering::readAs(const ptx::Operand &O, Type *T) {
  Value *Bits = read(O, static_cast<unsigned>(T->getPrimitiveSizeInBits()));
  return Bits ? B.CreateBitCast(Bits, T) : nullptr;
}

bool BodyLowering::write(const ptx::Operand &O, Value *V, bool Signed) {
  if (O.Kind == OperandKind::Nothing)
    return true;
  AllocaInst *Register =
      O.Kind == OperandKind::Name && !O.Negated && !O.Minus && !O.Sum
          ? find(O.Name)
          : nullptr;
  if (!Register)
    return false;
  V = bitsOf(B, V);
  unsigned Has = Register->getAllocatedType()->getIntegerBitWidth(),
           Bits = V->getType()->getIntegerBitWidth();
  if (Has < Bits || (Has == 1) != (Bits == 1))
    return false;
  B.CreateStore(B.CreateIntCast(V, Register->getAllocatedType(), Signed),
                Register);
  return true;
}

bool BodyLowering::write(const PtxStatement &S, Value *V, bool Signed) {
  return V && write(S.operand(0), V, Signed);
}

Type *BodyLowering::type(StringRef Suffix) {
  if (Suffix == "f16")
    return B.getHalfTy();
  if (Suffix == "bf16")
    return B.getBFloatTy();
  if (Suffix == "f16x2")
    return FixedVectorType::get(B.getHalfTy(), 2);
  if (Suffix == "bf16x2")
    return FixedVectorType::get(B.getBFloatTy(), 2);
  if (Suffix == "f32")
    return B.getFloatTy();
  if (Suffix == "f64")
    return B.getDoubleTy();
  if (Suffix == "u16x2" || Suffix == "s16x2")
    return FixedVectorType::get(B.getInt16Ty(), 2);
  unsigned Bits = ptxTypeBits(Suffix);
  return Bits ? B.getIntNTy(Bits) : nullptr;
}

CallInst *BodyLowering::call(StringRef Name, Type *Result,
                             ArrayRef<Value *> Args, bool Pure) {
  SmallVector<Type *> Types;
  for (Value *Arg : Args)
    Types.push_back(Arg->getType());
  FunctionCallee Callee = M.getOrInsertFunction(
      ("__cupilot_ptx_" + Name).str(), FunctionType::get(Result, Types, false));
  auto *F = cast<Function>(Callee.getCallee());
  F->setDoesNotThrow();
  if (Pure) {
    F->setDoesNotAccessMemory();
    F->addFnAttr(Attribute::WillReturn);
  } else {
    F->setConvergent();
    F->addFnAttr(Attribute::NoMerge);
  }
  return B.CreateCall(F, Args);
}

CallInst *BodyLowering::nvvm(const Twine &Name, ArrayRef<Value *> Args) {
  Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(("llvm.nvvm." + Name).str());
  assert(Id != Intrinsic::not_intrinsic && "LLVM has no such intrinsic");
  return B.CreateCall(Intrinsic::getOrInsertDeclaration(&M, Id), Args);
}

Value *BodyLowering::sharedPointer(Value *Address) {
  return call("shared", B.getPtrTy(NVPTXAS::ADDRESS_SPACE_SHARED),
              {B.CreateZExtOrTrunc(Address, B.getInt32Ty())}, /*Pure=*/true);
}

Value *BodyLowering::address(const ptx::Operand &O, StringRef Space) {
  if (O.Kind != OperandKind::Address || O.Parts.size() != 1 ||
      O.Parts[0].Kind != OperandKind::Name)
    return nullptr;
  ptx::Operand Name = O.Parts[0];
  auto Distance = static_cast<int64_t>(Name.Value);
  Name.Value = 0;
  Name.Sum = false;
  AllocaInst *Register = find(Name.Name);
  Value *Base = nullptr;
  if (!Register) {
    Base = symbol(Name.Name);
    if (!Base || Name.Negated || Name.Minus)
      return nullptr;
  } else if (Value *Number = read(Name, 64); !Number) {
    return nullptr; // A predicate.
  } else if (Space == "shared") {
    Base = sharedPointer(Number);
  } else {
    // A 32-bit register holds no address but one of shared memory.
    if (Register->getAllocatedType() != B.getInt64Ty())
      return nullptr;
    unsigned Which = StringSwitch<unsigned>(Space)
                         .Case("global", NVPTXAS::ADDRESS_SPACE_GLOBAL)
                         .Case("const", NVPTXAS::ADDRESS_SPACE_CONST)
                         .Case("local", NVPTXAS::ADDRESS_SPACE_LOCAL)
                         .Default(NVPTXAS::ADDRESS_SPACE_GENERIC);
    Base = B.CreateIntToPtr(Number, B.getPtrTy());
    if (Which)
      Base = B.CreateAddrSpaceCast(Base, B.getPtrTy(Which));
  }
  return Distance ? B.CreateConstGEP1_64(B.getInt8Ty(), Base, Distance) : Base;
}

Value *BodyLowering::written(Value *V) {
  if (auto *I = dyn_cast_or_null<Instruction>(V))
    Written.insert(I);
  return V;
}

Value *BodyLowering::written(function_ref<Value *()> Emit,
                             function_ref<bool(const Instruction &)> Which) {
  BasicBlock *BB = B.GetInsertBlock();
  size_t Before = BB->size();
  Value *V = Emit();
  for (Instruction &I : drop_begin(*BB, Before))
    if (Which(I))
      Written.insert(&I);
  return V;
}

Value *BodyLowering::carry() {
  return Carry ? B.CreateLoad(B.getInt1Ty(), Carry) : nullptr;
}

void BodyLowering::setCarry(Value *V) {
  if (!Carry)
    Carry = variable(1);
  B.CreateStore(V, Carry);
}

void BodyLowering::enter(bool Opens) {
  if (!Opens) {
    Open.pop_back();
    return;
  }
  Open.push_back(++LastScope);
  if (Scopes.size() <= LastScope)
    Scopes.resize(LastScope + 1);
}

/// Branches may go forward.
Error BodyLowering::collectLabels(ArrayRef<ptx::Statement> Statements) {
  for (const ptx::Statement &S : Statements) {
    if (const auto *Brace = S.as<ptx::Scope>())
      enter(Brace->Opens);
    const auto *L = S.as<ptx::Label>();
    if (!L)
      continue;
    BasicBlock *&Block = Scopes[Open.back()].Labels[StringRef(L->Name)];
    if (Block)
      return createStringError("the label '" + StringRef(L->Name) +
                               "', which stands twice,");
    Block = BasicBlock::Create(M.getContext(), "", Body);
  }
  LastScope = 0; // They get the same numbers again.
  return Error::success();
}

bool BodyLowering::emitDeclaration(const ptx::Declaration &D) {
  for (const ptx::Variable &V : D.Variables) {
    if (V.In != ptx::Space::Reg) {
      if (!declareVariable(V))
        return false;
      continue;
    }
    unsigned Bits = ptx::bitsOf(V.Of);
    if (Bits == 0 || V.Vector != 1 || !V.Dimensions.empty())
      return false;
    if (V.Count)
      Scopes[Open.back()].Ranges[StringRef(V.Name)] = {V.Count, Bits};
    else
      declare(V.Name, variable(Bits));
  }
  return true;
}

/// \p I without .ftz, where it can be left out.
static ptx::Instruction unflushed(ptx::Instruction I) {
  if (!is_contained(I.Modifiers, "f64"))
    erase(I.Modifiers, "ftz");
  return I;
}

bool BodyLowering::emitInstruction(const ptx::Instruction &Whole) {
  LLVMContext &C = M.getContext();
  std::optional<ptx::Instruction> Plain;
  if (AsSource && Whole.has("ftz"))
    Plain = unflushed(Whole);
  const ptx::Instruction &I = Plain ? *Plain : Whole;
  PtxStatement S(I);
  bool Branch = matchesPtxPattern("bra [uni]", S);
  BasicBlock *Then = nullptr, *Next = nullptr;
  if (Branch) {
    const ptx::Operand &To = S.operand(0);
    Then = To.Kind == OperandKind::Name ? label(To.Name) : nullptr;
    if (!Then || I.Operands.size() != 1)
      return false;
  }
  if (!I.Guard.empty() || Branch)
    Next = BasicBlock::Create(C, "next", Body);
  if (!I.Guard.empty()) {
    AllocaInst *Guard = find(I.Guard);
    if (!Guard || Guard->getAllocatedType() != B.getInt1Ty())
      return false;
    Value *Holds = B.CreateLoad(B.getInt1Ty(), Guard);
    if (I.GuardNegated)
      Holds = B.CreateNot(Holds);
    if (!Then)
      Then = BasicBlock::Create(C, "guarded", Body);
    B.CreateCondBr(Holds, Then, Next);
  } else if (Branch) {
    B.CreateBr(Then);
  }
  if (Branch) {
    B.SetInsertPoint(Next);
    return true;
  }
  if (Then)
    B.SetInsertPoint(Then);
  std::optional<bool> Done = ownInstruction(I);
  // Matrix and asynchronous instructions have a table of their own.
  if (!Done)
    Done = Foreign(*this, S);
  if (!Done) {
    const PtxRule *Rule = findPtxRule(S);
    Done = Rule && Rule->Emit(*this, S);
  }
  if (!*Done)
    return false;
  if (Then) {
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
  }
  return true;
}

Error BodyLowering::refuse(const ptx::Statement &, const std::string &What) {
  return createStringError(What);
}

Error BodyLowering::emitStatements(ArrayRef<ptx::Statement> Statements,
                                   std::string_view Text) {
  if (Error E = collectLabels(Statements))
    return E;
  for (const ptx::Statement &S : Statements) {
    std::string What;
    if (const auto *Brace = S.as<ptx::Scope>()) {
      enter(Brace->Opens);
      Brace->Opens ? opened() : closed();
    } else if (const auto *L = S.as<ptx::Label>()) {
      BasicBlock *Block = label(L->Name);
      B.CreateBr(Block);
      B.SetInsertPoint(Block);
    } else if (const auto *D = S.as<ptx::Declaration>()) {
      if (!emitDeclaration(*D))
        What = "the declaration '" + plainText(Text, S.At) + "'";
    } else if (const auto *I = S.as<ptx::Instruction>()) {
      if (!emitInstruction(*I)) {
        // The predicate is not what is wrong.
        ptx::Place At = S.At;
        At.Begin = static_cast<uint32_t>(I->Opcode.data() - Text.data());
        What = "'" + plainText(Text, At) + "'";
      }
    } else if (!directive(S)) {
      What = "the directive '" + plainText(Text, S.At) + "'";
    }
    if (!What.empty())
      if (Error E = refuse(S, What))
        return E;
  }
  return Error::success();
}

} // namespace cupilot
