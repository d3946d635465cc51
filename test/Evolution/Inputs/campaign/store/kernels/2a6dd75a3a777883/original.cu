__global__ void rmsNorm(const float *X, float *Y, int Features, int Pixels,
                        float Epsilon) {
  int Pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (Pixel >= Pixels)
    return;
  size_t First = size_t(blockIdx.y) * Features * Pixels + Pixel;
  float Sum = 0;
  for (int F = 0; F < Features; ++F) {
    float V = X[First + size_t(F) * Pixels];
    Sum += V * V;
  }
  float Rms = sqrtf(Sum / float(Features) + Epsilon);
  for (int F = 0; F < Features; ++F) {
    size_t At = First + size_t(F) * Pixels;
    Y[At] = X[At] / Rms;
  }
}
