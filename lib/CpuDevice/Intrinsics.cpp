//===- Intrinsics.cpp - NVVM intrinsics on the host -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each intrinsic of an entry becomes plain IR or a call of the run time. What
// has no rule here is named to the user, never guessed.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <cfenv>
#include <optional>

using namespace llvm;

namespace cupilot {

namespace {
class IntrinsicLowering {
public:
  IntrinsicLowering(Function &Entry, LoweredKernel &K) : Entry(Entry), K(K) {}
  std::string run();

private:
  /// What replaces the call; a null Value inside means "drop it"; nothing means
  /// that there is no rule.
  std::optional<Value *> lower(CallInst &Call, StringRef Name, IRBuilder<> &B);
  std::optional<Value *> lowerSpecialRegister(StringRef Name, CallInst &Call,
                                              IRBuilder<> &B);
  std::optional<Value *> lowerFloat(StringRef Name, CallInst &Call,
                                    IRBuilder<> &B);
  std::optional<Value *> lowerConversion(StringRef Name, CallInst &Call,
                                         IRBuilder<> &B);
  std::optional<Value *> lowerInteger(StringRef Name, CallInst &Call,
                                      IRBuilder<> &B);
  std::optional<Value *> lowerWarp(StringRef Name, CallInst &Call,
                                   IRBuilder<> &B);
  std::optional<Value *> lowerAsm(CallInst &Call, IRBuilder<> &B);
  Value *reservedShared(IRBuilder<> &B);
  Value *rounded(StringRef Name, RoundedOp Op, Type *T, ArrayRef<Value *> Args,
                 IRBuilder<> &B);

  Value *field(IRBuilder<> &B, ContextField Field, unsigned Index = 0) {
    return B.CreateLoad(B.getInt32Ty(), contextField(B, Entry, Field, Index));
  }
  Value *runtime(IRBuilder<> &B, StringRef Name, Type *Result,
                 ArrayRef<Value *> Args) {
    SmallVector<Type *> Types;
    for (Value *Arg : Args)
      Types.push_back(Arg->getType());
    return B.CreateCall(Entry.getParent()->getOrInsertFunction(
                            Name, FunctionType::get(Result, Types, false)),
                        Args);
  }
  Value *warp(IRBuilder<> &B, WarpOp Op, Value *Mask, Value *Operand,
              Value *Lane, Value *Clamp) {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_warp", B.getInt64Ty(),
                   {Entry.getArg(0), B.getInt32(static_cast<uint32_t>(Op)),
                    Mask, Operand, Lane, Clamp});
  }
  Value *activeMask(IRBuilder<> &B) {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_activemask", B.getInt32Ty(),
                   {Entry.getArg(0), B.getInt32(++BarrierSites)});
  }
  /// Keeps only as much of \p X as a unit with absolute error \p Step has.
  static Value *quantised(IRBuilder<> &B, Value *X, double Step) {
    Type *T = X->getType();
    Value *Scaled = B.CreateFMul(X, ConstantFP::get(T, 1.0 / Step));
    return B.CreateFMul(B.CreateUnaryIntrinsic(Intrinsic::rint, Scaled),
                        ConstantFP::get(T, Step));
  }

  Function &Entry;
  LoweredKernel &K;
  /// Numbers the barriers (and active masks) of the source, which later passes
  /// may duplicate.
  uint32_t BarrierSites = 0;
};
} // namespace

