//===- NoiseKernels.h - What replays with noise need on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_NOISEKERNELS_H
#define CUPILOT_TOOLS_CAPTURE_NOISEKERNELS_H

namespace cupilot::capture {

/// Four kernels, for any grid:
/// - cupilot_changed: a bit for each 64 bytes, in which a piece of 16
///   bytes of `now` differs from `before`, or, where that is null, from `fill`.
/// - cupilot_spread: the greatest exponent of what words of `first` and
/// `second`
///   differ by as floats; 0 where none do.
/// - cupilot_expected: replaces `second` by the high bit of each byte that
///   `first` changed of `before`. Where there is a spread, by it, in the
///   other bits of each word that was changed.
/// - cupilot_compare: counts[1] = 1 where something is expected, and counts[0]
/// =
///   1 where it differs between `first` and `now`: a byte, or a float by more
///   than 256 times the spread.
constexpr const char *NoiseKernels = R"(.version 7.0
.target sm_60
.address_size 64

.visible .entry cupilot_changed(.param .u64 now, .param .u64 before,
    .param .u32 fill, .param .u64 pieces, .param .u64 bits)
{
  .reg .pred %p, %null;
  .reg .b32 %t, %n, %a<4>, %b<4>, %d, %bit;
  .reg .b64 %i, %step, %end, %now, %before, %at, %bits, %to;
  mov.u32 %t, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mul.wide.u32 %i, %t, %n;
  mov.u32 %t, %tid.x;
  cvt.u64.u32 %at, %t;
  add.u64 %i, %i, %at;
  mov.u32 %t, %nctaid.x;
  mul.wide.u32 %step, %t, %n;
  ld.param.u64 %now, [now];
  ld.param.u64 %before, [before];
  ld.param.u32 %b0, [fill];
  ld.param.u64 %end, [pieces];
  ld.param.u64 %bits, [bits];
  cvta.to.global.u64 %now, %now;
  cvta.to.global.u64 %bits, %bits;
  setp.eq.u64 %null, %before, 0;
  cvta.to.global.u64 %before, %before;
  mov.u32 %b1, %b0;
  mov.u32 %b2, %b0;
  mov.u32 %b3, %b0;
next:
  setp.ge.u64 %p, %i, %end;
  @%p ret;
  shl.b64 %at, %i, 4;
  add.u64 %to, %now, %at;
  ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%to];
  add.u64 %to, %before, %at;
  @!%null ld.global.v4.u32 {%b0, %b1, %b2, %b3}, [%to];
  xor.b32 %a0, %a0, %b0;
  xor.b32 %a1, %a1, %b1;
  xor.b32 %a2, %a2, %b2;
  xor.b32 %a3, %a3, %b3;
  or.b32 %d, %a0, %a1;
  or.b32 %d, %d, %a2;
  or.b32 %d, %d, %a3;
  shr.u64 %to, %i, 2;
  add.u64 %i, %i, %step;
  setp.eq.u32 %p, %d, 0;
  @%p bra next;
  cvt.u32.u64 %t, %to;
  and.b32 %t, %t, 31;
  mov.u32 %bit, 1;
  shl.b32 %bit, %bit, %t;
  shr.u64 %to, %to, 5;
  shl.b64 %to, %to, 2;
  add.u64 %to, %bits, %to;
  red.global.or.b32 [%to], %bit;
  bra next;
}

.func (.reg .b32 %r) some(.reg .b32 %x)
{
  and.b32 %r, %x, 0x7f7f7f7f;
  add.u32 %r, %r, 0x7f7f7f7f;
  or.b32 %r, %r, %x;
  and.b32 %r, %r, 0x80808080;
  ret;
}

.visible .entry cupilot_spread(.param .u64 first, .param .u64 second,
    .param .u64 words, .param .u64 most)
{
  .reg .pred %p;
  .reg .b32 %t, %n, %a, %b;
  .reg .f32 %f, %g;
  .reg .b64 %i, %step, %end, %first, %second, %most, %at, %x;
  mov.u32 %t, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mul.wide.u32 %i, %t, %n;
  mov.u32 %t, %tid.x;
  cvt.u64.u32 %at, %t;
  add.u64 %i, %i, %at;
  mov.u32 %t, %nctaid.x;
  mul.wide.u32 %step, %t, %n;
  ld.param.u64 %first, [first];
  ld.param.u64 %second, [second];
  ld.param.u64 %end, [words];
  ld.param.u64 %most, [most];
  cvta.to.global.u64 %first, %first;
  cvta.to.global.u64 %second, %second;
  cvta.to.global.u64 %most, %most;
next:
  setp.ge.u64 %p, %i, %end;
  @%p ret;
  shl.b64 %at, %i, 2;
  add.u64 %i, %i, %step;
  add.u64 %x, %first, %at;
  ld.global.u32 %a, [%x];
  add.u64 %x, %second, %at;
  ld.global.u32 %b, [%x];
  setp.eq.u32 %p, %a, %b;
  @%p bra next;
  mov.b32 %f, %a;
  mov.b32 %g, %b;
  sub.f32 %f, %f, %g;
  mov.b32 %a, %f;
  shr.u32 %a, %a, 23;
  and.b32 %a, %a, 255;
  max.u32 %a, %a, 1;
  red.global.max.u32 [%most], %a;
  bra next;
}

