#include "forms.h"
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                            \
  if (cudaError_t e = (call)) {                                                \
    printf("%s:%d: %s\n", "forms.cu", __LINE__, cudaGetErrorString(e));        \
    exit(1);                                                                   \
  }
// The kernel is in the macro.
#define RUN_FIELDS(part) fields<<<8, 128>>>(part, 0.5f)
// It is an argument.
#define LAUNCH(kernel, blocks, ...)                                            \
  do {                                                                         \
    kernel<<<blocks, 128>>>(__VA_ARGS__);                                      \
    CHECK(cudaGetLastError());                                                 \
  } while (0)

// Instances: one has no variant.
template <int N, class T>
__global__ void both(T *data, int n, float k = 0.5f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T sum = 0;
  for (int j = 0; j < N; ++j)
    sum += data[i] * k + j;
  data[i] = sum;
}

template <int N, class T> void launchBoth(T *data, int n) {
  both<N><<<8, 128>>>(data, n);
  both<N, T><<<8, 128>>>(data, n, 0.25f);
}

// An instance of a template that has no name.
template <class F> __global__ void apply(float *data, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < 100; ++j)
      data[i] = f(data[i]);
}

// A member of a class template.
template <class T> struct Holder {
  static __global__ void run(T *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
      for (int j = 0; j < 100; ++j)
        data[i] += j;
  }
};

extern "C" {
__global__ void plain(float *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < 130; ++j)
    sum += data[i] + j;
  data[i] = sum;
}
}

static double total = 0;

template <class T> static void add(T *data, int n) {
  T h[1000];
  CHECK(cudaMemcpy(h, data, n * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    total += h[i];
    h[i] = i % 17;
  }
  CHECK(cudaMemcpy(data, h, n * sizeof(T), cudaMemcpyHostToDevice));
}

int main() {
  int n = 1000;
  float *data;
  double *wide;
  CHECK(cudaMalloc(&data, n * sizeof(float)));
  CHECK(cudaMalloc(&wide, n * sizeof(double)));
  CHECK(cudaMemset(data, 0, n * sizeof(float)));
  CHECK(cudaMemset(wide, 0, n * sizeof(double)));
  add(data, n);
  add(wide, n);

  early(data, n);
  add(data, n);
  defaults<<<8, 128>>>(data, n, 0.25f);
  add(data, n);
  for (int count : {n, n - 1}) {
    Part part = {data, {0, count}, {}};
    RUN_FIELDS(part);
    add(data, n);
  }
  Owner::go(data, n);
  add(data, n);
  Owner::run<<<8, 128>>>(data, n);
  add(data, n);
  LAUNCH(made, (n + 127) / 128, data, n, 0.5f);
  add(data, n);
  LAUNCH(made, 8, wide, n, 0.5);
  add(wide, n);
  CHECK((made<<<8, 128>>>(data, n, 0.125f), cudaGetLastError()));
  add(data, n);
  launchBoth<64>(data, n);
  launchBoth<3>(data, n);
  both<64><<<8, 128>>>(data, n, 0.125f);
  add(data, n);

  [[maybe_unused]] void (*const pointer)(float *, int) = plain;
  pointer<<<8, 128>>>(data, n);
  add(data, n);
  void *args[] = {&data, &n};
  CHECK(cudaLaunchKernel((const void *)plain, dim3(8), dim3(128), args, 0, 0));
  cudaLaunchConfig_t config = {};
  config.gridDim = 8;
  config.blockDim = 128;
  CHECK(cudaLaunchKernelExC(&config, (const void *)plain, args));
  CHECK(cudaLaunchKernelEx(&config, plain, data, n));
  add(data, n);

  apply<<<8, 128>>>(data, n, [] __device__(float x) { return x * 0.5f + 1; });
  Holder<float>::run<<<8, 128>>>(data, n);
  add(data, n);
  printf("%.9g\n", total);
  return 0;
}
