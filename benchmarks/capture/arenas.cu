//===- arenas.cu - Kernels on parts of one allocation -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// arenas MEGABYTES [FREE [wait]]: the arena's size; how many megabytes of the
// GPU are left beside it (0: all); go on for ever. Prints a digest of each result.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

constexpr int Rows = 4096, Columns = 768, Numbers = Rows * Columns;

__global__ void norm(float *out, const float *in, const float *weight, int columns) {
  const float *row = in + size_t(blockIdx.x) * columns;
  __shared__ float sum;
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += row[i] * row[i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[size_t(blockIdx.x) * columns + i] = row[i] * rsqrtf(sum / columns + 1e-5f) * weight[i];
}
__global__ void gelu(float *x, int n) { // In place.
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 0.5f * x[i] * (1 + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
__global__ void gather(float *out, const float *table, const int *index, int columns) {
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[size_t(blockIdx.x) * columns + i] = table[size_t(index[blockIdx.x]) * columns + i];
}
__global__ void sums(float *sum, const float *in, int columns) { // The order of additions is open.
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    atomicAdd(sum + i, fabsf(in[size_t(blockIdx.x) * columns + i]));
}
__global__ void turned(float *out, const float *in, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns)
    out[size_t(i % columns) * rows + i / columns] = in[i];
}
__global__ void before(float *out, const float *in, int n) { // Below its pointer.
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] - in[i - 1000];
}
struct View {
  const float *in;
  float *out;
  int n;
};
__global__ void viewed(View v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < v.n)
    v.out[i] = 2 * v.in[i];
}
__global__ void flags(unsigned char *out, const float *in, int n) { // Bytes.
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] > 0;
}

static void check(cudaError_t e) {
  if (e != cudaSuccess) {
    std::printf("failed: %s\n", cudaGetErrorString(e));
    std::exit(1);
  }
}

int main(int count, char **words) {
  size_t bytes = size_t(std::atoll(words[1])) << 20, left = count > 2 ? size_t(std::atoll(words[2])) << 20 : 0, free, total;
  bool wait = count > 3 && !std::strcmp(words[3], "wait");
  char *arena;
  check(cudaMalloc(&arena, bytes));
  check(cudaMemset(arena, 0, bytes));
  if (left) {
    void *ballast;
    check(cudaMemGetInfo(&free, &total));
    if (free > left)
      check(cudaMalloc(&ballast, free - left));
  }
  auto at = [&](int part) { return reinterpret_cast<float *>(arena + bytes / 16 * part); };
  float *in = at(1), *weight = at(2), *out = at(3), *table = at(4), *index = at(5), *rows = at(6), *sum = at(7), *turn = at(8), *less = at(10), *twice = at(11), *flag = at(13);
  std::vector<float> numbers(Numbers);
  unsigned state = 1;
  for (float &f : numbers)
    f = float((state = state * 1664525 + 1013904223) >> 8) / (1 << 23) - 1;
  std::vector<int> indices(Rows);
  for (int i = 0; i < Rows; ++i)
    indices[i] = i * 7919 % Rows;
  for (float *to : {in, table})
    check(cudaMemcpy(to, numbers.data(), Numbers * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(weight, numbers.data(), Columns * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(index, indices.data(), Rows * 4, cudaMemcpyHostToDevice));
  do {
    for (int step = 0; step < 4; ++step) {
      norm<<<Rows, 128>>>(out, in, weight, Columns);
      gelu<<<Numbers / 256, 256>>>(out, Numbers);
      gather<<<Rows, 128>>>(rows, table, reinterpret_cast<int *>(index), Columns);
      sums<<<Rows, 128>>>(sum, in, Columns);
      turned<<<Numbers / 256, 256>>>(turn, out, Rows, Columns);
      before<<<Numbers / 256, 256>>>(less, out + 2000, Numbers - 2000);
      viewed<<<Numbers / 256, 256>>>({out, twice, Numbers});
      flags<<<Numbers / 256, 256>>>(reinterpret_cast<unsigned char *>(flag), out, Numbers);
    }
    check(cudaDeviceSynchronize());
    if (wait)
      std::printf("round\n"), std::fflush(stdout), usleep(100000);
  } while (wait);
  for (float *part : {out, rows, turn, less, twice, flag}) {
    check(cudaMemcpy(numbers.data(), part, Numbers * 4, cudaMemcpyDeviceToHost));
    unsigned long long digest = 0;
    for (int i = 0; i < Numbers; ++i) {
      unsigned bits;
      std::memcpy(&bits, &numbers[i], 4);
      digest = (digest ^ bits) * 0x100000001b3ull;
    }
    std::printf("%016llx\n", digest);
  }
  // Nobody wrote the rest.
  std::vector<char> rest(bytes / 16);
  check(cudaMemcpy(rest.data(), at(15), rest.size(), cudaMemcpyDeviceToHost));
  for (char c : rest)
    if (c) {
      std::printf("something was written\n");
      return 1;
    }
  return 0;
}
