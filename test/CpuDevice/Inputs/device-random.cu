// cuRAND's device interface: the first numbers against the generators' definitions, and distributions by their moments.
#include <cmath>
#include <cstdio>
#include <curand_kernel.h>
#include <vector>

static bool failed = false;
#define EXPECT(x)                                                                                                      \
  if (!(x)) {                                                                                                          \
    failed = true;                                                                                                     \
    printf("line %d: not %s\n", __LINE__, #x);                                                                         \
  }
template <class State> __global__ void words(unsigned *out, float *uniform, float *normal, double *wide, unsigned *poisson) {
  int t = threadIdx.x + blockIdx.x * blockDim.x, n = gridDim.x * blockDim.x;
  State s;
  curand_init(1234, t, 0, &s);
  out[t] = curand(&s);
  for (int i = 0; i < 16; ++i) {
    uniform[i * n + t] = curand_uniform(&s);
    normal[i * n + t] = curand_normal(&s);
    wide[i * n + t] = curand_uniform_double(&s);
    poisson[i * n + t] = curand_poisson(&s, 4.0);
  }
}
template <class State> void distribution(const char *name, unsigned first) {
  const int n = 1024, m = 16 * n;
  unsigned *out, *p;
  float *u, *g;
  double *w;
  cudaMallocManaged(&out, n * 4);
  cudaMallocManaged(&u, m * 4);
  cudaMallocManaged(&g, m * 4);
  cudaMallocManaged(&w, m * 8);
  cudaMallocManaged(&p, m * 4);
  words<State><<<8, 128>>>(out, u, g, w, p);
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess)
    e = cudaDeviceSynchronize();
  double mu = 0, mg = 0, vg = 0, mw = 0, mp = 0, vp = 0;
  bool inside = true;
  for (int i = 0; i < m; ++i) {
    inside &= u[i] > 0 && u[i] <= 1 && w[i] > 0 && w[i] <= 1;
    mu += u[i] / m;
    mg += g[i] / m;
    vg += double(g[i]) * g[i] / m;
    mw += w[i] / m;
    mp += double(p[i]) / m;
    vp += (p[i] - 4.0) * (p[i] - 4.0) / m;
  }
  bool right = e == cudaSuccess && inside && out[0] == first && std::fabs(mu - 0.5) < 0.01 && std::fabs(mg) < 0.03 &&
               std::fabs(vg - 1) < 0.05 && std::fabs(mw - 0.5) < 0.01 && std::fabs(mp - 4) < 0.08 && std::fabs(vp - 4) < 0.25;
  printf("%s: %s (%s)\n", name, right ? "right" : "wrong", cudaGetErrorString(e));
  if (!right) {
    failed = true;
    printf("first %u, want %u; means %g %g %g %g, variances %g %g\n", out[0], first, mu, mg, mw, mp, vg, vp);
  }
}
__global__ void vectors(float4 *f, uint4 *i, double2 *d) {
  curandStatePhilox4_32_10_t s;
  curand_init(77, 5, 9, &s);
  *i = curand4(&s);
  *f = curand_normal4(&s);
  *d = curand_log_normal2_double(&s, 0.0, 1.0);
}
__global__ void sobol(unsigned *out, float *mean, unsigned *directions) {
  curandStateSobol32_t s;
  curand_init(directions, threadIdx.x * 64, &s);
  float sum = 0;
  for (int i = 0; i < 64; ++i) {
    unsigned x = curand(&s);
    if (i == 0)
      out[threadIdx.x] = x;
    sum += x * 0x1p-32f / 64;
  }
  mean[threadIdx.x] = sum;
}
// Marsaglia's xorwow (2003), Philox4x32-10 (Salmon and others, 2011), MRG32k3a (L'Ecuyer, 1999), seeded as cuRAND does.
static unsigned xorwow(unsigned long long seed) {
  unsigned t0 = 1099087573u * (unsigned(seed) ^ 0xaad26b49u), t1 = 2591861531u * (unsigned(seed >> 32) ^ 0xf7dcefddu);
  unsigned v0 = 123456789u + t0, v4 = 5783321u + t0, d = 6615241u + t1 + t0, t = v0 ^ (v0 >> 2);
  return ((v4 ^ (v4 << 4)) ^ (t ^ (t << 1))) + d + 362437u;
}
static unsigned philox(unsigned long long seed) {
  unsigned c[4] = {}, k[2] = {unsigned(seed), unsigned(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    unsigned n[4] = {unsigned(b >> 32) ^ c[1] ^ k[0], unsigned(b), unsigned(a >> 32) ^ c[3] ^ k[1], unsigned(a)};
    for (int i = 0; i < 4; ++i)
      c[i] = n[i];
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c[0];
}
static unsigned mrg32k3a(unsigned long long seed) {
  const long long m1 = 4294967087ll, m2 = 4294944443ll, a = unsigned(seed) ^ 0x55555555u, b = unsigned(seed >> 32) ^ 0xAAAAAAAAu;
  long long s10 = a * 12345 % m1, s11 = b * 12345 % m1, s20 = b * 12345 % m2, s22 = b * 12345 % m2;
  long long p1 = ((1403580 * s11 - 810728 * s10) % m1 + m1) % m1, p2 = ((527612 * s22 - 1370589 * s20) % m2 + m2) % m2;
  return unsigned((p1 > p2 ? p1 - p2 : p1 - p2 + m1) * 1.000000048662); // To 32 bits, as its documentation says.
}
int main() {
  distribution<curandStateXORWOW_t>("xorwow", xorwow(1234));
  distribution<curandStatePhilox4_32_10_t>("philox", philox(1234));
  distribution<curandStateMRG32k3a_t>("mrg32k3a", mrg32k3a(1234));
  float4 *f;
  uint4 *i;
  double2 *d;
  cudaMallocManaged(&f, sizeof(*f));
  cudaMallocManaged(&i, sizeof(*i));
  cudaMallocManaged(&d, sizeof(*d));
  vectors<<<1, 1>>>(f, i, d);
  EXPECT(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(i->x != i->y && d->x > 0 && d->y > 0 && std::fabs(f->x) < 6);
  // The first dimension of Sobol's sequence: bit-reversed Gray codes. Any 64 points from a multiple of 64 on lie one in
  // each 64th of the interval.
  unsigned *directions, *first;
  float *mean;
  cudaMallocManaged(&directions, 32 * 4);
  cudaMallocManaged(&first, 32 * 4);
  cudaMallocManaged(&mean, 32 * 4);
  for (int k = 0; k < 32; ++k)
    directions[k] = 1u << (31 - k);
  sobol<<<1, 32>>>(first, mean, directions);
  EXPECT(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  for (unsigned t = 0; t < 32; ++t) {
    unsigned gray = (t * 64) ^ (t * 64 >> 1), reversed = 0;
    for (int k = 0; k < 32; ++k)
      reversed |= (gray >> k & 1) << (31 - k);
    EXPECT(first[t] == reversed);
    EXPECT(std::fabs(mean[t] - 0.5f) < 1.0f / 64);
  }
  printf("random: %s\n", failed ? "some wrong" : "all right");
  return failed;
}