std::optional<Value *> IntrinsicLowering::lowerSpecialRegister(StringRef Name,
                                                               CallInst &Call,
                                                               IRBuilder<> &B) {
  if (!Name.consume_front("read.ptx.sreg."))
    return std::nullopt;
  unsigned Index = Name.ends_with(".y") ? 1 : Name.ends_with(".z") ? 2 : 0;
  auto [Base, Dim] = Name.split('.');
  if (!Dim.empty())
    for (auto [Register, Field] : {std::pair("tid", FieldTid),
                                   {"ntid", FieldNtid},
                                   {"ctaid", FieldCtaid},
                                   {"nctaid", FieldNctaid}})
      if (Base == Register)
        return field(B, Field, Index);
  Value *Linear = field(B, FieldLinear);
  Value *Lane = B.CreateAnd(Linear, 31);
  Value *One = B.getInt32(1);
  if (Name == "laneid")
    return Lane;
  if (Name == "warpid")
    return B.CreateLShr(Linear, 5);
  if (Name == "warpsize")
    return B.getInt32(32);
  if (Name == "lanemask.eq")
    return B.CreateShl(One, Lane);
  if (Name == "lanemask.lt")
    return B.CreateSub(B.CreateShl(One, Lane), One);
  if (Name == "lanemask.le")
    return B.CreateSub(B.CreateShl(B.getInt32(2), Lane), One);
  if (Name == "lanemask.gt")
    return B.CreateNot(B.CreateSub(B.CreateShl(B.getInt32(2), Lane), One));
  if (Name == "lanemask.ge")
    return B.CreateNot(B.CreateSub(B.CreateShl(One, Lane), One));
  if (Name == "smid" || Name == "gridid")
    return ConstantInt::get(Call.getType(), 0);
  if (Name == "nsmid")
    return B.getInt32(1);
  if (Name == "nwarpid")
    return B.getInt32(64);
  if (Name == "dynamic_smem_size")
    return field(B, FieldDynShared);
  if (Name == "clock64" || Name == "globaltimer")
    return runtime(B, "cupilot_rt_clock", B.getInt64Ty(), {});
  if (Name == "clock")
    return B.CreateTrunc(runtime(B, "cupilot_rt_clock", B.getInt64Ty(), {}),
                         B.getInt32Ty());
  return std::nullopt;
}

/// Arithmetic that rounds to zero (.rz), down (.rm) or up (.rp).
Value *IntrinsicLowering::rounded(StringRef Name, RoundedOp Op, Type *T,
                                  ArrayRef<Value *> Args, IRBuilder<> &B) {
  Type *Double = B.getDoubleTy(), *I32 = B.getInt32Ty();
  int Mode = Name.contains(".rz")   ? FE_TOWARDZERO
             : Name.contains(".rm") ? FE_DOWNWARD
                                    : FE_UPWARD;
  SmallVector<Value *> All = {
      ConstantInt::get(I32, static_cast<uint32_t>(Op)),
      ConstantInt::get(I32, static_cast<uint32_t>(Mode)),
      ConstantInt::get(I32, T->isFloatTy())};
  for (unsigned I = 0; I < 3; ++I)
    All.push_back(I < Args.size() ? B.CreateFPCast(Args[I], Double)
                                  : ConstantFP::get(Double, 0.0));
  return B.CreateFPCast(runtime(B, "cupilot_rt_rounded", Double, All), T);
}

