//===- FastCheck.cpp - The common cases of a check, as code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function for each kind of access that looks at the shadow, notes the access
// and says true, or says false and leaves everything as it was: then the run
// time looks at the access in all detail. Inlined wherever it is called. What
// it does must be what Granules.h does. It knows these cases: a word is of an
// earlier launch, or settled by a barrier of the block, or this thread's own at
// this clock; and, when several threads read the same, that the first reader is
// known already.
//
//===----------------------------------------------------------------------===//

#include "Abi/ShadowWords.h"
#include "Instrument.h"

using namespace llvm;

namespace cupilot {

namespace {
class FastCheck {
public:
  FastCheck(Function &F, const FastKind &Kind, const CpuDeviceOptions &Options)
      : F(F), Kind(Kind), B(F.getContext()), I64(B.getInt64Ty()),
        Coverage(Options.Coverage) {
    Fail = BasicBlock::Create(F.getContext(), "fail", &F);
    B.SetInsertPoint(Fail);
    B.CreateRet(B.getFalse());
  }
  void build();

private:
  Value *field(ContextField Field) {
    return B.CreateLoad(I64, contextField(B, F, Field));
  }
  ConstantInt *number(uint64_t Value) { return B.getInt64(Value); }
  BasicBlock *block(const char *Name) {
    return BasicBlock::Create(F.getContext(), Name, &F, Fail);
  }
  /// Goes on in the returned block, or elsewhere.
  void require(Value *Condition) {
    BasicBlock *Next = block("next");
    B.CreateCondBr(Condition, Next, Fail);
    B.SetInsertPoint(Next);
  }
  Value *word(Value *Address) {
    LoadInst *Load = B.CreateAlignedLoad(I64, Address, Align(8));
    Load->setAtomic(AtomicOrdering::Monotonic);
    return Load;
  }
  void setWord(Value *Address, Value *New) {
    B.CreateAlignedStore(New, Address, Align(8))
        ->setAtomic(AtomicOrdering::Monotonic);
  }
  /// Whether \p Word is none of this launch.
  Value *isForeign(Value *Word) {
    return B.CreateICmpUGE(B.CreateSub(Word, field(FieldLaunchLowest)),
                           field(FieldLaunchSpan));
  }
  Value *isSettled(Value *Word) {
    return B.CreateICmpULT(B.CreateSub(Word, field(FieldSegmentLowest)),
                           field(FieldSettledSpan));
  }
  /// Whether \p Word is this thread's at this clock, without any of \p Flags.
  Value *isOwn(Value *Word, uint64_t Flags) {
    uint64_t Relevant = ~0ull << word::ThreadShift | Flags;
    return B.CreateICmpEQ(
        B.CreateAnd(B.CreateXor(Word, field(FieldStamp)), number(Relevant)),
        number(0));
  }
  void read(Value *Write, Value *Read, Value *Bytes);
  void write(Value *Write, Value *Read, Value *Bytes);

