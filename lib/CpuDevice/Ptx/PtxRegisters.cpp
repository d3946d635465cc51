//===- PtxRegisters.cpp - Special registers in inline PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxRegisters.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

/// The register's name in llvm.nvvm.read.ptx.sreg.*; "" for an unknown one.
static std::string intrinsicName(StringRef Name) {
  auto [Base, Dim] = Name.split('.');
  if (!Dim.empty()) {
    StringRef Known = StringSwitch<StringRef>(Base)
                          .Cases({"tid", "ntid", "ctaid", "nctaid"}, Base)
                          .Cases({"clusterid", "nclusterid"}, Base)
                          .Case("cluster_ctaid", "cluster.ctaid")
                          .Case("cluster_nctaid", "cluster.nctaid")
                          .Default("");
    bool Axis = Dim == "x" || Dim == "y" || Dim == "z";
    return Known.empty() || !Axis ? "" : (Known + "." + Dim).str();
  }
  unsigned Number = 0;
  StringRef Digits = Name;
  if (Digits.consume_front("envreg") && !Digits.getAsInteger(10, Number) &&
      Number < 32)
    return Name.str();
  return StringSwitch<StringRef>(Name)
      .Cases({"laneid", "warpid", "nwarpid", "smid", "nsmid"}, Name)
      .Cases({"gridid", "clock", "clock64", "globaltimer"}, Name)
      .Cases({"dynamic_smem_size", "total_smem_size", "aggr_smem_size"}, Name)
      .Case("lanemask_eq", "lanemask.eq")
      .Case("lanemask_lt", "lanemask.lt")
      .Case("lanemask_le", "lanemask.le")
      .Case("lanemask_gt", "lanemask.gt")
      .Case("lanemask_ge", "lanemask.ge")
      .Case("globaltimer_lo", "globaltimer.lo")
      .Case("cluster_ctarank", "cluster.ctarank")
      .Case("cluster_nctarank", "cluster.nctarank")
      .Default("")
      .str();
}

Value *readPtxRegister(BodyLowering &L, StringRef Name, unsigned Bits) {
  if (!Name.consume_front("%"))
    return nullptr;
  IRBuilder<> &B = L.B;
  Value *V = nullptr;
  if (Name == "globaltimer_hi" || Name == "clock_hi") {
    V = L.nvvm(Name == "clock_hi" ? "read.ptx.sreg.clock64"
                                  : "read.ptx.sreg.globaltimer",
               {});
    V = B.CreateLShr(V, 32);
  } else if (Name == "is_explicit_cluster") {
    V = L.nvvm("is_explicit_cluster", {});
    return Bits == 1 ? V : nullptr;
  } else if (Name == "reserved_smem_offset_1") {
    V = L.call("reserved_shared", B.getInt32Ty(), {}, /*Pure=*/true);
  } else {
    std::string Intrinsic = intrinsicName(Name);
    if (Intrinsic.empty())
      return nullptr;
    V = L.nvvm("read.ptx.sreg." + Intrinsic, {});
  }
  return Bits == 1 ? nullptr : B.CreateZExtOrTrunc(V, B.getIntNTy(Bits));
}

} // namespace cupilot