std::optional<Value *>
IntrinsicLowering::lowerFloat(StringRef Name, CallInst &Call, IRBuilder<> &B) {
  Type *T = Call.getType();
  if (!T->isFPOrFPVectorTy())
    return std::nullopt;
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  auto Is = [&](StringRef Prefix) { return Name.starts_with(Prefix); };
  auto Unary = [&](Intrinsic::ID Id) -> Value * {
    return B.CreateUnaryIntrinsic(Id, Arg(0));
  };
  auto Binary = [&](Intrinsic::ID Id) -> Value * {
    return B.CreateBinaryIntrinsic(Id, Arg(0), Arg(1));
  };
  // Only rounding to nearest is the host's.
  bool Nearest =
      !Name.contains(".rz") && !Name.contains(".rm") && !Name.contains(".rp");
  Value *Saturated = nullptr;
  auto Finish = [&](Value *V) -> Value * {
    if (!Name.contains(".sat"))
      return V;
    Saturated =
        B.CreateBinaryIntrinsic(Intrinsic::maxnum, V, ConstantFP::get(T, 0.0));
    return B.CreateBinaryIntrinsic(Intrinsic::minnum, Saturated,
                                   ConstantFP::get(T, 1.0));
  };
  // Division by .approx and .full has no direction.
  if (auto Op = StringSwitch<std::optional<RoundedOp>>(Name.split('.').first)
                    .Case("add", RoundedOp::Add)
                    .Case("mul", RoundedOp::Mul)
                    .Case("fma", RoundedOp::Fma)
                    .Case("div", RoundedOp::Div)
                    .Case("rcp", RoundedOp::Rcp)
                    .Case("sqrt", RoundedOp::Sqrt)
                    .Default(std::nullopt);
      Op && !Nearest && (T->isFloatTy() || T->isDoubleTy()))
    return Finish(rounded(Name, *Op, T, SmallVector<Value *>(Call.args()), B));
  if (Is("fma.r") && Nearest)
    return Finish(
        B.CreateIntrinsic(Intrinsic::fma, {T}, {Arg(0), Arg(1), Arg(2)}));
  if (Is("add.r") && Nearest)
    return Finish(B.CreateFAdd(Arg(0), Arg(1)));
  if (Is("mul.r") && Nearest)
    return Finish(B.CreateFMul(Arg(0), Arg(1)));
  if (Is("div.") && Nearest)
    return B.CreateFDiv(Arg(0), Arg(1));
  if (Is("rcp.") && Nearest)
    return B.CreateFDiv(ConstantFP::get(T, 1.0), Arg(0));
  if (Is("sqrt.") && Nearest)
    return Unary(Intrinsic::sqrt);
  if (Is("rsqrt."))
    return B.CreateFDiv(ConstantFP::get(T, 1.0), Unary(Intrinsic::sqrt));
  // CUDA C++ Programming Guide, "Mathematical Functions": absolute errors of
  // the special units.
  if (Is("sin.approx"))
    return quantised(B, Unary(Intrinsic::sin), 0x1p-21);
  if (Is("cos.approx"))
    return quantised(B, Unary(Intrinsic::cos), 0x1p-21);
  if (Is("lg2.approx"))
    return Unary(Intrinsic::log2);
  if (Is("ex2.approx"))
    return Unary(Intrinsic::exp2);
  if (Is("tanh.approx"))
    return quantised(B, runtime(B, "tanhf", T, {Arg(0)}), 0x1p-11);
  if (Is("fabs"))
    return Unary(Intrinsic::fabs);
  if (Is("floor."))
    return Unary(Intrinsic::floor);
  if (Is("ceil."))
    return Unary(Intrinsic::ceil);
  if (Is("trunc."))
    return Unary(Intrinsic::trunc);
  if (Is("round."))
    return Unary(Intrinsic::rint);
  if (Is("saturate."))
    return B.CreateBinaryIntrinsic(
        Intrinsic::minnum,
        B.CreateBinaryIntrinsic(Intrinsic::maxnum, Arg(0),
                                ConstantFP::get(T, 0.0)),
        ConstantFP::get(T, 1.0));
  if (Is("fmax.") || Is("fmin.")) {
    if (Name.contains("xorsign"))
      return std::nullopt;
    bool Nan = Name.contains(".nan");
    return Is("fmax.") ? Binary(Nan ? Intrinsic::maximum : Intrinsic::maxnum)
                       : Binary(Nan ? Intrinsic::minimum : Intrinsic::minnum);
  }
  return std::nullopt;
}

/// The rounding that a conversion's name asks for.
static Intrinsic::ID roundingOf(StringRef Name) {
  if (Name.contains(".rz"))
    return Intrinsic::trunc;
  if (Name.contains(".rm"))
    return Intrinsic::floor;
  if (Name.contains(".rp"))
    return Intrinsic::ceil;
  return Intrinsic::rint;
}

std::optional<Value *> IntrinsicLowering::lowerConversion(StringRef Name,
                                                          CallInst &Call,
                                                          IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  if (Name == "d2i.lo")
    return B.CreateTrunc(B.CreateBitCast(Arg(0), B.getInt64Ty()), T);
  if (Name == "d2i.hi")
    return B.CreateTrunc(
        B.CreateLShr(B.CreateBitCast(Arg(0), B.getInt64Ty()), 32), T);
  if (Name == "lohi.i2d") {
    Value *High = B.CreateShl(B.CreateZExt(Arg(1), B.getInt64Ty()), 32);
    return B.CreateBitCast(
        B.CreateOr(High, B.CreateZExt(Arg(0), B.getInt64Ty())), T);
  }
  if (Name.starts_with("bitcast."))
    return B.CreateBitCast(Arg(0), T);
  StringRef Base = Name.split('.').first;
  if (is_contained(ArrayRef<StringRef>({"f2i", "f2ll", "d2i", "d2ll"}), Base))
    return B.CreateIntrinsic(
        Intrinsic::fptosi_sat, {T, Arg(0)->getType()},
        {B.CreateUnaryIntrinsic(roundingOf(Name), Arg(0))});
  if (is_contained(ArrayRef<StringRef>({"f2ui", "f2ull", "d2ui", "d2ull"}),
                   Base))
    return B.CreateIntrinsic(
        Intrinsic::fptoui_sat, {T, Arg(0)->getType()},
        {B.CreateUnaryIntrinsic(roundingOf(Name), Arg(0))});
  bool Nearest = Name.contains(".rn");
  // Every integer of 32 bits is a double; those of 64 have no rule.
  if (!Nearest && (Base == "i2f" || Base == "ui2f" || Base == "d2f")) {
    Value *Wide = Base == "i2f"    ? B.CreateSIToFP(Arg(0), B.getDoubleTy())
                  : Base == "ui2f" ? B.CreateUIToFP(Arg(0), B.getDoubleTy())
                                   : Arg(0);
    return rounded(Name, RoundedOp::Convert, T, Wide, B);
  }
  if (Nearest &&
      is_contained(ArrayRef<StringRef>({"i2f", "ll2f", "i2d", "ll2d"}), Base))
    return B.CreateSIToFP(Arg(0), T);
  if (Nearest &&
      is_contained(ArrayRef<StringRef>({"ui2f", "ull2f", "ui2d", "ull2d"}),
                   Base))
    return B.CreateUIToFP(Arg(0), T);
  if (Nearest && Base == "d2f")
    return B.CreateFPTrunc(Arg(0), T);
  if (Name == "f2h.rn" || Name == "f2h.rn.ftz")
    return B.CreateBitCast(B.CreateFPTrunc(Arg(0), B.getHalfTy()), T);
  return std::nullopt;
}

