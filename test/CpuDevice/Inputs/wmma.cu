// wmma in every shape and type that mma.h has, and the moves of 8 x 8 matrices.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mma.h>
#include <type_traits>
#include <vector>
using namespace nvcuda;
typedef uint32_t u32;
static int failures = 0;
static void report(const char *name, int bad) {
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) {
    printf("%s: %s\n", name, cudaGetErrorString(e));
    exit(1);
  }
  printf("%s: %s\n", name, bad ? "WRONG" : "ok");
  failures += bad != 0;
}
// How elements are kept in memory.
template <class T> struct Memory { typedef T type; };
template <> struct Memory<wmma::precision::tf32> { typedef float type; };

template <int M, int N, int K, class T, class C, class LA, class LB>
__global__ void product(C *d, const typename Memory<T>::type *a, const typename Memory<T>::type *b, const C *c, int lda, int ldb,
                        int ldc, bool colC) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::layout_t layout = colC ? wmma::mem_col_major : wmma::mem_row_major;
  wmma::load_matrix_sync(fc, c, ldc, layout);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(d, fc, ldc, layout);
}
template <class T> static T make(int v) { return T(v); }
template <> __half make<__half>(int v) { return __float2half((float)v); }
template <> __nv_bfloat16 make<__nv_bfloat16>(int v) { return __float2bfloat16((float)v); }
static double value(float v) { return v; }
static double value(double v) { return v; }
static double value(int v) { return v; }
static double value(__half v) { return __half2float(v); }

template <int M, int N, int K, class T, class C, class LA, class LB> static void test(const char *name, bool colC) {
  typedef typename Memory<T>::type E;
  bool rowA = std::is_same<LA, wmma::row_major>::value, rowB = std::is_same<LB, wmma::row_major>::value;
  int lda = (rowA ? K : M) + 16, ldb = (rowB ? N : K) + 16, ldc = (colC ? M : N) + 8;
  E *a, *b;
  C *c, *d;
  int rowsA = rowA ? M : K, rowsB = rowB ? K : N, rowsC = colC ? N : M;
  cudaMallocManaged(&a, rowsA * lda * sizeof(E));
  cudaMallocManaged(&b, rowsB * ldb * sizeof(E));
  cudaMallocManaged(&c, rowsC * ldc * sizeof(C));
  cudaMallocManaged(&d, rowsC * ldc * sizeof(C));
  static u32 seed = 3;
  auto pick = [&](bool positive) {
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 16) % 11 - (positive ? 0 : 5);
  };
  std::vector<int> A(M * K), B(K * N), D(M * N);
  bool positive = std::is_same<T, unsigned char>::value;
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) a[rowA ? i * lda + k : k * lda + i] = make<E>(A[i * K + k] = pick(positive));
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) b[rowB ? k * ldb + j : j * ldb + k] = make<E>(B[k * N + j] = pick(positive));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int s = pick(false);
      c[colC ? j * ldc + i : i * ldc + j] = make<C>(s);
      for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
      D[i * N + j] = 2 * s;
    }
  product<M, N, K, T, C, LA, LB><<<1, 32>>>(d, a, b, c, lda, ldb, ldc, colC);
  int bad = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double got = value(d[colC ? j * ldc + i : i * ldc + j]);
      if (got != D[i * N + j] && !bad++) printf("%s: (%d, %d) is %g, not %d\n", name, i, j, got, D[i * N + j]);
    }
  report(name, bad);
}
typedef wmma::row_major R;
typedef wmma::col_major L;
template <class T, class C> static void shapes(const char *name) {
  printf("%s\n", name);
  test<16, 16, 16, T, C, R, R>("  m16n16k16 row row", false);
  test<16, 16, 16, T, C, R, L>("  m16n16k16 row col", true);
  test<16, 16, 16, T, C, L, R>("  m16n16k16 col row", false);
  test<32, 8, 16, T, C, R, L>("  m32n8k16 row col", false);
  test<32, 8, 16, T, C, L, R>("  m32n8k16 col row", true);
  test<8, 32, 16, T, C, R, L>("  m8n32k16 row col", false);
  test<8, 32, 16, T, C, L, L>("  m8n32k16 col col", true);
}

