//===- InlineAsm.cpp - Inline PTX as plain IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's headers, CUTLASS and hand-tuned kernels write much as inline PTX. An
// asm statement of which every instruction stands in the table (PtxTable.cpp)
// becomes IR before anything is inlined, so that it is optimised, checked and
// counted like other code. Every other one stays, and is named to the user.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/InlineAsm.h"
#include "DeviceValues.h"
#include "InlineAsm.h"
#include "PtxRegisters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace cupilot {

AsmLowering::AsmLowering(CallInst &Call, const PtxProgram &Program,
                         ForeignStatement Foreign)
    : B(Call.getContext()), M(*Call.getModule()),
      IsVolatile(cast<InlineAsm>(Call.getCalledOperand())->hasSideEffects()),
      Call(Call), Program(Program), Foreign(Foreign) {}

AllocaInst *AsmLowering::variable(StringRef Name, unsigned Bits) {
  IRBuilder<> Entry(&Body->getEntryBlock(), Body->getEntryBlock().begin());
  return Registers[Name] = Entry.CreateAlloca(Entry.getIntNTy(Bits));
}

static unsigned bitsOfType(Type *T) {
  return T->isPointerTy() ? 64
                          : static_cast<unsigned>(T->getPrimitiveSizeInBits());
}

bool AsmLowering::bindOperands() {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  auto *Struct = dyn_cast<StructType>(Call.getType());
  unsigned Number = 0, Argument = 0;
  for (const InlineAsm::ConstraintInfo &C : Asm->ParseConstraints()) {
    if (C.Type == InlineAsm::isClobber)
      continue;
    if (C.isIndirect || C.Type == InlineAsm::isLabel)
      return false;
    std::string Name = "$" + std::to_string(Number++);
    if (C.Type == InlineAsm::isOutput) {
      unsigned Bits =
          bitsOfType(Struct ? Struct->getElementType(Outputs) : Call.getType());
      if (Bits == 0)
        return false;
      variable(Name, Bits);
      ++Outputs;
      continue;
    }
    if (Argument == Body->arg_size())
      return false;
    Value *V = bitsOf(B, Body->getArg(Argument++));
    unsigned Tied = 0;
    if (!C.Codes.empty() && !StringRef(C.Codes[0]).getAsInteger(10, Tied)) {
      AllocaInst *Output = Registers.lookup("$" + std::to_string(Tied));
      if (!Output || Output->getAllocatedType() != V->getType())
        return false;
      B.CreateStore(V, Output);
      Registers[Name] = Output;
    } else {
      B.CreateStore(V, variable(Name, V->getType()->getIntegerBitWidth()));
    }
  }
  return true;
}

/// A number as PTX writes it (PTX ISA, "Constants").
static std::optional<APInt> parseNumber(StringRef Text, unsigned Bits) {
  bool Negative = Text.consume_front("-");
  Text.consume_front("+");
  APInt Value;
  if (Text.starts_with_insensitive("0f") && Text.size() == 10) {
    if (Text.drop_front(2).getAsInteger(16, Value))
      return std::nullopt;
    return Value.zextOrTrunc(Bits);
  }
  if (Text.starts_with_insensitive("0d") && Text.size() == 18) {
    if (Text.drop_front(2).getAsInteger(16, Value))
      return std::nullopt;
    return Value.zextOrTrunc(Bits);
  }
  Text.consume_back("U");
  if (Text.empty() || !isDigit(Text.front()) || Text.getAsInteger(0, Value))
    return std::nullopt;
  Value = Value.zextOrTrunc(std::max(Bits, 64u));
  if (Negative)
    Value = -Value;
  return Value.trunc(Bits);
}

