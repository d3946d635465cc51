// One element at a time: what most kernels of a program look like.
#include <cuda_fp16.h>

// kernel: saxpy
// workload: grid=4, block=256, args=[1000, 1.7, buffer f32 n=1000 uniform seed=3, buffer f32 n=1000 normal seed=4]
// honest: saxpyFma
// narrower: n below | takes a negative n for a large one
// honest: saxpyStride | grid=(2) | bx == 256; gx * 256 >= n
// honest: saxpyFloat4 | grid=(n ceildiv 512); block=(128) | bx == 256; gx * 256 >= n; n mod 4 == 0; align x 16; align y 16
// honest: saxpyTwo | grid=(gx ceildiv 2) | bx == 256; gx * 256 >= n
// honest: saxpySmallBlocks | grid=(gx * 4); block=(64) | bx == 256
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
__global__ void saxpyFma(int n, float a, const float *x, float *y) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= unsigned(n))
    return;
  y[i] = __fmaf_rn(x[i], a, y[i]);
}
__global__ void saxpyStride(int n, float a, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    y[i] += a * x[i];
}
__global__ void saxpyFloat4(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4)
    return;
  float4 v = reinterpret_cast<const float4 *>(x)[i];
  float4 w = reinterpret_cast<float4 *>(y)[i];
  w.x += a * v.x;
  w.y += a * v.y;
  w.z += a * v.z;
  w.w += a * v.w;
  reinterpret_cast<float4 *>(y)[i] = w;
}
__global__ void saxpyTwo(int n, float a, const float *x, float *y) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    y[i] = a * x[i] + y[i];
  if (i + 1 < n)
    y[i + 1] = a * x[i + 1] + y[i + 1];
}
__global__ void saxpySmallBlocks(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n)
    y[i] = fmaf(a, x[i], y[i]);
}

// kernel: gelu
// workload: grid=4, block=128, args=[buffer f32 n=500 normal seed=5, buffer f32 n=500 output, 500, 1.25]
// honest: geluSigmoid
// honest: geluStride | grid=(1) | bx == 128; gx * 128 >= n
// honest: geluTwo | block=(64) | bx == 128
// honest: geluFloat4 | block=(32) | bx == 128; gx * 128 >= n; n mod 4 == 0; align x 16; align y 16
__device__ float geluOf(float v) {
  float u = 0.7978845608f * (v + 0.044715f * v * v * v);
  return 0.5f * v * (1.0f + tanhf(u));
}
__global__ void gelu(const float *x, float *y, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = scale * geluOf(x[i]);
}
__global__ void geluSigmoid(const float *x, float *y, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  float u = 1.5957691216f * (v + 0.044715f * v * v * v);
  y[i] = scale * (v / (1.0f + expf(-u)));
}
__global__ void geluStride(const float *x, float *y, int n, float scale) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = scale * geluOf(x[i]);
}
__global__ void geluTwo(const float *x, float *y, int n, float scale) {
  for (int k = 0; k < 2; ++k) {
    int i = blockIdx.x * 128 + k * 64 + threadIdx.x;
    if (i < n)
      y[i] = geluOf(x[i]) * scale;
  }
}
__global__ void geluFloat4(const float *x, float *y, int n, float scale) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  float4 v = *reinterpret_cast<const float4 *>(x + i);
  v.x = scale * geluOf(v.x);
  v.y = scale * geluOf(v.y);
  v.z = scale * geluOf(v.z);
  v.w = scale * geluOf(v.w);
  *reinterpret_cast<float4 *>(y + i) = v;
}

