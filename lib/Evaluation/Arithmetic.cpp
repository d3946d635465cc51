//===- Arithmetic.cpp - Floating-point operations in device code ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

static Format formatOf(const Type *T) {
  const Type *S = T->getScalarType();
  return S->isDoubleTy()   ? Format::F64
         : S->isFloatTy()  ? Format::F32
         : S->isHalfTy()   ? Format::F16
         : S->isBFloatTy() ? Format::BF16
                           : Format::None;
}

/// A type in the name of a PTX instruction or an NVVM intrinsic.
static Format formatOf(StringRef Part) {
  return StringSwitch<Format>(Part)
      .Cases({"f64", "d"}, Format::F64)
      .Cases({"f32", "f", "f32x2"}, Format::F32)
      .Case("tf32", Format::TF32)
      .Cases({"f16", "f16x2"}, Format::F16)
      .Cases({"bf16", "bf16x2"}, Format::BF16)
      .Cases({"e4m3", "e5m2", "e4m3x2", "e5m2x2", "e4m3x4", "e5m2x4"},
             Format::F8)
      .Cases({"e2m3", "e3m2", "e2m3x2", "e3m2x2"}, Format::F6)
      .Cases({"e2m1", "e2m1x2"}, Format::F4)
      .Default(Format::None);
}

/// Instructions that compute no float, whatever types they name.
static bool movesOnly(StringRef Op) {
  return is_contained(
      ArrayRef<StringRef>({"mov", "ld", "ldu", "st", "cvta", "shfl", "prmt",
                           "selp", "setp", "ldmatrix", "stmatrix", "cp", "red",
                           "atom", "multimem", "tensormap"}),
      Op);
}

static bool isApproximate(ArrayRef<StringRef> Parts) {
  // rsqrtf is this instruction: CUDA offers no other.
  return (is_contained(Parts, "approx") || is_contained(Parts, "full")) &&
         !is_contained(Parts, "rsqrt");
}

namespace {
class Collector {
public:
  explicit Collector(const Module &M) : M(M) {}
  Expected<Arithmetic> run(ArrayRef<StringRef> Kernels);

private:
  void visit(const Instruction &I);
  void visitCall(const CallBase &Call);
  void visitAsm(const CallBase &Call, StringRef Text);
  /// One instruction by the dotted parts of its name.
  void visitParts(const Instruction &I, ArrayRef<StringRef> Parts,
                  StringRef Spelling);
  ArithmeticUse useOf(const Instruction &I, const Twine &Spelling) const;
  void computed(Format F, const Instruction &I, const Twine &Spelling) {
    if (F != Format::None && !Found.Computed.contains(F))
      Found.Computed[F] = useOf(I, Spelling);
  }
  void rounded(Format F, const Instruction &I, const Twine &Spelling) {
    if (F != Format::None && !Found.Rounded.contains(F))
      Found.Rounded[F] = useOf(I, Spelling);
  }

  const Module &M;
  SetVector<const Function *> Reached;
  Arithmetic Found;
};
} // namespace

ArithmeticUse Collector::useOf(const Instruction &I,
                               const Twine &Spelling) const {
  ArithmeticUse U{Spelling.str(), I.getFunction()->getName().str(), ""};
  if (const DILocation *Loc = I.getDebugLoc().get(); Loc && Loc->getLine())
    U.Location = (sys::path::filename(Loc->getFilename()) + ":" +
                  Twine(Loc->getLine()) + ":" + Twine(Loc->getColumn()))
                     .str();
  return U;
}

void Collector::visitParts(const Instruction &I, ArrayRef<StringRef> Parts,
                           StringRef Spelling) {
  SmallVector<Format> Types;
  for (StringRef Part : Parts)
    if (Format F = formatOf(Part); F != Format::None)
      Types.push_back(F);
  if (isApproximate(Parts) && !Types.empty()) {
    std::string Name = (Parts.front() + " approximate").str();
    if (!Found.Approximate.contains(Name))
      Found.Approximate[Name] = useOf(I, Spelling);
  }
  if (Types.empty() || movesOnly(Parts.front()))
    return;
  if (Parts.front() != "cvt") {
    // The inputs of a matrix product decide, not its accumulator.
    computed(*llvm::min_element(Types), I, Spelling);
    return;
  }
  // cvt.to.from: the destination's type stands first.
  Format To = Types.front(), From = Types.back();
  if (Types.size() == 1)
    To = is_contained(Parts, "rna") ? Format::TF32 : To;
  if (To < From || Types.size() == 1)
    rounded(To, I, Spelling);
  else if (!Found.Read.contains(From))
    Found.Read[From] = useOf(I, Spelling);
}

/// Instructions in an asm statement: each begins a line, a statement or a
/// scope, perhaps behind a predicate.
void Collector::visitAsm(const CallBase &Call, StringRef Text) {
  for (StringRef Line : split(Text, ';')) {
    Line = Line.ltrim(" \t\r\n{}");
    if (Line.starts_with("@"))
      Line = Line.substr(Line.find(' ')).ltrim();
    StringRef Op = Line.take_until([](char C) { return isSpace(C); });
    if (Op.empty() || Op.starts_with(".") || Op.ends_with(":"))
      continue;
    SmallVector<StringRef> Parts;
    Op.split(Parts, '.');
    visitParts(Call, Parts, Op);
  }
}

