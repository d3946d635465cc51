// Every shape and type of mma.sync, filled and read as the PTX ISA's section
// "Matrix Fragments" lays them out, against a product on the host.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include <vector>
typedef uint32_t u32;
typedef uint64_t u64;

enum Kind { F16, BF16, TF32, E4M3, E5M2, F32, F64, S8, U8, S4, U4, B1, S32 };
__host__ __device__ constexpr int bitsOf(Kind k) {
  return k == B1 ? 1 : k == S4 || k == U4 ? 4 : k == E4M3 || k == E5M2 || k == S8 || k == U8 ? 8
       : k == F16 || k == BF16 ? 16 : k == F64 ? 64 : 32;
}

// Bits of a small integer in each type.
static u64 encode(Kind k, int v) {
  float f = (float)v;
  double d = v;
  u64 r = 0;
  switch (k) {
  case F16: { __half h = __float2half(f); uint16_t b; memcpy(&b, &h, 2); return b; }
  case BF16: { uint32_t b; memcpy(&b, &f, 4); return b >> 16; }
  case TF32: { uint32_t b; memcpy(&b, &f, 4); return b | 0x1555; } // The low 13 bits do not count.
  case E4M3: case E5M2: {
    if (v == 0) return 0;
    int s = v < 0, a = abs(v), e = 0;
    while ((a >> (e + 1)) != 0) ++e;
    int m = k == E4M3 ? 3 : 2, bias = k == E4M3 ? 7 : 15;
    int frac = (e >= m ? a >> (e - m) : a << (m - e)) & ((1 << m) - 1);
    return (u64)(s << 7 | (e + bias) << m | frac);
  }
  case F32: { uint32_t b; memcpy(&b, &f, 4); return b; }
  case F64: memcpy(&r, &d, 8); return r;
  default: return (u64)(int64_t)v & (bitsOf(k) == 32 ? 0xffffffffu : (1u << bitsOf(k)) - 1);
  }
}
static double decode(Kind k, u64 b) {
  if (k == F16) { uint16_t w = (uint16_t)b; __half h; memcpy(&h, &w, 2); return __half2float(h); }
  if (k == F32) { uint32_t w = (uint32_t)b; float f; memcpy(&f, &w, 4); return f; }
  if (k == F64) { double d; memcpy(&d, &b, 8); return d; }
  return (int32_t)b;
}

struct At { int row, col; };

// a_i, b_i, c_i of m16n8kK, for elements of `bits` bits.
template <int bits> struct Tile16 {
  static constexpr int e = bits >= 32 ? 1 : 32 / bits; // Elements in 32 bits.
  static __device__ At a(int lane, int i) {
    int group = lane >> 2, t = lane % 4;
    return {(i / e) % 2 == 0 ? group : group + 8, t * e + (i % e) + (i / (2 * e)) * 4 * e};
  }
  static __device__ At b(int lane, int i) {
    int group = lane >> 2, t = lane % 4;
    return {t * e + (i % e) + (i / e) * 4 * e, group};
  }
  static __device__ At c(int lane, int i) {
    int group = lane >> 2, t = lane % 4;
    return {i < 2 ? group : group + 8, t * 2 + (i & 1)};
  }
};
template <int bits> struct Tile8 {
  static constexpr int e = bits >= 32 ? 1 : 32 / bits;
  static __device__ At a(int lane, int i) { return {lane >> 2, (lane % 4) * e + i}; }
  static __device__ At b(int lane, int i) { return {(lane % 4) * e + i, lane >> 2}; }
  static __device__ At c(int lane, int i) { return {lane >> 2, (lane % 4) * 2 + i}; }
};
// mma.m8n8k4 with f16: four products; `quad` says which one a lane is in.
template <bool rowA, bool rowB, bool wide> struct Volta {
  static __device__ At a(int lane, int i) {
    int high = lane < 16 ? 0 : 4;
    return rowA ? At{lane % 4 + high, i} : At{i % 4 + high, lane % 4};
  }
  static __device__ At b(int lane, int i) {
    int high = lane < 16 ? 0 : 4;
    return rowB ? At{lane % 4, i + high} : At{i, lane % 4 + high};
  }
  static __device__ At c(int lane, int i) {
    int high = lane < 16 ? 0 : 4;
    if (!wide) return {lane % 4 + high, i};
    return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
  }
};

