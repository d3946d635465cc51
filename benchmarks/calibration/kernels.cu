// Kernels for the calibration of the cost model, and kernels whose class
// follows from how they are made.
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef CALIBRATION_SMALL
#include <small.h>
#else
#include <mma.h>
#endif

// One element for each thread.

__global__ void scale(const float *__restrict__ in, float *__restrict__ out,
                      float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * in[i];
}

__global__ void saxpy(const float *__restrict__ x, float *__restrict__ y,
                      float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

__global__ void triad(const float *__restrict__ b, const float *__restrict__ c,
                      float *__restrict__ a, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] = b[i] + s * c[i];
}

__global__ void daxpy(const double *__restrict__ x, double *__restrict__ y,
                      double a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

__global__ void gelu(const float *__restrict__ in, float *__restrict__ out,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    out[i] = 0.5f * x * (1.0f + tanhf(inner));
  }
}

__global__ void options(const float *__restrict__ price,
                        const float *__restrict__ strike,
                        const float *__restrict__ years,
                        float *__restrict__ call, float rate, float volatility,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = price[i] + 1.0f, k = strike[i] + 1.0f, t = years[i] + 0.1f;
    float root = sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) /
               (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = 0.5f * (1.0f + erff(d1 * 0.70710678f));
    float n2 = 0.5f * (1.0f + erff(d2 * 0.70710678f));
    call[i] = s * n1 - k * expf(-rate * t) * n2;
  }
}

__global__ void gather(const float *__restrict__ table,
                       const int *__restrict__ index, float *__restrict__ out,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[index[i]];
}

__global__ void everyEighth(const float *__restrict__ in,
                            float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i * 8];
}

__global__ void transpose(const float *__restrict__ in, float *__restrict__ out,
                          int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height)
    out[(i % width) * height + i / width] = in[i];
}

__global__ void grey(const unsigned char *__restrict__ red,
                     const unsigned char *__restrict__ green,
                     const unsigned char *__restrict__ blue,
                     unsigned char *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = (unsigned char)((77 * red[i] + 150 * green[i] + 29 * blue[i]) >> 8);
}

__global__ void bins(const int *__restrict__ key, int *__restrict__ count,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&count[key[i] & 4095], 1);
}

// Stencils.

__global__ void heat(const float *__restrict__ in, float *__restrict__ out,
                     int width, int height, float rate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    int x = i % width, y = i / width;
    float center = in[i];
    float left = x > 0 ? in[i - 1] : center;
    float right = x < width - 1 ? in[i + 1] : center;
    float up = y > 0 ? in[i - width] : center;
    float down = y < height - 1 ? in[i + width] : center;
    out[i] = center + rate * (left + right + up + down - 4.0f * center);
  }
}

__global__ void stencil3d(const float *__restrict__ in, float *__restrict__ out,
                          int side) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < side * side * side) {
    int x = i % side, y = i / side % side, z = i / (side * side);
    float sum = 0.4f * in[i];
    sum += 0.1f * (x > 0 ? in[i - 1] : 0.0f);
    sum += 0.1f * (x < side - 1 ? in[i + 1] : 0.0f);
    sum += 0.1f * (y > 0 ? in[i - side] : 0.0f);
    sum += 0.1f * (y < side - 1 ? in[i + side] : 0.0f);
    sum += 0.1f * (z > 0 ? in[i - side * side] : 0.0f);
    sum += 0.1f * (z < side - 1 ? in[i + side * side] : 0.0f);
    out[i] = sum;
  }
}

__global__ void blur(const float *__restrict__ in,
                     const float *__restrict__ weight, float *__restrict__ out,
                     int radius, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int k = -radius; k <= radius; ++k) {
      int at = min(max(i + k, 0), n - 1);
      sum += weight[k + radius] * in[at];
    }
    out[i] = sum;
  }
}

