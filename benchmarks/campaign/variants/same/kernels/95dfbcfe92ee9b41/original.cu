__global__ void gemv(const float *A, const float *X, float *Y, int Columns) {
  __shared__ float Partial[32];
  const float *Row = A + size_t(blockIdx.x) * Columns;
  float Sum = 0;
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Sum += Row[I] * X[I];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Sum += __shfl_down_sync(0xffffffff, Sum, Offset);
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float Total = 0;
    for (int I = 0; I < (blockDim.x + 31) / 32; ++I)
      Total += Partial[I];
    Y[blockIdx.x] = Total;
  }
}
