constexpr int Window = 3;

__global__ void depthwise(const float *X, const float *Weight, float *Y,
                          int Channels, int Height, int Width) {
  int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  int Column = blockIdx.x * blockDim.x + threadIdx.x;
  int Row = blockIdx.y * blockDim.y + threadIdx.y;
  if (Row >= OutHeight || Column >= OutWidth)
    return;
  const float *Plane = X + size_t(blockIdx.z) * Height * Width;
  const float *W = Weight + blockIdx.z % Channels * Window * Window;
  float Sum = 0;
  for (int R = 0; R < Window; ++R)
    for (int S = 0; S < Window; ++S)
      Sum += Plane[size_t(Row + R) * Width + Column + S] * W[R * Window + S];
  Y[(size_t(blockIdx.z) * OutHeight + Row) * OutWidth + Column] = Sum;
}
