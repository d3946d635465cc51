// Kernels that judge the cost model: nothing of it was chosen on them.
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef CALIBRATION_SMALL
#include <small.h>
#endif

// Elements on their own.

__global__ void swish(const float *__restrict__ in,
                      const float *__restrict__ gate, float *__restrict__ out,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    out[i] = x / (1.0f + expf(-x)) * gate[i];
  }
}

__global__ void adam(float *__restrict__ weight, float *__restrict__ mean,
                     float *__restrict__ square,
                     const float *__restrict__ gradient, float rate, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float g = gradient[i];
    float m = 0.9f * mean[i] + 0.1f * g;
    float s = 0.999f * square[i] + 0.001f * g * g;
    mean[i] = m;
    square[i] = s;
    weight[i] -= rate * m / (sqrtf(s) + 1e-8f);
  }
}

__global__ void powers(const float *__restrict__ base,
                       const float *__restrict__ exponent,
                       float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = powf(base[i] + 0.5f, exponent[i]) + cosf(base[i]);
}

__global__ void blend(const unsigned char *__restrict__ front,
                      const unsigned char *__restrict__ back,
                      const unsigned char *__restrict__ alpha,
                      unsigned char *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float a = alpha[i] * (1.0f / 255.0f);
    out[i] = (unsigned char)(a * front[i] + (1.0f - a) * back[i]);
  }
}

__global__ void complexProducts(const double *__restrict__ ar,
                                const double *__restrict__ ai,
                                const double *__restrict__ br,
                                const double *__restrict__ bi,
                                double *__restrict__ re,
                                double *__restrict__ im, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    re[i] = ar[i] * br[i] - ai[i] * bi[i];
    im[i] = ar[i] * bi[i] + ai[i] * br[i];
  }
}

// Layouts and indirection.

__global__ void toColumns(const float *__restrict__ in, float *__restrict__ out,
                          int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns)
    out[i] = in[(i % rows) * columns + i / rows];
}

__global__ void embed(const float *__restrict__ table,
                      const int *__restrict__ token, float *__restrict__ out,
                      int width, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[token[i / width] * width + i % width];
}

__global__ void scatter(const float *__restrict__ in, const int *__restrict__ to,
                        float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[to[i]] = in[i];
}

__global__ void histogram(const float *__restrict__ in, int *__restrict__ count,
                          int buckets, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&count[min((int)(in[i] * buckets), buckets - 1)], 1);
}

__global__ void resize(const float *__restrict__ in, float *__restrict__ out,
                       int width, int height, int wide, int high) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < wide * high) {
    float x = (i % wide + 0.5f) * width / wide - 0.5f;
    float y = (i / wide + 0.5f) * height / high - 0.5f;
    int x0 = max((int)x, 0), y0 = max((int)y, 0);
    int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    float fx = x - x0, fy = y - y0;
    float top = in[y0 * width + x0] * (1 - fx) + in[y0 * width + x1] * fx;
    float low = in[y1 * width + x0] * (1 - fx) + in[y1 * width + x1] * fx;
    out[i] = top * (1 - fy) + low * fy;
  }
}

// Stencils.

__global__ void ninePoints(const float *__restrict__ in,
                           float *__restrict__ out, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    int x = i % width, y = i / width;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
      float near = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
      float far = in[i - width - 1] + in[i - width + 1] + in[i + width - 1] +
                  in[i + width + 1];
      out[i] = 0.25f * in[i] + 0.125f * near + 0.0625f * far;
    } else {
      out[i] = in[i];
    }
  }
}

__global__ void filter(const double *__restrict__ in,
                       const double *__restrict__ tap, double *__restrict__ out,
                       int taps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double sum = 0;
    for (int k = 0; k < taps; ++k)
      sum += tap[k] * in[i + k];
    out[i] = sum;
  }
}

// Reductions and scans, a column for each thread.