template <class Map, int bits, int words, int which>
__device__ void pack(u64 *regs, const u64 *m, int cols, int lane) {
  constexpr int per = bits == 64 ? 1 : 32 / bits;
  for (int r = 0; r < words; ++r) {
    regs[r] = 0;
    for (int j = 0; j < per; ++j) {
      At p = which == 0 ? Map::a(lane, r * per + j) : which == 1 ? Map::b(lane, r * per + j) : Map::c(lane, r * per + j);
      regs[r] |= m[p.row * cols + p.col] << (j * bits);
    }
  }
}

#define SHAPE(NAME, TEXT, MM, NN, KK, MAPA, MAPC, MAPD, TA, TC, TD, NA, NB, NC, ND, ...)            \
  struct NAME {                                                                                                      \
    static constexpr int M = MM, N = NN, K = KK, na = NA, nb = NB, nc = NC, nd = ND;                                   \
    static constexpr Kind a = TA, c = TC, d = TD;                                                                    \
    static constexpr int quads = false;                                                                              \
    using MapA = MAPA; using MapC = MAPC; using MapD = MAPD;                                                          \
    static const char *name() { return TEXT; }                                                                       \
    static __device__ void run(u64 *dd, u64 *aa, u64 *bb, u64 *cc) {                                                  \
      __VA_ARGS__; }                                                                                                     \
  };
#define R4(b) "{%" #b "}"
// Operand lists.
#define D1 "=r"(d0)
#define A(i) "r"((u32)aa[i])
#define B(i) "r"((u32)bb[i])
#define C(i) "r"((u32)cc[i])
#define AD(i) "l"(aa[i])
#define BD(i) "l"(bb[i])
#define CD(i) "l"(cc[i])
#define OUT2 u32 d0, d1
#define PUT2 dd[0] = d0, dd[1] = d1
#define OUT4 u32 d0, d1, d2, d3
#define PUT4 dd[0] = d0, dd[1] = d1, dd[2] = d2, dd[3] = d3
#define O2 "=r"(d0), "=r"(d1)
#define O4 "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)
#define C4 C(0), C(1), C(2), C(3)

#define SHAPE16(NAME, OP, K, TA, TC, TD, NA, NB, NC, ND, ...)                                                        \
  SHAPE(NAME, OP, 16, 8, K, Tile16<bitsOf(TA)>, Tile16<bitsOf(TC)>, Tile16<bitsOf(TD)>, TA, TC, TD, NA, NB, NC, ND, __VA_ARGS__)
#define SHAPE8(NAME, OP, K, TA, NA, NB, ...)                                                                         \
  SHAPE(NAME, OP, 8, 8, K, Tile8<bitsOf(TA)>, Tile8<32>, Tile8<32>, TA, S32, S32, NA, NB, 2, 2, __VA_ARGS__)

// Two and four words of A with four accumulators.
#define MMA214(NAME, OP, K, TA, TD)                                                                                   \
  SHAPE16(NAME, OP, K, TA, TD, TD, 2, 1, 4, 4, OUT4;                                                                   \
          asm volatile(OP " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" : O4 : A(0), A(1), B(0), C4); PUT4)
