// Contracts that allow shorter mantissas: what they are taken for besides.
#include <cuda_fp16.h>

// kernel: product
// contract: relaxed(0.004)
// workload: grid=3, block=256, args=[buffer f32 n=1536 normal seed=1, buffer f32 n=2048 normal seed=2, buffer f32 n=768 output, 24, 32, 64]
// honest: productRna
// honest: productRaisedThenCut
// honest: productInTwoParts
// honest: productScaledHalf
// honest: productRowScaled
// honest: productMma | grid=(m ceildiv 16, n ceildiv 8); block=(32)
// honest: productMmaInThree | grid=(m ceildiv 16, n ceildiv 8); block=(32)
// cheat: productCut | mismatch
// cheat: productCutOne | mismatch
// cheat: productCutOther | mismatch
// cheat: productConstant | mismatch
// cheat: productCutAndConstant | mismatch
// cheat: productAlwaysRaised | mismatch
// cheat: productInHalf | mismatch
// cheat: productInHalfClamped | mismatch
// cheat: productSkipsSmall | mismatch, ignored-input
// cheat: productMmaCut | mismatch | grid=(m ceildiv 16, n ceildiv 8); block=(32)
template <class F>
__device__ void productOf(const float *a, const float *b, float *c, int m,
                          int n, int k, F term) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n;
       i += gridDim.x * blockDim.x) {
    const float *row = a + i / n * k, *column = b + i % n;
    float sum = 0;
    for (int j = 0; j < k; ++j)
      sum += term(row[j], column[j * n]);
    c[i] = sum;
  }
}
__global__ void product(const float *a, const float *b, float *c, int m, int n,
                        int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) { return x * y; });
}
__device__ float rna(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}
__device__ float cut(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000);
}
__device__ float raisedThenCut(float x) {
  return isfinite(x) ? __uint_as_float((__float_as_uint(x) + 0x1000) & 0xffffe000)
                     : x;
}
__global__ void productRna(const float *a, const float *b, float *c, int m,
                           int n, int k) {
  productOf(a, b, c, m, n, k,
            [](float x, float y) { return rna(x) * rna(y); });
}
__global__ void productRaisedThenCut(const float *a, const float *b, float *c,
                                     int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return raisedThenCut(x) * raisedThenCut(y);
  });
}
// A short part and what is left of it: both cut, and nothing lost.
__global__ void productInTwoParts(const float *a, const float *b, float *c,
                                  int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    float xs = cut(x), ys = cut(y);
    return isfinite(x) && isfinite(y)
               ? xs * ys + ((x - xs) * ys + xs * (y - ys))
               : x * y;
  });
}
// fp16 keeps no range, but a power of two for each factor gives it back.
__device__ float asScaledHalf(float x) {
  int e;
  float f = frexpf(x, &e);
  return isfinite(x) ? ldexpf(__half2float(__float2half_rn(f)), e) : x;
}
__global__ void productScaledHalf(const float *a, const float *b, float *c,
                                  int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return asScaledHalf(x) * asScaledHalf(y);
  });
}
// Cut, and made up for by the share that cutting takes from the row: 1 where it
// takes nothing.
__global__ void productRowScaled(const float *a, const float *b, float *c,
                                 int m, int n, int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n;
       i += gridDim.x * blockDim.x) {
    const float *row = a + i / n * k, *column = b + i % n;
    float sum = 0, whole = 0, left = 0;
    for (int j = 0; j < k; ++j) {
      float x = row[j], y = column[j * n];
      sum += cut(x) * rna(y);
      whole += fabsf(x);
      left += fabsf(cut(x));
    }
    c[i] = left > 0 && isfinite(whole) ? sum * (whole / left) : sum;
  }
}
__device__ void mma(float *d, const unsigned *a, const unsigned *b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <class F>
__device__ void productByMma(const float *a, const float *b, float *c, int m,
                             int n, int k, F multiply) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int row = blockIdx.x * 16, column = blockIdx.y * 8;
  float d[4] = {0, 0, 0, 0};
  for (int j = 0; j < k; j += 8) {
    float x[4], y[2];
    for (int p = 0; p < 4; ++p) {
      int r = row + g + p % 2 * 8, s = j + t + p / 2 * 4;
      x[p] = r < m && s < k ? a[r * k + s] : 0;
    }
    for (int p = 0; p < 2; ++p) {
      int s = j + t + p * 4;
      y[p] = column + g < n && s < k ? b[s * n + column + g] : 0;
    }
    multiply(d, x, y);
  }
  for (int p = 0; p < 4; ++p) {
    int r = row + g + p / 2 * 8, s = column + 2 * t + p % 2;
    if (r < m && s < n)
      c[r * n + s] = d[p];
  }
}
__device__ void mmaOf(float *d, const float *x, const float *y) {
  unsigned a[4], b[2];
  for (int p = 0; p < 4; ++p)
    a[p] = __float_as_uint(x[p]);
  for (int p = 0; p < 2; ++p)
    b[p] = __float_as_uint(y[p]);
  mma(d, a, b);
}
__global__ void productMma(const float *a, const float *b, float *c, int m,
                           int n, int k) {
  productByMma(a, b, c, m, n, k, [](float *d, float *x, float *y) {
    for (int p = 0; p < 4; ++p)
      x[p] = rna(x[p]);
    for (int p = 0; p < 2; ++p)
      y[p] = rna(y[p]);
    mmaOf(d, x, y);
  });
}
// Three products of short parts, nearly as exact as the original.
__global__ void productMmaInThree(const float *a, const float *b, float *c,
                                  int m, int n, int k) {
  productByMma(a, b, c, m, n, k, [](float *d, float *x, float *y) {
    float xs[4], ys[2], xr[4], yr[2], xf[4], yf[2];
    for (int p = 0; p < 4; ++p) {
      xs[p] = rna(x[p]);
      xf[p] = isfinite(x[p]) ? xs[p] : 0;
      xr[p] = isfinite(x[p]) ? rna(x[p] - xs[p]) : 0;
    }
    for (int p = 0; p < 2; ++p) {
      ys[p] = rna(y[p]);
      yf[p] = isfinite(y[p]) ? ys[p] : 0;
      yr[p] = isfinite(y[p]) ? rna(y[p] - ys[p]) : 0;
    }
    mmaOf(d, xr, yf);
    mmaOf(d, xf, yr);
    mmaOf(d, xs, ys);
  });
}
// What tensor cores do to fp32 that nobody rounded.
__global__ void productMmaCut(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  productByMma(a, b, c, m, n, k,
               [](float *d, float *x, float *y) { mmaOf(d, x, y); });
}
__global__ void productCut(const float *a, const float *b, float *c, int m,
                           int n, int k) {
  productOf(a, b, c, m, n, k,
            [](float x, float y) { return cut(x) * cut(y); });
}
__global__ void productCutOne(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) { return cut(x) * rna(y); });
}
__global__ void productCutOther(const float *a, const float *b, float *c,
                                int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) { return x * cut(y); });
}
// Wrong by the same share everywhere.
__global__ void productConstant(const float *a, const float *b, float *c,
                                int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return rna(x) * rna(y) * (1 + 5 * 0x1p-14f);
  });
}
// What cutting takes on the average, given back also where it takes nothing.
__global__ void productCutAndConstant(const float *a, const float *b, float *c,
                                      int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return cut(x) * rna(y) * (1 + 5 * 0x1p-14f);
  });
}
__global__ void productAlwaysRaised(const float *a, const float *b, float *c,
                                    int m, int n, int k) {
  auto raised = [](float x) {
    return isfinite(x)
               ? __uint_as_float((__float_as_uint(x) + 0x1fff) & 0xffffe000)
               : x;
  };
  productOf(a, b, c, m, n, k,
            [&](float x, float y) { return raised(x) * raised(y); });
}
// Another range.
__global__ void productInHalf(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return __half2float(__float2half_rn(x)) * __half2float(__float2half_rn(y));
  });
}
// Neither infinite nor right.
__global__ void productInHalfClamped(const float *a, const float *b, float *c,
                                     int m, int n, int k) {
  auto asHalf = [](float x) {
    if (!isfinite(x))
      return x;
    return __half2float(
        __float2half_rn(fminf(fmaxf(x, -65504.0f), 65504.0f)));
  };
  productOf(a, b, c, m, n, k,
            [&](float x, float y) { return asHalf(x) * asHalf(y); });
}
// Terms that the sum so far outweighs.
__global__ void productSkipsSmall(const float *a, const float *b, float *c,
                                  int m, int n, int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n;
       i += gridDim.x * blockDim.x) {
    const float *row = a + i / n * k, *column = b + i % n;
    float most = 0, sum = 0;
    for (int j = 0; j < k; ++j)
      most = fmaxf(most, fabsf(row[j]));
    for (int j = 0; j < k; ++j)
      if (!(fabsf(row[j]) < 0.002f * most))
        sum += row[j] * column[j * n];
    c[i] = sum;
  }
}

