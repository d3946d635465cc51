// Half, bfloat16 and fp8, SIMD in a word, cached accesses, and other built-in functions, against values known by hand.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <new>

#define EXPECT(x)                                                                                                      \
  {                                                                                                                    \
    atomicAdd(failed + 1, 1);                                                                                          \
    if (!(x)) {                                                                                                        \
      atomicAdd(failed, 1);                                                                                            \
      printf("line %d: not %s\n", __LINE__, #x);                                                                       \
    }                                                                                                                  \
  }
__device__ bool near(float got, float want, float tolerance) { return fabsf(got - want) <= tolerance * fmaxf(1.0f, fabsf(want)); }

template <class T, class T2> __device__ void sixteen(unsigned *failed, float z, float unit) {
  T one = T(1.0f + z), two = T(2.0f + z), three = T(3.0f + z), none = T(z / z);
  auto f = [](T v) { return float(v); };
  EXPECT(f(one + two) == 3 && f(one - three) == -2 && f(two * three) == 6 && f(three / two) == 1.5f && f(-one) == -1)
  EXPECT(f(__hfma(two, three, one)) == 7 && f(__hfma_relu(two, -three, one)) == 0 && f(__hadd_sat(one, two)) == 1)
  EXPECT(one < two && two >= two && !(none == none) && __hisnan(none) && __hne(one, two) && __hgtu(one, none) && !__hltu(two, one))
  EXPECT(f(__hmax(one, none)) == 1 && __hisnan(__hmax_nan(one, none)) && f(__hmin(one, two)) == 1 && f(__habs(-two)) == 2)
  EXPECT(near(f(hexp(one)), 2.7182818f, unit) && near(f(hlog(three)), 1.0986123f, unit) && near(f(hsin(two)), 0.9092974f, unit))
  EXPECT(near(f(hcos(two)), -0.4161468f, unit) && f(hsqrt(T(9.0f + z))) == 3 && f(hrsqrt(T(4.0f + z))) == 0.5f && f(hrcp(two)) == 0.5f)
  EXPECT(f(hexp2(three)) == 8 && f(hlog2(T(8.0f + z))) == 3 && near(f(hexp10(two)), 100, unit) && near(f(hlog10(T(1000.0f + z))), 3, unit))
  EXPECT(near(f(htanh(one)), 0.7615942f, unit) && near(f(htanh_approx(one)), 0.7615942f, 2 * unit))
  EXPECT(f(hfloor(T(-1.5f + z))) == -2 && f(hceil(T(1.25f + z))) == 2 && f(htrunc(T(-1.75f + z))) == -1 && f(hrint(T(2.5f + z))) == 2)
  T2 pair = T2(one, two), other = T2(three, -one);
  auto lo = [&](T2 v) { return float(v.x); };
  auto hi = [&](T2 v) { return float(v.y); };
  EXPECT(lo(pair + other) == 4 && hi(pair + other) == 1 && hi(pair * other) == -2 && lo(__hfma2(pair, other, pair)) == 4)
  EXPECT(lo(__hmax2(pair, other)) == 3 && hi(__hmin2(pair, other)) == -1 && hi(__habs2(other)) == 1 && lo(__hneg2(pair)) == -1)
  EXPECT(__hbeq2(pair, pair) && !__hbeq2(pair, other) && __hbgt2(pair, T2(z, z)) && lo(__hlt2(pair, other)) == 1 && hi(__hlt2(pair, other)) == 0)
  EXPECT(__heq2_mask(pair, T2(one, one)) == 0xffffu && lo(h2exp2(pair)) == 2 && hi(h2sqrt(T2(one, T(4.0f + z)))) == 2)
  EXPECT(lo(__hcmadd(pair, pair, T2(z, z))) == -3) // (1 + 2i) * (1 + 2i) = -3 + 4i
  EXPECT(int(three) == 3 && unsigned(two) == 2 && f(T(7)) == 7 && f(T(-5ll)) == -5)
}
__global__ void halves(unsigned *failed, float z) {
  sixteen<__half, __half2>(failed, z, 0.002f);
  sixteen<__nv_bfloat16, __nv_bfloat162>(failed, z, 0.016f);
  __half h = __float2half_rn(1.0f / 3 + z);
  EXPECT(__half_as_ushort(h) == 0x3555 && __half_as_ushort(__float2half_ru(1.0f / 3 + z)) == 0x3556 && __half_as_ushort(__float2half_rn(1e6f + z)) == 0x7c00)
  EXPECT(__half2int_rd(__float2half(-1.5f + z)) == -2 && __half2uint_rn(__float2half(2.5f + z)) == 2 && __half2ll_ru(__float2half(2.1f + z)) == 3)
  EXPECT(__half_as_ushort(__int2half_rz(4097 + int(z))) == 0x6c00 && __half_as_ushort(__uint2half_ru(4097 + int(z))) == 0x6c01 && __half2short_rz(__float2half(-7.9f + z)) == -7)
  EXPECT(__half_as_ushort(__double2half(1.0 + 0x1p-11 + 0x1p-40 + z)) == 0x3c01 && __half2float(__ushort_as_half(1)) == 0x1p-24f)
  EXPECT(__bfloat16_as_ushort(__float2bfloat16_rn(1.0f + 0x1p-8f + z)) == 0x3f80 && __bfloat16_as_ushort(__float2bfloat16_ru(1.0f + 0x1p-20f + z)) == 0x3f81)
  EXPECT(__bfloat16_as_ushort(__double2bfloat16(1.0 + 0x1p-8 + 0x1p-40 + z)) == 0x3f81 && __bfloat162int_rz(__float2bfloat16(-3.9f + z)) == -3)
  __nv_bfloat162 p = __floats2bfloat162_rn(1.0f + z, 2.0f);
  EXPECT(__low2float(p) == 1 && __high2float(p) == 2 && __low2float(__lowhigh2highlow(p)) == 2)
  __half2 s = __shfl_down_sync(1, __floats2half2_rn(1.0f, 2.0f), 0);
  EXPECT(__high2float(s) == 2)
}
__global__ void eights(unsigned *failed, float z) {
  EXPECT(__nv_fp8_e4m3(1.0f + z).__x == 0x38 && __nv_fp8_e4m3(1000.0f + z).__x == 0x7e && float(__nv_fp8_e4m3(-3.3f + z)) == -3.25f)
  EXPECT(__nv_fp8_e5m2(1.0f + z).__x == 0x3c && float(__nv_fp8_e5m2(3.3f + z)) == 3.5f && float(__nv_fp8_e5m2(1e9f + z)) == 57344)
  EXPECT(__nv_fp8_e4m3(__float2half(0.4f + z)).__x == 0x2d && __nv_fp8_e4m3(0.1 + double(z)).__x == 0x1d && float(__nv_fp8_e4m3(__float2bfloat16(12.0f + z))) == 12)
  __nv_fp8x2_e4m3 pair(make_float2(2.0f + z, -0.5f));
  float2 back = float2(pair);
  EXPECT(back.x == 2 && back.y == -0.5f && pair.__x == 0xb040)
  __nv_fp8x4_e5m2 four(make_float4(1.0f + z, 2, 4, -8));
  float4 all = float4(four);
  EXPECT(all.x == 1 && all.y == 2 && all.z == 4 && all.w == -8)
  EXPECT(__nv_cvt_float_to_fp8(500.0f + z, __NV_NOSAT, __NV_E4M3) == 0x7f && __nv_cvt_float_to_fp8(1e6f + z, __NV_NOSAT, __NV_E5M2) == 0x7c)
  EXPECT(__half2float(__half(__nv_cvt_fp8_to_halfraw(0x38 + int(z), __NV_E4M3))) == 1 && isnan(float(__nv_fp8_e4m3(z / z))))
}
__global__ void words(unsigned *failed, unsigned z) {
  unsigned a = 0x7f80ff01 ^ z, b = 0x0181017f ^ z;
  EXPECT(__vadd4(a, b) == 0x80010080 && __vaddss4(a, b) == 0x7f80007f && __vaddus4(a, b) == 0x80ffff80 && __vsub2(a, b) == 0x7dfffd82)
  EXPECT(__vsubss2(a, b) == 0x7dfffd82 && __vsubus4(a, b) == 0x7e00fe00 && __vabsdiffu4(a, b) == 0x7e01fe7e && __vabsdiffs2(a, b) == 0x7dff027e)
  EXPECT(__vmaxs4(a, b) == 0x7f81017f && __vmaxu2(a, b) == 0x7f80ff01 && __vmins2(a, b) == 0x0181ff01 && __vminu4(a, b) == 0x01800101)
  EXPECT(__vcmpeq4(a, a) == 0xffffffff && __vcmpgts4(a, b) == 0xff000000 && __vcmpltu4(a, b) == 0x00ff00ff && __vsetgeu2(a, b) == 0x00010001)
  EXPECT(__vavgu4(a, b) == 0x40818040 && __vavgs2(a, b) == 0x40810040 && __vhaddu2(a, b) == 0x40808040 && __vabs4(a) == 0x7f800101 && __vneg2(a) == 0x808000ff)
  EXPECT(__vsadu4(a, b) == 0x7e + 1 + 0xfe + 0x7e && __vabsss2(0x80000001u ^ z) == 0x7fff0001 && __vnegss4(0x80010203u ^ z) == 0x7ffffefd)
  EXPECT(__byte_perm(0x33221100 ^ z, 0x77665544, 0x5140) == 0x55114400 && __brev(1 ^ z) == 0x80000000 && __popcll(~0ull ^ z) == 64)
  EXPECT(__clz(1 ^ z) == 31 && __clzll(1 ^ z) == 63 && __ffs(8 ^ z) == 4 && __ffsll(1ull << 40 ^ z) == 41 && __fns(0x111 ^ z, 0, 2) == 4)
  EXPECT(__dp4a(0x01020304 ^ z, 0x01010101u, 5u) == 15 && __dp4a(int(0xff000000 ^ z), 0x02000000, 0) == -2 && __dp2a_lo(int(0x00020003 ^ z), 0x0405, 1) == 24)
  EXPECT(__umulhi(0xffffffff ^ z, 2) == 1 && __mulhi(-1 ^ int(z), 2) == -1 && __umul64hi(~0ull ^ z, ~0ull) == ~0ull - 1 && __mul24(5 ^ int(z), -3) == -15)
  EXPECT(__funnelshift_l(0x80000000 ^ z, 1, 1) == 3 && __funnelshift_rc(5 ^ z, 7, 40) == 7 && __sad(-3 ^ int(z), 4, 1) == 8 && __usad(3 ^ z, 10, 0) == 7)
  EXPECT(__hadd(5 ^ int(z), -8) == -2 && __rhadd(5 ^ int(z), 8) == 7 && __uhadd(0xffffffff ^ z, 1) == 0x80000000 && __urhadd(2 ^ z, 5) == 4)
}
struct alignas(16) Wide {
  float4 f;
};
__constant__ int fixed[4] = {1, 2, 3, 4};
__device__ int variable = 9;
__device__ const int *choose(const int *a, const int *b, bool first) { return first ? a : b; }
__global__ void memory(unsigned *failed, float *data, int n) {
  __shared__ float shared[4];
  EXPECT(__ldg(data + 1) == 2 && __ldcg(data + 2) == 3 && __ldcs(data + 4) == 5 && __ldcv(data + 5) == 6 && __ldcv(reinterpret_cast<float2 *>(data)).y == 2)
  const __half2 *pairs = reinterpret_cast<__half2 *>(data);
  EXPECT(__hbeq2(__ldca(pairs + 3), pairs[3]) && __hbeq2(__ldlu(pairs + 6), pairs[6]) && __hbeq2(__ldcs(pairs), pairs[0]))
  EXPECT(__ldg(reinterpret_cast<float4 *>(data) + 1).w == 8 && __ldcg(reinterpret_cast<double *>(data)) == *reinterpret_cast<double *>(data) && __ldcs(reinterpret_cast<int2 *>(data) + 1).y == 0x40800000)
  EXPECT(__ldg(reinterpret_cast<__half2 *>(data)).x == *reinterpret_cast<__half *>(data) && __ldg(reinterpret_cast<unsigned char *>(data) + 3) == 0x3f)
  __half2 *stored = reinterpret_cast<__half2 *>(data) + 8;
  __stcg(stored, __floats2half2_rn(1, 2));
  __stcs(stored + 1, __floats2half2_rn(3, 4));
  __stwt(stored + 2, __floats2half2_rn(5, 6));
  __stwb(&stored[3].x, __float2half(7));
  EXPECT(__low2float(stored[0]) == 1 && __high2float(stored[1]) == 4 && __low2float(stored[2]) == 5 && __low2float(stored[3]) == 7)
  int local[8];
  for (int i = 0; i < 8; ++i)
    local[i] = i * n;
  EXPECT(__isGlobal(data) && __isShared(shared) && __isLocal(local) && !__isShared(data) && !__isGlobal(local) && !__isLocal(shared) && __isConstant(choose(fixed, fixed + 1, n)))
  int *dynamic = static_cast<int *>(alloca(n * 16));
  memset(dynamic, 0x11, n * 16);
  memcpy(dynamic + 1, local + 2, 8);
  EXPECT(dynamic[0] == 0x11111111 && dynamic[1] == 2 * n && dynamic[2] == 3 * n && dynamic[3] == 0x11111111)
  __builtin_memmove(dynamic + 1, dynamic, 12);
  EXPECT(dynamic[2] == 2 * n && dynamic[1] == 0x11111111)
  static const int primes[2][4] = {{2, 3, 5, 7}, {11, 13, 17, 19}};
  EXPECT(choose(primes[0], primes[1], n == 1)[2] == 5 && choose(primes[0], primes[1], n != 1)[n] == 13 && *choose(&variable, fixed, n == 1) == 9)
  float *heap = static_cast<float *>(malloc(64));
  heap[15] = 3;
  int *more = new int[4]{1, 2, 3, 4};
  EXPECT(heap[15] == 3 && more[3] == 4 && __isGlobal(heap))
  free(heap);
  delete[] more;
  long long before = clock64();
  clock_t c = clock();
  __nanosleep(100);
  EXPECT(clock64() >= before && c != 0)
  printf("printf %d %s %5.2f %c %llx %%\n", n, "text", 2.5, 'x', 0x123456789abull);
  assert(n == 1);
}
__global__ void atomics(unsigned *failed, void *p) {
  int *i = static_cast<int *>(p);
  *i = 5;
  EXPECT(atomicAdd(i, 2) == 5 && atomicSub(i, 3) == 7 && atomicExch(i, 9) == 4 && atomicMin(i, -3) == 9 && atomicMax(i, 8) == -3 && *i == 8)
  EXPECT(atomicAnd(i, 12) == 8 && atomicOr(i, 3) == 8 && atomicXor(i, 1) == 11 && atomicCAS(i, 10, 6) == 10 && atomicCAS(i, 10, 7) == 6 && *i == 6)
  EXPECT(atomicAdd_block(i, 1) == 6 && atomicAdd_system(i, 1) == 7 && atomicMax_block(i, 20) == 8 && atomicCAS_system(i, 20, 1) == 20 && atomicExch_block(i, 4) == 1 && atomicOr_system(i, 1) == 4)
  unsigned *u = static_cast<unsigned *>(p);
  *u = 3;
  EXPECT(atomicInc(u, 3) == 3 && atomicInc(u, 3) == 0 && atomicDec(u, 7) == 1 && atomicDec(u, 7) == 0 && *u == 7 && atomicMin(u, 0x80000000u) == 7 && atomicMax(u, 0x80000000u) == 7 && *u == 0x80000000u)
  unsigned long long *w = static_cast<unsigned long long *>(p);
  *w = 1ull << 40;
  EXPECT(atomicAdd(w, 1ull) == 1ull << 40 && atomicMax(w, 1ull << 41) == (1ull << 40) + 1 && atomicCAS(w, 1ull << 41, 5ull) == 1ull << 41 && atomicExch(w, 6ull) == 5 && atomicXor(w, 2ull) == 6 && *w == 4)
  float *f = static_cast<float *>(p);
  *f = 1.5f;
  EXPECT(atomicAdd(f, 2.0f) == 1.5f && atomicExch(f, 9.0f) == 3.5f && atomicAdd_block(f, 1.0f) == 9 && *f == 10)
  double *d = static_cast<double *>(p);
  *d = 1.5;
  EXPECT(atomicAdd(d, 2.0) == 1.5 && *d == 3.5)
  unsigned short *s = static_cast<unsigned short *>(p);
  *s = 7;
  EXPECT(atomicCAS(s, (unsigned short)7, (unsigned short)8) == 7 && *s == 8)
  __half *h = static_cast<__half *>(p);
  *h = 1.5f;
  EXPECT(float(atomicAdd(h, __half(2.0f))) == 1.5f && float(*h) == 3.5f)
  __half2 *h2 = static_cast<__half2 *>(p);
  *h2 = __floats2half2_rn(1.0f, 2.0f);
  atomicAdd(h2, __floats2half2_rn(3.0f, 4.0f));
  EXPECT(float(h2->x) == 4 && float(h2->y) == 6)
  __nv_bfloat16 *b = static_cast<__nv_bfloat16 *>(p);
  *b = __float2bfloat16(1.5f);
  EXPECT(float(atomicAdd(b, __float2bfloat16(2.0f))) == 1.5f && float(*b) == 3.5f)
  __nv_bfloat162 *b2 = static_cast<__nv_bfloat162 *>(p);
  *b2 = __floats2bfloat162_rn(1.0f, 2.0f);
  atomicAdd(b2, __floats2bfloat162_rn(3.0f, 4.0f));
  EXPECT(float(b2->x) == 4 && float(b2->y) == 6)
  float4 *v = static_cast<float4 *>(p);
  *v = make_float4(1, 2, 3, 4);
  float4 old = atomicAdd(v, make_float4(10, 20, 30, 40));
  EXPECT(old.x == 1 && old.w == 4 && v->x == 11 && v->w == 44)
  float2 two = atomicAdd(reinterpret_cast<float2 *>(v), make_float2(1, 1));
  EXPECT(two.x == 11 && two.y == 22 && v->y == 23)
}

int main() {
  unsigned *failed, h[2];
  float *data, start[64];
  cudaMalloc(&failed, sizeof(h));
  cudaMalloc(&data, sizeof(start));
  for (int i = 0; i < 64; ++i)
    start[i] = i + 1;
  cudaMemcpy(data, start, sizeof(start), cudaMemcpyHostToDevice);
  bool wrong = false;
  const char *names[] = {"halves", "eights", "words", "memory", "atomics"};
  for (int i = 0; i < 5; ++i) {
    cudaMemset(failed, 0, sizeof(h));
    switch (i) {
    case 0: halves<<<1, 1>>>(failed, 0); break;
    case 1: eights<<<1, 1>>>(failed, 0); break;
    case 2: words<<<1, 1>>>(failed, 0); break;
    case 3: memory<<<1, 1>>>(failed, data, 1); break;
    case 4: atomics<<<1, 1>>>(failed, data); break;
    }
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess)
      e = cudaDeviceSynchronize();
    cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%s: %u cases, %u wrong, %s\n", names[i], h[1], h[0], cudaGetErrorString(e));
    wrong |= h[0] != 0 || h[1] == 0 || e != cudaSuccess;
  }
  return wrong;
}