__global__ void softmax(const float *__restrict__ in, float *__restrict__ out,
                        int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) {
    float most = in[i], sum = 0;
    for (int r = 1; r < rows; ++r)
      most = fmaxf(most, in[r * columns + i]);
    for (int r = 0; r < rows; ++r)
      sum += __expf(in[r * columns + i] - most);
    float inverse = 1.0f / sum;
    for (int r = 0; r < rows; ++r)
      out[r * columns + i] = __expf(in[r * columns + i] - most) * inverse;
  }
}

__global__ void scan(const int *__restrict__ in, int *__restrict__ out,
                     int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) {
    int sum = 0;
    for (int r = 0; r < rows; ++r) {
      sum += in[r * columns + i];
      out[r * columns + i] = sum;
    }
  }
}

__global__ void norms(const double *__restrict__ in, double *__restrict__ out,
                      int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) {
    double sum = 0;
    for (int r = 0; r < rows; ++r) {
      double x = in[r * columns + i];
      sum += x * x;
    }
    out[i] = sum;
  }
}

__global__ void unevenSums(const float *__restrict__ in,
                           const int *__restrict__ length,
                           float *__restrict__ out, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns) {
    int most = length[i];
    float sum = 0;
    for (int r = 0; r < most; ++r)
      sum += in[r * columns + i];
    out[i] = sum;
  }
}

// Products.

__global__ void matrixVector(const float *__restrict__ a,
                             const float *__restrict__ x, float *__restrict__ y,
                             int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    float sum = 0;
    for (int k = 0; k < columns; ++k)
      sum += a[k * rows + i] * x[k];
    y[i] = sum;
  }
}

__global__ void smallMatrices(const float *__restrict__ a,
                              const float *__restrict__ b,
                              float *__restrict__ c, int side, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int each = side * side, row = i % each / side, column = i % side;
    int first = i / each * each;
    float sum = 0;
    for (int k = 0; k < side; ++k)
      sum += a[first + row * side + k] * b[first + k * side + column];
    c[i] = sum;
  }
}

__global__ void similarity(const float *__restrict__ items,
                           const float *__restrict__ query,
                           float *__restrict__ out, int features, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float dot = 0, length = 0;
    for (int f = 0; f < features; ++f) {
      float v = items[f * n + i];
      dot += v * query[f];
      length += v * v;
    }
    out[i] = dot * rsqrtf(length + 1e-6f);
  }
}

// Arithmetic.

__global__ void coulomb(const float *__restrict__ x, const float *__restrict__ y,
                        const float *__restrict__ charge,
                        float *__restrict__ out, int width, int atoms, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float px = i % width, py = i / width, sum = 0;
    for (int a = 0; a < atoms; ++a) {
      float dx = x[a] - px, dy = y[a] - py;
      sum += charge[a] * rsqrtf(dx * dx + dy * dy + 1.0f);
    }
    out[i] = sum;
  }
}

__global__ void xorshift(const unsigned *__restrict__ seed,
                         unsigned *__restrict__ out, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned x = seed[i], sum = 0;
    for (int k = 0; k < rounds; ++k) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      sum += x;
    }
    out[i] = sum;
  }
}

__global__ void logistic(const float *__restrict__ in, float *__restrict__ out,
                         int turns, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    for (int k = 0; k < turns; ++k)
      x = 3.9f * x * (1.0f - x);
    out[i] = x;
  }
}

__global__ void collatz(const unsigned *__restrict__ in, int *__restrict__ out,
                        int most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned x = in[i] | 1u;
    int k = 0;
    while (x != 1u && k < most) {
      x = x & 1u ? 3u * x + 1u : x >> 1;
      ++k;
    }
    out[i] = k;
  }
}

__global__ void fourier(const float *__restrict__ signal,
                        float *__restrict__ re, float *__restrict__ im,
                        int samples, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float step = 6.2831853f * i / n, sr = 0, si = 0;
    for (int k = 0; k < samples; ++k) {
      float v = signal[k];
      sr += v * __cosf(step * k);
      si -= v * __sinf(step * k);
    }
    re[i] = sr;
    im[i] = si;
  }
}
