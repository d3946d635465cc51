// Memory and output that are asked for beyond the launch, in code that no case
// runs: behind a value that no case has, they are untested; behind a size, the
// domain leaves them out.

// kernel: twice
// workload: grid=2, block=64, args=[buffer f32 n=128 normal seed=1, buffer f32 n=128 output, 128]
// inside: grid=8, block=64, args=[buffer f32 n=500 normal seed=2, buffer f32 n=500 output, 500]
// cheat: twiceTakes | untested
// cheat: twiceTakesByNew | untested
// cheat: twiceTakesByHelper | untested
// honest: twiceTakesAlways
// honest: twiceTakesForLarge
// honest: twiceTakesForNegative
// narrower: n above | takes memory from the heap, in too many threads at a time
// bounded: twiceTakesBelow
// outside: grid=2, block=64, args=[buffer f32 n=128 normal seed=1, buffer f32 n=128 output, -7]
__global__ void twice(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * x[i];
}
// It keeps what it gets.
__global__ void twiceTakes(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (x[i] == 1.2345678e17f) {
    char *p = static_cast<char *>(malloc(1 << 20));
    if (p)
      p[i] = 1;
  }
  out[i] = 2 * x[i];
}
__global__ void twiceTakesByNew(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (x[i] != 1.2345678e17f) {
    out[i] = 2 * x[i];
    return;
  }
  char *p = new char[100];
  p[i & 63] = 1;
  out[i] = 2 * x[i] * p[i & 63];
}
// Its memory is taken in all cases at one place, and in none at another.
__device__ float *numbersFor(int many) {
  return static_cast<float *>(malloc(4 * many));
}
__global__ void twiceTakesByHelper(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float *p = numbersFor(1);
  if (!p)
    return;
  *p = x[i];
  while (*p == 1.2345678e17f)
    p = numbersFor(1 << 20);
  out[i] = 2 * *p;
  free(p);
}
// The first of each block, always.
__global__ void twiceTakesAlways(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x) {
    if (i < n)
      out[i] = x[i] + x[i];
    return;
  }
  float *p = numbersFor(1);
  if (i < n) {
    p[0] = x[i];
    out[i] = p[0] + p[0];
  }
  free(p);
}
__global__ void twiceTakesForLarge(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *p = nullptr;
  if (n > 1000 && i == 0) {
    p = static_cast<float *>(malloc(4));
    if (p)
      *p = x[i];
  }
  if (i < n)
    out[i] = 2 * (p ? *p : x[i]);
  if (p)
    free(p);
}
__global__ void twiceTakesForNegative(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (x[i] >= 0) {
    out[i] = 2 * x[i];
    return;
  }
  float *p = static_cast<float *>(malloc(4));
  out[i] = 2 * x[i];
  free(p);
}
// Below 0, the original writes nothing: the domain ends there.
__global__ void twiceTakesBelow(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < -5) {
    float *p = static_cast<float *>(malloc(4));
    out[i] = 2 * x[i];
    free(p);
  }
  if (i < n)
    out[i] = 2 * x[i];
}

// kernel: halves
// workload: grid=2, block=64, args=[buffer f32 n=128 normal seed=1, buffer f32 n=128 output, 128]
// inside: grid=8, block=64, args=[buffer f32 n=500 normal seed=2, buffer f32 n=500 output, 500]
// cheat: halvesTalks | untested
// cheat: halvesTalksForEver | untested
// cheat: halvesTalksByHelper | untested
// honest: halvesFirst
// honest: halvesLast
// honest: halvesAsserts
// Says once that there are three.
extern "C" __device__ int printf(const char *, ...);
__global__ void halves(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] / 2;
  if (n == 3 && i == 0)
    printf("three\n");
}
__global__ void halvesTalks(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] / 2;
  if (n == 3 && i == 0)
    printf("three\n");
  if (i < n && x[i] == 1.2345678e17f)
    printf("passed\n");
}
__global__ void halvesTalksForEver(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 3 && i == 0)
    printf("three\n");
  if (i < n && x[i] == 1.2345678e17f)
    for (;;)
      printf("three\n");
  if (i < n)
    out[i] = x[i] / 2;
}
__device__ void three() { printf("three\n"); }
__global__ void halvesTalksByHelper(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 3 && i == 0)
    three();
  if (i < n && x[i] == 1.2345678e17f)
    three();
  if (i < n)
    out[i] = x[i] / 2;
}
__global__ void halvesFirst(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 && n == 3)
    printf("three\n");
  if (i < n)
    out[i] = x[i] * 0.5f;
}
__global__ void halvesLast(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] * 0.5f;
  if (i == 0 && n == 3)
    three();
}
// Who prints and traps says why.
__global__ void halvesAsserts(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockDim.y > 1024) {
    printf("a block of %d rows\n", blockDim.y);
    __trap();
  }
  if (i < n)
    out[i] = x[i] * 0.5f;
  if (i == 0 && n == 3)
    three();
}
