//===- Flush.cpp - Emptying the L2 cache -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flush.h"
#include "cupilot/Portable/Failure.h"

namespace cupilot::runner {

// Each thread reads 16 bytes, then those one grid further. What was read is
// stored only if it is a number that the memory does not hold.
static const char FlushPtx[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry cupilot_flush(.param .u64 memory, .param .u64 vectors)
{
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  .reg .pred %p<3>;
  ld.param.u64 %d0, [memory];
  ld.param.u64 %d1, [vectors];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %d2, %r0, %r1, 0;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d4, %r3, %r1;
  mov.u32 %r4, 0;
loop:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  shl.b64 %d5, %d2, 4;
  add.u64 %d5, %d0, %d5;
  ld.global.cg.v4.u32 {%r5, %r6, %r7, %r8}, [%d5];
  or.b32 %r5, %r5, %r6;
  or.b32 %r7, %r7, %r8;
  or.b32 %r5, %r5, %r7;
  or.b32 %r4, %r4, %r5;
  add.u64 %d2, %d2, %d4;
  bra loop;
done:
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra end;
  st.global.u32 [%d0], %r4;
end:
  ret;
}
)";

const char *flushPtx() { return FlushPtx; }

CacheFlush::CacheFlush(const Gpu &G) : G(G) {
  Size = std::max<uint64_t>(uint64_t(G.current().L2Bytes) * 4, 64 << 20);
  Memory = G.allocate(Size);
  G.check(G.api().Fill32(Memory, 0, Size / 4, G.stream()), "filling memory");
  try {
    Module = G.loadModule(FlushPtx);
    Function = G.function(Module, "cupilot_flush");
  } catch (const Failure &) {
    Function = nullptr; // No JIT: writing does it too.
  }
  enqueue();
  G.synchronize("emptying the cache");
}

CacheFlush::~CacheFlush() {
  if (Module)
    G.api().ModuleUnload(Module);
  G.api().Free(Memory);
}

void CacheFlush::enqueue() const {
  if (!Function) {
    G.check(G.api().Fill32(Memory, 0, Size / 4, G.stream()),
            "emptying the cache");
    return;
  }
  DeviceAddress At = Memory;
  uint64_t Vectors = Size / 16;
  void *Arguments[] = {&At, &Vectors};
  G.check(G.api().Launch(Function, unsigned(G.current().Multiprocessors) * 8, 1,
                         1, 256, 1, 1, 0, G.stream(), Arguments, nullptr),
          "emptying the cache");
}

} // namespace cupilot::runner