__global__ void convolve(const float *__restrict__ in,
                         const float *__restrict__ weight,
                         float *__restrict__ out, int width, int height,
                         int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    int x = i % width, y = i / width;
    float sum = 0;
    for (int v = 0; v < size; ++v)
      for (int u = 0; u < size; ++u) {
        int cx = min(x + u, width - 1), cy = min(y + v, height - 1);
        sum += weight[v * size + u] * in[cy * width + cx];
      }
    out[i] = sum;
  }
}

// Loops over data that threads share or own.

__global__ void forces(const float4 *__restrict__ bodies, float *__restrict__ ax,
                       float *__restrict__ ay, int count, int sources) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float px = ax[i], py = ay[i];
  float sx = 0, sy = 0;
  for (int j = 0; j < sources; ++j) {
    float4 b = bodies[j];
    float dx = b.x - px, dy = b.y - py;
    float inverse = rsqrtf(dx * dx + dy * dy + b.z);
    float pull = b.w * inverse * inverse * inverse;
    sx += dx * pull;
    sy += dy * pull;
  }
  ax[i] = sx;
  ay[i] = sy;
}

__global__ void nearest(const float *__restrict__ x, const float *__restrict__ y,
                        const float *__restrict__ cx,
                        const float *__restrict__ cy, int *__restrict__ best,
                        int n, int clusters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float px = x[i], py = y[i], least = 3.0e38f;
    int at = 0;
    for (int c = 0; c < clusters; ++c) {
      float dx = cx[c] - px, dy = cy[c] - py;
      float d = dx * dx + dy * dy;
      if (d < least) {
        least = d;
        at = c;
      }
    }
    best[i] = at;
  }
}

__global__ void product(const float *__restrict__ a, const float *__restrict__ b,
                        float *__restrict__ c, int rows, int columns,
                        int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) {
    int row = i / columns, column = i % columns;
    float sum = 0;
    for (int k = 0; k < depth; ++k)
      sum += a[row * depth + k] * b[k * columns + column];
    c[i] = sum;
  }
}

__global__ void rowSums(const float *__restrict__ in, float *__restrict__ out,
                        int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    float sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += in[i * columns + c];
    out[i] = sum;
  }
}

__global__ void columnSums(const float *__restrict__ in,
                           float *__restrict__ out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) {
    float sum = 0;
    for (int r = 0; r < rows; ++r)
      sum += in[r * columns + i];
    out[i] = sum;
  }
}

__global__ void rowProducts(const int *__restrict__ column,
                            const float *__restrict__ value,
                            const float *__restrict__ x, float *__restrict__ y,
                            int rows, int each) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    float sum = 0;
    for (int k = 0; k < each; ++k)
      sum += value[k * rows + i] * x[column[k * rows + i]];
    y[i] = sum;
  }
}

__global__ void search(const float *__restrict__ sorted,
                       const float *__restrict__ wanted, int *__restrict__ at,
                       int size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float w = wanted[i];
    int low = 0, high = size;
    while (low < high) {
      int middle = (low + high) / 2;
      if (sorted[middle] < w)
        low = middle + 1;
      else
        high = middle;
    }
    at[i] = low;
  }
}

// Arithmetic.

__global__ void polynomial(const float *__restrict__ in,
                           float *__restrict__ out, int degree, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i], a = x, b = x + 1.0f, c = x + 2.0f, d = x + 3.0f;
    for (int k = 0; k < degree; ++k) {
      a = a * x + 0.5f;
      b = b * x + 0.25f;
      c = c * x + 0.125f;
      d = d * x + 0.0625f;
    }
    out[i] = a + b + c + d;
  }
}

__global__ void horner(const double *__restrict__ in, double *__restrict__ out,
                       int degree, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double x = in[i], a = x, b = x + 1.0;
    for (int k = 0; k < degree; ++k) {
      a = a * x + 0.5;
      b = b * x + 0.25;
    }
    out[i] = a + b;
  }
}

