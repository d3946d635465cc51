// What the units share.
#ifndef SEPARABLE_H
#define SEPARABLE_H
#include <vector>

// curves.cu
__device__ unsigned curve(unsigned x);
extern __device__ unsigned gain;
void runScale(unsigned *p, int n);

// ops.cu
void runPolish(unsigned *p, int n);
void runTwist(unsigned *p, int n);
void runBend(unsigned *p, int n);
void runAmplify(unsigned *p, int n);
void runLookup(unsigned *p, int n);
void runSoft(unsigned *p, int n);
void runFill(unsigned *p, int n);

// A kernel that two units have.
template <typename T> __global__ void fill(T *p, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = value + i;
}

// A function that two units have, and that is not inlined.
inline __device__ __noinline__ unsigned soften(unsigned x) {
  return x - (x >> 3);
}
#endif
