// CUDA's mathematical functions in device code against the host's, or against formulas in long double.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

typedef long double Wide;
static const Wide Pi = 3.14159265358979323846264338327950288L;

#define UNARY(X)                                                                                                       \
  X(acos, -1, 1, acosl(x)) X(acosh, 1, 100, acoshl(x)) X(asin, -1, 1, asinl(x)) X(asinh, -50, 50, asinhl(x))           \
  X(atan, -50, 50, atanl(x)) X(atanh, -0.99, 0.99, atanhl(x)) X(cbrt, -1000, 1000, cbrtl(x))                           \
  X(ceil, -9, 9, ceill(x)) X(cos, -50, 50, cosl(x)) X(cosh, -9, 9, coshl(x)) X(cospi, -9, 9, cospiWide(x))             \
  X(sinpi, -9, 9, cospiWide(x - 0.5L)) X(erf, -3, 3, erfl(x)) X(erfc, -3, 5, erfcl(x))                                 \
  X(erfcx, 0, 20, expl(Wide(x) * x) * erfcl(x)) X(erfinv, -0.99, 0.99, inverse(x, [](Wide v) { return erfl(v); }))     \
  X(erfcinv, 0.01, 1.99, -inverse(x, [](Wide v) { return erfcl(-v); }))                                                \
  X(normcdf, -6, 6, erfcl(-Wide(x) / sqrtl(2)) / 2)                                                                    \
  X(normcdfinv, 0.001, 0.999, inverse(x, [](Wide v) { return erfcl(-v / sqrtl(2)) / 2; }))                             \
  X(exp, -20, 20, expl(x)) X(exp2, -20, 20, exp2l(x)) X(exp10, -9, 9, powl(10, x)) X(expm1, -3, 3, expm1l(x))          \
  X(fabs, -9, 9, fabsl(x)) X(floor, -9, 9, floorl(x)) X(j0, 0.1, 7.9, series(0, x, 0)) X(j1, 0.1, 7.9, series(1, x, 0))    \
  X(y0, 0.1, 7.9, y0((double)x)) X(y1, 0.1, 7.9, y1((double)x)) X(lgamma, 0.1, 30, lgammal(x)) X(log, 0.001, 999, logl(x)) \
  X(log10, 0.001, 999, log10l(x)) X(log1p, -0.9, 9, log1pl(x)) X(log2, 0.001, 999, log2l(x)) X(logb, 0.1, 99, logbl(x))\
  X(nearbyint, -9, 9, rintl(x)) X(rcbrt, 0.1, 99, 1 / cbrtl(x)) X(rint, -9, 9, rintl(x)) X(round, -9, 9, roundl(x))    \
  X(rsqrt, 0.01, 99, 1 / sqrtl(x)) X(sin, -50, 50, sinl(x)) X(sinh, -9, 9, sinhl(x)) X(sqrt, 0, 99, sqrtl(x))          \
  X(tan, -1.5, 1.5, tanl(x)) X(tanh, -9, 9, tanhl(x)) X(tgamma, 0.1, 20, tgammal(x)) X(trunc, -9, 9, truncl(x))        \
  X(cyl_bessel_i0, -9, 9, series(0, x, 1)) X(cyl_bessel_i1, -9, 9, series(1, x, 1))

#define BINARY(X)                                                                                                      \
  X(atan2, atan2l(x, y)) X(copysign, copysignl(x, y)) X(fdim, fdiml(x, y)) X(fmax, fmaxl(x, y)) X(fmin, fminl(x, y))   \
  X(fmod, fmodl(x, y)) X(hypot, hypotl(x, y)) X(pow, powl(x, y)) X(remainder, remainderl(x, y))                        \
  X(rhypot, 1 / hypotl(x, y)) X(nextafter, (sizeof(x) == 4 ? Wide(nextafterf(x, y)) : Wide(nextafter(double(x), double(y)))))

