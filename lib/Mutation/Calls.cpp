//===- Calls.cpp - Wrong use of built-in functions -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

static void eraseCall(CallInst &Call) {
  if (!Call.use_empty())
    Call.replaceAllUsesWith(Constant::getNullValue(Call.getType()));
  Call.eraseFromParent();
}

static void replaceCall(CallInst &Call,
                        function_ref<Value *(IRBuilder<> &)> Make) {
  IRBuilder<> B(&Call);
  Value *New = Make(B);
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
}

namespace {
/// threadIdx, blockIdx, blockDim, gridDim: each with x, y, z.
constexpr Intrinsic::ID Registers[4][3] = {
    {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
     Intrinsic::nvvm_read_ptx_sreg_tid_z},
    {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
     Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
     Intrinsic::nvvm_read_ptx_sreg_ctaid_z},
    {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
     Intrinsic::nvvm_read_ptx_sreg_ntid_z},
    {Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
     Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
     Intrinsic::nvvm_read_ptx_sreg_nctaid_z}};
constexpr const char *RegisterNames[4] = {"threadIdx", "blockIdx", "blockDim",
                                          "gridDim"};
} // namespace

/// The dimension of all launches; nothing where they differ.
static std::optional<unsigned> recordedDimension(ArrayRef<Workload> Recorded,
                                                 unsigned Kind, unsigned Axis) {
  std::optional<unsigned> Known;
  for (const Workload &W : Recorded) {
    uint64_t Is = (Kind == 2 ? W.Shape.Block : W.Shape.Grid)[Axis];
    if (Known && *Known != Is)
      return std::nullopt;
    Known = static_cast<unsigned>(Is);
  }
  return Known;
}

static bool addDimension(CallInst &Call, StringRef Name,
                         ArrayRef<Workload> Recorded, Sites &S) {
  if (!Name.consume_front("__fetch_builtin_") || Name.size() != 1)
    return false;
  unsigned Axis = Name[0] - 'x';
  std::string Signature = calleeSignature(Call);
  unsigned Kind = 4;
  for (unsigned I = 0; I < 4; ++I)
    if (StringRef(Signature).contains(RegisterNames[I]))
      Kind = I;
  if (Kind == 4 || Axis > 2)
    return false;
  auto Text = [](unsigned K, unsigned A) {
    return std::string(RegisterNames[K]) + "." + "xyz"[A];
  };
  auto Change = [&](unsigned K, unsigned A) {
    S.add(Call, "dimension", Text(Kind, Axis), Text(K, A), [&Call, K, A] {
      replaceCall(Call, [&](IRBuilder<> &B) {
        return B.CreateIntrinsic(Registers[K][A], {});
      });
    });
  };
  Change(Kind, Axis == 1 ? 0 : 1);
  Change(Kind ^ 1, Axis);
  // Indices are 0 where the dimension is 1.
  if (auto Known =
          recordedDimension(Recorded, Kind < 2 ? 3 - Kind : Kind, Axis);
      Known && (Kind >= 2 || *Known == 1))
    addRecordedDimension(Call, Text(Kind, Axis), Kind < 2 ? 0 : *Known, S);
  return true;
}

/// __shfl_*_sync(mask, value, lane, width) and votes.
static void addWarp(CallInst &Call, StringRef Name, Sites &S) {
  if (!Name.starts_with("__") || !Name.contains("_sync"))
    return;
  if (Call.arg_size() > 0 && Call.getArgOperand(0)->getType()->isIntegerTy(32))
    S.add(Call, "mask", "mask", "mask without its last lane", [&Call] {
      IRBuilder<> B(&Call);
      Call.setArgOperand(0, B.CreateAnd(Call.getArgOperand(0), 0x7fffffff));
    });
  if (!Name.starts_with("__shfl") || Call.arg_size() < 3)
    return;
  Value *Lane = Call.getArgOperand(2);
  for (int By : {1, -1})
    S.add(Call, "shuffle", "lane", By > 0 ? "lane + 1" : "lane - 1",
          [&Call, Lane, By] {
            IRBuilder<> B(&Call);
            Call.setArgOperand(2, B.CreateAdd(Lane, ConstantInt::getSigned(
                                                        Lane->getType(), By)));
          });
  S.add(Call, "shuffle", "lane", "2 * lane", [&Call, Lane] {
    IRBuilder<> B(&Call);
    Call.setArgOperand(2, B.CreateAdd(Lane, Lane));
  });
  S.add(Call, "shuffle", "the other lane's value", "the own value", [&Call] {
    Call.replaceAllUsesWith(Call.getArgOperand(1));
    Call.eraseFromParent();
  });
}

