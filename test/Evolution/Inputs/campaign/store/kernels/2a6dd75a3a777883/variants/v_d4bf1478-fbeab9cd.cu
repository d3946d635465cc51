// One thread normalises one pixel over all its features. For 64 features the
// column stays in registers between the two passes, so that X is read once.
__global__ void __launch_bounds__(256, 2)
rmsNorm(const float *__restrict__ X, float *__restrict__ Y, int Features,
        int Pixels, float Epsilon) {
  int Pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (Pixel >= Pixels)
    return;
  size_t First = size_t(blockIdx.y) * Features * Pixels + Pixel;
  size_t Step = size_t(Pixels);

  if (Features == 64) {
    float V[64];
    // All loads first: one wait for memory for the whole column.
    const float *In = X + First;
#pragma unroll
    for (int F = 0; F < 64; F += 4) {
      V[F] = __ldcs(In);
      V[F + 1] = __ldcs(In + Step);
      V[F + 2] = __ldcs(In + 2 * Step);
      V[F + 3] = __ldcs(In + 3 * Step);
      In += 4 * Step;
    }
    float Sum = 0;
#pragma unroll
    for (int F = 0; F < 64; ++F)
      Sum += V[F] * V[F];
    float Rms = sqrtf(Sum / float(Features) + Epsilon);
    float *Out = Y + First;
#pragma unroll
    for (int F = 0; F < 64; F += 4) {
      __stcs(Out, V[F] / Rms);
      __stcs(Out + Step, V[F + 1] / Rms);
      __stcs(Out + 2 * Step, V[F + 2] / Rms);
      __stcs(Out + 3 * Step, V[F + 3] / Rms);
      Out += 4 * Step;
    }
    return;
  }

  // Any other length: two passes over memory, with loads in batches of 8.
  float Sum = 0;
  int F = 0;
  const float *In = X + First;
  for (; F <= Features - 8; F += 8) {
    float V[8];
#pragma unroll
    for (int I = 0; I < 8; ++I)
      V[I] = In[size_t(I) * Step];
#pragma unroll
    for (int I = 0; I < 8; ++I)
      Sum += V[I] * V[I];
    In += 8 * Step;
  }
  for (; F < Features; ++F) {
    float V = *In;
    Sum += V * V;
    In += Step;
  }
  float Rms = sqrtf(Sum / float(Features) + Epsilon);
  In = X + First;
  float *Out = Y + First;
  F = 0;
  for (; F <= Features - 8; F += 8) {
    float V[8];
#pragma unroll
    for (int I = 0; I < 8; ++I)
      V[I] = __ldcs(In + size_t(I) * Step);
#pragma unroll
    for (int I = 0; I < 8; ++I)
      __stcs(Out + size_t(I) * Step, V[I] / Rms);
    In += 8 * Step;
    Out += 8 * Step;
  }
  for (; F < Features; ++F) {
    __stcs(Out, __ldcs(In) / Rms);
    In += Step;
    Out += Step;
  }
}