std::optional<Value *> IntrinsicLowering::lowerInteger(StringRef Name,
                                                       CallInst &Call,
                                                       IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  auto High = [&](bool Signed) -> Value * {
    unsigned Bits = T->getIntegerBitWidth();
    Type *Double = B.getIntNTy(2 * Bits);
    auto Extend = [&](Value *V) {
      return Signed ? B.CreateSExt(V, Double) : B.CreateZExt(V, Double);
    };
    return B.CreateTrunc(
        B.CreateLShr(B.CreateMul(Extend(Arg(0)), Extend(Arg(1))), Bits), T);
  };
  if (Name == "mulhi.i" || Name == "mulhi.ll" || Name == "mulhi.s")
    return High(true);
  if (Name == "mulhi.ui" || Name == "mulhi.ull" || Name == "mulhi.us")
    return High(false);
  if (Name == "mul24.i") {
    auto Low = [&](Value *V) { return B.CreateAShr(B.CreateShl(V, 8), 8); };
    return B.CreateMul(Low(Arg(0)), Low(Arg(1)));
  }
  if (Name == "mul24.ui")
    return B.CreateMul(B.CreateAnd(Arg(0), 0xffffff),
                       B.CreateAnd(Arg(1), 0xffffff));
  if (Name == "sad.i" || Name == "sad.ui") {
    bool Signed = Name == "sad.i";
    Value *Greater = B.CreateICmp(
        Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT, Arg(0), Arg(1));
    Value *Difference = B.CreateSelect(Greater, B.CreateSub(Arg(0), Arg(1)),
                                       B.CreateSub(Arg(1), Arg(0)));
    return B.CreateAdd(Difference, Arg(2));
  }
  if (Name == "prmt")
    return runtime(B, "cupilot_rt_prmt", T, {Arg(0), Arg(1), Arg(2)});
  if (Name.starts_with("idp4a.")) {
    bool SignedA = Name.starts_with("idp4a.s"), SignedB = Name.ends_with(".s");
    Value *Sum = Arg(2);
    for (unsigned I = 0; I < 4; ++I) {
      auto Byte = [&](Value *V, bool Signed) {
        Value *Up = B.CreateShl(V, 24 - 8 * I);
        return Signed ? B.CreateAShr(Up, 24) : B.CreateLShr(Up, 24);
      };
      Sum = B.CreateAdd(
          Sum, B.CreateMul(Byte(Arg(0), SignedA), Byte(Arg(1), SignedB)));
    }
    return Sum;
  }
  if (Name.starts_with("ldg.global") || Name.starts_with("ldu.global"))
    return B.CreateAlignedLoad(T, Arg(0), Align(1));
  if (Name.starts_with("ptr.") && Name.contains(".to."))
    return B.CreatePointerBitCastOrAddrSpaceCast(Arg(0), T);
  if (Name.starts_with("isspacep.")) {
    unsigned Space = StringSwitch<unsigned>(Name)
                         .Case("isspacep.shared", 3)
                         .Case("isspacep.local", 5)
                         .Case("isspacep.const", 4)
                         .Default(1);
    return B.CreateICmpNE(runtime(B, "cupilot_rt_space", B.getInt32Ty(),
                                  {Entry.getArg(0), Arg(0), B.getInt32(Space)}),
                          B.getInt32(0));
  }
  return std::nullopt;
}