static bool addSynchronisation(CallInst &Call, StringRef Name, Sites &S) {
  StringRef Kind =
      StringSwitch<StringRef>(Name)
          .Cases({"__syncwarp", "sync", "__syncthreads"}, "barrier")
          .Cases(
              {"__threadfence", "__threadfence_block", "__threadfence_system"},
              "fence")
          .Default("");
  if (Name.starts_with("llvm.nvvm.barrier") ||
      Name.starts_with("llvm.nvvm.bar."))
    Kind = "barrier";
  if (Name.starts_with("llvm.nvvm.membar"))
    Kind = "fence";
  if (Kind.empty() || !Call.getType()->isVoidTy())
    return false;
  S.add(Call, Kind, Name, "nothing", [&Call] { eraseCall(Call); });
  return true;
}

static void addExtremes(CallInst &Call, StringRef Name, Sites &S) {
  if (Call.arg_size() != 2 || Call.getType()->isVoidTy())
    return;
  bool Max = Name.contains("max"), Min = Name.contains("min");
  bool Known =
      is_contained(ArrayRef<StringRef>({"min", "max", "fminf", "fmaxf", "fmin",
                                        "fmax", "umin", "umax",
                                        "llvm.minnum.f32", "llvm.maxnum.f32"}),
                   Name);
  if (!Known || Max == Min)
    return;
  bool Unsigned = StringRef(calleeSignature(Call)).contains("unsigned");
  Intrinsic::ID To = Call.getType()->isFloatingPointTy()
                         ? (Max ? Intrinsic::minnum : Intrinsic::maxnum)
                     : Unsigned ? (Max ? Intrinsic::umin : Intrinsic::umax)
                                : (Max ? Intrinsic::smin : Intrinsic::smax);
  if (!Call.getType()->isFloatingPointTy() && !Call.getType()->isIntegerTy())
    return;
  S.add(Call, "min-max", Max ? "max" : "min", Max ? "min" : "max", [&Call, To] {
    replaceCall(Call, [&](IRBuilder<> &B) {
      return B.CreateBinaryIntrinsic(To, Call.getArgOperand(0),
                                     Call.getArgOperand(1));
    });
  });
}

/// What is made of NaN and infinity.
static void addSpecials(CallInst &Call, StringRef Name, Sites &S) {
  if (Call.getType()->isIntegerTy() &&
      is_contained(ArrayRef<StringRef>({"isnan", "isinf", "__isnanf", "__isnan",
                                        "__isinff", "__isinf"}),
                   Name))
    S.add(Call, "nan", Name, "false", [&Call] { eraseCall(Call); });
  if (Call.arg_size() != 2 || !Call.getType()->isFloatingPointTy())
    return;
  bool Max = Name == "fmaxf" || Name == "fmax";
  if (!Max && Name != "fminf" && Name != "fmin")
    return;
  S.add(Call, "nan", Name, Max ? "a > b ? a : b" : "a < b ? a : b",
        [&Call, Max] {
          replaceCall(Call, [&](IRBuilder<> &B) {
            Value *L = Call.getArgOperand(0), *R = Call.getArgOperand(1);
            return B.CreateSelect(
                Max ? B.CreateFCmpOGT(L, R) : B.CreateFCmpOLT(L, R), L, R);
          });
        });
}

void addCalls(CallInst &Call, ArrayRef<Workload> Recorded, Sites &S) {
  std::string Name = calleeName(Call);
  if (Name.empty() || addDimension(Call, Name, Recorded, S) ||
      addSynchronisation(Call, Name, S))
    return;
  if (Name == "__syncwarp")
    return;
  addWarp(Call, Name, S);
  addExtremes(Call, Name, S);
  addSpecials(Call, Name, S);
  // f(x) for x: expf, sqrtf, fabsf, a device function of one argument.
  bool Mathematics = Call.arg_size() == 1 &&
                     Call.getType()->isFloatingPointTy() &&
                     Call.getArgOperand(0)->getType() == Call.getType();
  if (Mathematics)
    S.add(Call, "call", Name + "(x)", "x", [&Call] {
      Call.replaceAllUsesWith(Call.getArgOperand(0));
      Call.eraseFromParent();
    });
}

} // namespace cupilot
