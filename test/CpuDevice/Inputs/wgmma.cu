// wgmma: operands in registers and in shared memory, each swizzle, both
// majors, each type, scales; tiles are laid out as the PTX ISA's canonical
// layouts say.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>
typedef uint32_t u32;
typedef uint64_t u64;
enum Kind { F16, BF16, TF32, E4M3, E5M2, S8, U8, F32, S32 };
static int bytesOf(Kind k) { return k == TF32 || k == F32 || k == S32 ? 4 : k == F16 || k == BF16 ? 2 : 1; }

static u32 encode(Kind k, int v) {
  float f = (float)v;
  u32 b;
  memcpy(&b, &f, 4);
  if (k == F16) { __half h = __float2half(f); uint16_t w; memcpy(&w, &h, 2); return w; }
  if (k == BF16) return b >> 16;
  if (k == TF32 || k == F32) return b;
  if (k == E4M3 || k == E5M2) {
    if (v == 0) return 0;
    int a = abs(v), e = 0, m = k == E4M3 ? 3 : 2, bias = k == E4M3 ? 7 : 15;
    while ((a >> (e + 1)) != 0) ++e;
    int frac = (e >= m ? a >> (e - m) : a << (m - e)) & ((1 << m) - 1);
    return (v < 0) << 7 | (e + bias) << m | frac;
  }
  return (u32)v;
}
static double decode(Kind k, u32 b) {
  if (k == F16) { uint16_t w = (uint16_t)b; __half h; memcpy(&h, &w, 2); return __half2float(h); }
  if (k == F32) { float f; memcpy(&f, &b, 4); return f; }
  return (int)b;
}

// A tile in shared memory: bytes of the swizzle's rows (0: none), major.
struct Layout {
  int width;
  bool mn;
  u32 leading, stride; // Bytes, of the descriptor.
};
static Layout makeLayout(int width, bool mn, int extent) {
  if (!mn) return {width, mn, 128, width ? 8u * width : 256u};
  if (width == 0) return {0, mn, 128u * (extent / 8), 128};
  return {width, mn, 16u * width, 8u * width};
}
static u32 place(const Layout &l, int mn, int k, int bytes) {
  u32 at;
  if (!l.mn) {
    int kb = k * bytes;
    at = l.width ? mn / 8 * l.stride + mn % 8 * l.width + kb : mn / 8 * l.stride + kb / 16 * l.leading + mn % 8 * 16 + kb % 16;
  } else if (l.width) {
    int atom = l.width / 2; // Elements of 16 bits.
    at = mn / atom * l.leading + k / 8 * l.stride + k % 8 * l.width + mn % atom * 2;
  } else {
    at = mn / 8 * l.stride + k / 8 * l.leading + k % 8 * 16 + mn % 8 * 2;
  }
  if (l.width == 32) at ^= (at & 0x080) >> 3;
  if (l.width == 64) at ^= (at & 0x180) >> 3;
  if (l.width == 128) at ^= (at & 0x380) >> 3;
  return at;
}

