//===- FunctionLowering.cpp - PTX functions as IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parameters and what calls pass lie in variables, as PTX has it; SROA makes
// values of them.
//
//===----------------------------------------------------------------------===//

#include "Abi/LoweredModule.h"
#include "DeviceValues.h"
#include "ModuleLowering.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using cupilot::ptx::OperandKind;

namespace cupilot {

namespace {
class FunctionLowering : public BodyLowering {
public:
  FunctionLowering(ModuleLowering &Of, const ptx::Function &Source,
                   Function &Target)
      : BodyLowering(Of.M, /*IsVolatile=*/false, Of.foreign()), Of(Of),
        Source(Source) {
    Body = &Target;
    AsSource = Of.AsSource;
  }
  void run();

private:
  Value *symbol(StringRef Name) override;
  bool declareVariable(const ptx::Variable &V) override;
  bool directive(const ptx::Statement &S) override;
  std::optional<bool> ownInstruction(const ptx::Instruction &I) override;
  Error refuse(const ptx::Statement &S, const std::string &What) override;
  void opened() override { Variables.emplace_back(); }
  void closed() override { Variables.pop_back(); }

  void bindParameters();
  bool declarePassed(const ptx::Variable &V);
  AllocaInst *memory(Type *T, uint64_t Alignment);
  /// The place of a parameter, result or register that a call names, if it
  /// holds a \p T; else null.
  Value *placeOf(const ptx::Operand &O, Type *T);
  void emitReturn();
  bool emitSwitch(const ptx::Instruction &I);
  bool emitCall(const ptx::Instruction &I);
  std::optional<bool> emitStack(const PtxStatement &S);
  FunctionType *calledType(StringRef Name);

