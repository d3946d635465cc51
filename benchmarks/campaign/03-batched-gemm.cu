//===- 03-batched-gemm.cu - Many products of matrices -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: batch M N K. KernelBench level 1, problem 3.

#include "campaign.h"

constexpr int Tile = 32;

/// C (M x N) = A (M x K) B (K x N) for each of gridDim.z matrices.
__global__ void batchedGemm(const float *A, const float *B, float *C, int M,
                            int N, int K) {
  __shared__ float TileA[Tile][Tile], TileB[Tile][Tile + 1];
  A += size_t(blockIdx.z) * M * K;
  B += size_t(blockIdx.z) * K * N;
  C += size_t(blockIdx.z) * M * N;
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
  int Batch = Sizes[0], M = Sizes[1], N = Sizes[2], K = Sizes[3];
  dim3 Grid((N + Tile - 1) / Tile, (M + Tile - 1) / Tile, Batch);
  batchedGemm<<<Grid, dim3(Tile, Tile), 0, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const float *>(Buffers[1]), static_cast<float *>(Buffers[2]),
      M, N, K);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {128, 512, 2048, 1024});
  size_t Batch = S[0];
  DeviceBuffer<float> A(Batch * S[1] * S[3]), B(Batch * S[3] * S[2]),
      C(Batch * S[1] * S[2]);
  fill(A, 1);
  fill(B, 2);
  void *Buffers[] = {A.Data, B.Data, C.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "batchedGemm");
  printChecksum(C);
}