std::optional<Value *>
IntrinsicLowering::lowerWarp(StringRef Name, CallInst &Call, IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(), *T = Call.getType();
  Value *Zero = B.getInt32(0), *Context = Entry.getArg(0);
  auto Wide = [&](Value *V) -> Value * {
    if (V->getType()->isFloatTy())
      V = B.CreateBitCast(V, I32);
    return B.CreateZExt(V, I64);
  };
  auto Barrier = [&](BarrierKind Kind, Value *Id, Value *Count,
                     Value *Predicate) -> Value * {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_barrier", I32,
                   {Context, B.getInt32(static_cast<uint32_t>(Kind)), Id, Count,
                    Predicate, B.getInt32(++BarrierSites)});
  };
  if (Name.consume_front("barrier.cta.")) {
    if (Name == "sync.aligned.all" || Name == "sync.all")
      return Barrier(BarrierKind::Sync, Arg(0), Zero, Zero);
    if (Name == "sync.aligned.count" || Name == "sync.count")
      return Barrier(BarrierKind::Sync, Arg(0), Arg(1), Zero);
    if (!Name.consume_front("red."))
      return std::nullopt;
    StringRef Op = Name.split('.').first;
    BarrierKind Kind = Op == "popc"  ? BarrierKind::Popc
                       : Op == "and" ? BarrierKind::And
                                     : BarrierKind::Or;
    bool Counted = Name.ends_with("count");
    Value *Predicate = B.CreateZExt(Arg(Counted ? 2 : 1), I32);
    Value *Result = Barrier(Kind, Arg(0), Counted ? Arg(1) : Zero, Predicate);
    return T->isIntegerTy(1) ? B.CreateICmpNE(Result, Zero) : Result;
  }
  if (Name == "bar.warp.sync") {
    warp(B, WarpOp::Sync, Arg(0), B.getInt64(0), Zero, Zero);
    return nullptr;
  }
  if (Name == "activemask")
    return activeMask(B);
  if (Name.starts_with("shfl.sync.")) {
    WarpOp Op = Name.contains(".idx.")    ? WarpOp::ShflIdx
                : Name.contains(".up.")   ? WarpOp::ShflUp
                : Name.contains(".down.") ? WarpOp::ShflDown
                                          : WarpOp::ShflBfly;
    Value *Raw =
        B.CreateTrunc(warp(B, Op, Arg(0), Wide(Arg(1)), Arg(2), Arg(3)), I32);
    auto *Pair = dyn_cast<StructType>(T);
    Type *ValueType = Pair ? Pair->getElementType(0) : T;
    Value *Result = B.CreateBitCast(Raw, ValueType);
    if (!Pair)
      return Result;
    Value *Predicate = B.CreateICmpNE(field(B, FieldWarpPredicate), Zero);
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Result, 0), Predicate, 1);
  }
  if (Name.starts_with("vote.")) {
    WarpOp Op = Name.contains("ballot") ? WarpOp::Ballot
                : Name.contains("any")  ? WarpOp::Any
                : Name.contains("all")  ? WarpOp::All
                                        : WarpOp::Uni;
    if (!Name.ends_with(".sync"))
      return std::nullopt;
    Value *Result = warp(B, Op, Arg(0), B.CreateZExt(Arg(1), I64), Zero, Zero);
    return B.CreateTrunc(Result, T);
  }
  if (Name.starts_with("match.")) {
    bool All = Name.starts_with("match.all");
    Value *Result =
        B.CreateTrunc(warp(B, All ? WarpOp::MatchAll : WarpOp::MatchAny, Arg(0),
                           Wide(Arg(1)), Zero, Zero),
                      I32);
    if (!T->isStructTy())
      return Result;
    Value *Predicate = B.CreateICmpNE(field(B, FieldWarpPredicate), Zero);
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Result, 0), Predicate, 1);
  }
  if (Name.consume_front("redux.sync.")) {
    std::optional<WarpOp> Op = StringSwitch<std::optional<WarpOp>>(Name)
                                   .Case("add", WarpOp::ReduceAdd)
                                   .Case("min", WarpOp::ReduceMin)
                                   .Case("max", WarpOp::ReduceMax)
                                   .Case("umin", WarpOp::ReduceUMin)
                                   .Case("umax", WarpOp::ReduceUMax)
                                   .Case("and", WarpOp::ReduceAnd)
                                   .Case("or", WarpOp::ReduceOr)
                                   .Case("xor", WarpOp::ReduceXor)
                                   .Default(std::nullopt);
    if (!Op)
      return std::nullopt;
    return B.CreateTrunc(warp(B, *Op, Arg(1), Wide(Arg(0)), Zero, Zero), I32);
  }
  return std::nullopt;
}