Value *AsmLowering::read(StringRef Name, unsigned Bits) {
  Type *T = B.getIntNTy(Bits);
  bool Negated = Bits == 1 && Name.consume_front("!");
  if (AllocaInst *Register = Registers.lookup(Name)) {
    unsigned Has = Register->getAllocatedType()->getIntegerBitWidth();
    if ((Has == 1) != (Bits == 1))
      return nullptr;
    Value *V = B.CreateLoad(Register->getAllocatedType(), Register);
    return Negated ? B.CreateNot(V) : B.CreateZExtOrTrunc(V, T);
  }
  if (Name == "WARP_SZ")
    return ConstantInt::get(T, 32);
  if (Name.starts_with("%"))
    return readPtxRegister(*this, Name, Bits);
  std::optional<APInt> Number = parseNumber(Name, Bits);
  return Number ? ConstantInt::get(T, *Number) : nullptr;
}

Value *AsmLowering::readAs(StringRef Name, Type *T) {
  // A decimal number takes the type of the instruction.
  if ((T->isFloatTy() || T->isDoubleTy()) && Name.contains('.') &&
      !Registers.contains(Name) && !Name.starts_with("%")) {
    double Number = 0;
    return Name.getAsDouble(Number) ? nullptr : ConstantFP::get(T, Number);
  }
  Value *Bits = read(Name, static_cast<unsigned>(T->getPrimitiveSizeInBits()));
  return Bits ? B.CreateBitCast(Bits, T) : nullptr;
}

