//===- IdentityModule.h - A module to change and digest -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_SUBSTITUTE_IDENTITYMODULE_H
#define CUPILOT_TEST_SUBSTITUTE_IDENTITYMODULE_H

#include "cupilot/Substitute/BuildIdentity.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace cupilot {

/// Some of everything that identities digest. The closure of @kernel is
/// @middle and @leaf; @twin and @spare are there to be put into it.
inline const char Source[] = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%pair = type { i32, float }
@table = private unnamed_addr addrspace(1) constant [4 x i32] [i32 3, i32 1, i32 4, i32 1], align 4
@bytes = private addrspace(1) constant [2 x i8] c"ab", align 1
@counter = addrspace(1) externally_initialized global i32 7, align 4
@tile = internal addrspace(3) global [64 x float] undef, align 4
@spare = private addrspace(1) constant [2 x i32] [i32 8, i32 9], align 4
define internal i32 @leaf(i32 noundef %x, i32 %y) #1 {
entry:
  %p = alloca %pair, align 4
  call void @llvm.lifetime.start.p0(ptr %p)
  %a = sub nsw i32 %x, %y
  store volatile i32 %a, ptr %p, align 4
  %i = and i32 %a, 3
  %t = getelementptr inbounds [4 x i32], ptr addrspacecast (ptr addrspace(1) @table to ptr), i32 0, i32 %i
  %l = load i32, ptr %t, align 4, !range !0
  %b = getelementptr inbounds i8, ptr addrspacecast (ptr addrspace(1) @bytes to ptr), i32 1
  %c = load i8, ptr %b, align 1
  %z = zext nneg i8 %c to i32
  %s = lshr exact i32 %l, %z
  switch i32 %s, label %other [ i32 1, label %one
                                i32 5, label %two ]
one:
  %u = mul nuw i32 %s, %x
  br label %other
two:
  %v = sdiv i32 %s, %y
  br label %other
other:
  %r = phi i32 [ %s, %entry ], [ %u, %one ], [ %v, %two ]
  call void @llvm.lifetime.end.p0(ptr %p)
  ret i32 %r
}
define internal i32 @twin(i32 noundef %x, i32 %y) #1 {
  %a = xor i32 %x, %y
  ret i32 %a
}
define internal i32 @middle(i32 %x, ptr %q) #1 {
  %a = call i32 @leaf(i32 %x, i32 5)
  %b = call i32 @leaf(i32 %a, i32 %x)
  %m = atomicrmw add ptr %q, i32 %b syncscope("block") acq_rel, align 4
  %x2 = cmpxchg weak ptr %q, i32 %m, i32 %a seq_cst monotonic, align 4
  %e = extractvalue { i32, i1 } %x2, 0
  fence syncscope("block") acquire
  %k = load atomic i32, ptr %q syncscope("block") acquire, align 4
  %g = icmp sgt i32 %e, %k
  %o = select i1 %g, i32 %e, i32 %b
  ret i32 %o
}
define ptx_kernel void @kernel(ptr noalias %out, ptr %in, i32 %n) #0 {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !1
  %clock = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r"()
  %go = icmp slt i32 %tid, %n
  br i1 %go, label %loop, label %done
loop:
  %i = phi i32 [ %tid, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %acc, %loop ]
  %at = getelementptr inbounds float, ptr %in, i32 %i
  %f = load float, ptr %at, align 4
  %w = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %tid
  %h = load float, ptr addrspace(3) %w, align 4
  %mul = fmul contract float %f, %h
  %acc = fadd reassoc nnan float %sum, %mul
  store float %acc, ptr addrspace(3) %w, align 4
  %next = add nuw nsw i32 %i, 32
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %last = phi float [ 1.0, %entry ], [ %acc, %loop ]
  %big = fcmp ogt float %last, 2.0
  %neg = fneg float %last
  %pick = select nsz i1 %big, float %last, float %neg
  %z = call i32 @middle(i32 %clock, ptr addrspacecast (ptr addrspace(1) @counter to ptr))
  %d = call float @llvm.fma.f32(float %pick, float 3.0, float %last)
  %to = getelementptr inbounds nuw float, ptr %out, i32 %z
  store float %d, ptr %to, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.fma.f32(float, float, float)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
attributes #0 = { nounwind "nvvm.maxntid"="128" "nvvm.minctasm"="2" "target-cpu"="sm_90" "target-features"="+ptx84" }
attributes #1 = { nounwind "target-cpu"="sm_90" }
!0 = !{i32 1, i32 5}
!1 = !{i32 0, i32 1024}
)";

struct Parsed {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> M;
  explicit Parsed(llvm::StringRef Text) {
    llvm::SMDiagnostic Error;
    M = llvm::parseAssemblyString(Text, Error, Context);
    if (!M)
      ADD_FAILURE() << Error.getMessage().str() << ": "
                    << Error.getLineContents().str();
  }
};

/// The digest of a kernel of a module that has to be valid.
inline std::string identityOf(const llvm::Function *Kernel) {
  EXPECT_FALSE(llvm::verifyModule(*Kernel->getParent(), &llvm::errs()));
  KernelIdentity Id = identify(*Kernel);
  EXPECT_EQ(Id.Refusal ? Id.Refusal->text() : "", "");
  return Id.Digest;
}

inline std::string identityOf(llvm::StringRef Text) {
  Parsed P(Text);
  return P.M ? identityOf(P.M->getFunction("kernel")) : "";
}

} // namespace cupilot

#endif // CUPILOT_TEST_SUBSTITUTE_IDENTITYMODULE_H
