//===- DeviceOpIntrinsics.cpp - Intrinsics that the run time executes -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of LLVM's intrinsics, rewritten as the opcodes of PTX that they
// stand for (IntrinsicsNVVM.td of LLVM). They are read as names and not by
// number: LLVM makes several hundred of them of an opcode's parts, and the rule
// of an instruction is found by these parts, whether PTX or LLVM wrote them.
//
//===----------------------------------------------------------------------===//

#include "Hopper/DeviceOps.h"
#include "Lowering.h"
#include "Ptx/DeviceValues.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

using PartList = SmallVector<StringRef, 12>;

/// The four types (D, A, B, C) that an intrinsic's shorter list means.
static bool completeTypes(PartList &Types) {
  if (Types.size() == 4)
    return true;
  if (Types.empty() || Types.size() > 2)
    return false;
  StringRef First = Types.front(), Last = Types.back();
  bool Half = First == "f16" || First == "f32";
  if (Types.size() == 2 && Half)
    Types = {First, "f16", "f16", Last};
  else if (First == "f64")
    Types = {First, First, First, First};
  else if (First == "tf32" || First == "bf16")
    Types = {"f32", First, First, "f32"};
  else
    Types = {"s32", First, Last, "s32"};
  return true;
}

/// mma.{and.popc.}shape.row.col.{satfinite.}types
static std::string mmaOpcode(PartList Parts) {
  std::string Product, Clamp;
  if (Parts.size() > 3 && Parts[1] == "popc") {
    Product = "." + Parts[0].str() + ".popc";
    Parts.erase(Parts.begin(), Parts.begin() + 2);
  }
  if (Parts.size() > 4 && Parts[3] == "satfinite") {
    Clamp = ".satfinite";
    Parts.erase(Parts.begin() + 3);
  }
  if (Parts.size() < 4)
    return "";
  PartList Types(drop_begin(Parts, 3));
  if (!completeTypes(Types))
    return "";
  return "mma.sync.aligned." + join(ArrayRef(Parts).take_front(3), ".") +
         Clamp + "." + join(Types, ".") + Product;
}

/// wmma.shape.{load.a,mma,store.d}.{and.popc.}row...
static std::string wmmaOpcode(PartList Parts) {
  if (Parts.size() < 4)
    return "";
  StringRef Shape = Parts[0];
  if (Parts[1] != "mma") {
    // load.a.row.{stride.}type
    StringRef Type = Parts.back();
    return ("wmma." + Parts[1] + "." + Parts[2] + ".sync.aligned." + Parts[3] +
            "." + Shape + "." + Type)
        .str();
  }
  Parts.erase(Parts.begin(), Parts.begin() + 2);
  std::string Product, Round, Clamp;
  if (Parts.size() > 3 && Parts[1] == "popc") {
    Product = Parts[0].str() + ".popc.";
    Parts.erase(Parts.begin(), Parts.begin() + 2);
  }
  if (Parts.size() > 3 && Parts[2].starts_with("r") && Parts[2].size() == 2) {
    Round = "." + Parts[2].str();
    Parts.erase(Parts.begin() + 2);
  }
  if (Parts.size() > 3 && Parts.back() == "satfinite") {
    Clamp = ".satfinite";
    Parts.pop_back();
  }
  if (Parts.size() < 3)
    return "";
  PartList Types(drop_begin(Parts, 2));
  if (!completeTypes(Types))
    return "";
  return "wmma.mma." + Product + "sync.aligned." + Parts[0].str() + "." +
         Parts[1].str() + "." + Shape.str() + Round + "." + join(Types, ".") +
         Clamp;
}

/// cp.async.{ca,cg}.shared.global.bytes{.s}, cp.async.commit.group ... \p
/// Bytes: the size that the name holds, an operand of the opcode.
static std::string asyncOpcode(PartList Parts, unsigned &Bytes) {
  if (Parts.size() < 2 || Parts[0] != "async")
    return "";
  if (Parts[1] == "commit" || Parts[1] == "wait")
    return "cp.async." + join(drop_begin(Parts), "_");
  if (Parts[1] == "mbarrier") {
    if (Parts.back() == "shared")
      Parts.pop_back();
    return "cp." + join(Parts, ".") + ".b64";
  }
  if (Parts.back() == "s")
    Parts.pop_back();
  if ((Parts[1] != "ca" && Parts[1] != "cg") ||
      Parts.back().getAsInteger(10, Bytes))
    return "";
  Parts.pop_back();
  return "cp." + join(Parts, ".");
}