// Small integers and bits, whose fragments have one layout.
__global__ void tiny(int *d, const void *a, const void *b, bool bits) {
  if (bits) {
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, R> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, L> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::fill_fragment(fc, 7);
    wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpXOR);
    wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
  } else {
    wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, R> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, L> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::fill_fragment(fc, -3);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
  }
}
static void testTiny(bool bits) {
  u32 *a, *b;
  int *d, K = bits ? 128 : 32;
  cudaMallocManaged(&a, 8 * 16);
  cudaMallocManaged(&b, 8 * 16);
  cudaMallocManaged(&d, 256);
  for (int i = 0; i < 32; ++i) a[i] = i * 2654435761u, b[i] = ~i * 40503u * 65599u;
  tiny<<<1, 32>>>(d, a, b, bits);
  int bad = cudaDeviceSynchronize() != cudaSuccess;
  auto at = [&](const u32 *m, int row, int k) {
    if (bits) return (int)(m[row * 4 + k / 32] >> k % 32 & 1);
    int v = m[row * 4 + k / 8] >> k % 8 * 4 & 15;
    return v >= 8 ? v - 16 : v;
  };
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      int s = bits ? 7 : -3;
      for (int k = 0; k < K; ++k) s += bits ? at(a, i, k) ^ at(b, j, k) : at(a, i, k) * at(b, j, k);
      bad += s != d[i * 8 + j];
    }
  report(bits ? "b1" : "s4", bad);
}

// ldmatrix, stmatrix and movmatrix: lane t holds row t / 4, elements 2 (t % 4)
// and the next.
__global__ void moves(uint16_t *out, const uint16_t *in) {
  __shared__ __align__(16) uint16_t s[4 * 64], r[4 * 64];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) s[i] = in[i], r[i] = 0;
  __syncwarp();
  u32 from = (u32)__cvta_generic_to_shared(s + t * 8), to = (u32)__cvta_generic_to_shared(r + t * 8), v[4], w;
  u32 *words = (u32 *)out;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(from));
  for (int i = 0; i < 4; ++i) words[i * 32 + t] = v[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(from));
  for (int i = 0; i < 2; ++i) words[(4 + i) * 32 + t] = v[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v[2]) : "r"(from));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(w) : "r"(v[2]));
  words[6 * 32 + t] = w;
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(to), "r"(v[0]), "r"(v[1]) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0+256], {%1};" ::"r"(to), "r"(v[2]) : "memory");
  __syncwarp();
  for (int i = t; i < 192; i += 32) out[448 + i] = r[i];
}
static void testMoves() {
  uint16_t *in, *out;
  cudaMallocManaged(&in, 512);
  cudaMallocManaged(&out, 2048);
  for (int i = 0; i < 256; ++i) in[i] = i * 257;
  moves<<<1, 32>>>(out, in);
  int bad = cudaDeviceSynchronize() != cudaSuccess;
  for (int m = 0; m < 4; ++m)
    for (int i = 0; i < 64; ++i) bad += out[m * 64 + i] != in[m * 64 + i];
  auto transposed = [](int i) { return i % 8 * 8 + i / 8; };
  for (int i = 0; i < 64; ++i) {
    bad += out[256 + i] != in[transposed(i)] || out[320 + i] != in[64 + transposed(i)];
    bad += out[384 + i] != in[transposed(i)];
    bad += out[448 + i] != in[transposed(i)] || out[512 + i] != in[64 + transposed(i)];
    bad += out[576 + i] != in[transposed(i)];
  }
  report("moves", bad);
}
int main() {
  shapes<__half, float>("f16, f32");
  shapes<__half, __half>("f16, f16");
  shapes<__nv_bfloat16, float>("bf16");
  shapes<signed char, int>("s8");
  shapes<unsigned char, int>("u8");
  test<16, 16, 8, wmma::precision::tf32, float, R, L>("tf32 row col", false);
  test<16, 16, 8, wmma::precision::tf32, float, L, R>("tf32 col row", true);
  test<8, 8, 4, double, double, R, L>("f64 row col", false);
  test<8, 8, 4, double, double, L, R>("f64 col row", true);
  testTiny(false);
  testTiny(true);
  testMoves();
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
