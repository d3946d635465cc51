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

__global__ void softmax(const float *X, float *Y, int Columns) {
  const float *Row = X + size_t(blockIdx.x) * Columns;
  float *Out = Y + size_t(blockIdx.x) * Columns;
  float Max = -INFINITY;
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Max = fmaxf(Max, Row[I]);
  Max = overBlock<true>(Max);
  float Sum = 0;
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Sum += expf(Row[I] - Max);
  Sum = overBlock<false>(Sum);
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Out[I] = expf(Row[I] - Max) / Sum;
}