/// Assembly with white space runs made one blank, without braces around it.
static std::string normalised(StringRef Asm) {
  std::string Text;
  for (char C : Asm)
    if (isSpace(C)) {
      if (!Text.empty() && Text.back() != ' ')
        Text += ' ';
    } else if (C != '{' && C != '}') {
      Text += C;
    }
  StringRef Trimmed = StringRef(Text).trim();
  while (Trimmed.consume_back(";"))
    Trimmed = Trimmed.rtrim();
  return Trimmed.str();
}

/// The part of a block's shared memory that sm_80 and newer keep for the
/// system. CUDA's cooperative groups put their barriers there, and ask for its
/// address in every kernel that has a group.
Value *IntrinsicLowering::reservedShared(IRBuilder<> &B) {
  static constexpr unsigned Size = 1024;
  static constexpr char Name[] = "__cupilot_reserved_shared";
  Module &M = *Entry.getParent();
  GlobalVariable *G = M.getNamedGlobal(Name);
  if (!G) {
    auto *T = ArrayType::get(B.getInt8Ty(), Size);
    G = new GlobalVariable(M, T, /*isConstant=*/false,
                           GlobalValue::InternalLinkage, PoisonValue::get(T),
                           Name, nullptr, GlobalValue::NotThreadLocal,
                           /*AddressSpace=*/3);
    G->setAlignment(Align(16));
  }
  return B.CreateAddrSpaceCast(G, B.getPtrTy());
}

/// What lowerInlineAsm left: instructions that need the run time.
std::optional<Value *> IntrinsicLowering::lowerAsm(CallInst &Call,
                                                   IRBuilder<> &B) {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  std::string Text = normalised(Asm->getAsmString());
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  StringRef Op = StringRef(Text).split(' ').first;
  auto Fence = [&]() -> Value * {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return nullptr;
  };
  if (Text.empty() || Op == "nanosleep.u32")
    return nullptr;
  if (Op.starts_with("membar.") || Op.starts_with("fence."))
    return Fence();
  if (Text == "activemask.b32 $0")
    return activeMask(B);
  if (StringRef(Text).contains("%reserved_smem_offset_1") &&
      StringRef(Text).ends_with("cvta.shared.u64 $0, extended"))
    return B.CreatePtrToInt(reservedShared(B), T);
  if (Op.starts_with("shf.") && Call.arg_size() == 3) {
    bool Left = Op.starts_with("shf.l"), Clamp = Op.contains(".clamp");
    Value *Amount = Arg(2);
    Value *Pair =
        B.CreateOr(B.CreateShl(B.CreateZExt(Arg(1), B.getInt64Ty()), 32),
                   B.CreateZExt(Arg(0), B.getInt64Ty()));
    Amount =
        Clamp ? B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, B.getInt32(32))
              : B.CreateAnd(Amount, 31);
    Value *Wide = B.CreateZExt(Amount, B.getInt64Ty());
    Value *Shifted = Left ? B.CreateLShr(B.CreateShl(Pair, Wide), 32)
                          : B.CreateLShr(Pair, Wide);
    return B.CreateTrunc(Shifted, T);
  }
  if (Op.starts_with("dp4a.")) {
    // dp4a.atype.btype, as the intrinsic idp4a.a.b.
    SmallVector<StringRef> Parts;
    Op.split(Parts, '.');
    if (Parts.size() == 3)
      return lowerInteger(
          ("idp4a." + Parts[1].take_front(1) + "." + Parts[2].take_front(1))
              .str(),
          Call, B);
  }
  if (Op == "bfind.shiftamt.u32" || Op == "bfind.u32") {
    Value *Zeros =
        B.CreateBinaryIntrinsic(Intrinsic::ctlz, Arg(0), B.getFalse());
    Value *Found =
        Op == "bfind.u32" ? B.CreateSub(B.getInt32(31), Zeros) : Zeros;
    return B.CreateSelect(B.CreateICmpEQ(Arg(0), B.getInt32(0)),
                          B.getInt32(~0u), Found);
  }
  if (Op == "bfe.u32" && Call.arg_size() == 3)
    return runtime(B, "cupilot_rt_bfe", T, {Arg(0), Arg(1), Arg(2)});
  if (Op == "mul.hi.u32")
    return lowerInteger("mulhi.ui", Call, B);
  return std::nullopt;
}