struct Args {
  const u32 *a, *b, *regs, *c;
  u32 *d;
  u32 aLeading, aStride, bLeading, bStride;
  int aMode, bMode; // 0, 1: 128, 2: 64, 3: 32 bytes
  int scaleD;
};
__device__ u64 descriptor(const void *p, u32 leading, u32 stride, int mode) {
  u32 at = (u32)__cvta_generic_to_shared(p);
  return (u64)((at & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)mode << 62;
}
#define REGS16                                                                                                         \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), \
      "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
#define REGS8 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
#define LIST16 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define LIST8 "{%0,%1,%2,%3,%4,%5,%6,%7}"
// From shared memory; TAIL: scales and transpositions.
#define SHARED16(NAME, OP, TAIL)                                                                                        \
  struct NAME {                                                                                                      \
    static constexpr int words = 16;                                                                                 \
    static __device__ void run(u32 *d, u64 a, u64 b, const u32 *, int p) {                                              \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %18, 0; wgmma.mma_async.sync.aligned." OP " " LIST16                    \
                   ", %16, %17, p" TAIL ";}" : REGS16 : "l"(a), "l"(b), "r"(p));                                         \
    }                                                                                                                \
  };
#define SHARED8(NAME, OP, TAIL)                                                                                         \
  struct NAME {                                                                                                      \
    static constexpr int words = 8;                                                                                  \
    static __device__ void run(u32 *d, u64 a, u64 b, const u32 *, int p) {                                              \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned." OP " " LIST8                     \
                   ", %8, %9, p" TAIL ";}" : REGS8 : "l"(a), "l"(b), "r"(p));                                            \
    }                                                                                                                \
  };
#define REGISTERS16(NAME, OP, TAIL)                                                                                     \
  struct NAME {                                                                                                      \
    static constexpr int words = 16;                                                                                 \
    static __device__ void run(u32 *d, u64, u64 b, const u32 *a, int p) {                                               \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %21, 0; wgmma.mma_async.sync.aligned." OP " " LIST16                    \
                   ", {%16,%17,%18,%19}, %20, p" TAIL ";}"                                                             \
                   : REGS16 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(p));                              \
    }                                                                                                                \
  };
SHARED16(HalfKK, "m64n32k16.f32.f16.f16", ", 1, 1, 0, 0")
SHARED16(HalfMK, "m64n32k16.f32.f16.f16", ", 1, 1, 1, 0")
SHARED16(HalfKM, "m64n32k16.f32.f16.f16", ", 1, 1, 0, 1")
SHARED16(HalfMM, "m64n32k16.f32.f16.f16", ", -1, 1, 1, 1")
SHARED16(BfloatKM, "m64n32k16.f32.bf16.bf16", ", 1, -1, 0, 1")
SHARED16(Tf32, "m64n32k8.f32.tf32.tf32", ", 1, 1")
SHARED16(Fp8, "m64n32k32.f32.e4m3.e4m3", ", 1, 1")
SHARED16(Fp8b, "m64n32k32.f32.e5m2.e5m2", ", -1, -1")
SHARED16(Int8, "m64n32k32.s32.s8.s8", "")
SHARED16(Uint8, "m64n32k32.s32.u8.u8", "")
SHARED8(HalfHalf, "m64n32k16.f16.f16.f16", ", 1, 1, 0, 0")
REGISTERS16(RegHalf, "m64n32k16.f32.f16.f16", ", 1, 1, 1")
REGISTERS16(RegTf32, "m64n32k8.f32.tf32.tf32", ", 1, -1")
REGISTERS16(RegInt8, "m64n32k32.s32.s8.s8", "")

template <class Op> __global__ void product(Args g) {
  __shared__ __align__(1024) u32 a[1024 * 2];
  __shared__ __align__(1024) u32 b[1024 * 2];
  int t = threadIdx.x;
  for (int i = t; i < 2048; i += 128) a[i] = g.a[i], b[i] = g.b[i];
  u32 d[Op::words], ra[4];
  for (int i = 0; i < Op::words; ++i) d[i] = g.c[i * 128 + t];
  for (int i = 0; i < 4; ++i) ra[i] = g.regs[i * 128 + t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  Op::run(d, descriptor(a, g.aLeading, g.aStride, g.aMode), descriptor(b, g.bLeading, g.bStride, g.bMode), ra, g.scaleD);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < Op::words; ++i) g.d[i * 128 + t] = d[i];
}

static u32 seed = 5;
static int pick(Kind k) {
  seed = seed * 1664525u + 1013904223u;
  int r = seed >> 16;
  return k == S8 ? (int8_t)r : k == U8 ? r & 255 : r % 13 - 6;
}
static int failures = 0;
template <class Op>
static void test(const char *name, Kind in, Kind out, int K, int widthA, bool mnA, int widthB, bool mnB, int sign = 1, bool scaleD = true) {
  constexpr int M = 64, N = 32;
  int bytes = bytesOf(in), wide = bytesOf(out), per = 4 / wide;
  std::vector<int> A(M * K), B(K * N), C(M * N);
  for (int &v : A) v = pick(in);
  for (int &v : B) v = pick(in);
  for (int &v : C) v = pick(F16);
  u32 *m[5]; // a, b, regs, c, d
  for (u32 *&p : m) cudaMallocManaged(&p, 8192 * 2), memset(p, 0, 8192 * 2);
  Layout la = makeLayout(widthA, mnA, M), lb = makeLayout(widthB, mnB, N);
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) {
      u32 v = encode(in, A[i * K + k]);
      memcpy((char *)m[0] + place(la, i, k, bytes), &v, bytes);
      // Register and lane of A (the fragment of a warp's 16 rows).
      int e = 4 / bytes, row = i % 16, reg = row / 8 + 2 * (k / (4 * e)), lane = row % 8 * 4 + k % (4 * e) / e;
      memcpy((char *)&m[2][reg * 128 + i / 16 * 32 + lane] + k % e * bytes, &v, bytes);
    }
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) {
      u32 v = encode(in, B[k * N + j]);
      memcpy((char *)m[1] + place(lb, j, k, bytes), &v, bytes);
    }
  // D: row 16 w + lane / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (lane % 4) + i % 2.
  auto at = [&](int i, int j) {
    int index = j / 8 * 4 + (i % 16 / 8) * 2 + j % 2, lane = i % 8 * 4 + j % 8 / 2;
    return ((index / per) * 128 + i / 16 * 32 + lane) * 4 + index % per * wide;
  };
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      u32 v = encode(out, C[i * N + j]);
      memcpy((char *)m[3] + at(i, j), &v, wide);
    }
  auto mode = [](int width) { return width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0; };
  product<Op><<<1, 128>>>({m[0], m[1], m[2], m[3], m[4], la.leading, la.stride, lb.leading, lb.stride, mode(widthA), mode(widthB), scaleD});
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) {
    printf("%s: %s\n", name, cudaGetErrorString(e));
    exit(1);
  }
  int bad = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double s = scaleD ? C[i * N + j] : 0;
      for (int k = 0; k < K; ++k) s += sign * (double)A[i * K + k] * B[k * N + j];
      u32 v = 0;
      memcpy(&v, (char *)m[4] + at(i, j), wide);
      if (decode(out, v) != s && !bad++) printf("%s: (%d, %d) is %g, not %g\n", name, i, j, decode(out, v), s);
    }
  printf("%s: %s\n", name, bad ? "WRONG" : "ok");
  failures += bad != 0;
  for (u32 *p : m) cudaFree(p);
}
int main() {
  test<HalfKK>("f16 none", F16, F32, 16, 0, false, 0, false);
  test<HalfKK>("f16 32", F16, F32, 16, 32, false, 32, false);
  test<HalfKK>("f16 64", F16, F32, 16, 64, false, 64, false);
  test<HalfKK>("f16 128", F16, F32, 16, 128, false, 128, false, 1, false);
  test<HalfHalf>("f16 accumulators", F16, F16, 16, 128, false, 64, false);
  test<HalfMK>("A along M, none", F16, F32, 16, 0, true, 0, false);
  test<HalfMK>("A along M, 32", F16, F32, 16, 32, true, 0, false);
  test<HalfMK>("A along M, 64", F16, F32, 16, 64, true, 128, false);
  test<HalfMK>("A along M, 128", F16, F32, 16, 128, true, 32, false);
  test<HalfKM>("B along N, none", F16, F32, 16, 128, false, 0, true);
  test<HalfKM>("B along N, 32", F16, F32, 16, 64, false, 32, true);
  test<HalfKM>("B along N, 64", F16, F32, 16, 32, false, 64, true);
  test<HalfMM>("both, negated A", F16, F32, 16, 64, true, 128, true, -1);
  test<BfloatKM>("bf16, negated B", BF16, F32, 16, 128, false, 64, true, -1);
  test<Tf32>("tf32", TF32, F32, 8, 128, false, 0, false);
  test<Fp8>("e4m3", E4M3, F32, 32, 64, false, 128, false);
  test<Fp8b>("e5m2, both negated", E5M2, F32, 32, 0, false, 32, false);
  test<Int8>("s8", S8, S32, 32, 128, false, 64, false);
  test<Uint8>("u8", U8, S32, 32, 32, false, 0, false, 1, false);
  test<RegHalf>("f16 A in registers", F16, F32, 16, 0, false, 64, true);
  test<RegTf32>("tf32 A in registers", TF32, F32, 8, 0, false, 128, false, -1);
  test<RegInt8>("s8 A in registers", S8, S32, 32, 0, false, 32, false);
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