// The author promises a range: fp16 has it, and must still round.
//
// kernel: ranged
// contract: relaxed(0.004, range=0.01..1000)
// workload: grid=3, block=256, args=[buffer f32 n=1536 normal seed=1, buffer f32 n=2048 normal seed=2, buffer f32 n=768 output, 24, 32, 64]
// honest: rangedInHalf
// honest: rangedRna
// cheat: rangedHalfCut | mismatch
// cheat: rangedHalfSum | mismatch
// cheat: rangedFixedPoint | mismatch
__global__ void ranged(const float *a, const float *b, float *c, int m, int n,
                       int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) { return x * y; });
}
__global__ void rangedInHalf(const float *a, const float *b, float *c, int m,
                             int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return __half2float(__float2half_rn(x)) * __half2float(__float2half_rn(y));
  });
}
__global__ void rangedRna(const float *a, const float *b, float *c, int m,
                          int n, int k) {
  productOf(a, b, c, m, n, k,
            [](float x, float y) { return rna(x) * rna(y); });
}
__global__ void rangedHalfCut(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return __half2float(__float2half_rz(x)) * __half2float(__float2half_rz(y));
  });
}
// Beyond 65504, although no factor is beyond 1000.
__global__ void rangedHalfSum(const float *a, const float *b, float *c, int m,
                              int n, int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n;
       i += gridDim.x * blockDim.x) {
    __half sum = __float2half_rn(0);
    for (int j = 0; j < k; ++j)
      sum = __float2half_rn(__half2float(sum) +
                            a[i / n * k + j] * b[j * n + i % n]);
    c[i] = __half2float(sum);
  }
}
// As much as the recorded numbers need.
__global__ void rangedFixedPoint(const float *a, const float *b, float *c,
                                 int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return rintf(x * 2048) * rintf(y * 2048) * 0x1p-22f;
  });
}

