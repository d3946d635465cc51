// Inline PTX that accesses memory: state spaces, vectors, orders, cache hints, predicates, atomics of all types.
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct alignas(16) Memory {
  unsigned words[64];
};
#define EXPECT(got, want) check(failed, __LINE__, (unsigned long long)(got), (unsigned long long)(want))
__device__ void check(unsigned *failed, int line, unsigned long long got, unsigned long long want) {
  atomicAdd(failed + 1, 1);
  if (got != want) {
    atomicAdd(failed, 1);
    printf("line %d: got 0x%llx, want 0x%llx\n", line, got, want);
  }
}
// words[i] = 0x01010101 * (i + 1)
__device__ void fill(Memory *m) {
  for (unsigned i = 0; i < 64; ++i)
    m->words[i] = 0x01010101u * (i + 1);
}
__constant__ unsigned table[4] = {11, 22, 33, 44};

__global__ void accesses(Memory *m, unsigned *failed) {
  __shared__ Memory shared;
  unsigned a, b, c, d;
  unsigned long long l, n;
  unsigned short h;
  fill(m);
  fill(&shared);
  unsigned s32 = (unsigned)__cvta_generic_to_shared(&shared);
  unsigned long long s64 = __cvta_generic_to_shared(&shared);
  asm volatile("ld.global.u32 %0, [%1+4];" : "=r"(a) : "l"(m));
  EXPECT(a, 0x02020202);
  asm volatile("ld.u8 %0, [%1+8];" : "=r"(a) : "l"(m));
  EXPECT(a, 3);
  m->words[1] = 0x80;
  asm volatile("ld.global.s8 %0, [%1+4];" : "=r"(a) : "l"(m) : "memory");
  EXPECT(a, 0xffffff80);
  asm volatile("ld.global.b16 %0, [%1];" : "=h"(h) : "l"(m));
  EXPECT(h, 0x0101);
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(m->words + 2));
  EXPECT(a + b, 0x07070707);
  asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(m->words + 4));
  EXPECT(a + b + c + d, 0x1a1a1a1a);
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(l), "=l"(n) : "l"(m->words + 4));
  EXPECT(l ^ n, 0x06060606'05050505ull ^ 0x08080808'07070707ull);
  asm volatile("{ .reg .b128 q; ld.b128 q, [%2]; mov.b128 {%0, %1}, q; }" : "=l"(l), "=l"(n) : "l"(m->words + 4));
  EXPECT(n, 0x08080808'07070707ull);
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(a) : "l"(m->words + 9));
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(l) : "l"(m->words + 10));
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(b) : "l"(m->words + 12));
  EXPECT(a + b + l, 0x0a0a0a0a + 0x0d0d0d0d + 0x0c0c0c0c'0b0b0b0bull);
  asm volatile("ldu.global.u32 %0, [%1];" : "=r"(a) : "l"(m->words + 13));
  asm volatile("ld.const.u32 %0, [%1];" : "=r"(b) : "l"(__cvta_generic_to_constant(table + 2)));
  EXPECT(a + b, 0x0e0e0e0e + 33);
  // Shared memory by 32-bit and by 64-bit addresses.
  asm volatile("ld.shared.u32 %0, [%1+12];" : "=r"(a) : "r"(s32));
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(b), "=r"(c) : "l"(s64 + 16));
  EXPECT(a + b + c, 0x0f0f0f0f);
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(s32 + 32), "r"(1), "r"(2), "r"(3), "r"(4) : "memory");
  EXPECT(shared.words[8] + shared.words[11] * 16, 0x41);
  asm volatile("st.shared::cta.f32 [%0], %1;" ::"r"(s32), "f"(1.0f) : "memory");
  EXPECT(shared.words[0], 0x3f800000);
  asm volatile("{ .reg .u64 g; cvta.shared.u64 g, %1; ld.u32 %0, [g+36]; }" : "=r"(a) : "l"((unsigned long long)s32));
  asm volatile("{ .reg .u64 s; cvta.to.shared.u64 s, %1; ld.shared.u32 %0, [s+40]; }" : "=r"(b) : "l"(&shared));
  EXPECT(a + b, 5);
  // Local memory.
  unsigned local[4] = {5, 6, 7, 8};
  unsigned long long at;
  asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(at) : "l"(local) : "memory");
  asm volatile("ld.local.u32 %0, [%1+8];" : "=r"(a) : "l"(at) : "memory");
  asm volatile("st.local.u32 [%0], %1;" ::"l"(at), "r"(50) : "memory");
  EXPECT(a + local[0], 57);
  asm volatile("{ .reg .pred a, b, c, d; isspacep.shared a, %1; isspacep.global b, %2; isspacep.local c, %3;"
               "isspacep.global d, %1; mov.u32 %0, 0; @a add.u32 %0, %0, 1; @b add.u32 %0, %0, 2;"
               "@c add.u32 %0, %0, 4; @d add.u32 %0, %0, 8; }" : "=r"(a) : "l"(&shared), "l"(m), "l"(local));
  EXPECT(a, 7);
  // Stores.
  asm volatile("st.global.u8 [%0], %1;" ::"l"(m), "r"(0x1ff) : "memory");
  EXPECT(m->words[0], 0x010101ff);
  asm volatile("st.global.L1::no_allocate.v2.f32 [%0], {%1, %2};" ::"l"(m->words + 2), "f"(1.0f), "f"(2.0f) : "memory");
  EXPECT(m->words[3], 0x40000000);
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(m->words + 4), "r"(77) : "memory");
  asm volatile("st.relaxed.cta.u64 [%0], %1;" ::"l"(m->words + 6), "l"(88ull) : "memory");
  asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(m->words + 8), "r"(99) : "memory");
  EXPECT(m->words[4] + m->words[6] + m->words[7] + m->words[8], 77 + 88 + 99);
  // Predicated accesses: the first would be out of bounds.
  a = 3;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u32 %0, [%1]; @!p st.global.u32 [%3], 9; }"
               : "+r"(a) : "l"(m + 1000000), "r"(0), "l"(m->words + 10) : "memory");
  EXPECT(a + m->words[10], 12);
  // Hints have no effect that can be seen.
  asm volatile("prefetch.global.L2 [%0]; prefetch.global.L2::evict_last [%0]; prefetchu.L1 [%0];" ::"l"(m));
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(m + 1));
  asm volatile("{ .reg .b64 policy; createpolicy.fractional.L2::evict_last.b64 policy, 0.5;"
               "ld.global.L2::cache_hint.u32 %0, [%1], policy; st.global.L2::cache_hint.u32 [%1+4], %0, policy; }"
               : "=r"(a) : "l"(m->words + 12) : "memory");
  EXPECT(m->words[13] - a, 0);
  asm volatile("discard.global.L2 [%0], 128;" ::"l"((char *)m + 1024));
}