void Collector::visitCall(const CallBase &Call) {
  if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return visitAsm(Call, Asm->getAsmString());
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return;
  StringRef Name = Callee->getName();
  if (!Callee->isIntrinsic()) {
    // libdevice: each function keeps its own accuracy.
    if (Name.starts_with("__nv_fast_")) {
      std::string What = (Name.drop_front(10) + " approximate").str();
      if (!Found.Approximate.contains(What))
        Found.Approximate[What] = useOf(Call, Name);
    } else if (Name.starts_with("__nv_")) {
      computed(formatOf(Call.getType()), Call, Name);
    } else {
      Reached.insert(Callee);
    }
    return;
  }
  if (Name.consume_front("llvm.nvvm.")) {
    SmallVector<StringRef> Parts;
    Name.split(Parts, '.');
    // Conversions are spelled f2h.rn, ff2bf16x2.rn, ff.to.e4m3x2.rn ...
    Format Result = formatOf(Call.getType());
    if (Parts.front().contains("2") || is_contained(Parts, "to")) {
      Format To = Parts.front().ends_with("2tf32")  ? Format::TF32
                  : Parts.front().contains("2bf16") ? Format::BF16
                  : Parts.front().contains("2f16") ||
                          Parts.front().starts_with("f2h") ||
                          Parts.front().starts_with("ff2f16")
                      ? Format::F16
                      : Format::None;
      for (StringRef Part : Parts)
        if (Format F = formatOf(Part); F <= Format::F8 && F != Format::None)
          To = F;
      rounded(To, Call, Name);
      return;
    }
    // Types may stand in no part of an old name (fabs.f is float).
    visitParts(Call, Parts, Name);
    if (none_of(Parts, [](StringRef P) { return formatOf(P) != Format::None; }))
      computed(Result, Call, Name);
    return;
  }
  switch (Callee->getIntrinsicID()) {
  case Intrinsic::fabs:
  case Intrinsic::copysign:
  case Intrinsic::memcpy:
    return;
  default:
    computed(formatOf(Call.getType()), Call, Callee->getName());
  }
}

void Collector::visit(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem: {
    std::string T;
    raw_string_ostream(T) << *I.getType()->getScalarType();
    computed(formatOf(I.getType()), I, Twine(I.getOpcodeName()) + " " + T);
    break;
  }
  case Instruction::AtomicRMW:
    if (cast<AtomicRMWInst>(I).isFloatingPointOperation())
      computed(formatOf(I.getType()), I, "atomicrmw");
    break;
  case Instruction::FPTrunc:
    rounded(formatOf(I.getType()), I, "a rounding");
    break;
  case Instruction::FPExt:
    if (Format F = formatOf(I.getOperand(0)->getType());
        !Found.Read.contains(F))
      Found.Read[F] = useOf(I, "a conversion");
    break;
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    rounded(formatOf(I.getType()), I, "a conversion of an integer");
    break;
  case Instruction::And: {
    // Bits that become a float, without the low ones: the mantissa is cut.
    const APInt *Mask = nullptr;
    auto Cast = find_if(I.users(), IsaPred<BitCastInst>);
    if (!match(&I, m_And(m_Value(), m_APInt(Mask))) || Cast == I.user_end())
      break;
    Format F = formatOf((*Cast)->getType());
    unsigned Mantissa = F == Format::F32 ? 23 : F == Format::F64 ? 52 : 0;
    bool KeepsExponent = Mantissa && Mask->lshr(Mantissa).trunc(8).isAllOnes();
    unsigned Cut = Mask->countr_zero();
    if (!KeepsExponent || Cut == 0 || Cut >= Mantissa)
      break;
    // What is left of a double may still be as much as a float.
    Format Left = Mantissa - Cut < 23 ? Format::F32Masked : Format::F32;
    rounded(Left, I,
            "a mask that cuts " + Twine(Cut) + " bits of the mantissa");
    break;
  }
  default:
    if (auto *Call = dyn_cast<CallBase>(&I))
      visitCall(*Call);
  }
}

Expected<Arithmetic> Collector::run(ArrayRef<StringRef> Kernels) {
  for (StringRef Name : Kernels) {
    const Function *F = M.getFunction(Name);
    if (!F || F->isDeclaration())
      return usageError("the device code has no kernel '" + Name + "'");
    Reached.insert(F);
  }
  // Grows while it is walked. Functions whose address is taken count too.
  for (size_t At = 0; At < Reached.size(); ++At)
    for (const Instruction &I : instructions(*Reached[At])) {
      visit(I);
      for (const llvm::Use &Operand : I.operands())
        if (auto *F = dyn_cast<Function>(Operand.get());
            F && !F->isIntrinsic() && !F->getName().starts_with("__nv_"))
          Reached.insert(F);
    }
  return std::move(Found);
}

Expected<Arithmetic> collectArithmetic(const Module &M,
                                       ArrayRef<StringRef> Kernels) {
  return Collector(M).run(Kernels);
}

} // namespace cupilot
