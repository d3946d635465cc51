// Inline PTX that computes from its operands: each case has the value that PTX ISA asks for, worked out by hand.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

struct Tally {
  unsigned cases, wrong;
};
__device__ void check(Tally *t, int line, unsigned long long got, unsigned long long want) {
  atomicAdd(&t->cases, 1);
  if (got != want) {
    atomicAdd(&t->wrong, 1);
    printf("line %d: got 0x%llx, want 0x%llx\n", line, got, want);
  }
}
// The result in 32, 64 or 16 bits; operands %1, %2, ...
#define R(want, text, ...)                                                                                             \
  {                                                                                                                    \
    unsigned r_;                                                                                                       \
    asm("{ " text " }" : "=r"(r_) : __VA_ARGS__);                                                                      \
    check(t, __LINE__, r_, unsigned(want));                                                                            \
  }
#define RL(want, text, ...)                                                                                            \
  {                                                                                                                    \
    unsigned long long r_;                                                                                             \
    asm("{ " text " }" : "=l"(r_) : __VA_ARGS__);                                                                      \
    check(t, __LINE__, r_, (unsigned long long)(want));                                                                \
  }
#define RH(want, text, ...)                                                                                            \
  {                                                                                                                    \
    unsigned short r_;                                                                                                 \
    asm("{ " text " }" : "=h"(r_) : __VA_ARGS__);                                                                      \
    check(t, __LINE__, r_, (unsigned short)(want));                                                                    \
  }
// Operands that no compiler knows: z is zero.
#define U(x) "r"(unsigned(x) ^ z)
#define L(x) "l"((unsigned long long)(x) ^ z)
#define H(x) "h"((unsigned short)((x) ^ z))
#define F(x) "f"(__uint_as_float(__float_as_uint(x) ^ z))
#define D(x) "d"(__longlong_as_double(__double_as_longlong(x) ^ z))
__device__ unsigned bits(float x) { return __float_as_uint(x); }
__device__ unsigned long long bits(double x) { return __double_as_longlong(x); }

