//===- Clusters.cpp - Intrinsics of clusters and cooperative grids -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntrinsicLowering.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

/// Registers that are read rarely: through the run time.
static std::optional<SpecialRegister> registerOf(StringRef Name) {
  return StringSwitch<std::optional<SpecialRegister>>(Name)
      .Case("clusterid", SpecialRegister::ClusterId)
      .Case("nclusterid", SpecialRegister::ClusterCount)
      .Case("cluster.ctaid", SpecialRegister::BlockInCluster)
      .Case("cluster.nctaid", SpecialRegister::BlocksInCluster)
      .Case("cluster.ctarank", SpecialRegister::ClusterRank)
      .Case("cluster.nctarank", SpecialRegister::ClusterSize)
      .Default(std::nullopt);
}

std::optional<Value *> IntrinsicLowering::lowerCluster(StringRef Name,
                                                       CallInst &Call,
                                                       IRBuilder<> &B) {
  Type *I32 = B.getInt32Ty();
  Value *Context = Entry.getArg(0);
  auto Read = [&](SpecialRegister Register, unsigned Dim) {
    return runtime(
        B, "cupilot_rt_special", I32,
        {Context, B.getInt32(static_cast<uint32_t>(Register) + Dim)});
  };
  if (Name.consume_front("read.ptx.sreg.")) {
    // The driver's workspace, where the barrier of a cooperative grid lies: its
    // address is in these two.
    if (Name == "envreg1")
      return Read(SpecialRegister::Workspace, 1);
    if (Name == "envreg2")
      return Read(SpecialRegister::Workspace, 0);
    unsigned Dim = 0;
    for (auto [Suffix, Number] : {std::pair(".x", 0u), {".y", 1u}, {".z", 2u}})
      if (Name.consume_back(Suffix))
        Dim = Number;
    if (auto Register = registerOf(Name))
      return Read(*Register, Dim);
    return std::nullopt;
  }
  if (Name == "is_explicit_cluster")
    return B.CreateIsNotNull(Read(SpecialRegister::ExplicitCluster, 0));
  if (Name == "mapa" || Name == "mapa.shared.cluster") {
    Value *Pointer = B.CreatePointerBitCastOrAddrSpaceCast(
        Call.getArgOperand(0), B.getPtrTy());
    Value *There = runtime(B, "cupilot_rt_mapa", B.getPtrTy(),
                           {Context, Pointer, Call.getArgOperand(1)});
    return B.CreatePointerBitCastOrAddrSpaceCast(There, Call.getType());
  }
  if (Name == "getctarank" || Name == "getctarank.shared.cluster") {
    Value *Pointer = B.CreatePointerBitCastOrAddrSpaceCast(
        Call.getArgOperand(0), B.getPtrTy());
    return runtime(B, "cupilot_rt_getctarank", I32, {Context, Pointer});
  }
  if (Name.consume_front("barrier.cluster.")) {
    K.NeedsFibers = true;
    if (Name.starts_with("arrive")) {
      runtime(B, "cupilot_rt_cluster_arrive", B.getVoidTy(), {Context});
      return nullptr;
    }
    if (Name.starts_with("wait")) {
      runtime(B, "cupilot_rt_cluster_wait", B.getVoidTy(),
              {Context, B.getInt32(place(B))});
      return nullptr;
    }
  }
  return std::nullopt;
}

} // namespace cupilot
