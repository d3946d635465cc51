constexpr int Window = 3;

// A block computes TileOutputs channels of a patch of TileWidth x TileHeight
// pixels; each thread 8 channels x 8 pixels (2 columns x 4 rows).
constexpr int TileWidth = 64;
constexpr int TileHeight = 4;
constexpr int TileOutputs = 64;
constexpr int TileInputs = 8;
constexpr int Taps = Window * Window;
constexpr int PatchRows = TileHeight + Window - 1;
constexpr int PatchPitch = TileWidth + Window - 1;
constexpr int WeightPitch = TileOutputs + 4;
constexpr int ThreadOutputs = 8;
constexpr int WeightPairs = TileInputs * Taps / 8;

__global__ void __launch_bounds__(256, 2)
    convolution_blocked(const float *X, const float *Weight, float *Y,
                        int Inputs, int Outputs, int Height, int Width) {
  // [channel][row][column]
  __shared__ __align__(16) float Patch[TileInputs * PatchRows * PatchPitch];
  // [channel * tap][output]
  __shared__ __align__(16) float Weights[TileInputs * Taps * WeightPitch];

  const int Lane = threadIdx.x, Warp = threadIdx.y;
  const int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  const int Column0 = blockIdx.x * TileWidth;
  const int Row0 = blockIdx.y * TileHeight;
  const int Column = Column0 + 2 * Lane;

  // As loader, a warp brings one input channel's patch; Width is even, so a
  // pair of columns is inside or outside as a whole.
  const size_t Step = size_t(Height) * Width * TileInputs;
  const float *XTile = X +
                       (size_t(blockIdx.z) * Inputs + Warp) * Height * Width +
                       size_t(Row0) * Width + Column;
  const int RowsInside = Column < Width ? Height - Row0 : 0;
  const bool EdgeLane = Lane < PatchRows;
  const bool EdgeInside =
      EdgeLane && Column0 + TileWidth < Width && Row0 + Lane < Height;
  // From the lane's own column in row 0 to the edge columns in row Lane.
  const long long EdgeOffset =
      (long long)(Lane) * Width + TileWidth - 2 * Lane;
  float *const PatchStore = Patch + Warp * PatchRows * PatchPitch + 2 * Lane;
  float *const EdgeStore =
      Patch + (Warp * PatchRows + Lane) * PatchPitch + TileWidth;

  // And the weights of its own 8 outputs: 8 outputs x 4 pairs at a time.
  const int LoadOutput = Warp * ThreadOutputs + (Lane & 7);
  const int LoadK = 2 * (Lane >> 3);
  float *const WeightStore = Weights + LoadK * WeightPitch + LoadOutput;
  const size_t WeightRow = size_t(Inputs) * Taps;
  const float *WTile = Weight + LoadOutput * WeightRow + LoadK;

  const size_t OutPlane = size_t(OutHeight) * OutWidth;
  float *YTile = Y +
                 (size_t(blockIdx.z) * Outputs + Warp * ThreadOutputs) *
                     OutPlane +
                 size_t(Row0) * OutWidth + Column;

#pragma unroll 1
  for (int Output0 = 0; Output0 < Outputs; Output0 += TileOutputs) {
    float Sum[ThreadOutputs][TileHeight][2];
#pragma unroll
    for (int O = 0; O < ThreadOutputs; ++O)
#pragma unroll
      for (int R = 0; R < TileHeight; ++R) {
        Sum[O][R][0] = 0;
        Sum[O][R][1] = 0;
      }

    const bool OutputInside = Output0 + LoadOutput < Outputs;
    const float *XLoad = XTile;
    const float *WLoad = WTile;

#pragma unroll 1
    for (int C0 = 0; C0 < Inputs; C0 += TileInputs) {
      const int Channels =
          Inputs - C0 < TileInputs ? Inputs - C0 : int(TileInputs);
      const bool ChannelInside = Warp < Channels;
      const int RowsHere = ChannelInside ? RowsInside : 0;
      const int KHere = OutputInside ? Channels * Taps - LoadK : 0;

      float2 XPair[PatchRows], EdgePair, WPair[WeightPairs];
      const float *XRow = XLoad;
#pragma unroll
      for (int R = 0; R < PatchRows; ++R) {
        XPair[R] = make_float2(0.0f, 0.0f);
        if (R < RowsHere)
          XPair[R] = *reinterpret_cast<const float2 *>(XRow);
        XRow += Width;
      }
      EdgePair = make_float2(0.0f, 0.0f);
      if (EdgeInside && ChannelInside)
        EdgePair = *reinterpret_cast<const float2 *>(XLoad + EdgeOffset);
#pragma unroll
      for (int I = 0; I < WeightPairs; ++I) {
        WPair[I] = make_float2(0.0f, 0.0f);
        if (8 * I < KHere)
          WPair[I] = *reinterpret_cast<const float2 *>(WLoad + 8 * I);
      }
      XLoad += Step;
      WLoad += TileInputs * Taps;

      __syncthreads(); // the tile before has been used
#pragma unroll
      for (int R = 0; R < PatchRows; ++R)
        *reinterpret_cast<float2 *>(PatchStore + R * PatchPitch) = XPair[R];
      if (EdgeLane)
        *reinterpret_cast<float2 *>(EdgeStore) = EdgePair;
#pragma unroll
      for (int I = 0; I < WeightPairs; ++I) {
        WeightStore[(8 * I) * WeightPitch] = WPair[I].x;
        WeightStore[(8 * I + 1) * WeightPitch] = WPair[I].y;
      }
      __syncthreads();

      const float *XRead = Patch + 2 * Lane;
      const float *WRead = Weights + Warp * ThreadOutputs;
#pragma unroll 1
      for (int C = 0; C < Channels; ++C) {
        float In[PatchRows][4];
#pragma unroll
        for (int R = 0; R < PatchRows; ++R) {
          const float2 A =
              *reinterpret_cast<const float2 *>(XRead + R * PatchPitch);
          const float2 B =
              *reinterpret_cast<const float2 *>(XRead + R * PatchPitch + 2);
          In[R][0] = A.x;
          In[R][1] = A.y;
          In[R][2] = B.x;
          In[R][3] = B.y;
        }
#pragma unroll
        for (int R = 0; R < Window; ++R)
#pragma unroll
          for (int S = 0; S < Window; ++S) {
            float W[ThreadOutputs];
#pragma unroll
            for (int O = 0; O < ThreadOutputs; O += 2) {
              const float2 Pair = *reinterpret_cast<const float2 *>(
                  WRead + (R * Window + S) * WeightPitch + O);
              W[O] = Pair.x;
              W[O + 1] = Pair.y;
            }
#pragma unroll
            for (int O = 0; O < ThreadOutputs; ++O)
#pragma unroll
              for (int P = 0; P < TileHeight; ++P) {
                Sum[O][P][0] = fmaf(In[P + R][S], W[O], Sum[O][P][0]);
                Sum[O][P][1] = fmaf(In[P + R][S + 1], W[O], Sum[O][P][1]);
              }
          }
        XRead += PatchRows * PatchPitch;
        WRead += Taps * WeightPitch;
      }
    }

    // OutWidth is even too.
    if (Column < OutWidth) {
      const int OutputsLeft = Outputs - Output0 - Warp * ThreadOutputs;
      const int RowsLeft = OutHeight - Row0;
      float *YPlane = YTile;
#pragma unroll
      for (int O = 0; O < ThreadOutputs; ++O) {
        if (O < OutputsLeft) {
          float *YRow = YPlane;
#pragma unroll
          for (int P = 0; P < TileHeight; ++P) {
            if (P < RowsLeft)
              *reinterpret_cast<float2 *>(YRow) =
                  make_float2(Sum[O][P][0], Sum[O][P][1]);
            YRow += OutWidth;
          }
        }
        YPlane += OutPlane;
      }
    }
    WTile += TileOutputs * WeightRow;
    YTile += TileOutputs * OutPlane;
  }
}