std::optional<Value *> IntrinsicLowering::lower(CallInst &Call, StringRef Name,
                                                IRBuilder<> &B) {
  if (Name.consume_front("llvm.nvvm.")) {
    for (auto Rule :
         {&IntrinsicLowering::lowerSpecialRegister,
          &IntrinsicLowering::lowerConversion, &IntrinsicLowering::lowerInteger,
          &IntrinsicLowering::lowerFloat, &IntrinsicLowering::lowerWarp})
      if (std::optional<Value *> Result = (this->*Rule)(Name, Call, B))
        return Result;
    if (Name.starts_with("membar.") || Name.starts_with("fence.")) {
      B.CreateFence(AtomicOrdering::SequentiallyConsistent);
      return nullptr;
    }
    if (Name.starts_with("nanosleep"))
      return nullptr;
    if (Name == "exit")
      return runtime(B, "cupilot_rt_exit", B.getVoidTy(), {Entry.getArg(0)});
    return std::nullopt;
  }
  if (Name == "llvm.trap" || Name == "llvm.debugtrap" ||
      Name == "llvm.ubsantrap")
    return runtime(B, "cupilot_rt_trap", B.getVoidTy(), {Entry.getArg(0)});
  return std::nullopt;
}

std::string IntrinsicLowering::run() {
  SmallVector<CallInst *> Calls;
  for (Instruction &I : instructions(Entry)) {
    if (isa<InvokeInst>(I))
      return "an invoke instruction";
    if (auto *Call = dyn_cast<CallInst>(&I))
      Calls.push_back(Call);
  }
  for (CallInst *Call : Calls) {
    IRBuilder<> B(Call);
    std::optional<Value *> Result;
    if (Call->isInlineAsm()) {
      Result = lowerAsm(*Call, B);
      if (!Result)
        return "the inline assembly '" +
               normalised(
                   cast<InlineAsm>(Call->getCalledOperand())->getAsmString()) +
               "'";
    } else {
      Function *Callee = Call->getCalledFunction();
      if (!Callee)
        return "a call through a pointer";
      StringRef Name = Callee->getName();
      if (Name == "vprintf")
        Result = runtime(
            B, "cupilot_rt_printf", Call->getType(),
            {Entry.getArg(0), Call->getArgOperand(0), Call->getArgOperand(1)});
      else if (Name == "__assertfail" || Name == "__assert_fail")
        Result = runtime(B, "cupilot_rt_assert", B.getVoidTy(),
                         {Entry.getArg(0), Call->getArgOperand(0),
                          Call->getArgOperand(1), Call->getArgOperand(2),
                          Call->getArgOperand(3)});
      else if (Name == "malloc" || Name == "free")
        Result = runtime(
            B, Name == "malloc" ? "cupilot_rt_malloc" : "cupilot_rt_free",
            Call->getType(), {Entry.getArg(0), Call->getArgOperand(0)});
      else if (Name.starts_with("llvm.nvvm.") || Name.ends_with("trap"))
        Result = lower(*Call, Name, B);
      else if (Callee->isIntrinsic() || Name.starts_with("cupilot_rt_"))
        continue;
      else if (!Callee->isDeclaration())
        return "the recursive function '" + Name.str() + "'";
      else if (Callee->doesNotAccessMemory() ||
               Callee->onlyAccessesInaccessibleMemory())
        continue; // A function of the host's libm, put there by lowerLibdevice.
      if (!Result && !Callee->isIntrinsic() && !Name.starts_with("llvm."))
        return "the function '" + demangle(Name) + "', which is not defined,";
      if (!Result)
        return "'" + Name.str() + "'";
    }
    Value *New = *Result;
    if (New && !Call->getType()->isVoidTy())
      Call->replaceAllUsesWith(New);
    Call->eraseFromParent();
  }
  return "";
}

std::string lowerIntrinsics(Function &Entry, LoweredKernel &K) {
  return IntrinsicLowering(Entry, K).run();
}

} // namespace cupilot
