//===- 01-gemm.cu - C = A B -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: M N K. KernelBench level 1, problem 1.

#include "campaign.h"

constexpr int Tile = 32;

/// C (M x N) = A (M x K) B (K x N), row after row.
__global__ void gemm(const float *A, const float *B, float *C, int M, int N,
                     int K) {
  __shared__ float TileA[Tile][Tile], TileB[Tile][Tile + 1];
  int Row = blockIdx.y * Tile + threadIdx.y;
  int Column = blockIdx.x * Tile + threadIdx.x;
  float Sum = 0;
  for (int From = 0; From < K; From += Tile) {
    int KA = From + threadIdx.x, KB = From + threadIdx.y;
    TileA[threadIdx.y][threadIdx.x] =
        Row < M && KA < K ? A[size_t(Row) * K + KA] : 0;
    TileB[threadIdx.y][threadIdx.x] =
        Column < N && KB < K ? B[size_t(KB) * N + Column] : 0;
    __syncthreads();
    for (int I = 0; I < Tile; ++I)
      Sum += TileA[threadIdx.y][I] * TileB[I][threadIdx.x];
    __syncthreads();
  }
  if (Row < M && Column < N)
    C[size_t(Row) * N + Column] = Sum;
}

CAMPAIGN_ENTRY {
  int M = Sizes[0], N = Sizes[1], K = Sizes[2];
  dim3 Grid((N + Tile - 1) / Tile, (M + Tile - 1) / Tile);
  gemm<<<Grid, dim3(Tile, Tile), 0, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const float *>(Buffers[1]), static_cast<float *>(Buffers[2]),
      M, N, K);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {4096, 4096, 4096});
  DeviceBuffer<float> A(size_t(S[0]) * S[2]), B(size_t(S[2]) * S[1]),
      C(size_t(S[0]) * S[1]);
  fill(A, 1);
  fill(B, 2);
  void *Buffers[] = {A.Data, B.Data, C.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "gemm");
  printChecksum(C);
}
