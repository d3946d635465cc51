// Launches the kernels in many ways and checks what they leave.
#include "kernels.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

#define CHECK(CALL)                                                            \
  if (cudaError_t e = (CALL))                                                  \
  printf("%s: %s\n", #CALL, cudaGetErrorString(e)), std::exit(1)

static void sum(int n, cudaStream_t stream = nullptr) {
  std::vector<float> x(n);
  double right = 0;
  for (int i = 0; i < n; ++i)
    right += x[i] = (i * 7 % 100) / 64.0f;
  float *dx, *dout, got = -1;
  CHECK(cudaMalloc(&dx, n * 4 + 4));
  CHECK(cudaMalloc(&dout, 4));
  CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  total<<<1, 256, 0, stream>>>(dx, dout, n);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(&got, dout, 4, cudaMemcpyDeviceToHost));
  if (std::fabs(got - right) > 1e-4 * right)
    printf("sum of %d: %g instead of %g\n", n, got, right), std::exit(1);
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dout));
}

static void twice(int w, int h, int shift = 0) {
  std::vector<float> x(w * h), y(w * h);
  for (int i = 0; i < w * h; ++i)
    x[i] = float(i % 1000);
  float *dx, *dy;
  CHECK(cudaMalloc(&dx, w * h * 4 + 64));
  CHECK(cudaMalloc(&dy, w * h * 4));
  CHECK(cudaMemcpy(dx + shift, x.data(), w * h * 4, cudaMemcpyHostToDevice));
  for (int again = 0; again < 2; ++again) {
    CHECK(cudaMemset(dy, 0xff, w * h * 4));
    doubled<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(dx + shift, dy, w, h);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), dy, w * h * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; ++i)
      if (y[i] != 2 * x[i])
        printf("doubled %d x %d: %g at %d\n", w, h, y[i], i), std::exit(1);
  }
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dy));
}

static void scaled(int n, int shift) {
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = float(i % 1000);
  float *dx;
  CHECK(cudaMalloc(&dx, n * 4 + 64));
  CHECK(cudaMemcpy(dx + shift, x.data(), n * 4, cudaMemcpyHostToDevice));
  scale<<<(n + 127) / 128, 128>>>(dx + shift, 3, n);
  CHECK(cudaGetLastError());
  std::vector<float> y(n);
  CHECK(cudaMemcpy(y.data(), dx + shift, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (y[i] != 3 * x[i])
      printf("scaled %d + %d: %g at %d\n", n, shift, y[i], i), std::exit(1);
  CHECK(cudaFree(dx));
}

// A graph remembers its launches, so none of a variant may be in it.
static void captured(int n) {
  std::vector<float> x(n, 0.5f);
  float *dx, *dout, got = -1;
  CHECK(cudaMalloc(&dx, n * 4));
  CHECK(cudaMalloc(&dout, 4));
  CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  total<<<1, 256, 0, stream>>>(dx, dout, n);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(&got, dout, 4, cudaMemcpyDeviceToHost));
  if (nodes != 1 || got != n * 0.5f)
    printf("captured: %zu nodes, %g\n", nodes, got), std::exit(1);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(dx));
  CHECK(cudaFree(dout));
}

int main() {
  for (int n : {1, 1000, 5000, 70001})
    sum(n);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  sum(30000, stream);
  CHECK(cudaStreamDestroy(stream));
  captured(20000);
  twice(256, 64);
  twice(100, 33);
  twice(256, 64, 1); // Not aligned: no tensor map.
  twice(33, 9);      // No tensor map has such rows.
  scaled(4096, 0);
  scaled(4098, 0);
  scaled(4096, 2);
  scaled(4097, 0);
  scaled(4096, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 8; ++i) {
        sum(5000 + t);
        twice(64 + 32 * t, 16);
        scaled(1024, 0);
      }
    });
  for (std::thread &t : threads)
    t.join();
  CHECK(cudaDeviceSynchronize());
  puts("right");
}
