// Kernels in all the ways in which sources write and launch them.
#ifndef FORMS_H
#define FORMS_H

#include <cuda_runtime.h>

// Default arguments; declared before it is launched, defined later.
__global__ void defaults(float *data, int n, float k = 0.5f, int shift = 1);

inline void early(float *data, int n) { defaults<<<8, 128>>>(data, n); }

__global__ void defaults(float *data, int n, float k, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < 100; ++j)
    sum += data[i] + k * (j + shift);
  data[i] = sum;
}

// Bounds in fields of an argument; one of them is nobody's business.
class Tag {
  int value;
};
struct Part {
  float *data;
  struct {
    int first, count;
  } range;
  Tag tag;
};

__global__ void fields(Part part, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= part.range.count)
    return;
  float sum = 0;
  // Too long for compilers to unroll it by themselves.
  for (int j = 0; j < 32; ++j) {
    float y = (part.data[i] * k + j) * 0.01f, z = y;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f; z = z * y + 0.5f;
    sum += z;
  }
  part.data[i] = sum;
}

// A static member, launched in its class and elsewhere.
struct Owner {
  static void go(float *data, int n) { run<<<8, 128>>>(data, n); }
  static __global__ void run(float *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
      return;
    float sum = 0;
    for (int j = 0; j < 100; ++j)
      sum += data[i] * 0.25f + j;
    data[i] = sum;
  }
};

// A macro makes two kernels of the same name.
#define MAKE(name, type, steps)                                                \
  __global__ void name(type *data, int n, type k) {                            \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
    if (i >= n)                                                                \
      return;                                                                  \
    type sum = 0;                                                              \
    for (int j = 0; j < steps; ++j)                                            \
      sum += data[i] * k + j;                                                  \
    data[i] = sum;                                                             \
  }
MAKE(made, float, 120);
MAKE(made, double, 110);

#endif
