//===- 97-attention.cu - Scaled dot-product attention -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: heads rows columns (heads: those of all samples together).
// KernelBench level 1, problem 97.

#include "campaign.h"

constexpr int Queries = 16, Wide = 64, Deep = 32;

/// A block of 16 x 16 threads for 16 queries of each head, blockIdx.y. All
/// products with the keys are kept in shared memory.
__global__ void attention(const float *Q, const float *K, const float *V,
                          float *Y, int Rows, int Columns, float Scale) {
  extern __shared__ float Scores[]; // Queries x Rows.
  __shared__ float Left[Queries][Deep + 1], Right[Wide][Deep + 1];
  size_t Head = size_t(blockIdx.y) * Rows * Columns;
  int First = blockIdx.x * Queries, Tx = threadIdx.x, Ty = threadIdx.y;
  int Thread = Ty * 16 + Tx;
  for (int Key = 0; Key < Rows; Key += Wide) {
    float Sum[Wide / 16] = {};
    for (int From = 0; From < Columns; From += Deep) {
      for (int I = Thread; I < Queries * Deep; I += 256) {
        int R = First + I / Deep, C = From + I % Deep;
        Left[I / Deep][I % Deep] =
            R < Rows && C < Columns ? Q[Head + size_t(R) * Columns + C] : 0;
      }
      for (int I = Thread; I < Wide * Deep; I += 256) {
        int R = Key + I / Deep, C = From + I % Deep;
        Right[I / Deep][I % Deep] =
            R < Rows && C < Columns ? K[Head + size_t(R) * Columns + C] : 0;
      }
      __syncthreads();
      for (int I = 0; I < Deep; ++I)
        for (int J = 0; J < Wide / 16; ++J)
          Sum[J] += Left[Ty][I] * Right[Tx + 16 * J][I];
      __syncthreads();
    }
    for (int J = 0; J < Wide / 16; ++J)
      if (Key + Tx + 16 * J < Rows)
        Scores[Ty * Rows + Key + Tx + 16 * J] = Sum[J] * Scale;
  }
  __syncthreads();
  // The softmax of each query's scores, by 16 threads.
  float Max = -INFINITY, Total = 0;
  for (int I = Tx; I < Rows; I += 16)
    Max = fmaxf(Max, Scores[Ty * Rows + I]);
  for (int Offset = 8; Offset > 0; Offset /= 2)
    Max = fmaxf(Max, __shfl_xor_sync(0xffffffff, Max, Offset));
  for (int I = Tx; I < Rows; I += 16) {
    float Power = expf(Scores[Ty * Rows + I] - Max);
    Scores[Ty * Rows + I] = Power;
    Total += Power;
  }
  for (int Offset = 8; Offset > 0; Offset /= 2)
    Total += __shfl_xor_sync(0xffffffff, Total, Offset);
  // Weighted by them, the values.
  for (int Column = 0; Column < Columns; Column += Wide) {
    float Sum[Wide / 16] = {};
    for (int From = 0; From < Rows; From += Deep) {
      __syncthreads();
      for (int I = Thread; I < Wide * Deep; I += 256) {
        int R = From + I / Wide, C = Column + I % Wide;
        Right[I % Wide][I / Wide] =
            R < Rows && C < Columns ? V[Head + size_t(R) * Columns + C] : 0;
      }
      __syncthreads();
      for (int I = 0; I < Deep && From + I < Rows; ++I)
        for (int J = 0; J < Wide / 16; ++J)
          Sum[J] += Scores[Ty * Rows + From + I] * Right[Tx + 16 * J][I];
    }
    for (int J = 0; J < Wide / 16; ++J) {
      int C = Column + Tx + 16 * J;
      if (First + Ty < Rows && C < Columns)
        Y[Head + size_t(First + Ty) * Columns + C] = Sum[J] / Total;
    }
  }
}

CAMPAIGN_ENTRY {
  dim3 Grid((Sizes[1] + Queries - 1) / Queries, Sizes[0]);
  size_t Shared = sizeof(float) * Queries * Sizes[1];
  attention<<<Grid, dim3(16, 16), Shared, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const float *>(Buffers[1]),
      static_cast<const float *>(Buffers[2]), static_cast<float *>(Buffers[3]),
      Sizes[1], Sizes[2], 1 / sqrtf(float(Sizes[2])));
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {32 * 32, 512, 1024});
  size_t All = size_t(S[0]) * S[1] * S[2];
  DeviceBuffer<float> Q(All), K(All), V(All), Y(All);
  fill(Q, 1);
  fill(K, 2);
  fill(V, 3);
  void *Buffers[] = {Q.Data, K.Data, V.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "attention");
  printChecksum(Y);
}
