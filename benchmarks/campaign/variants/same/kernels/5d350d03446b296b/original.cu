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

__global__ void meanLoss(const float *Losses, float *Mean, int Rows) {
  float Sum = 0;
  for (int I = threadIdx.x; I < Rows; I += blockDim.x)
    Sum += Losses[I];
  Sum = overBlock<false>(Sum);
  if (threadIdx.x == 0)
    *Mean = Sum / float(Rows);
}