  ModuleLowering &Of;
  const ptx::Function &Source;
  /// Of the function and of each scope that is open.
  std::vector<StringMap<Value *>> Variables =
      std::vector<StringMap<Value *>>(1);
  StringMap<const ptx::Targets *> Tables;
  StringMap<const ptx::Prototype *> Prototypes;
  SmallVector<Value *> Results;
};
} // namespace

Value *FunctionLowering::symbol(StringRef Name) {
  for (const StringMap<Value *> &Scope : reverse(Variables))
    if (Value *Place = Scope.lookup(Name))
      return Place;
  return Of.find(Name);
}

AllocaInst *FunctionLowering::memory(Type *T, uint64_t Alignment) {
  IRBuilder<> Entry(&Body->getEntryBlock(), Body->getEntryBlock().begin());
  AllocaInst *A = Entry.CreateAlloca(T);
  A->setAlignment(std::max(Align(16), Align(std::max<uint64_t>(Alignment, 1))));
  return A;
}

/// What is passed: a variable in memory, or a register.
bool FunctionLowering::declarePassed(const ptx::Variable &V) {
  Type *T = Of.passedType(V);
  if (!T)
    return false;
  if (V.In == ptx::Space::Reg) {
    AllocaInst *Register = variable(T->getIntegerBitWidth());
    declare(V.Name, Register);
    Variables.back()[StringRef(V.Name)] = Register;
  } else {
    Variables.back()[StringRef(V.Name)] = memory(T, V.Align);
  }
  return true;
}

bool FunctionLowering::declareVariable(const ptx::Variable &V) {
  if (V.In == ptx::Space::Param)
    return declarePassed(V);
  if (V.In == ptx::Space::Shared) {
    GlobalVariable *G = Of.addVariable(V);
    if (G)
      Variables.back()[StringRef(V.Name)] = G;
    return G;
  }
  std::optional<uint64_t> Bytes = bytesOf(V);
  if (V.In != ptx::Space::Local || !Bytes || V.Count ||
      !V.Initial.Values.empty())
    return false;
  uint64_t Natural = std::max(1u, ptx::bitsOf(V.Of) / 8 * V.Vector);
  Variables.back()[StringRef(V.Name)] =
      memory(ArrayType::get(B.getInt8Ty(), *Bytes),
             V.Align ? V.Align : PowerOf2Ceil(Natural));
  return true;
}

bool FunctionLowering::directive(const ptx::Statement &S) {
  if (const auto *L = S.as<ptx::Location>())
    B.SetCurrentDebugLocation(Of.location(*L, *Body));
  else if (const auto *T = S.as<ptx::Targets>())
    Tables[StringRef(T->Name)] = T;
  else if (const auto *P = S.as<ptx::Prototype>())
    Prototypes[StringRef(P->Name)] = P;
  else
    return S.as<ptx::Pragma>();
  return true;
}

void FunctionLowering::bindParameters() {
  for (auto [V, A] : zip(Source.Parameters, Body->args())) {
    if (A.hasByValAttr()) {
      Variables.back()[StringRef(V.Name)] = &A;
      continue;
    }
    declarePassed(V); // Their types were looked at for the function's.
    // A bool's argument is a byte in PTX.
    Value *Bits = A.getType()->isPointerTy() ? bitsOf(B, &A) : &A;
    B.CreateStore(Bits, Variables.back().lookup(V.Name));
  }
  for (const ptx::Variable &V : Source.Results) {
    declarePassed(V);
    Results.push_back(Variables.back().lookup(V.Name));
  }
}

void FunctionLowering::emitReturn() {
  Type *T = Body->getReturnType();
  if (T->isVoidTy()) {
    B.CreateRetVoid();
    return;
  }
  if (Results.size() == 1) {
    B.CreateRet(B.CreateLoad(T, Results.front()));
    return;
  }
  Value *All = PoisonValue::get(T);
  for (auto [I, Place] : enumerate(Results))
    All = B.CreateInsertValue(
        All, B.CreateLoad(cast<StructType>(T)->getElementType(I), Place), I);
  B.CreateRet(All);
}

/// brx.idx index, table.
bool FunctionLowering::emitSwitch(const ptx::Instruction &I) {
  PtxStatement S(I);
  const ptx::Operand &Table = S.operand(1);
  const ptx::Targets *Targets =
      Table.Kind == OperandKind::Name ? Tables.lookup(Table.Name) : nullptr;
  Value *Index = S.Operands.size() == 2 ? read(S.operand(0), 32) : nullptr;
  if (!Targets || !Index)
    return false;
  BasicBlock *Outside = BasicBlock::Create(M.getContext(), "outside", Body);
  SwitchInst *Switch = B.CreateSwitch(
      Index, Outside, static_cast<unsigned>(Targets->Names.size()));
  for (auto [Number, Name] : enumerate(Targets->Names)) {
    BasicBlock *To = label(Name);
    if (!To)
      return false;
    Switch->addCase(B.getInt32(static_cast<uint32_t>(Number)), To);
  }
  IRBuilder<>(Outside).CreateUnreachable();
  return true;
}

/// The type of a call by the prototype or the list of functions \p Name.
FunctionType *FunctionLowering::calledType(StringRef Name) {
  if (const ptx::Prototype *P = Prototypes.lookup(Name))
    return Of.functionType(P->Results, P->Parameters);
  const ptx::Targets *Targets = Tables.lookup(Name);
  if (!Targets || Targets->Names.empty())
    return nullptr;
  auto *F = dyn_cast_or_null<Function>(Of.find(Targets->Names.front()));
  return F ? F->getFunctionType() : nullptr;
}

Value *FunctionLowering::placeOf(const ptx::Operand &O, Type *T) {
  if (O.Kind != OperandKind::Name || O.Sum || O.Negated || O.Minus)
    return nullptr;
  AllocaInst *Register = find(O.Name);
  Value *Place = Register ? Register : symbol(O.Name);
  const DataLayout &DL = M.getDataLayout();
  Type *Has = nullptr;
  if (auto *A = dyn_cast_or_null<AllocaInst>(Place))
    Has = A->getAllocatedType();
  else if (auto *A = dyn_cast_or_null<Argument>(Place))
    Has = A->getParamByValType();
  return Has && DL.getTypeAllocSize(Has) >= DL.getTypeAllocSize(T) ? Place
                                                                   : nullptr;
}

/// call (result), function, (arguments), prototype; all but the function may be
/// missing.
bool FunctionLowering::emitCall(const ptx::Instruction &I) {
  ArrayRef<ptx::Operand> Rest = I.Operands, Into, From;
  if (!Rest.empty() && Rest.front().Kind == OperandKind::List) {
    Into = Rest.front().Parts;
    Rest = Rest.drop_front();
  }
  if (Rest.empty() || Rest.front().Kind != OperandKind::Name)
    return false;
  const ptx::Operand &Called = Rest.front();
  Rest = Rest.drop_front();
  if (!Rest.empty() && Rest.front().Kind == OperandKind::List) {
    From = Rest.front().Parts;
    Rest = Rest.drop_front();
  }
  FunctionType *Type = nullptr;
  Value *Callee = nullptr;
  if (auto *F = dyn_cast_or_null<Function>(Of.find(Called.Name))) {
    Callee = F;
    Type = F->getFunctionType();
  } else if (Rest.size() == 1 && Rest.front().Kind == OperandKind::Name) {
    Value *Address = read(Called, 64);
    Type = calledType(Rest.front().Name);
    Callee = Address ? B.CreateIntToPtr(Address, B.getPtrTy()) : nullptr;
  }
  if (!Callee || !Type || Type->getNumParams() != From.size())
    return false;
  SmallVector<Value *> Args;
  for (auto [O, T] : zip(From, Type->params())) {
    // Numbers and registers are arguments in older PTX.
    if (Value *Place = placeOf(O, T))
      Args.push_back(B.CreateLoad(T, Place));
    else if (Value *V =
                 T->isIntegerTy() ? read(O, T->getIntegerBitWidth()) : nullptr)
      Args.push_back(V);
    else
      return false;
  }
  CallInst *Call = B.CreateCall(Type, Callee, Args);
  if (auto *F = dyn_cast<Function>(Callee))
    Call->setCallingConv(F->getCallingConv());
  auto *Several = dyn_cast<StructType>(Type->getReturnType());
  if (Type->getReturnType()->isVoidTy() ? !Into.empty()
      : Several ? Into.size() != Several->getNumElements()
                : Into.size() > 1)
    return false;
  for (auto [Number, O] : enumerate(Into)) {
    if (O.Kind == OperandKind::Nothing)
      continue;
    Value *V = Several
                   ? B.CreateExtractValue(Call, static_cast<unsigned>(Number))
                   : Call;
    Value *Place = placeOf(O, V->getType());
    if (!Place)
      return false;
    B.CreateStore(V, Place);
  }
  return true;
}

/// alloca.u64 d, size{, alignment}; stacksave.u64 d; stackrestore.u64 a. PTX
/// ISA, "Stack Manipulation Instructions".
std::optional<bool> FunctionLowering::emitStack(const PtxStatement &S) {
  Type *I64 = B.getInt64Ty();
  if (matchesPtxPattern("stacksave u64", S))
    return S.Operands.size() == 1 &&
           write(S, B.CreatePtrToInt(B.CreateStackSave(), I64));
  if (matchesPtxPattern("stackrestore u64", S)) {
    Value *Saved = S.Operands.size() == 1 ? read(S.operand(0), 64) : nullptr;
    if (Saved)
      B.CreateStackRestore(B.CreateIntToPtr(Saved, B.getPtrTy()));
    return Saved;
  }
  if (!matchesPtxPattern("alloca u64", S))
    return std::nullopt;
  Value *Size = read(S.operand(1), 64);
  uint64_t Alignment = 8; // Where none is said.
  if (S.Operands.size() == 3) {
    const ptx::Operand &O = S.operand(2);
    if (O.Kind != OperandKind::Integer || !isPowerOf2_64(O.Value) ||
        O.Value > (1 << 23))
      return false;
    Alignment = O.Value;
  } else if (S.Operands.size() != 2) {
    return false;
  }
  if (!Size)
    return false;
  AllocaInst *A = B.CreateAlloca(B.getInt8Ty(), Size);
  A->setAlignment(Align(std::max<uint64_t>(Alignment, 16)));
  return write(S, B.CreatePtrToInt(A, I64));
}

std::optional<bool>
FunctionLowering::ownInstruction(const ptx::Instruction &I) {
  PtxStatement S(I);
  if (std::optional<bool> Done = emitStack(S))
    return Done;
  if (matchesPtxPattern("call [uni]", S))
    return emitCall(I);
  bool Return = matchesPtxPattern("ret [uni]", S) && I.Operands.empty();
  bool Jump = matchesPtxPattern("brx idx [uni]", S);
  if (!Return && !Jump)
    return std::nullopt;
  if (Return)
    emitReturn();
  else if (!emitSwitch(I))
    return false;
  B.SetInsertPoint(BasicBlock::Create(M.getContext(), "after", Body));
  return true;
}

Error FunctionLowering::refuse(const ptx::Statement &S,
                               const std::string &What) {
  Of.Lacks.push_back({std::string(Source.Name), Of.lineOf(S.At), What,
                      locationOf(B.getCurrentDebugLocation())});
  // Whatever has been emitted is given up; the rest is looked at all the same.
  B.SetInsertPoint(BasicBlock::Create(M.getContext(), "", Body));
  return Error::success();
}

void FunctionLowering::run() {
  B.SetInsertPoint(BasicBlock::Create(M.getContext(), "entry", Body));
  bindParameters();
  if (Error E = emitStatements(Source.Body, Of.Source.text())) {
    Of.Lacks.push_back(
        {std::string(Source.Name), 0, toString(std::move(E)), ""});
    return;
  }
  emitReturn(); // A kernel may end without one.
  if (AsSource)
    markImplied(*Body, Written);
}

void lowerFunction(ModuleLowering &Module, const ptx::Function &F,
                   Function &Target) {
  FunctionLowering(Module, F, Target).run();
}

} // namespace cupilot