bool AsmLowering::write(StringRef Name, Value *V, bool Signed) {
  if (Name == "_")
    return true;
  AllocaInst *Register = Registers.lookup(Name);
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

bool AsmLowering::write(const PtxStatement &S, Value *V, bool Signed) {
  return V && write(S.operand(0), V, Signed);
}

Type *AsmLowering::type(StringRef Suffix) {
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

CallInst *AsmLowering::call(StringRef Name, Type *Result,
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

CallInst *AsmLowering::nvvm(const Twine &Name, ArrayRef<Value *> Args) {
  Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(("llvm.nvvm." + Name).str());
  assert(Id != Intrinsic::not_intrinsic && "LLVM has no such intrinsic");
  return B.CreateCall(Intrinsic::getOrInsertDeclaration(&M, Id), Args);
}

Value *AsmLowering::sharedPointer(Value *Address) {
  return call("shared", B.getPtrTy(NVPTXAS::ADDRESS_SPACE_SHARED),
              {B.CreateZExtOrTrunc(Address, B.getInt32Ty())}, /*Pure=*/true);
}

Value *AsmLowering::address(StringRef Operand, StringRef Space) {
  if (!Operand.consume_front("[") || !Operand.consume_back("]"))
    return nullptr;
  size_t Sign = Operand.find_first_of("+-", 1);
  StringRef Name = Operand.take_front(Sign), Offset;
  int64_t Distance = 0;
  if (Sign != StringRef::npos) {
    Offset = Operand.drop_front(Sign);
    while (Offset.consume_front("+"))
      ;
    if (Offset.getAsInteger(0, Distance))
      return nullptr;
  }
  if (!Registers.contains(Name))
    return nullptr;
  Value *Base = nullptr;
  if (Space == "shared") {
    Base = sharedPointer(read(Name, 64));
  } else {
    // A 32-bit register holds no address but one of shared memory.
    if (Registers[Name]->getAllocatedType() != B.getInt64Ty())
      return nullptr;
    unsigned Number = StringSwitch<unsigned>(Space)
                          .Case("global", NVPTXAS::ADDRESS_SPACE_GLOBAL)
                          .Case("const", NVPTXAS::ADDRESS_SPACE_CONST)
                          .Case("local", NVPTXAS::ADDRESS_SPACE_LOCAL)
                          .Default(NVPTXAS::ADDRESS_SPACE_GENERIC);
    Base = B.CreateIntToPtr(read(Name, 64), B.getPtrTy());
    if (Number)
      Base = B.CreateAddrSpaceCast(Base, B.getPtrTy(Number));
  }
  return Distance ? B.CreateConstGEP1_64(B.getInt8Ty(), Base, Distance) : Base;
}

Value *AsmLowering::carry() {
  return Carry ? B.CreateLoad(B.getInt1Ty(), Carry) : nullptr;
}

void AsmLowering::setCarry(Value *V) {
  if (!Carry)
    Carry = variable("CC.CF", 1);
  B.CreateStore(V, Carry);
}

bool AsmLowering::emitStatement(const PtxStatement &S) {
  LLVMContext &C = M.getContext();
  if (!S.Label.empty()) {
    BasicBlock *Block = Labels[S.Label];
    B.CreateBr(Block);
    B.SetInsertPoint(Block);
    return true;
  }
  bool Branch = S.base() == "bra";
  BasicBlock *Then = nullptr, *Next = nullptr;
  if (Branch) {
    Then = Labels.lookup(S.operand(0));
    if (!Then || !matchesPtxPattern("bra [uni]", S))
      return false;
  }
  if (!S.Guard.empty() || Branch)
    Next = BasicBlock::Create(C, "next", Body);
  if (!S.Guard.empty()) {
    Value *Holds = read(S.Guard, 1);
    if (!Holds)
      return false;
    if (S.GuardNegated)
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
  // Matrix and asynchronous instructions have a table of their own.
  std::optional<bool> Done = Foreign(*this, S);
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

bool AsmLowering::finish() {
  Type *T = Call.getType();
  if (T->isVoidTy()) {
    B.CreateRetVoid();
    return true;
  }
  auto *Struct = dyn_cast<StructType>(T);
  Value *Result = PoisonValue::get(T);
  for (unsigned I = 0; I < Outputs; ++I) {
    Type *Each = Struct ? Struct->getElementType(I) : T;
    Value *V = read("$" + std::to_string(I), bitsOfType(Each));
    if (!V)
      return false;
    V = Each->isPointerTy() ? B.CreateIntToPtr(V, Each)
                            : B.CreateBitCast(V, Each);
    Result = Struct ? B.CreateInsertValue(Result, V, I) : V;
  }
  B.CreateRet(Result);
  return true;
}

Error AsmLowering::emit() {
  B.SetInsertPoint(BasicBlock::Create(M.getContext(), "entry", Body));
  if (!bindOperands())
    return createStringError("its operands");
  for (const auto &Register : Program.Registers)
    variable(Register.first(), Register.second);
  for (const PtxStatement &S : Program.Statements)
    if (!S.Label.empty() &&
        !Labels
             .try_emplace(S.Label, BasicBlock::Create(M.getContext(), "", Body))
             .second)
      return createStringError("the label '" + S.Text +
                               "', which stands twice,");
  for (const PtxStatement &S : Program.Statements)
    if (!emitStatement(S))
      return createStringError("'" + S.Text + "'");
  return finish() ? Error::success() : createStringError("its results");
}

Error AsmLowering::run() {
  SmallVector<Type *> Types;
  for (Value *Arg : Call.args())
    Types.push_back(Arg->getType());
  Body = Function::Create(FunctionType::get(Call.getType(), Types, false),
                          GlobalValue::InternalLinkage, "__cupilot_asm", M);
  Body->addFnAttr(Attribute::AlwaysInline);
  Body->setDoesNotThrow();
  if (Error Unknown = emit()) {
    Body->dropAllReferences();
    Body->eraseFromParent();
    return Unknown;
  }
  IRBuilder<> At(&Call);
  SmallVector<Value *> Args(Call.args());
  CallInst *New = At.CreateCall(Body, Args);
  New->setDebugLoc(Call.getDebugLoc());
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
  return Error::success();
}

void lowerInlineAsm(Module &M, ForeignStatement Foreign) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isInlineAsm())
        Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    auto *Asm = cast<InlineAsm>(Call->getCalledOperand());
    Expected<PtxProgram> Program = parsePtx(Asm->getAsmString());
    // An empty statement keeps the order of what stands around it.
    if (Program && Program->Statements.empty() && Call->getType()->isVoidTy())
      continue;
    if (Error Unknown = Program ? AsmLowering(*Call, *Program, Foreign).run()
                                : Program.takeError())
      Call->setMetadata(
          "cupilot.unknown",
          MDNode::get(
              M.getContext(),
              MDString::get(M.getContext(), toString(std::move(Unknown)))));
  }
}

} // namespace cupilot
