__device__ float sumOverBlock(float Mine) {
  __shared__ float Partial[32];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Mine += __shfl_xor_sync(0xffffffff, Mine, Offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Mine;
  __syncthreads();
  float All = Partial[threadIdx.x % 32];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    All += __shfl_xor_sync(0xffffffff, All, Offset);
  return All;
}

__global__ void layerNorm(const float *X, const float *Weight,
                          const float *Bias, float *Y, int Elements,
                          float Epsilon) {
  const float *In = X + size_t(blockIdx.x) * Elements;
  float *Out = Y + size_t(blockIdx.x) * Elements;
  float Sum = 0;
  for (int I = threadIdx.x; I < Elements; I += blockDim.x)
    Sum += In[I];
  float Mean = sumOverBlock(Sum) / float(Elements);
  float Square = 0;
  for (int I = threadIdx.x; I < Elements; I += blockDim.x)
    Square += (In[I] - Mean) * (In[I] - Mean);
  float Scale = rsqrtf(sumOverBlock(Square) / float(Elements) + Epsilon);
  for (int I = threadIdx.x; I < Elements; I += blockDim.x)
    Out[I] = (In[I] - Mean) * Scale * Weight[I] + Bias[I];
}