/// mbarrier.arrive.drop.expect.tx.relaxed.scope.cta.space.cta and shorter ones.
static std::string mbarrierOpcode(PartList Parts) {
  std::string Operation, Modifiers;
  for (size_t I = 0; I < Parts.size(); ++I) {
    StringRef Part = Parts[I];
    bool Pair = I + 1 < Parts.size();
    if (Part == "scope" && Pair)
      ++I; // All of the cpu device's threads see the same memory.
    else if (Part == "space" && Pair)
      ++I;
    else if (Part == "shared" || Part == "relaxed" || Part == "tl")
      continue;
    else if (Part == "drop")
      Operation += "_drop";
    else if (Part == "expect" && Pair && !Operation.empty())
      Modifiers += ".expect_" + Parts[++I].str();
    else if (Part == "noComplete" || Part == "parity")
      Modifiers += "." + Part.str();
    else
      Operation += (Operation.empty() ? "" : "_") + Part.str();
  }
  if (Operation == "pending_count")
    return "mbarrier.pending_count.b64";
  return "mbarrier." + Operation + Modifiers + ".b64";
}

/// The opcode of an intrinsic; "" for one of another kind.
static std::string opcodeOf(StringRef Name, unsigned &Bytes) {
  if (!Name.consume_front("llvm.nvvm."))
    return "";
  PartList Parts;
  for (StringRef Part : split(Name, '.'))
    Parts.push_back(Part);
  // The address space of a pointer is told by its type.
  if (Parts.size() > 1 && Parts.back().starts_with("p") &&
      all_of(Parts.back().drop_front(), isDigit))
    Parts.pop_back();
  StringRef Base = Parts.front();
  PartList Rest(drop_begin(Parts));
  if (Base == "mma")
    return mmaOpcode(Rest);
  if (Base == "wmma")
    return wmmaOpcode(Rest);
  if (Base == "ldmatrix" || Base == "stmatrix" || Base == "movmatrix")
    return join(Parts, ".");
  if (Base == "cp")
    return asyncOpcode(Rest, Bytes);
  if (Base == "mbarrier")
    return mbarrierOpcode(Rest);
  return "";
}

static Value *fromBits(IRBuilderBase &B, Value *Word, Type *T) {
  if (T->isPointerTy())
    return B.CreateIntToPtr(Word, T);
  Value *Bits = B.CreateTrunc(Word, B.getIntNTy(T->getPrimitiveSizeInBits()));
  return B.CreateBitCast(Bits, T);
}

static void replace(CallInst &Call, StringRef Opcode, const OpRule &Rule,
                    unsigned Bytes) {
  IRBuilder<> B(&Call);
  SmallVector<Value *> Inputs;
  for (Value *Arg : Call.args())
    Inputs.push_back(bitsOf(B, Arg));
  if (Bytes)
    Inputs.insert(Inputs.begin() + 2, B.getInt64(Bytes));
  SmallVector<Value *> Results = emitDeviceOp(B, Opcode, Rule, nullptr, Inputs);
  Type *T = Call.getType();
  if (auto *Struct = dyn_cast<StructType>(T)) {
    Value *Whole = PoisonValue::get(T);
    for (auto [I, Word] : enumerate(Results))
      Whole = B.CreateInsertValue(
          Whole, fromBits(B, Word, Struct->getElementType(I)), I);
    Call.replaceAllUsesWith(Whole);
  } else if (!T->isVoidTy()) {
    Call.replaceAllUsesWith(fromBits(B, Results.front(), T));
  }
  Call.eraseFromParent();
}

void lowerOpIntrinsics(Module &M) {
  for (Function &Callee : make_early_inc_range(M)) {
    if (!Callee.isDeclaration())
      continue;
    unsigned Bytes = 0;
    std::string Opcode = opcodeOf(Callee.getName(), Bytes);
    if (Opcode.empty())
      continue;
    SmallVector<StringRef> Parts;
    StringRef(Opcode).split(Parts, '.');
    std::optional<OpRule> Rule = findOp(Parts);
    if (!Rule)
      continue; // It is named to the user where it is used.
    for (User *U : make_early_inc_range(Callee.users()))
      if (auto *Call = dyn_cast<CallInst>(U))
        replace(*Call, Opcode, *Rule, Bytes);
  }
}

} // namespace cupilot
