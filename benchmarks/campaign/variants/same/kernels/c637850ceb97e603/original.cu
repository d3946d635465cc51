template <bool Largest> __device__ float overBlock(float Mine) {
  __shared__ float Partial[8];
  for (int Offset = 16; Offset > 0; Offset /= 2) {
    float Other = __shfl_xor_sync(0xffffffff, Mine, Offset);
    Mine = Largest ? fmaxf(Mine, Other) : Mine + Other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Mine;
  __syncthreads();
  float All = Partial[0];
  for (int I = 1; I < 8; ++I)
    All = Largest ? fmaxf(All, Partial[I]) : All + Partial[I];
  return All;
}

__global__ void crossEntropy(const float *X, const long long *Targets,
                             float *Losses, int Classes) {
  const float *Row = X + size_t(blockIdx.x) * Classes;
  float Max = -INFINITY;
  for (int I = threadIdx.x; I < Classes; I += blockDim.x)
    Max = fmaxf(Max, Row[I]);
  Max = overBlock<true>(Max);
  float Sum = 0;
  for (int I = threadIdx.x; I < Classes; I += blockDim.x)
    Sum += expf(Row[I] - Max);
  Sum = overBlock<false>(Sum);
  if (threadIdx.x == 0)
    Losses[blockIdx.x] = logf(Sum) + Max - Row[Targets[blockIdx.x]];
}
