#include "separable.h"

// What a kernel needs is in its own unit.
static __device__ __noinline__ unsigned step(unsigned x) {
  return x * 1664525u + 1013904223u;
}
__global__ void polish(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = step(step(p[i]));
}
// main.cu has another one of this name.
static __global__ void twist(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] ^= 0x55u;
}
static const __constant__ unsigned table[4] = {2, 3, 5, 7};
__global__ void lookup(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] += table[i & 3];
}
// A function and a variable of another unit, and a function that another unit
// has too.
__global__ void bend(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = curve(p[i]);
}
__global__ void amplify(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] *= gain;
}
__global__ void soft(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = soften(p[i]);
}

static int blocks(int n) { return (n + 127) / 128; }
void runPolish(unsigned *p, int n) { polish<<<blocks(n), 128>>>(p, n); }
void runTwist(unsigned *p, int n) { twist<<<blocks(n), 128>>>(p, n); }
void runLookup(unsigned *p, int n) { lookup<<<blocks(n), 128>>>(p, n); }
void runBend(unsigned *p, int n) { bend<<<blocks(n), 128>>>(p, n); }
void runAmplify(unsigned *p, int n) { amplify<<<blocks(n), 128>>>(p, n); }
void runSoft(unsigned *p, int n) { soft<<<blocks(n), 128>>>(p, n); }
void runFill(unsigned *p, int n) { fill<<<blocks(n), 128>>>(p, 11u, n); }
