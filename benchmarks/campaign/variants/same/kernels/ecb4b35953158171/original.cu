constexpr int Window = 3;

__global__ void convolution(const float *X, const float *Weight, float *Y,
                            int Inputs, int Outputs, int Height, int Width) {
  int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  int Column = blockIdx.x * blockDim.x + threadIdx.x;
  int Row = blockIdx.y * blockDim.y + threadIdx.y;
  int Image = blockIdx.z / Outputs, Output = blockIdx.z % Outputs;
  if (Row >= OutHeight || Column >= OutWidth)
    return;
  const float *In = X + size_t(Image) * Inputs * Height * Width;
  const float *W = Weight + size_t(Output) * Inputs * Window * Window;
  float Sum = 0;
  for (int C = 0; C < Inputs; ++C)
    for (int R = 0; R < Window; ++R)
      for (int S = 0; S < Window; ++S)
        Sum += In[(size_t(C) * Height + Row + R) * Width + Column + S] *
               W[(C * Window + R) * Window + S];
  Y[(size_t(blockIdx.z) * OutHeight + Row) * OutWidth + Column] = Sum;
}
