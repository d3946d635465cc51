__global__ void cumsum(const float *X, float *Y, int Columns) {
  __shared__ float Partial[8];
  const float *Row = X + size_t(blockIdx.x) * Columns;
  float *Out = Y + size_t(blockIdx.x) * Columns;
  int Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  float Before = 0;
  for (int From = 0; From < Columns; From += blockDim.x) {
    int I = From + threadIdx.x;
    float Sum = I < Columns ? Row[I] : 0;
    for (int Offset = 1; Offset < 32; Offset *= 2) {
      float Other = __shfl_up_sync(0xffffffff, Sum, Offset);
      if (Lane >= Offset)
        Sum += Other;
    }
    if (Lane == 31)
      Partial[Warp] = Sum;
    __syncthreads();
    float All = 0;
    for (int W = 0; W < 8; ++W) {
      if (W == Warp)
        Sum += Before + All;
      All += Partial[W];
    }
    if (I < Columns)
      Out[I] = Sum;
    Before += All;
    __syncthreads();
  }
}
