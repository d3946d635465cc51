constexpr int Window = 4, Padding = 1;

__global__ void maxPool(const float *X, float *Y, int Height, int Width) {
  int OutHeight = Height + 2 * Padding - Window + 1;
  int OutWidth = Width + 2 * Padding - Window + 1;
  int Column = blockIdx.x * blockDim.x + threadIdx.x;
  int Row = blockIdx.y * blockDim.y + threadIdx.y;
  if (Row >= OutHeight || Column >= OutWidth)
    return;
  const float *Plane = X + size_t(blockIdx.z) * Height * Width;
  float Max = -INFINITY;
  for (int R = Row - Padding; R < Row - Padding + Window; ++R)
    for (int C = Column - Padding; C < Column - Padding + Window; ++C)
      if (R >= 0 && R < Height && C >= 0 && C < Width)
        Max = fmaxf(Max, Plane[size_t(R) * Width + C]);
  Y[(size_t(blockIdx.z) * OutHeight + Row) * OutWidth + Column] = Max;
}