template <class T> __device__ T *reset(Memory *m, unsigned word, T value) {
  *reinterpret_cast<T *>(m->words + word) = value;
  return reinterpret_cast<T *>(m->words + word);
}
__device__ unsigned floatBits(float f) { return __float_as_uint(f); }

__global__ void atomics(Memory *m, unsigned *failed) {
  __shared__ unsigned shared[4];
  unsigned old;
  unsigned long long old64, high;
  float f;
  unsigned s32 = (unsigned)__cvta_generic_to_shared(shared);
#define ATOM(name, start, operand, wantOld, wantNew)                                                                   \
  {                                                                                                                    \
    unsigned *p = reset(m, 0, unsigned(start));                                                                        \
    asm volatile("atom." name " %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(operand) : "memory");                         \
    EXPECT(old, unsigned(wantOld));                                                                                    \
    EXPECT(*p, unsigned(wantNew));                                                                                     \
  }
  ATOM("global.add.u32", 5, 7, 5, 12)
  ATOM("add.acq_rel.gpu.s32", -5, 7, -5, 2)
  ATOM("global.inc.u32", 5, 5, 5, 0)
  ATOM("global.inc.u32", 4, 5, 4, 5)
  ATOM("global.dec.u32", 0, 5, 0, 5)
  ATOM("global.dec.u32", 9, 5, 9, 5)
  ATOM("relaxed.sys.global.min.s32", -5, 7, -5, -5)
  ATOM("global.min.u32", -5, 7, -5, 7)
  ATOM("global.max.s32", -5, 7, -5, 7)
  ATOM("acquire.cta.global.max.u32", -5, 7, -5, -5)
  ATOM("and.b32", 0xff, 0x0f, 0xff, 0x0f)
  ATOM("or.release.cta.b32", 0xf0, 0x0f, 0xf0, 0xff)
  ATOM("xor.b32", 0xff, 0x0f, 0xff, 0xf0)
  ATOM("exch.b32", 1, 2, 1, 2)
  ATOM("add.noftz.f16x2", 0x3c004000, 0x3c003c00, 0x3c004000, 0x40004200)
  ATOM("add.noftz.bf16x2", 0x3f804000, 0x3f803f80, 0x3f804000, 0x40004040)
  unsigned *p = reset(m, 0, 5u);
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(5), "r"(6) : "memory");
  EXPECT(old * 16 + *p, 0x56);
  asm volatile("atom.cas.acq_rel.sys.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(5), "r"(7) : "memory");
  EXPECT(old * 16 + *p, 0x66);
  unsigned short *q = reset<unsigned short>(m, 0, 3), h;
  asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;" : "=h"(h) : "l"(q), "h"((short)3), "h"((short)4) : "memory");
  EXPECT(h * 16 + *q, 0x34);
  q = reset<unsigned short>(m, 0, 0x3c00);
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(h) : "l"(q), "h"((short)0x3c00) : "memory");
  EXPECT(*q, 0x4000);
  q = reset<unsigned short>(m, 0, 0x3f80);
  asm volatile("atom.global.add.noftz.bf16 %0, [%1], %2;" : "=h"(h) : "l"(q), "h"((short)0x3f80) : "memory");
  EXPECT(*q, 0x4000);
  unsigned long long *w = reset(m, 0, ~0ull);
  asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(old64) : "l"(w), "l"(2ull) : "memory");
  EXPECT(*w, 1);
  asm volatile("atom.global.min.s64 %0, [%1], %2;" : "=l"(old64) : "l"(w), "l"(-2ll) : "memory");
  EXPECT(*w, -2ll);
  asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(old64) : "l"(w), "l"(3ull) : "memory");
  EXPECT(old64, -2ll);
  float *g = reset(m, 0, 1.5f);
  asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(f) : "l"(g), "f"(2.0f) : "memory");
  EXPECT(floatBits(*g), floatBits(3.5f));
  double *e = reset(m, 0, 1.5), r;
  asm volatile("atom.add.relaxed.gpu.global.f64 %0, [%1], %2;" : "=d"(r) : "l"(e), "d"(2.0) : "memory");
  EXPECT(*e == 3.5 && r == 1.5, 1);
  // 128 bits.
  w = reset(m, 0, 1ull);
  w[1] = 2;
  asm volatile("{ .reg .b128 old, cmp, val; mov.b128 cmp, {%3, %4}; mov.b128 val, {%5, %6};"
               "atom.cas.b128 old, [%2], cmp, val; mov.b128 {%0, %1}, old; }"
               : "=l"(old64), "=l"(high) : "l"(w), "l"(1ull), "l"(2ull), "l"(3ull), "l"(4ull) : "memory");
  EXPECT(old64 * 4096 + high * 256 + w[0] * 16 + w[1], 0x1234);
  asm volatile("{ .reg .b128 old, val; mov.b128 val, {%3, %4}; atom.exch.b128 old, [%2], val; mov.b128 {%0, %1}, old; }"
               : "=l"(old64), "=l"(high) : "l"(w), "l"(5ull), "l"(6ull) : "memory");
  EXPECT(old64 * 4096 + high * 256 + w[0] * 16 + w[1], 0x3456);
  // Vectors (sm_90) and reductions.
  float *v = reset(m, 0, 1.0f), x, y;
  v[1] = 2.0f;
  v[2] = 3.0f;
  v[3] = 4.0f;
  asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};" : "=f"(x), "=f"(y) : "l"(v), "f"(1.0f), "f"(2.0f) : "memory");
  asm volatile("red.global.v4.f32.add [%0], {%1, %1, %1, %1};" ::"l"(v), "f"(10.0f) : "memory");
  EXPECT(x == 1.0f && y == 2.0f && v[0] == 12.0f && v[1] == 14.0f && v[2] == 13.0f && v[3] == 14.0f, 1);
  p = reset(m, 0, 0x3c003c00u);
  asm volatile("red.global.v2.f16x2.add.noftz [%0], {%1, %1};" ::"l"(p), "r"(0x3c003c00) : "memory");
  EXPECT(*p, 0x40004000);
  p = reset(m, 0, 1u);
  asm volatile("red.global.add.u32 [%0], %1; red.release.gpu.global.max.u32 [%0], 9; red.and.relaxed.cta.b32 [%0], %2;"
               ::"l"(p), "r"(3), "r"(0x18) : "memory");
  EXPECT(*p, 8);
  // Shared memory.
  shared[0] = 4;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(s32), "r"(3) : "memory");
  asm volatile("red.shared.inc.u32 [%0], %1;" ::"r"(s32), "r"(100) : "memory");
  EXPECT(old * 16 + shared[0], 0x48);
}

int main() {
  Memory *m;
  unsigned *failed, h[2];
  cudaMalloc(&m, 4096);
  cudaMalloc(&failed, sizeof(h));
  bool wrong = false;
  for (auto run : {accesses, atomics}) {
    cudaMemset(failed, 0, sizeof(h));
    run<<<1, 1>>>(m, failed);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%s: %u cases, %u wrong, %s\n", run == accesses ? "accesses" : "atomics", h[1], h[0], cudaGetErrorString(e));
    wrong |= h[0] != 0 || h[1] == 0 || e != cudaSuccess;
  }
  return wrong;
}