__global__ void integers(Tally *t, unsigned z) {
  R(7, "add.u32 %0, %1, %2;", U(3), U(4))
  R(0x7fffffff, "add.sat.s32 %0, %1, %2;", U(0x7ffffff0), U(100))
  R(0x80000000, "sub.sat.s32 %0, %1, %2;", U(0x80000010), U(100))
  R(0x00050007, "add.u16x2 %0, %1, %2;", U(0x0002ffff), U(0x00030008))
  RL(0x100000000, "add.s64 %0, %1, %2;", L(0xffffffff), L(1))
  RH(0xfffe, "sub.s16 %0, %1, %2;", H(3), H(5))
  R(0xffffffff, "sub.s32 %0, %1, %2;", U(3), U(4))
  // 0x1_ffffffff + 0x2_00000001 = 0x4_00000000: the carry joins the words.
  R(4, ".reg .u32 lo; add.cc.u32 lo, %1, %2; addc.u32 %0, %3, %4;", U(0xffffffff), U(1), U(1), U(2))
  R(0, ".reg .u32 lo, mid; add.cc.u32 lo, %1, %1; addc.cc.u32 mid, %1, 0; addc.u32 %0, 0, 0;", U(0x70000000))
  R(1, ".reg .u32 lo, mid; add.cc.u32 lo, %1, %1; addc.cc.u32 mid, %2, 0; addc.u32 %0, 0, 0;", U(0x80000000), U(0xffffffff))
  // 0x3_00000000 - 0x1_00000001 = 0x1_ffffffff: the borrow.
  R(1, ".reg .u32 lo; sub.cc.u32 lo, %1, %2; subc.u32 %0, %3, %4;", U(0), U(1), U(3), U(1))
  RL(0xfffffffffffffffe, ".reg .u64 lo; sub.cc.u64 lo, %1, %2; subc.cc.u64 %0, %1, %2;", L(0), L(1))
  R(0xfffffffe, "mul.lo.u32 %0, %1, %2;", U(0xffffffff), U(2))
  R(1, "mul.hi.u32 %0, %1, %2;", U(0xffffffff), U(2))
  R(0xffffffff, "mul.hi.s32 %0, %1, %2;", U(0xffffffff), U(2))
  RL(0xfffffffe00000001, "mul.wide.u32 %0, %1, %2;", U(0xffffffff), U(0xffffffff))
  RL(0xfffffffffffffff4, "mul.wide.s32 %0, %1, %2;", U(-3), U(4))
  RL(0xfffffffffffffffe, "mul.hi.u64 %0, %1, %2;", L(0xffffffffffffffff), L(0xffffffffffffffff))
  R(12, "mul.wide.u16 %0, %1, %2;", H(3), H(4))
  R(17, "mad.lo.s32 %0, %1, %2, %3;", U(3), U(4), U(5))
  R(0x7fffffff, "mad.hi.sat.s32 %0, %1, %2, %3;", U(0x40000000), U(4), U(0x7fffffff))
  RL(0x1fffffffe, "mad.wide.u32 %0, %1, %2, %3;", U(0xffffffff), U(1), L(0xffffffff))
  // 0xffffffff * 0xffffffff + 0xffffffff = 0xffffffff_00000000, word by word.
  R(0xffffffff, ".reg .u32 lo; mad.lo.cc.u32 lo, %1, %1, %1; madc.hi.u32 %0, %1, %1, 0;", U(0xffffffff))
  R(0x10, "mul24.lo.u32 %0, %1, %2;", U(0xff000004), U(4))
  R(0xfffffffc, "mul24.lo.s32 %0, %1, %2;", U(0x00ffffff), U(4))
  R(0xfffffe00, "mul24.hi.u32 %0, %1, %2;", U(0xffffff), U(0xffffff)) // 0xfffffe000001, from bit 16 on
  R(0x13, "mad24.lo.u32 %0, %1, %2, %3;", U(4), U(4), U(3))
  R(0xfffffffd, "div.s32 %0, %1, %2;", U(-7), U(2))
  R(0x7ffffffc, "div.u32 %0, %1, %2;", U(0xfffffff9), U(2))
  R(0xffffffff, "rem.s32 %0, %1, %2;", U(-7), U(2))
  RL(1, "rem.u64 %0, %1, %2;", L(0x100000001), L(0x10))
  R(12, "sad.u32 %0, %1, %2, %3;", U(3), U(10), U(5))
  R(8, "sad.s32 %0, %1, %2, %3;", U(-1), U(2), U(5))
  R(0xffffffff, "min.s32 %0, %1, %2;", U(-1), U(1))
  R(1, "min.u32 %0, %1, %2;", U(-1), U(1))
  R(0xffff0003, "min.s16x2 %0, %1, %2;", U(0xffff0003), U(0x00010004))
  R(0xffffffff, "max.u32 %0, %1, %2;", U(-1), U(1))
  R(0, "max.relu.s32 %0, %1, %2;", U(-5), U(-1))
  R(0x00010004, "max.s16x2 %0, %1, %2;", U(0xffff0003), U(0x00010004))
  R(5, "abs.s32 %0, %1;", U(-5))
  RL(0xfffffffffffffffb, "neg.s64 %0, %1;", L(5))
  R(9, "popc.b32 %0, %1;", U(0x10ff))
  R(33, "popc.b64 %0, %1;", L(0x1ffffffff))
  R(31, "clz.b32 %0, %1;", U(1))
  R(64, "clz.b64 %0, %1;", L(0))
  R(0x80000001, "brev.b32 %0, %1;", U(0x80000001))
  RL(0x8000000000000000, "brev.b64 %0, %1;", L(1))
  R(0xfffffff0, "not.b32 %0, %1;", U(0xf))
  R(1, "cnot.b32 %0, %1;", U(0))
  R(0, "cnot.b32 %0, %1;", U(7))
  R(0x10, "and.b32 %0, %1, %2;", U(0x11), U(0x1e))
  R(0x1f, "or.b32 %0, %1, %2;", U(0x11), U(0x1e))
  RH(0xf, "xor.b16 %0, %1, %2;", H(0x11), H(0x1e))
  // All of a, b, c; any of them; (a & b) | c.
  R(0x80, "lop3.b32 %0, %1, %2, %3, 0x80;", U(0xf0), U(0xcc), U(0xaa))
  R(0xfe, "lop3.b32 %0, %1, %2, %3, 0xfe;", U(0xf0), U(0xcc), U(0xaa))
  R(0xea, "lop3.b32 %0, %1, %2, %3, 0xea;", U(0xf0), U(0xcc), U(0xaa))
  R(0, "shl.b32 %0, %1, %2;", U(1), U(32))
  R(0x80000000, "shl.b32 %0, %1, %2;", U(1), U(31))
  R(0xffffffff, "shr.s32 %0, %1, %2;", U(0x80000000), U(99))
  R(0, "shr.u32 %0, %1, %2;", U(0x80000000), U(32))
  RL(1, "shr.b64 %0, %1, %2;", L(0x8000000000000000), U(63))
  R(0x23456789, "shf.l.wrap.b32 %0, %1, %2, %3;", U(0x9abcdef0), U(0x12345678), U(36))
  R(0x9abcdef0, "shf.l.clamp.b32 %0, %1, %2, %3;", U(0x9abcdef0), U(0x12345678), U(36))
  R(0x89abcdef, "shf.r.wrap.b32 %0, %1, %2, %3;", U(0x9abcdef0), U(0x12345678), U(4))
  R(0x12345678, "shf.r.clamp.b32 %0, %1, %2, %3;", U(0x9abcdef0), U(0x12345678), U(40))
  R(8, "bfind.u32 %0, %1;", U(0x100))
  R(23, "bfind.shiftamt.u32 %0, %1;", U(0x100))
  R(0xffffffff, "bfind.s32 %0, %1;", U(-1))
  R(2, "bfind.s32 %0, %1;", U(-5)) // ...11011
  R(40, "bfind.u64 %0, %1;", L(0x10000000000))
  R(8, "fns.b32 %0, %1, %2, %3;", U(0x111), U(0), U(3))
  R(4, "fns.b32 %0, %1, %2, %3;", U(0x111), U(7), U(-1))
  R(0xffffffff, "fns.b32 %0, %1, %2, %3;", U(0x111), U(1), U(0))
  R(0x5a, "bfe.u32 %0, %1, %2, %3;", U(0x12345a78), U(8), U(8))
  R(0xffffffa5, "bfe.s32 %0, %1, %2, %3;", U(0x1234a578), U(8), U(8))
  R(0xfffffff8, "bfe.s32 %0, %1, %2, %3;", U(0x80000000), U(28), U(20))
  R(0, "bfe.u32 %0, %1, %2, %3;", U(0x80000000), U(32), U(4))
  RL(0x123, "bfe.u64 %0, %1, %2, %3;", L(0x1230000000000000), U(52), U(64))
  R(0x1234ab78, "bfi.b32 %0, %1, %2, %3, %4;", U(0xab), U(0x12345678), U(8), U(8))
  R(0xb2345678, "bfi.b32 %0, %1, %2, %3, %4;", U(0xab), U(0x12345678), U(28), U(8))
  RL(0xffffffff00000000, "bfi.b64 %0, %1, %2, %3, %4;", L(0xffffffff), L(0), U(32), U(40))
  R(0xff0, "bmsk.clamp.b32 %0, %1, %2;", U(4), U(8))
  R(0xffffffff, "bmsk.clamp.b32 %0, %1, %2;", U(0), U(40))
  R(0xff, "bmsk.wrap.b32 %0, %1, %2;", U(32), U(40))
  R(0xfffffff8, "szext.clamp.s32 %0, %1, %2;", U(0x28), U(4))
  R(8, "szext.wrap.u32 %0, %1, %2;", U(0x28), U(36))
  R(0x70553311, "prmt.b32 %0, %1, %2, %3;", U(0x33221100), U(0x77665570), U(0x4531))
  R(0x00ff00ff, "prmt.b32 %0, %1, %2, %3;", U(0x000080ff), U(0), U(0x3938))
  R(0x55443322, "prmt.b32.f4e %0, %1, %2, %3;", U(0x33221100), U(0x77665544), U(2))
  R(0x77001122, "prmt.b32.b4e %0, %1, %2, %3;", U(0x33221100), U(0x77665544), U(2) )
  R(0x22222222, "prmt.b32.rc8 %0, %1, %2, %3;", U(0x33221100), U(0), U(2))
  R(0x33221111, "prmt.b32.ecl %0, %1, %2, %3;", U(0x33221100), U(0), U(1))
  R(0x11111100, "prmt.b32.ecr %0, %1, %2, %3;", U(0x33221100), U(0), U(1))
  R(0x33223322, "prmt.b32.rc16 %0, %1, %2, %3;", U(0x33221100), U(0), U(1))
  R(100 + 1 * 5 + 2 * 6 + 3 * 7 + 4 * 8, "dp4a.u32.u32 %0, %1, %2, %3;", U(0x04030201), U(0x08070605), U(100))
  R(100 - 5, "dp4a.s32.u32 %0, %1, %2, %3;", U(0x000000ff), U(0x00000005), U(100))
  R(10 + 1000 * 5 + 2000 * 6, "dp2a.lo.u32.u32 %0, %1, %2, %3;", U(2000 << 16 | 1000), U(0x08070605), U(10))
  R(10 - 1000 * 7 + 2000 * 8, "dp2a.hi.s32.s32 %0, %1, %2, %3;", U(2000 << 16 | 0xfc18), U(0x08070605), U(10))
  R(0x0000ffff, "vadd2.u32.u32.u32.sat %0, %1, %2, %3;", U(0x0000fff0), U(0x00000020), U(0))
  R(0x00000010, "vadd2.u32.u32.u32 %0, %1, %2, %3;", U(0x0000fff0), U(0x00000020), U(0))
  R(0x7f8003ff, "vadd4.s32.s32.s32.sat %0, %1, %2, %3;", U(0x70900100), U(0x709002ff), U(0))
  R(0xffff0001, "vsub2.s32.s32.s32 %0, %1, %2, %3;", U(0x00010003), U(0x00020002), U(0))
  R(0x00000100, "vsub4.u32.u32.u32.sat %0, %1, %2, %3;", U(0x01000201), U(0x02010103), U(0))
  R(0x0002fffd, "vavrg2.s32.s32.s32 %0, %1, %2, %3;", U(0x0001fffe), U(0x0002fffd), U(0)) // 1.5 and -2.5
  R(0x80010203, "vavrg4.u32.u32.u32 %0, %1, %2, %3;", U(0xff010202), U(0x00000203), U(0))
  R(0x00030001, "vabsdiff2.s32.s32.s32 %0, %1, %2, %3;", U(0xffff0003), U(0x00020002), U(0))
  R(100 + 1 + 2 + 3 + 4, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;", U(0x05060708), U(0x0408040c), U(100))
  R(0xffff0002, "vmin2.s32.s32.s32 %0, %1, %2, %3;", U(0xffff0003), U(0x00020002), U(0))
  R(0x01020304, "vmin4.u32.u32.u32 %0, %1, %2, %3;", U(0xff0203ff), U(0x01ffff04), U(0))
  R(0x00020003, "vmax2.s32.s32.s32 %0, %1, %2, %3;", U(0xffff0003), U(0x00020002), U(0))
  R(0xff020304, "vmax4.u32.u32.u32 %0, %1, %2, %3;", U(0xff020003), U(0x01010304), U(0))
  R(0x00010000, "vset2.s32.s32.lt %0, %1, %2, %3;", U(0xffff0003), U(0x00020002), U(0))
  R(0x01000101, "vset4.u32.u32.ge %0, %1, %2, %3;", U(0x05010208), U(0x05020201), U(0))
}

__global__ void floats(Tally *t, unsigned z) {
  const float up = 1.0f + ldexpf(1, -23), inf = INFINITY;
#define RF(want, text, ...) R(bits(float(want)), ".reg .f32 f; " text " mov.b32 %0, f;", __VA_ARGS__)
#define RD(want, text, ...) RL(bits(double(want)), ".reg .f64 f; " text " mov.b64 %0, f;", __VA_ARGS__)
  RF(1.0f, "add.rn.f32 f, %1, %2;", F(1.0f), F(0x1p-24f))
  RF(up, "add.rp.f32 f, %1, %2;", F(1.0f), F(0x1p-40f))
  RF(1.0f, "add.rz.f32 f, %1, %2;", F(1.0f), F(0x1.8p-24f))
  RF(1.0f, "add.sat.f32 f, %1, %2;", F(1.0f), F(3.0f))
  RF(0.0f, "add.ftz.f32 f, %1, %2;", F(0x1p-130f), F(0x1p-130f))
  RF(0x1p-129f, "add.f32 f, %1, %2;", F(0x1p-130f), F(0x1p-130f))
  RD(3.5, "add.f64 f, %1, %2;", D(1.25), D(2.25))
  RD(1.0 + 0x1p-52, "add.rp.f64 f, %1, %2;", D(1.0), D(0x1p-80))
  RF(-1.25f, "sub.f32 f, %1, %2;", F(1.0f), F(2.25f))
  RF(-up, "sub.rm.f32 f, %1, %2;", F(-1.0f), F(0x1p-40f))
  RD(-1.25, "sub.rn.f64 f, %1, %2;", D(1.0), D(2.25))
  RF(2.25f, "mul.f32 f, %1, %2;", F(1.5f), F(1.5f))
  RF(1.0f, "mul.rm.f32 f, %1, %2;", F(up), F(1.0f - 0x1p-24f)) // 1 + 2^-24 - 2^-47
  RD(2.25, "mul.f64 f, %1, %2;", D(1.5), D(1.5))
  RF(0x1p-46f, "fma.rn.f32 f, %1, %2, %3;", F(up), F(up), F(-(1.0f + 0x1p-22f)))
  RF(1.0f, "fma.rz.f32 f, %1, %2, %3;", F(0x1p-40f), F(0x1p-40f), F(1.0f))
  RD(7.0, "fma.rn.f64 f, %1, %2, %3;", D(2.0), D(3.0), D(1.0))
  RF(7.0f, "mad.rn.f32 f, %1, %2, %3;", F(2.0f), F(3.0f), F(1.0f))
  RD(7.0, "mad.rn.f64 f, %1, %2, %3;", D(2.0), D(3.0), D(1.0))
  RF(0x1.555556p-2f, "div.rn.f32 f, %1, %2;", F(1.0f), F(3.0f))
  RF(0x1.555554p-2f, "div.rz.f32 f, %1, %2;", F(1.0f), F(3.0f))
  RF(4.0f, "div.full.f32 f, %1, %2;", F(8.0f), F(2.0f))
  RD(0x1.5555555555555p-2, "div.rn.f64 f, %1, %2;", D(1.0), D(3.0))
  RF(0x1.555556p-2f, "rcp.rn.f32 f, %1;", F(3.0f))
  RF(0.25f, "rcp.approx.ftz.f32 f, %1;", F(4.0f))
  RD(0x1.5555555555556p-2, "rcp.rp.f64 f, %1;", D(3.0))
  RF(0x1.6a09e6p+0f, "sqrt.rn.f32 f, %1;", F(2.0f))
  RF(0x1.6a09e8p+0f, "sqrt.rp.f32 f, %1;", F(2.0f))
  RF(3.0f, "sqrt.approx.f32 f, %1;", F(9.0f))
  RD(0x1.6a09e667f3bcdp+0, "sqrt.rn.f64 f, %1;", D(2.0))
  RF(2.0f, "abs.f32 f, %1;", F(-2.0f))
  RF(0.0f, "abs.ftz.f32 f, %1;", F(-0x1p-140f))
  RD(-2.0, "neg.f64 f, %1;", D(2.0))
  RF(-0.0f, "min.f32 f, %1, %2;", F(0.0f), F(-0.0f))
  RF(1.0f, "min.f32 f, %1, %2;", F(NAN), F(1.0f))
  R(1, ".reg .f32 f; .reg .pred p; min.NaN.f32 f, %1, %2; testp.notanumber.f32 p, f; selp.u32 %0, 1, 0, p;", F(NAN), F(1.0f))
  RF(0.0f, "max.f32 f, %1, %2;", F(0.0f), F(-0.0f))
  RD(5.0, "max.f64 f, %1, %2;", D(5.0), D(NAN))
  RF(-2.0f, "min.xorsign.abs.f32 f, %1, %2;", F(-2.0f), F(3.0f))
  RF(3.0f, "max.xorsign.abs.f32 f, %1, %2;", F(-2.0f), F(-3.0f))
  RF(0.5f, "rsqrt.approx.f32 f, %1;", F(4.0f))
  RD(0.5, "rcp.approx.ftz.f64 f, %1;", D(2.0))
  // A GPU is up to one unit in the last place away from this (benchmarks/results/2026-11-26-ptx-rows.md).
  for (double x = 0x1.8p-300; x < 0x1p300; x *= 1234567.875) {
    double f;
    asm("rsqrt.approx.f64 %0, %1;" : "=d"(f) : D(x));
    long long off = __double_as_longlong(f) - __double_as_longlong(1 / sqrt(x));
    check(t, __LINE__, off < -2 || off > 2 ? off : 0, 0);
  }
  RF(0.0f, "sin.approx.f32 f, %1;", F(0.0f))
  RF(1.0f, "cos.approx.ftz.f32 f, %1;", F(0.0f))
  RF(3.0f, "lg2.approx.f32 f, %1;", F(8.0f))
  RF(8.0f, "ex2.approx.ftz.f32 f, %1;", F(3.0f))
  RF(0.0f, "tanh.approx.f32 f, %1;", F(0.0f))
  RF(-3.0f, "copysign.f32 f, %1, %2;", F(-1.0f), F(3.0f))
  R(0x3f, ".reg .pred a,b,c,d,e,g; .reg .u32 x; testp.finite.f32 a, %1; testp.infinite.f32 b, %2; testp.number.f32 c, %2;"
          "testp.notanumber.f32 d, %3; testp.normal.f32 e, %1; testp.subnormal.f32 g, %4; mov.u32 %0, 0;"
          "@a or.b32 %0, %0, 1; @b or.b32 %0, %0, 2; @c or.b32 %0, %0, 4; @d or.b32 %0, %0, 8; @e or.b32 %0, %0, 16;"
          "@g or.b32 %0, %0, 32;", F(1.0f), F(inf), F(NAN), F(0x1p-140f))
}

// Half 1.0 is 0x3c00, bfloat16 1.0 is 0x3f80.
__global__ void halves(Tally *t, unsigned z) {
  RH(0x4200, "add.f16 %0, %1, %2;", H(0x3c00), H(0x4000))
  RH(0x3c00, "add.rn.sat.f16 %0, %1, %2;", H(0x3c00), H(0x4000))
  R(0x42004400, "add.f16x2 %0, %1, %2;", U(0x3c003c00), U(0x40004200))
  RH(0xbc00, "sub.f16 %0, %1, %2;", H(0x3c00), H(0x4000))
  R(0x3c00bc00, "sub.rn.f16x2 %0, %1, %2;", U(0x40003c00), U(0x3c004000))
  RH(0x4600, "mul.f16 %0, %1, %2;", H(0x4000), H(0x4200))
  RH(0x4700, "fma.rn.f16 %0, %1, %2, %3;", H(0x4000), H(0x4200), H(0x3c00))
  RH(0, "fma.rn.relu.f16 %0, %1, %2, %3;", H(0xc000), H(0x4200), H(0x3c00))
  // 0x3c01 = 1 + 2^-10; its square is 1 + 2^-9 + 2^-20, above the middle of nothing: 0x3c02.
  RH(0x3c02, "fma.rn.f16 %0, %1, %1, %2;", H(0x3c01), H(0))
  // (1 + 2^-10) * (1 + 2^-10) - (1 + 2^-9) = 2^-20, exactly.
  RH(0x0010, "fma.rn.f16 %0, %1, %1, %2;", H(0x3c01), H(0xbc02))
  // 2048 + 1 lies in the middle of 2048 and 2050; 2^-24 more decides it: one rounding only.
  RH(0x6801, "fma.rn.f16 %0, %1, %2, %3;", H(0x6800), H(0x3c00), H(0x3c01))
  RH(0x6801, "fma.rn.f16 %0, %1, %2, %3;", H(0x0400), H(0x0400), H(0x6801)) // 2^-28 and 2050
  RH(0x40c0, "fma.rn.bf16 %0, %1, %2, %3;", H(0x4000), H(0x4000), H(0x4000)) // 2*2+2
  R(0x40c040c0, "fma.rn.bf16x2 %0, %1, %2, %3;", U(0x40004000), U(0x40004000), U(0x40004000))
  // 1.0078125 * 1 + 2^-100: above one, where a sum in float32 has no room.
  RH(0x3f81, "fma.rn.bf16 %0, %1, %2, %3;", H(0x3f81), H(0x3f80), H(0x0d80))
  RH(0x3c00, "abs.f16 %0, %1;", H(0xbc00))
  R(0x3f803f80, "abs.bf16x2 %0, %1;", U(0xbf803f80))
  RH(0xbc00, "neg.f16 %0, %1;", H(0x3c00))
  R(0x3f80bf80, "neg.bf16x2 %0, %1;", U(0xbf803f80))
  RH(0x3c00, "min.f16 %0, %1, %2;", H(0x7e00), H(0x3c00))
  R(0x40003c00, "max.f16x2 %0, %1, %2;", U(0x40003800), U(0x3c003c00))
  RH(0x4040, "max.NaN.bf16 %0, %1, %2;", H(0x4040), H(0x3f80))
  RH(0x4000, "ex2.approx.f16 %0, %1;", H(0x3c00))
  R(0x40003f80, "ex2.approx.ftz.bf16x2 %0, %1;", U(0x3f800000))
  RH(0, "tanh.approx.f16 %0, %1;", H(0))
  R(0x3c000000, "set.eq.f16x2.f16x2 %0, %1, %2;", U(0x3c003c00), U(0x3c004000))
  R(0xffff0000, "set.lt.u32.f16x2 %0, %1, %2;", U(0x3c004000), U(0x40003c00)) 
}

__global__ void comparisons(Tally *t, unsigned z) {
#define P(want, text, ...) R(want, ".reg .pred p, q; " text " selp.u32 %0, 1, 0, p;", __VA_ARGS__)
  P(1, "setp.lt.s32 p, %1, %2;", U(-1), U(1))
  P(0, "setp.lt.u32 p, %1, %2;", U(-1), U(1))
  P(1, "setp.hi.u32 p, %1, %2;", U(-1), U(1))
  P(0, "setp.ne.f32 p, %1, %2;", F(NAN), F(1.0f))
  P(1, "setp.neu.f32 p, %1, %2;", F(NAN), F(1.0f))
  P(1, "setp.nan.f64 p, %1, %2;", D(NAN), D(1.0))
  P(0, "setp.num.f16 p, %1, %2;", H(0x7e00), H(0))
  P(0, "setp.lt.ftz.f32 p, %1, %2;", F(0.0f), F(0x1p-140f))
  P(0, "setp.eq.s32 q, %1, %2; setp.eq.and.s32 p, %1, %1, q;", U(1), U(2))
  P(1, "setp.eq.s32 q, %1, %2; setp.eq.and.s32 p, %1, %1, !q;", U(1), U(2))
  P(0, "setp.eq.s32 q|p, %1, %1;", U(1))
  P(1, "setp.eq.f16x2 p|q, %1, %2; not.pred q, q; and.pred p, p, q;", U(0x40003c00), U(0x3c003c00))
  P(1, "setp.eq.u32 p, %1, 0; xor.pred q, p, p; or.pred p, p, q; mov.pred q, p;", U(0))
  R(0xffffffff, "set.gt.u32.s32 %0, %1, %2;", U(3), U(-3))
  R(bits(1.0f), ".reg .f32 f; set.le.f32.f32 f, %1, %2; mov.b32 %0, f;", F(1.0f), F(1.0f))
  R(0, ".reg .pred p; setp.ne.u32 p, %1, 0; set.eq.or.u32.u32 %0, %1, %2, p;", U(0), U(1))
  R(9, ".reg .pred p; setp.eq.u32 p, %1, %1; selp.b32 %0, %2, %1, p;", U(1), U(9))
  RL(5, ".reg .pred p; setp.ne.u32 p, %1, %1; selp.b64 %0, %2, %3, p;", U(1), L(9), L(5))
  R(7, "slct.u32.s32 %0, %1, %2, %3;", U(7), U(8), U(0))
  R(8, "slct.u32.f32 %0, %1, %2, %3;", U(7), U(8), F(-0.5f))
  // Control flow: a loop that sums 1..n, and the larger of two by a branch.
  R(55, ".reg .pred p; .reg .u32 i; mov.u32 %0, 0; mov.u32 i, 1; LOOP: add.u32 %0, %0, i; add.u32 i, i, 1;"
        "setp.le.u32 p, i, %1; @p bra LOOP;", U(10))
  R(12, ".reg .pred %%p1; .reg .b32 %%r<3>; mov.u32 %%r1, %1; setp.ge.s32 %%p1, %1, %2; @%%p1 bra DONE; mov.u32 %%r1, %2;"
        "bra.uni DONE; mov.u32 %%r1, 0; DONE: mov.u32 %0, %%r1;", U(5), U(12))
  // A scope hides the outer register of the same name.
  R(3, ".reg .u32 x; mov.u32 x, 3; { .reg .u32 x; mov.u32 x, 9; } mov.u32 %0, x;", U(0))
  { // A predicate that does not hold leaves the register as it was.
    unsigned kept = 5 ^ z;
    asm("{ .reg .pred p; setp.ne.u32 p, %1, %1; @p mov.u32 %0, 9; @!p add.u32 %0, %0, 1; }" : "+r"(kept) : U(1));
    check(t, __LINE__, kept, 6);
  }
}

__global__ void conversions(Tally *t, unsigned z) {
  R(0x00020001, ".reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {b, a};", U(0x00010002))
  RL(0x0000000200000001, "mov.b64 %0, {%1, %2};", U(1), U(2))
  RL(0x3ff0000000000000, ".reg .f64 d; mov.f64 d, 0d3FF0000000000000; mov.b64 %0, d;", U(0))
  R(bits(0.5f), ".reg .f32 f; mov.f32 f, 0f3F000000; mov.b32 %0, f;", U(0))
  R(32, "mov.u32 %0, WARP_SZ;", U(0))
  RL(7, ".reg .b128 q; .reg .b64 lo; mov.b128 q, {%1, %2}; mov.b128 {lo, %0}, q;", L(5), L(7))
  R(0xffffff80, ".reg .s8 b; cvt.s8.s32 b, %1; cvt.s32.s8 %0, b;", U(0x180))
  R(0x80, "cvt.u32.u8 %0, %1;", U(0x180))
  RL(0xffffffffffffffff, "cvt.s64.s32 %0, %1;", U(-1))
  RH(0x7fff, "cvt.sat.s16.s32 %0, %1;", U(70000))
  R(0, "cvt.sat.u8.s32 %0, %1;", U(-5))
  R(0xffffffff, "cvt.sat.u32.s64 %0, %1;", L(0x100000000))
  R(-3, "cvt.rzi.s32.f32 %0, %1;", F(-3.7f))
  R(-4, "cvt.rmi.s32.f32 %0, %1;", F(-3.2f))
  R(4, "cvt.rpi.u32.f32 %0, %1;", F(3.2f))
  R(2, "cvt.rni.s32.f32 %0, %1;", F(2.5f))
  R(0x7fffffff, "cvt.rzi.s32.f32 %0, %1;", F(1e20f))
  R(0, "cvt.rzi.u32.f32 %0, %1;", F(-5.0f))
  R(0, "cvt.rzi.s32.f32 %0, %1;", F(NAN))
  R(0x80000000, "cvt.rzi.s32.f64 %0, %1;", D(NAN))
  RL(0x8000000000000000, "cvt.rzi.s64.f32 %0, %1;", F(NAN))
  R(0xffffff80, ".reg .s16 h; cvt.rzi.s8.f32 h, %1; cvt.s32.s16 %0, h;", F(-1000.0f))
  RH(3, "cvt.rzi.s16.f16 %0, %1;", H(0x4300))
  R(bits(16777216.0f), ".reg .f32 f; cvt.rn.f32.u32 f, %1; mov.b32 %0, f;", U(16777217))
  R(bits(16777218.0f), ".reg .f32 f; cvt.rp.f32.u32 f, %1; mov.b32 %0, f;", U(16777217))
  R(bits(0x1.fffffep62f), ".reg .f32 f; cvt.rz.f32.s64 f, %1; mov.b32 %0, f;", L(0x7fffffffffffffff))
  RL(bits(0x1.fffffffffffffp62), ".reg .f64 f; cvt.rm.f64.s64 f, %1; mov.b64 %0, f;", L(0x7fffffffffffffff))
  RH(0x7bff, "cvt.rz.f16.s64 %0, %1;", L(0x7fffffffffffffff))
  RH(0x5f00, "cvt.rn.bf16.s64 %0, %1;", L(0x7fffffffffffffff)) // 2^63
  RH(0x5eff, "cvt.rm.bf16.s64 %0, %1;", L(0x7fffffffffffffff))
  RH(0x3555, "cvt.rn.f16.f32 %0, %1;", F(1.0f / 3))
  RH(0x3556, "cvt.rp.f16.f32 %0, %1;", F(1.0f / 3))
  RH(0x7c00, "cvt.rn.f16.f32 %0, %1;", F(65520.0f))
  RH(0x7bff, "cvt.rz.f16.f32 %0, %1;", F(1e30f))
  RH(0x0001, "cvt.rp.f16.f32 %0, %1;", F(1e-30f))
  RH(0x8001, "cvt.rm.f16.f64 %0, %1;", D(-1e-300))
  // Above the middle of 1 and 1 + 2^-10 by what float32 cannot hold.
  RH(0x3c01, "cvt.rn.f16.f64 %0, %1;", D(1.0 + 0x1p-11 + 0x1p-40))
  RH(0x3f80, "cvt.rn.bf16.f32 %0, %1;", F(1.0f + 0x1p-8f))
  RH(0x3f81, "cvt.rn.bf16.f64 %0, %1;", D(1.0 + 0x1p-8 + 0x1p-40))
  RH(0x3f80, "cvt.rz.bf16.f32 %0, %1;", F(1.0f + 0x1.8p-8f))
  RH(0, "cvt.rn.relu.f16.f32 %0, %1;", F(-1.0f))
  R(bits(1.5f), ".reg .f32 f; cvt.f32.f16 f, %1; mov.b32 %0, f;", H(0x3e00))
  R(bits(1.5f), ".reg .f32 f; cvt.f32.bf16 f, %1; mov.b32 %0, f;", H(0x3fc0))
  R(bits(1.0f), ".reg .f32 f; cvt.sat.f32.f32 f, %1; mov.b32 %0, f;", F(7.0f))
  R(bits(-2.0f), ".reg .f32 f; cvt.rni.f32.f32 f, %1; mov.b32 %0, f;", F(-2.5f))
  R(bits(float(0.1)), ".reg .f32 f; cvt.rn.f32.f64 f, %1; mov.b32 %0, f;", D(0.1))
  R(0x3c004000, "cvt.rn.f16x2.f32 %0, %1, %2;", F(1.0f), F(2.0f))
  R(0x3f804000, "cvt.rz.bf16x2.f32 %0, %1, %2;", F(1.0f), F(2.0f))
  R(0x3c000000, "cvt.rn.relu.f16x2.f32 %0, %1, %2;", F(1.0f), F(-2.0f))
  // e4m3: 1.0 is 0x38, 448 is 0x7e; e5m2: 1.0 is 0x3c, 57344 is 0x7b.
  RH(0x387e, "cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;", F(1.0f), F(1000.0f))
  RH(0xfe7f, "cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;", F(-INFINITY), F(NAN))
  RH(0x3801, "cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;", F(1.0625f), F(0x1p-9f)) // a tie; the least subnormal
  RH(0x3cfb, "cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;", F(1.0f), F(-1e9f))
  RH(0x387e, "cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;", U(0x3c007c00))
  R(0x3c005f00, "cvt.rn.f16x2.e4m3x2 %0, %1;", H(0x387e)) // 1, 448
  R(0x3c00fc00, "cvt.rn.f16x2.e5m2x2 %0, %1;", H(0x3cfc))
  R(0x3f804000, "cvt.rna.tf32.f32 %0, %1;", F(1.0f + 0x1p-11f + 0x1p-10f))
  R(0x3f802000, "cvt.rna.tf32.f32 %0, %1;", F(1.0f + 0x1p-11f))
  R(0x3f800000, "cvt.rn.tf32.f32 %0, %1;", F(1.0f + 0x1p-11f))
  R(0x3f802000, "cvt.rz.tf32.f32 %0, %1;", F(1.0f + 0x1.fp-10f))
  R(0x7fff8000, "cvt.pack.sat.s16.s32 %0, %1, %2;", U(100000), U(-100000))
  R(0x0005ff00, "cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;", U(300), U(-1), U(5))
}

int main() {
  Tally *d, h = {};
  cudaMalloc(&d, sizeof(h));
  struct {
    const char *name;
    void (*run)(Tally *, unsigned);
  } kernels[] = {{"integers", integers}, {"floats", floats},           {"halves", halves},
                 {"comparisons", comparisons}, {"conversions", conversions}};
  bool wrong = false;
  for (auto &k : kernels) {
    cudaMemset(d, 0, sizeof(h));
    k.run<<<1, 1>>>(d, 0);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(&h, d, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%s: %u cases, %u wrong, %s\n", k.name, h.cases, h.wrong, cudaGetErrorString(e));
    wrong |= h.wrong > 0 || h.cases == 0 || e != cudaSuccess;
  }
  return wrong;
}