  Function &F;
  const FastKind Kind;
  IRBuilder<> B;
  Type *I64;
  const bool Coverage;
  BasicBlock *Fail;
  Value *Bits = nullptr;
};
} // namespace

void FastCheck::read(Value *Write, Value *Read, Value *Bytes) {
  BasicBlock *Written = block("written"), *Check = block("check"),
             *Reader = block("reader"), *Alone = block("alone"),
             *Mine = block("mine"), *Other = block("other"),
             *Here = block("here"), *Own = block("own"), *Open = block("open"),
             *Note = block("note"), *First = block("first"),
             *Done = block("done");
  Value *W = word(Write);
  B.CreateCondBr(B.CreateICmpEQ(W, number(0)), Reader, Written);
  B.SetInsertPoint(Written);
  Value *Holds = B.getTrue();
  if (Kind.Unwritten)
    Holds = B.CreateICmpEQ(
        B.CreateAnd(W, B.CreateShl(Bytes, word::UnwrittenShift)), number(0));
  B.CreateCondBr(B.CreateAnd(isForeign(W), Holds), Reader, Check);
  B.SetInsertPoint(Check);
  Value *Fine = B.CreateOr(isSettled(W), isOwn(W, word::Last));
  B.CreateCondBr(B.CreateAnd(Fine, Holds), Reader, Fail);

  B.SetInsertPoint(Reader);
  Value *R = word(Read);
  // The bits that its word must have when this read is not to be noted as the
  // first. Of several readers the first stays.
  Value *Cover = Coverage ? B.CreateShl(Bytes, word::ReadShift) : number(0);
  Value *Wanted = B.CreateOr(Bytes, Cover);
  Value *Mask = B.CreateOr(Wanted, number(word::Atomic));
  // Nothing but a barrier, a warp operation or a sync point orders two threads:
  // those of this block at the same clock, and of other blocks, have had none.
  Value *SameClock = B.CreateAnd(
      B.CreateXor(R, field(FieldOpenStamp)),
      B.CreateOr(Mask, number(~0ull << word::ClockShift | word::Several)));
  B.CreateCondBr(
      B.CreateICmpEQ(SameClock, B.CreateOr(Wanted, number(word::Several))),
      Done, Alone);
  B.SetInsertPoint(Alone);
  B.CreateCondBr(B.CreateICmpEQ(SameClock, Wanted), Mine, Other);
  B.SetInsertPoint(Mine);
  B.CreateCondBr(isOwn(R, 0), Done, Note);
  B.SetInsertPoint(Other);
  B.CreateCondBr(isForeign(R), First, Here);
  B.SetInsertPoint(Here);
  Value *Known = B.CreateICmpEQ(B.CreateAnd(R, Mask), Wanted);
  Value *OtherBlock =
      B.CreateICmpUGE(B.CreateXor(R, field(FieldStamp)),
                      number(uint64_t(1) << word::SegmentShift));
  Value *Plain = B.CreateICmpEQ(field(FieldExtra), number(0));
  B.CreateCondBr(B.CreateAnd(B.CreateAnd(Known, Plain), OtherBlock), Open, Own);
  B.SetInsertPoint(Open);
  B.CreateCondBr(
      B.CreateICmpNE(B.CreateAnd(R, number(word::Several)), number(0)), Done,
      Note);
  B.SetInsertPoint(Note);
  setWord(Read, B.CreateOr(R, number(word::Several)));
  B.CreateBr(Done);

  B.SetInsertPoint(Own);
  BasicBlock *Older = block("older"), *Again = block("again");
  B.CreateCondBr(isOwn(R, 0), Again, Older);
  B.SetInsertPoint(Again);
  B.CreateCondBr(Known, Done, Fail);
  B.SetInsertPoint(Older);
  B.CreateCondBr(isSettled(R), First, Fail);

  B.SetInsertPoint(First);
  if (Coverage && Kind.Size < GranuleBytes) // Others may note other bytes.
    require(B.CreateICmpEQ(B.CreateAnd(R, Cover), Cover));
  Value *New = B.CreateOr(B.CreateOr(field(FieldStamp), Bits), Wanted);
  setWord(Read, B.CreateOr(New, B.CreateAnd(R, number(word::Read))));
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
}

void FastCheck::write(Value *Write, Value *Read, Value *Bytes) {
  Value *W = word(Write), *R = word(Read);
  BasicBlock *Older = block("older"), *Reader = block("reader"),
             *Readers = block("readers"), *Note = block("note");
  B.CreateCondBr(isForeign(W), Reader, Older);
  B.SetInsertPoint(Older);
  Value *OwnWrite = isOwn(W, word::Last | word::Atomic);
  B.CreateCondBr(B.CreateOr(OwnWrite, isSettled(W)), Reader, Fail);
  B.SetInsertPoint(Reader);
  B.CreateCondBr(isForeign(R), Note, Readers);
  B.SetInsertPoint(Readers);
  B.CreateCondBr(B.CreateOr(isOwn(R, word::Several | word::More), isSettled(R)),
                 Note, Fail);
  B.SetInsertPoint(Note);
  Value *New = B.CreateOr(B.CreateOr(field(FieldStamp), Bits), Bytes);
  if (Coverage)
    New = B.CreateOr(New, B.CreateShl(Bytes, word::WrittenShift));
  if (Kind.Size >= GranuleBytes) {
    setWord(Write, B.CreateOr(New, B.CreateAnd(W, number(word::Written))));
    return;
  }
  // What is known of the other bytes stays.
  Value *Keep = B.CreateAnd(
      W, B.CreateNot(B.CreateOr(B.CreateShl(Bytes, word::UnwrittenShift),
                                number(~(word::Unwritten | word::Written)))));
  New = B.CreateOr(New, Keep);
  Value *Again = B.CreateSelect(isOwn(W, 0),
                                B.CreateAnd(W, number(word::Bytes)), number(0));
  Value *Swap = B.CreateAtomicCmpXchg(Write, W, B.CreateOr(New, Again),
                                      Align(8), AtomicOrdering::Monotonic,
                                      AtomicOrdering::Monotonic);
  require(B.CreateExtractValue(Swap, 1));
}

void FastCheck::build() {
  Value *Shadow = F.getArg(1), *Address = F.getArg(2);
  Bits = F.getArg(3);
  B.SetInsertPoint(block("entry"));
  require(B.CreateICmpNE(Shadow, number(0)));
  Value *Offset = Address, *Bytes = number(word::Bytes);
  unsigned Granules = Kind.Size / GranuleBytes;
  if (Kind.Size < GranuleBytes) {
    Offset = B.CreateAnd(Address, number(~(GranuleBytes - 1)));
    Bytes = B.CreateShl(number((1u << Kind.Size) - 1),
                        B.CreateAnd(Address, number(GranuleBytes - 1)));
    Granules = 1;
  }
  Value *Base = B.CreateIntToPtr(
      B.CreateAdd(Shadow, B.CreateShl(Offset, Log2_64(ShadowFactor))),
      B.getPtrTy());
  for (unsigned I = 0; I < Granules; ++I) {
    Value *Write = B.CreateConstInBoundsGEP1_64(I64, Base, 2 * I);
    Value *Read = B.CreateConstInBoundsGEP1_64(I64, Base, 2 * I + 1);
    if (Kind.IsStore)
      write(Write, Read, Bytes);
    else
      read(Write, Read, Bytes);
  }
  B.CreateRet(B.getTrue());
}

Function *fastCheck(Module &M, const FastKind &Kind,
                    const CpuDeviceOptions &Options) {
  std::string Name =
      (Twine("cupilot.fast.") + (Kind.IsStore ? "store" : "load") +
       Twine(Kind.Size) + (Kind.Unwritten ? ".written" : ""))
          .str();
  if (Function *Known = M.getFunction(Name))
    return Known;
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C);
  auto *F = Function::Create(
      FunctionType::get(Type::getInt1Ty(C),
                        {PointerType::get(C, 0), I64, I64, I64}, false),
      GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(Attribute::AlwaysInline);
  FastCheck(*F, Kind, Options).build();
  return F;
}

} // namespace cupilot