.visible .entry cupilot_expected(.param .u64 before, .param .u64 first,
    .param .u64 second, .param .u64 words, .param .u64 most)
{
  .reg .pred %p;
  .reg .b32 %t, %n, %a, %b, %c, %most;
  .reg .b64 %i, %step, %end, %before, %first, %second, %at, %x;
  mov.u32 %t, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mul.wide.u32 %i, %t, %n;
  mov.u32 %t, %tid.x;
  cvt.u64.u32 %at, %t;
  add.u64 %i, %i, %at;
  mov.u32 %t, %nctaid.x;
  mul.wide.u32 %step, %t, %n;
  ld.param.u64 %before, [before];
  ld.param.u64 %first, [first];
  ld.param.u64 %second, [second];
  ld.param.u64 %end, [words];
  ld.param.u64 %x, [most];
  cvta.to.global.u64 %x, %x;
  ld.global.u32 %most, [%x];
  min.u32 %most, %most, 254;
  and.b32 %a, %most, 128;
  add.u32 %most, %most, %a;
  cvta.to.global.u64 %before, %before;
  cvta.to.global.u64 %first, %first;
  cvta.to.global.u64 %second, %second;
next:
  setp.ge.u64 %p, %i, %end;
  @%p ret;
  shl.b64 %at, %i, 2;
  add.u64 %x, %before, %at;
  ld.global.u32 %a, [%x];
  add.u64 %x, %first, %at;
  ld.global.u32 %b, [%x];
  add.u64 %x, %second, %at;
  ld.global.u32 %c, [%x];
  add.u64 %i, %i, %step;
  xor.b32 %c, %b, %c;
  xor.b32 %a, %a, %b;
  setp.ne.u32 %p, %most, 0;
  @%p bra spread;
  call.uni (%a), some, (%a);
  st.global.u32 [%x], %a;
  bra next;
spread:
  or.b32 %a, %a, %c;
  setp.ne.u32 %p, %a, 0;
  selp.b32 %a, %most, 0, %p;
  st.global.u32 [%x], %a;
  bra next;
}

.visible .entry cupilot_compare(.param .u64 first, .param .u64 now,
    .param .u64 expected, .param .u64 words, .param .u64 counts)
{
  .reg .pred %p;
  .reg .b32 %t, %n, %a, %b, %c;
  .reg .f32 %f, %g;
  .reg .b64 %i, %step, %end, %first, %now, %expected, %counts, %at, %x, %one;
  mov.u32 %t, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mul.wide.u32 %i, %t, %n;
  mov.u32 %t, %tid.x;
  cvt.u64.u32 %at, %t;
  add.u64 %i, %i, %at;
  mov.u32 %t, %nctaid.x;
  mul.wide.u32 %step, %t, %n;
  ld.param.u64 %first, [first];
  ld.param.u64 %now, [now];
  ld.param.u64 %expected, [expected];
  ld.param.u64 %end, [words];
  ld.param.u64 %counts, [counts];
  cvta.to.global.u64 %first, %first;
  cvta.to.global.u64 %now, %now;
  cvta.to.global.u64 %expected, %expected;
  cvta.to.global.u64 %counts, %counts;
  mov.u64 %one, 1;
next:
  setp.ge.u64 %p, %i, %end;
  @%p ret;
  shl.b64 %at, %i, 2;
  add.u64 %i, %i, %step;
  add.u64 %x, %expected, %at;
  ld.global.u32 %c, [%x];
  setp.eq.u32 %p, %c, 0;
  @%p bra next;
  add.u64 %x, %first, %at;
  ld.global.u32 %a, [%x];
  add.u64 %x, %now, %at;
  ld.global.u32 %b, [%x];
  st.global.u64 [%counts+8], %one;
  and.b32 %t, %c, 0x80808080;
  setp.eq.u32 %p, %t, 0;
  @%p bra float;
  xor.b32 %a, %a, %b;
  call.uni (%a), some, (%a);
  and.b32 %a, %a, %c;
  setp.eq.u32 %p, %a, 0;
  @%p bra next;
  st.global.u64 [%counts], %one;
  bra next;
float:
  mov.b32 %f, %a;
  mov.b32 %g, %b;
  sub.f32 %f, %f, %g;
  abs.f32 %f, %f;
  and.b32 %t, %c, 127;
  and.b32 %c, %c, 256;
  shr.u32 %c, %c, 1;
  or.b32 %t, %t, %c;
  add.u32 %t, %t, 8;
  min.u32 %t, %t, 254;
  shl.b32 %t, %t, 23;
  mov.b32 %g, %t;
  setp.le.f32 %p, %f, %g;
  @%p bra next;
  st.global.u64 [%counts], %one;
  bra next;
}
)";

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_NOISEKERNELS_H