__global__ void waves(const float *__restrict__ in, float *__restrict__ out,
                      int terms, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i], sum = 0;
    for (int k = 1; k <= terms; ++k)
      sum += __expf(-x * k) + __sinf(x * k);
    out[i] = sum;
  }
}

__global__ void hash(const unsigned *__restrict__ in, unsigned *__restrict__ out,
                     int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned h = in[i];
    for (int k = 0; k < rounds; ++k) {
      h ^= h >> 16;
      h *= 0x7feb352du;
      h ^= h >> 15;
      h *= 0x846ca68bu;
    }
    out[i] = h;
  }
}

__global__ void fractal(float *__restrict__ out, int width, int height,
                        int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    float cx = (i % width) * (3.0f / width) - 2.0f;
    float cy = (i / width) * (2.0f / height) - 1.0f;
    float x = 0, y = 0;
    int k = 0;
    while (k < most && x * x + y * y < 4.0f) {
      float t = x * x - y * y + cx;
      y = 2.0f * x * y + cy;
      x = t;
      ++k;
    }
    out[i] = k;
  }
}

// Of known class only: blocks that work together.

__global__ void transposeTiled(const float *in, float *out, int side) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * side + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    out[(y + k) * side + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void blockSums(const float *in, float *out, int each) {
  __shared__ float part[256];
  float sum = 0;
  for (int k = 0; k < each; ++k)
    sum += in[(blockIdx.x * each + k) * 256 + threadIdx.x];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = part[0];
}

// 64 x 64 results for each block, 4 x 4 for each thread.
__global__ void productTiled(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][64], bs[16][64];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int l = threadIdx.x; l < 1024; l += 256) {
      as[l % 16][l / 16] = a[(row + l / 16) * n + k + l % 16];
      bs[l / 64][l % 64] = b[(k + l / 64) * n + column + l % 64];
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 16; ++l) {
      float left[4], right[4];
      for (int v = 0; v < 4; ++v) {
        left[v] = as[l][ty * 4 + v];
        right[v] = bs[l][tx * 4 + v];
      }
      for (int v = 0; v < 4; ++v)
        for (int u = 0; u < 4; ++u)
          sum[v][u] += left[v] * right[u];
    }
    __syncthreads();
  }
  for (int v = 0; v < 4; ++v)
    for (int u = 0; u < 4; ++u)
      c[(row + ty * 4 + v) * n + column + tx * 4 + u] = sum[v][u];
}

#ifndef CALIBRATION_SMALL
// Products of matrices that stay in registers.
__global__ void tensor(const __half *in, float *out, int rounds) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[4];
  wmma::load_matrix_sync(a, in, 16);
  wmma::load_matrix_sync(b, in + 256, 16);
  for (int k = 0; k < 4; ++k)
    wmma::fill_fragment(c[k], 0.0f);
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < 4; ++k)
      wmma::mma_sync(c[k], a, b, c[k]);
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int k = 0; k < 4; ++k)
    wmma::store_matrix_sync(out + (warp * 4 + k) * 256, c[k], 16,
                            wmma::mem_row_major);
}

#endif

__global__ void chase(const int *next, int *out, int steps) {
  int at = threadIdx.x;
  for (int k = 0; k < steps; ++k)
    at = next[at];
  out[threadIdx.x] = at;
}

__global__ void chain(const float *in, float *out, int steps) {
  float x = in[threadIdx.x], y = x;
  for (int k = 0; k < steps; ++k)
    y = y * x + 0.5f;
  out[threadIdx.x] = y;
}

__global__ void hotCounter(const int *key, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicExch(&count[0], key[i]);
}

__global__ void meetings(float *out, int rounds) {
  __shared__ float box[64];
  box[threadIdx.x] = threadIdx.x;
  for (int k = 0; k < rounds; ++k) {
    __syncthreads();
    float other = box[63 - threadIdx.x];
    __syncthreads();
    box[threadIdx.x] = other + 1.0f;
  }
  out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}

__global__ void oneBlock(const float *in, float *out, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256)
    sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[0] = part[0];
}