// kernel: silu
// workload: grid=8x3, block=32, args=[buffer f32 n=720 normal seed=6, buffer f32 n=720 output, 3, 240, 0.5]
// honest: siluReciprocal
// honest: siluFlat | grid=(gx, gy); block=(32) | bx == 32; gx * 32 >= cols; gy >= rows
// honest: siluRowLoop | grid=(gx, 1) | gy == rows
// Rows of a matrix: blockIdx.y is the row.
__global__ void silu(const float *x, float *y, int rows, int cols, float beta) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (c < cols && r < rows) {
    float v = x[r * cols + c];
    y[r * cols + c] = v / (1.0f + expf(-beta * v));
  }
}
__global__ void siluReciprocal(const float *x, float *y, int rows, int cols,
                               float beta) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (c >= cols || r >= rows)
    return;
  float v = x[r * cols + c];
  y[r * cols + c] = v * (1.0f / (1.0f + expf(-beta * v)));
}
__global__ void siluFlat(const float *x, float *y, int rows, int cols,
                         float beta) {
  int total = rows * cols;
  int step = gridDim.x * gridDim.y * blockDim.x;
  int first = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  for (int i = first; i < total; i += step) {
    float v = x[i];
    y[i] = v / (1.0f + expf(-beta * v));
  }
}
__global__ void siluRowLoop(const float *x, float *y, int rows, int cols,
                            float beta) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols)
    for (int r = rows - 1; r >= 0; --r) {
      float v = x[r * cols + c];
      y[r * cols + c] = v / (1.0f + expf(-beta * v));
    }
}

// kernel: halfAxpy
// workload: grid=4, block=64, args=[buffer f16 n=250 uniform seed=7, buffer f16 n=250 uniform seed=8, buffer f16 n=250 output, 250, 0.75]
// honest: halfAxpyFma
// honest: halfAxpyFloat
// honest: halfAxpyHalf2 | block=(32) | bx == 64; gx * 64 >= n; n mod 2 == 0; align a 4; align b 4; align out 4
// honest: halfAxpyStride | grid=(1) | bx == 64; gx * 64 >= n
__global__ void halfAxpy(const __half *a, const __half *b, __half *out, int n,
                         float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __hadd(__hmul(__float2half(s), a[i]), b[i]);
}
__global__ void halfAxpyFma(const __half *a, const __half *b, __half *out,
                            int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __hfma(__float2half(s), a[i], b[i]);
}
__global__ void halfAxpyFloat(const __half *a, const __half *b, __half *out,
                              int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float scale = __half2float(__float2half(s));
  if (i < n)
    out[i] = __float2half(scale * __half2float(a[i]) + __half2float(b[i]));
}
__global__ void halfAxpyHalf2(const __half *a, const __half *b, __half *out,
                              int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 scale = __half2half2(__float2half(s));
  if (2 * i < n)
    reinterpret_cast<__half2 *>(out)[i] =
        __hfma2(scale, reinterpret_cast<const __half2 *>(a)[i],
                reinterpret_cast<const __half2 *>(b)[i]);
}
__global__ void halfAxpyStride(const __half *a, const __half *b, __half *out,
                               int n, float s) {
  __half scale = __float2half(s);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = __hadd(b[i], __hmul(a[i], scale));
}

// kernel: clampScale
// workload: grid=2, block=128, args=[{@0 i32 200, @4 f32 -0.5, @8 f32 0.75, @12 f32 2.5}, buffer f32 n=200 normal seed=9, buffer i32 n=200 output]
// honest: clampScaleBranches
// narrower: values of o | a limit of 0 and an x of -0
// honest: clampScaleBits
// honest: clampScaleStride | grid=(1) | bx == 128; gx * 128 >= s0
// A struct by value, a union to see a float's bits.
struct ClampOptions {
  int n;
  float low, high, factor;
};
union FloatBits {
  float f;
  int i;
};
__global__ void clampScale(ClampOptions o, const float *x, int *bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= o.n)
    return;
  FloatBits v;
  v.f = fminf(fmaxf(x[i], o.low), o.high) * o.factor;
  bits[i] = v.i;
}
__global__ void clampScaleBranches(ClampOptions o, const float *x, int *bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < o.n) {
    float v = x[i];
    if (v < o.low)
      v = o.low;
    if (v > o.high)
      v = o.high;
    bits[i] = __float_as_int(v * o.factor);
  }
}
__global__ void clampScaleBits(ClampOptions o, const float *x, int *bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= o.n)
    return;
  float v = fminf(fmaxf(x[i], o.low), o.high);
  reinterpret_cast<float *>(bits)[i] = o.factor * v;
}
__global__ void clampScaleStride(ClampOptions o, const float *x, int *bits) {
  for (int i = threadIdx.x; i < o.n; i += blockDim.x) {
    FloatBits v;
    v.f = o.factor * fminf(o.high, fmaxf(o.low, x[i]));
    bits[i] = v.i;
  }
}