// sin(pi x) and cos(pi x) without loss at large arguments.
static Wide cospiWide(Wide x) {
  x = fabsl(remainderl(x, 2));
  return x <= 0.25L ? cosl(Pi * x) : x >= 0.75L ? -cosl(Pi * (1 - x)) : sinl(Pi * (0.5L - x));
}
static Wide inverse(Wide y, Wide (*f)(Wide)) {
  Wide low = -10, high = 10;
  for (int i = 0; i < 90; ++i) {
    Wide middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return low;
}
// Bessel functions of the first kind, modified when Sign: sum of (+-1)^k (x/2)^(2k+n) / (k! (k+n)!).
static Wide series(int n, Wide x, int modified) {
  Wide term = 1, sum = 0;
  for (int k = 1; k <= n; ++k)
    term *= x / 2 / k;
  for (int k = 0; k < 80; ++k) {
    sum += term;
    term *= (modified ? 1 : -1) * (x / 2) * (x / 2) / ((k + 1) * Wide(k + 1 + n));
  }
  return sum;
}

#define KERNELS(T, s)                                                                                                  \
  UNARY(KERNEL##s) BINARY(KERNEL2##s)
#define KERNELf(name, low, high, want) __global__ void f_##name(float *r, const float *x, const float *) { r[threadIdx.x] = name##f(x[threadIdx.x]); }
#define KERNELd(name, low, high, want) __global__ void d_##name(double *r, const double *x, const double *) { r[threadIdx.x] = name(x[threadIdx.x]); }
#define KERNEL2f(name, want) __global__ void f_##name(float *r, const float *x, const float *y) { r[threadIdx.x] = name##f(x[threadIdx.x], y[threadIdx.x]); }
#define KERNEL2d(name, want) __global__ void d_##name(double *r, const double *x, const double *y) { r[threadIdx.x] = name(x[threadIdx.x], y[threadIdx.x]); }
KERNELS(float, f)
KERNELS(double, d)

static bool failed = false;
static unsigned cases = 0;
template <class T, class Want>
void run(const char *name, void (*kernel)(T *, const T *, const T *), double low, double high, double ulps, Want want) {
  const int n = 64;
  static T *d = nullptr;
  if (!d)
    cudaMalloc(&d, 3 * n * sizeof(T));
  T h[3 * n] = {};
  for (int i = 0; i < n; ++i) {
    h[n + i] = T(low + (high - low) * i / (n - 1));
    h[2 * n + i] = T(0.37 + 0.11 * i);
  }
  cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
  kernel<<<1, n>>>(d, d + n, d + 2 * n);
  cudaError_t e = cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  double worst = 0;
  int at = 0;
  for (int i = 0; i < n; ++i) {
    Wide exact = want(h[n + i], h[2 * n + i]);
    T near = T(exact);
    T unit = std::max<T>(std::nextafter(std::fabs(near), T(INFINITY)) - std::fabs(near), sizeof(T) == 4 ? T(1e-8) : T(1e-17));
    double error = std::isnan(h[i]) != std::isnan(near) ? INFINITY
                   : h[i] == near || std::isnan(near)   ? 0
                                                        : std::fabs(double((Wide(h[i]) - exact) / unit));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  ++cases;
  if (worst > ulps || e != cudaSuccess) {
    failed = true;
    printf("%s%s: %g units at %g: got %.17g, want %.17Lg (%s)\n", name, sizeof(T) == 4 ? "f" : "", worst, double(h[n + at]),
           double(h[at]), want(h[n + at], h[2 * n + at]), cudaGetErrorString(e));
  }
}

// What does not fit the pattern above.
__device__ bool close(double got, double want, double tolerance = 1e-6) { return fabs(got - want) <= tolerance * fmax(1.0, fabs(want)); }
#define EXPECT(x) if (!(x)) { printf("line %d: not %s\n", __LINE__, #x); atomicAdd(wrong, 1); }
__global__ void others(unsigned *wrong, float z) {
  double zd = z;
  float a[4] = {1 + z, 2 + z, 3 + z, 4 + z}, s, c, whole;
  double b[4] = {1 + zd, 2 + zd, 3 + zd, 4 + zd}, sd, cd, wholed;
  int q;
  EXPECT(close(norm3df(a[0], a[1], a[1]), 3) && close(norm3d(b[0], b[1], b[1]), 3, 1e-15))
  EXPECT(close(rnorm3df(a[0], a[1], a[1]), 1 / 3.) && close(rnorm3d(b[0], b[1], b[1]), 1 / 3., 1e-15))
  EXPECT(close(norm4df(a[0], a[0], a[0], a[0]), 2) && close(rnorm4d(b[0], b[0], b[0], b[0]), 0.5, 1e-15))
  EXPECT(close(normf(4, a), sqrt(30.)) && close(norm(4, b), sqrt(30.), 1e-15) && close(rnormf(4, a), 1 / sqrt(30.)) && close(rnorm(4, b), 1 / sqrt(30.), 1e-15))
  EXPECT(norm3d(1e200 + zd, 1e200, 1e200) < 1e201)
  sincosf(1 + z, &s, &c);
  sincos(1 + zd, &sd, &cd);
  EXPECT(close(s, 0.84147098480789651) && close(cd, 0.54030230586813972, 1e-15) && close(c, cd) && close(sd, s))
  sincospif(1 + z, &s, &c);
  sincospi(1.5 + zd, &sd, &cd);
  EXPECT(s == 0 && c == -1 && sd == -1 && cd == 0)
  EXPECT(frexpf(12 + z, &q) == 0.75f && q == 4 && frexp(0.1 + zd, &q) == 0.8 && q == -3)
  EXPECT(ldexpf(0.75f + z, 4) == 12 && scalbn(1 + zd, -1074) == 0x1p-1074 && scalblnf(1 + z, 3) == 8)
  EXPECT(modff(-3.25f + z, &whole) == -0.25f && whole == -3 && modf(3.25 + zd, &wholed) == 0.25 && wholed == 3)
  EXPECT(remquof(7 + z, 2, &q) == -1 && (q & 7) == 4 && remquo(-7 + zd, 2, &q) == 1 && (-q & 7) == 4)
  EXPECT(ilogbf(0.3f + z) == -2 && ilogb(1024 + zd) == 10)
  EXPECT(lrintf(2.5f + z) == 2 && llrint(-3.5 + zd) == -4 && lroundf(2.5f + z) == 3 && llround(-2.5 + zd) == -3)
  EXPECT(close(jnf(3, 2 + z), 0.128943249474402) && close(jn(3, 2 + zd), 0.12894324947440205, 1e-12))
  EXPECT(close(ynf(2, 2 + z), -0.617408104190683) && close(yn(2, 2 + zd), -0.61740810419068267, 1e-12))
  EXPECT(isnan(z / z) && isinf(1 / z) && isfinite(1 + z) && signbit(-1 + zd) && !signbit(1 + z))
  EXPECT(close(fmaf(2 + z, 3, 4), 10) && fma(2 + zd, 3, 4) == 10)
  // The fast functions, within what the programming guide states.
  EXPECT(close(__expf(2 + z), 7.38905609893065, 4e-7) && close(__logf(5 + z), 1.6094379124341, 4e-7) && close(__sinf(1 + z), 0.8414709848, 5e-7))
  EXPECT(close(__cosf(1 + z), 0.5403023059, 5e-7) && close(__tanf(1 + z), 1.5574077247, 4e-6) && close(__powf(2 + z, 3.5f), 11.313708499, 2e-6))
  EXPECT(close(__log2f(8 + z), 3) && close(__log10f(1000 + z), 3) && close(__exp10f(2 + z), 100, 4e-7) && __fdividef(1 + z, 4) == 0.25f)
  EXPECT(__saturatef(2 + z) == 1 && __saturatef(-1 + z) == 0 && __saturatef(z / z) == 0)
  EXPECT(__fadd_ru(1 + z, 0x1p-40f) > 1 && __fadd_rd(1 + z, 0x1p-40f) == 1 && __dmul_rz(1 + 0x1p-52 + zd, 1 + 0x1p-52) == 1 + 0x1p-51)
  EXPECT(__fsqrt_rn(2 + z) == 0x1.6a09e6p+0f && __fdiv_rz(1 + z, 3) == 0x1.555554p-2f && __frcp_ru(3 + z) == 0x1.555556p-2f && __frsqrt_rn(4 + z) == 0.5f)
  EXPECT(__float2int_rd(-1.5f + z) == -2 && __float2uint_rn(-7 + z) == 0 && __double2ll_rz(1e30 + zd) == 0x7fffffffffffffffll && int(1e20f + z) == 0x7fffffff && (unsigned char)(-5 + z) == 0 && (signed char)(-5 + z) == -5)
  EXPECT(__int2float_rz(0x7fffffff + int(z)) == 0x1.fffffep30f && __ull2double_ru(~0ull + (unsigned)z) == 0x1p64 && __ll2float_rd(-0x7fffffffffffffffll + int(z)) == -0x1p63f)
  EXPECT(__hiloint2double(0x3ff00000, int(z)) == 1 && __double2hiint(1 + zd) == 0x3ff00000 && __double2loint(0.1 + zd) == int(0x9999999a) && __int_as_float(0x3f800000 + int(z)) == 1)
  EXPECT(tanhf(20 + z) == 1 && expf(-200 + z) == 0 && isinf(expf(100 + z)) && isnan(logf(-1 + z)) && isnan(sqrt(-1 + zd)))
  EXPECT(max(3, int(z)) == 3 && min(-1ll, (long long)z) == -1 && abs(-3 + int(z)) == 3 && llabs(-3ll + int(z)) == 3 && __sad(3, 7 + int(z), 1) == 5)
}

int main() {
#define RUNf(name, low, high, want) run<float>(#name, f_##name, low, high, 8, [](float x, float) -> Wide { return want; });
#define RUNd(name, low, high, want) run<double>(#name, d_##name, low, high, tolerance(#name), [](double x, double) -> Wide { return want; });
#define RUN2f(name, want) run<float>(#name, f_##name, 0.5, 20, 8, [](float x, float y) -> Wide { return want; });
#define RUN2d(name, want) run<double>(#name, d_##name, 0.5, 20, 8, [](double x, double y) -> Wide { return want; });
  // Twice the largest errors of the programming guide, where those are large.
  auto tolerance = [](const char *name) { return name[0] == 'j' || name[0] == 'y' || name[0] == 'c' || name[0] == 'n' ? 20.0 : 10.0; };
  UNARY(RUNf)
  UNARY(RUNd)
  BINARY(RUN2f)
  BINARY(RUN2d)
  unsigned *wrong, h = 0;
  cudaMalloc(&wrong, sizeof(h));
  cudaMemset(wrong, 0, sizeof(h));
  others<<<1, 1>>>(wrong, 0.0f);
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess)
    e = cudaDeviceSynchronize();
  cudaMemcpy(&h, wrong, sizeof(h), cudaMemcpyDeviceToHost);
  printf("math: %u functions, %s; others: %u wrong, %s\n", cases, failed ? "some wrong" : "all right", h, cudaGetErrorString(e));
  return failed || h || e != cudaSuccess;
}