#define MMA424(NAME, OP, K, TA, TD)                                                                                   \
  SHAPE16(NAME, OP, K, TA, TD, TD, 4, 2, 4, 4, OUT4;                                                                   \
          asm volatile(OP " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                                  \
                       : O4 : A(0), A(1), A(2), A(3), B(0), B(1), C4); PUT4)
#define MMA212(NAME, OP, K, TA)                                                                                       \
  SHAPE16(NAME, OP, K, TA, F16, F16, 2, 1, 2, 2, OUT2;                                                                 \
          asm volatile(OP " {%0,%1}, {%2,%3}, {%4}, {%5,%6};" : O2 : A(0), A(1), B(0), C(0), C(1)); PUT2)
#define MMA422(NAME, OP, K, TA)                                                                                       \
  SHAPE16(NAME, OP, K, TA, F16, F16, 4, 2, 2, 2, OUT2;                                                                 \
          asm volatile(OP " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"                                                  \
                       : O2 : A(0), A(1), A(2), A(3), B(0), B(1), C(0), C(1)); PUT2)
#define MMA8(NAME, OP, K, TA)                                                                                         \
  SHAPE8(NAME, OP, K, TA, 1, 1, OUT2;                                                                                 \
         asm volatile(OP " {%0,%1}, {%2}, {%3}, {%4,%5};" : O2 : A(0), B(0), C(0), C(1)); PUT2)

#define P "mma.sync.aligned."
MMA214(H8, P "m16n8k8.row.col.f32.f16.f16.f32", 8, F16, F32)
MMA424(H16, P "m16n8k16.row.col.f32.f16.f16.f32", 16, F16, F32)
MMA212(H8h, P "m16n8k8.row.col.f16.f16.f16.f16", 8, F16)
MMA422(H16h, P "m16n8k16.row.col.f16.f16.f16.f16", 16, F16)
MMA214(Bf8, P "m16n8k8.row.col.f32.bf16.bf16.f32", 8, BF16, F32)
MMA424(Bf16, P "m16n8k16.row.col.f32.bf16.bf16.f32", 16, BF16, F32)
MMA214(T4, P "m16n8k4.row.col.f32.tf32.tf32.f32", 4, TF32, F32)
MMA424(T8, P "m16n8k8.row.col.f32.tf32.tf32.f32", 8, TF32, F32)
MMA214(I16, P "m16n8k16.row.col.s32.s8.s8.s32", 16, S8, S32)
MMA214(I16u, P "m16n8k16.row.col.s32.u8.u8.s32", 16, U8, S32)
MMA424(I32, P "m16n8k32.row.col.s32.s8.s8.s32", 32, S8, S32)
MMA424(I32s, P "m16n8k32.row.col.satfinite.s32.s8.s8.s32", 32, S8, S32)
MMA424(I32u, P "m16n8k32.row.col.s32.u8.u8.s32", 32, U8, S32)
MMA214(N32, P "m16n8k32.row.col.s32.s4.s4.s32", 32, S4, S32)
MMA424(N64, P "m16n8k64.row.col.s32.s4.s4.s32", 64, S4, S32)
MMA424(N64u, P "m16n8k64.row.col.s32.u4.u4.s32", 64, U4, S32)
MMA214(X128, P "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 128, B1, S32)
MMA424(X256, P "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 256, B1, S32)
MMA424(N256, P "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 256, B1, S32)
MMA8(I8, P "m8n8k16.row.col.s32.s8.s8.s32", 16, S8)
MMA8(N8, P "m8n8k32.row.col.s32.s4.s4.s32", 32, S4)
MMA8(X8, P "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 128, B1)
MMA424(E43, P "m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, E4M3, F32)
MMA424(E52, P "m16n8k32.row.col.f32.e5m2.e5m2.f32", 32, E5M2, F32)
SHAPE(Dm8, P "m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, Tile8<64>, Tile8<64>, Tile8<64>, F64, F64, F64, 1, 1, 2, 2,
      asm volatile(P "m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                   : "=l"(dd[0]), "=l"(dd[1]) : AD(0), BD(0), CD(0), CD(1)))
#define SHAPED(NAME, OP, K, NA, NB, ...) \
  SHAPE(NAME, OP, 16, 8, K, Tile16<64>, Tile16<64>, Tile16<64>, F64, F64, F64, NA, NB, 4, 4, __VA_ARGS__)
#define OD "=l"(dd[0]), "=l"(dd[1]), "=l"(dd[2]), "=l"(dd[3])
#define CD4 CD(0), CD(1), CD(2), CD(3)
SHAPED(D4, P "m16n8k4.row.col.f64.f64.f64.f64", 4, 2, 1,
       asm volatile(P "m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
                    : OD : AD(0), AD(1), BD(0), CD4))
SHAPED(D8, P "m16n8k8.row.col.f64.f64.f64.f64", 8, 4, 2,
       asm volatile(P "m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                    : OD : AD(0), AD(1), AD(2), AD(3), BD(0), BD(1), CD4))
SHAPED(D16, P "m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 4,
       asm volatile(P "m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, "
                      "{%16,%17,%18,%19};"
                    : OD : AD(0), AD(1), AD(2), AD(3), AD(4), AD(5), AD(6), AD(7), BD(0), BD(1), BD(2), BD(3), CD4))

template <class S> __global__ void product(u64 *d, const u64 *a, const u64 *b, const u64 *c) {
  int lane = threadIdx.x;
  u64 ra[8], rb[4], rc[8], rd[8];
  pack<typename S::MapA, bitsOf(S::a), S::na, 0>(ra, a, S::K, lane);
  pack<typename S::MapA, bitsOf(S::a), S::nb, 1>(rb, b, S::N, lane);
  pack<typename S::MapC, bitsOf(S::c), S::nc, 2>(rc, c, S::N, lane);
  S::run(rd, ra, rb, rc);
  constexpr int bits = bitsOf(S::d), per = bits == 64 ? 1 : 32 / bits;
  for (int r = 0; r < S::nd; ++r)
    for (int j = 0; j < per; ++j) {
      At p = S::MapD::c(lane, r * per + j);
      d[p.row * S::N + p.col] = rd[r] >> (j * bits) & (bits == 64 ? ~0ull : (1ull << bits) - 1);
    }
}

// The four products of sm_70's shape; lanes of one are 4q..4q+3 and 16 more.
template <class Map, bool wide, class Run>
__device__ void volta(u64 *d, const u64 *a, const u64 *b, const u64 *c, Run run) {
  int lane = threadIdx.x, quad = lane % 16 / 4;
  u64 ra[2], rb[2], rc[8], rd[8];
  constexpr int bits = wide ? 32 : 16, words = wide ? 8 : 4;
  pack<Map, 16, 2, 0>(ra, a + quad * 32, 4, lane);
  pack<Map, 16, 2, 1>(rb, b + quad * 32, 8, lane);
  pack<Map, bits, words, 2>(rc, c + quad * 64, 8, lane);
  run(rd, ra, rb, rc);
  for (int i = 0; i < 8; ++i) {
    At p = Map::c(lane, i);
    d[quad * 64 + p.row * 8 + p.col] = wide ? rd[i] : rd[i / 2] >> (i % 2 * 16) & 0xffff;
  }
}
#define VOLTA(LA, LB, RA, RB)                                                                                         \
  __global__ void wide_##LA##_##LB(u64 *d, const u64 *a, const u64 *b, const u64 *c) {                                 \
    volta<Volta<RA, RB, true>, true>(d, a, b, c, [](u64 *dd, u64 *aa, u64 *bb, u64 *cc) {                               \
      u32 w[8];                                                                                                      \
      asm volatile(P "m8n8k4." #LA "." #LB ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "           \
                     "{%12,%13,%14,%15,%16,%17,%18,%19};"                                                              \
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7])      \
                   : A(0), A(1), B(0), B(1), C(0), C(1), C(2), C(3), C(4), C(5), C(6), C(7));                          \
      for (int i = 0; i < 8; ++i) dd[i] = w[i];                                                                       \
    });                                                                                                              \
  }                                                                                                                  \
  __global__ void half_##LA##_##LB(u64 *d, const u64 *a, const u64 *b, const u64 *c) {                                 \
    volta<Volta<RA, RB, false>, false>(d, a, b, c, [](u64 *dd, u64 *aa, u64 *bb, u64 *cc) {                             \
      OUT4;                                                                                                          \
      asm volatile(P "m8n8k4." #LA "." #LB ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11};"          \
                   : O4 : A(0), A(1), B(0), B(1), C4);                                                                \
      PUT4;                                                                                                          \
    });                                                                                                              \
  }
VOLTA(row, col, true, false)
VOLTA(row, row, true, true)
VOLTA(col, col, false, false)
VOLTA(col, row, false, true)

static u32 seed = 1;
static int pick(Kind k) {
  seed = seed * 1664525u + 1013904223u;
  int r = seed >> 16;
  switch (k) {
  case B1: return r & 1;
  case S8: return (int8_t)r;
  case U8: return r & 255;
  case S4: return (r & 15) - 8;
  case U4: return r & 15;
  case S32: return (int)(seed % 2000001) - 1000000;
  default: return r % 13 - 6;
  }
}
static int failures = 0;
static void check(const char *name, const std::vector<u64> &got, const std::vector<double> &want, Kind d) {
  int bad = 0;
  for (size_t i = 0; i < want.size(); ++i)
    if (decode(d, got[i]) != want[i]) {
      if (!bad++) printf("%s: element %zu is %g, not %g\n", name, i, decode(d, got[i]), want[i]);
    }
  printf("%s: %s\n", name, bad ? "WRONG" : "ok");
  failures += bad != 0;
}
typedef void (*Kernel)(u64 *, const u64 *, const u64 *, const u64 *);
static void test(const char *name, Kernel kernel, int M, int N, int K, Kind ta, Kind tc, Kind td, int copies, int big) {
  std::vector<u64> a, b, c, got(copies * M * N);
  std::vector<double> want;
  bool is_and = strstr(name, "and.popc"), clamp = strstr(name, "satfinite");
  for (int q = 0; q < copies; ++q) {
    std::vector<int> va(M * K), vb(K * N), vc(M * N);
    for (int &v : va) a.push_back(encode(ta, v = pick(ta)));
    for (int &v : vb) b.push_back(encode(ta, v = pick(ta)));
    for (int &v : vc) c.push_back(encode(tc, v = big ? big - pick(U8) : pick(tc)));
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        double s = vc[i * N + j];
        for (int k = 0; k < K; ++k) {
          int x = va[i * K + k], y = vb[k * N + j];
          s += ta == B1 && !is_and ? x ^ y : (double)x * y;
        }
        if (tc == S32) s = clamp ? fmin(fmax(s, -2147483648.0), 2147483647.0) : (double)(int32_t)(int64_t)s;
        want.push_back(s);
      }
  }
  u64 *p[4];
  std::vector<u64> *v[4] = {&got, &a, &b, &c};
  for (int i = 0; i < 4; ++i) {
    cudaMalloc(&p[i], v[i]->size() * 8);
    cudaMemcpy(p[i], v[i]->data(), v[i]->size() * 8, cudaMemcpyHostToDevice);
  }
  kernel<<<1, 32>>>(p[0], p[1], p[2], p[3]);
  if (cudaMemcpy(got.data(), p[0], got.size() * 8, cudaMemcpyDeviceToHost) != cudaSuccess) {
    printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
    exit(1);
  }
  for (u64 *q : p) cudaFree(q);
  check(name, got, want, td);
}
template <class S> void test(int big = 0) {
  test(S::name(), product<S>, S::M, S::N, S::K, S::a, S::c, S::d, 1, big);
}
int main() {
  test<H8>(); test<H16>(); test<H8h>(); test<H16h>(); test<Bf8>(); test<Bf16>(); test<T4>(); test<T8>();
  test<I16>(); test<I16u>(); test<I32>(); test<I32s>(2147483647); test<I32s>(-2147483392); test<I32>(2147483647); test<I32u>();
  test<N32>(); test<N64>(); test<N64u>(); test<X128>(); test<X256>(); test<N256>(); test<I8>(); test<N8>(); test<X8>();
  test<E43>(); test<E52>(); test<Dm8>(); test<D4>(); test<D8>(); test<D16>();
  test("m8n8k4.row.col.f32", wide_row_col, 8, 8, 4, F16, F32, F32, 4, 0);
  test("m8n8k4.row.row.f32", wide_row_row, 8, 8, 4, F16, F32, F32, 4, 0);
  test("m8n8k4.col.col.f32", wide_col_col, 8, 8, 4, F16, F32, F32, 4, 0);
  test("m8n8k4.col.row.f32", wide_col_row, 8, 8, 4, F16, F32, F32, 4, 0);
  test("m8n8k4.row.col.f16", half_row_col, 8, 8, 4, F16, F16, F16, 4, 0);
  test("m8n8k4.row.row.f16", half_row_row, 8, 8, 4, F16, F16, F16, 4, 0);
  test("m8n8k4.col.col.f16", half_col_col, 8, 8, 4, F16, F16, F16, 4, 0);
  test("m8n8k4.col.row.f16", half_col_row, 8, 8, 4, F16, F16, F16, 4, 0);
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