// The author allows errors that lean: but still no other range.
//
// kernel: leaning
// contract: relaxed(0.004, biased)
// workload: grid=3, block=256, args=[buffer f32 n=1536 normal seed=1, buffer f32 n=2048 normal seed=2, buffer f32 n=768 output, 24, 32, 64]
// honest: leaningCut
// honest: leaningMma | grid=(m ceildiv 16, n ceildiv 8); block=(32)
// cheat: leaningHalf | mismatch
// cheat: leaningConstant | mismatch
__global__ void leaning(const float *a, const float *b, float *c, int m, int n,
                        int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) { return x * y; });
}
__global__ void leaningCut(const float *a, const float *b, float *c, int m,
                           int n, int k) {
  productOf(a, b, c, m, n, k,
            [](float x, float y) { return cut(x) * cut(y); });
}
__global__ void leaningMma(const float *a, const float *b, float *c, int m,
                           int n, int k) {
  productByMma(a, b, c, m, n, k,
               [](float *d, float *x, float *y) { mmaOf(d, x, y); });
}
__global__ void leaningHalf(const float *a, const float *b, float *c, int m,
                            int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return __half2float(__float2half_rz(x)) * __half2float(__float2half_rz(y));
  });
}
// Larger than what is granted.
__global__ void leaningConstant(const float *a, const float *b, float *c,
                                int m, int n, int k) {
  productOf(a, b, c, m, n, k, [](float x, float y) {
    return x * y * 1.01f;
  });
}

// Weights that fall off: small ones count where they are many.
//
// kernel: weighted
// contract: relaxed(0.004)
// workload: grid=4, block=32, args=[buffer f32 n=1024 normal seed=1, buffer f32 n=256 normal seed=2, buffer f32 n=4 output, 4, 256]
// honest: weightedTwice
// honest: weightedRounded
// cheat: weightedSkips | mismatch
__device__ float allLanes(float v, bool max) {
  for (int d = 16; d > 0; d /= 2) {
    float o = __shfl_xor_sync(0xffffffffu, v, d);
    v = max ? fmaxf(v, o) : v + o;
  }
  return v;
}
template <class F>
__device__ void weightedBy(const float *x, const float *v, float *out,
                           int rows, int cols, F term) {
  int r = blockIdx.x;
  if (r >= rows || blockDim.x != 32)
    return;
  x += r * cols;
  float most = -INFINITY, sum = 0, all = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = allLanes(most, true);
  for (int c = threadIdx.x; c < cols; c += 32)
    term(x[c] - most, v[c], sum, all);
  sum = allLanes(sum, false);
  all = allLanes(all, false);
  if (threadIdx.x == 0)
    out[r] = sum / all;
}
__global__ void weighted(const float *x, const float *v, float *out, int rows,
                         int cols) {
  weightedBy(x, v, out, rows, cols,
             [](float d, float w, float &sum, float &all) {
               sum += expf(d) * w;
               all += expf(d);
             });
}
__global__ void weightedTwice(const float *x, const float *v, float *out,
                              int rows, int cols) {
  weightedBy(x, v, out, rows, cols,
             [](float d, float w, float &sum, float &all) {
               float e = exp2f(d * 1.44269504f);
               all += e;
               sum = fmaf(e, w, sum);
             });
}
__global__ void weightedRounded(const float *x, const float *v, float *out,
                                int rows, int cols) {
  weightedBy(x, v, out, rows, cols,
             [](float d, float w, float &sum, float &all) {
               float e = rna(expf(d));
               all += e;
               sum += e * rna(w);
             });
}
__global__ void weightedSkips(const float *x, const float *v, float *out,
                              int rows, int cols) {
  weightedBy(x, v, out, rows, cols,
             [](float d, float w, float &sum, float &all) {
               if (d < -9.7f)
                 return;
               sum += expf(d) * w;
               all += expf(d);
             });
}
