// A block has 32 queries, a thread 4 x 8 results. The scores of the block's
// queries stay in dynamic shared memory, Queries x (Rows up to 16s, plus 4).
constexpr int Queries = 32, Wide = 256, Deep = 16, M = 4, N = 8;

__device__ __forceinline__ float part(const float4 &A, int I) {
  return I == 0 ? A.x : I == 1 ? A.y : I == 2 ? A.z : A.w;
}

__global__ void __launch_bounds__(256, 2)
    attention(const float *Q, const float *K, const float *V, float *Y,
              int Rows, int Columns, float Scale) {
  extern __shared__ float4 Dynamic[];
  __shared__ float4 Left[Queries * Deep / 4], Right[Wide * Deep / 4];
  __shared__ float WarpMax[4][Queries], WarpSum[4][Queries];
  __shared__ float RowTotal[Queries];

  size_t Head = size_t(blockIdx.y) * Rows * Columns;
  int First = blockIdx.x * Queries;
  int Thread = threadIdx.x, Lane = Thread & 31, Warp = Thread >> 5;
  // Lanes are 4 x 8, interleaved so that neighbours share operands.
  int RowLane = (Lane & 1) | ((Lane >> 4) << 1);
  int ColumnLane = (Lane >> 1) & 7;
  int Row0 = (Warp >> 2) * 16 + RowLane; // Rows Row0 + 4 * I.
  int WarpColumn = (Warp & 3) * 64;
  int Padded = (Rows + 15) / 16 * 16;
  int Stride = Padded + 4, Stride4 = Stride / 4;
  float *Scores = reinterpret_cast<float *>(Dynamic);
  const float4 Zero = make_float4(0, 0, 0, 0);

  float Max[M], Total[M];
#pragma unroll
  for (int I = 0; I < M; ++I) {
    Max[I] = -INFINITY;
    Total[I] = 0;
  }

  { // Scores, and online their maximum and sum of powers.
    int LoadRow = Thread >> 2, LoadChunk = Thread & 3;
    // Chunks of four are swizzled, against bank conflicts.
    int LeftStore = LoadRow * 4 + (LoadChunk ^ ((LoadRow >> 1) & 1));
    int RightStore = LoadRow * 4 + (LoadChunk ^ ((LoadRow >> 1) & 3));
    bool HasLeft = LoadRow < Queries;
    bool LeftIn = HasLeft && First + LoadRow < Rows;
    const float4 *LeftRead = Left + Row0 * 4;
    const float4 *RightRead = Right + (WarpColumn + ColumnLane) * 4;
    int RowSwizzle = (RowLane >> 1) & 1, ColumnSwizzle = (ColumnLane >> 1) & 3;
    size_t Step = size_t(64) * Columns;
    const float *QStart =
        Q + Head + size_t(First + LoadRow) * Columns + 4 * LoadChunk;
    const float *KStart = K + Head + size_t(LoadRow) * Columns + 4 * LoadChunk;

#pragma unroll 1
    for (int Key = 0; Key < Rows; Key += Wide) {
      float Sum[M][N] = {};
      const float *QAt = QStart, *KAt = KStart;
      int RowsLeft = Rows - Key - LoadRow;
#pragma unroll 1
      for (int ColumnsLeft = Columns; ColumnsLeft > 0; ColumnsLeft -= Deep) {
        bool In = 4 * LoadChunk < ColumnsLeft;
        float4 A = Zero, B[4];
        if (In && LeftIn)
          A = *reinterpret_cast<const float4 *>(QAt);
#pragma unroll
        for (int J = 0; J < 4; ++J) {
          B[J] = Zero;
          if (In && 64 * J < RowsLeft)
            B[J] = *reinterpret_cast<const float4 *>(KAt + J * Step);
        }
        QAt += Deep;
        KAt += Deep;
        __syncthreads();
        if (HasLeft)
          Left[LeftStore] = A;
#pragma unroll
        for (int J = 0; J < 4; ++J)
          Right[RightStore + 256 * J] = B[J];
        __syncthreads();
#pragma unroll
        for (int C = 0; C < Deep / 4; ++C) {
          float4 X[M];
#pragma unroll
          for (int I = 0; I < M; ++I)
            X[I] = LeftRead[16 * I + (C ^ RowSwizzle)];
#pragma unroll
          for (int J = 0; J < N; ++J) {
            float4 Z = RightRead[32 * J + (C ^ ColumnSwizzle)];
#pragma unroll
            for (int D = 0; D < 4; ++D)
#pragma unroll
              for (int I = 0; I < M; ++I)
                Sum[I][J] += part(X[I], D) * part(Z, D);
          }
        }
      }
      KStart += size_t(Wide) * Columns;

      int Key0 = Key + WarpColumn + ColumnLane;
      float *Out = Scores + Row0 * Stride + Key0;
#pragma unroll
      for (int I = 0; I < M; ++I) {
        float New = Max[I];
#pragma unroll
        for (int J = 0; J < N; ++J) {
          Sum[I][J] *= Scale;
          if (Key0 + 8 * J < Rows)
            New = fmaxf(New, Sum[I][J]);
          if (Key0 + 8 * J < Padded)
            Out[8 * J] = Sum[I][J];
        }
        float Reference = New == -INFINITY ? 0 : New;
        float Part = 0;
#pragma unroll
        for (int J = 0; J < N; ++J)
          if (Key0 + 8 * J < Rows)
            Part += expf(Sum[I][J] - Reference);
        Total[I] = Total[I] * expf(Max[I] - Reference) + Part;
        Max[I] = New;
        Out += 4 * Stride;
      }
    }
  }

  // Maxima and sums of a row's threads become those of the row.
#pragma unroll
  for (int I = 0; I < M; ++I) {
    float Top = Max[I];
#pragma unroll
    for (int Offset = 8; Offset > 1; Offset /= 2)
      Top = fmaxf(Top, __shfl_xor_sync(0xffffffff, Top, Offset));
    float Reference = Top == -INFINITY ? 0 : Top;
    float Part = Total[I] * expf(Max[I] - Reference);
#pragma unroll
    for (int Offset = 8; Offset > 1; Offset /= 2)
      Part += __shfl_xor_sync(0xffffffff, Part, Offset);
    if (ColumnLane == 0) {
      WarpMax[Warp & 3][Row0 + 4 * I] = Top;
      WarpSum[Warp & 3][Row0 + 4 * I] = Part;
    }
  }
  __syncthreads();

  { // Scores become powers, each once, 8 threads to a row.
    int Row = Thread >> 3, Chunk = Thread & 7;
    float Top = fmaxf(fmaxf(WarpMax[0][Row], WarpMax[1][Row]),
                      fmaxf(WarpMax[2][Row], WarpMax[3][Row]));
    if (Chunk == 0) {
      float Reference = Top == -INFINITY ? 0 : Top, Part = 0;
#pragma unroll
      for (int W = 0; W < 4; ++W)
        Part += WarpSum[W][Row] * expf(WarpMax[W][Row] - Reference);
      RowTotal[Row] = Part;
    }
    float4 *At = Dynamic + Row * Stride4 + Chunk;
    for (int I = 4 * Chunk; I < Padded; I += 32) {
      float4 S = *At;
      S.x = I < Rows ? expf(S.x - Top) : 0;
      S.y = I + 1 < Rows ? expf(S.y - Top) : 0;
      S.z = I + 2 < Rows ? expf(S.z - Top) : 0;
      S.w = I + 3 < Rows ? expf(S.w - Top) : 0;
      *At = S;
      At += 8;
    }
  }

  { // Weighted by them, the values.
    int LoadRow = Thread >> 6, LoadColumn = 4 * (Thread & 63);
    size_t Step = size_t(4) * Columns, Turn = size_t(Deep) * Columns;
    const float *VStart = V + Head + size_t(LoadRow) * Columns + LoadColumn;
    const float4 *RightRead = Right + WarpColumn / 4 + ColumnLane;
    int Column0 = WarpColumn + 4 * ColumnLane;
    float *YStart = Y + Head + size_t(First + Row0) * Columns + Column0;

#pragma unroll 1
    for (int ColumnsLeft = Columns; ColumnsLeft > 0; ColumnsLeft -= Wide) {
      float Sum[M][N] = {};
      const float *VAt = VStart;
      bool In = LoadColumn < ColumnsLeft;
      const float4 *P0 = Dynamic + Row0 * Stride4;
      const float4 *P1 = P0 + 4 * Stride4, *P2 = P1 + 4 * Stride4,
                   *P3 = P2 + 4 * Stride4;
#pragma unroll 1
      for (int RowsLeft = Rows; RowsLeft > 0; RowsLeft -= Deep) {
        float4 B[4];
#pragma unroll
        for (int J = 0; J < 4; ++J) {
          B[J] = Zero;
          if (In && LoadRow + 4 * J < RowsLeft)
            B[J] = *reinterpret_cast<const float4 *>(VAt + J * Step);
        }
        VAt += Turn;
        __syncthreads();
#pragma unroll
        for (int J = 0; J < 4; ++J)
          Right[Thread + 256 * J] = B[J];
        __syncthreads();
#pragma unroll
        for (int C = 0; C < Deep / 4; ++C) {
          float4 X[M] = {P0[C], P1[C], P2[C], P3[C]};
#pragma unroll
          for (int D = 0; D < 4; ++D) {
            float4 Z0 = RightRead[(4 * C + D) * (Wide / 4)];
            float4 Z1 = RightRead[(4 * C + D) * (Wide / 4) + 8];
#pragma unroll
            for (int I = 0; I < M; ++I)
#pragma unroll
              for (int J = 0; J < 4; ++J) {
                Sum[I][J] += part(X[I], D) * part(Z0, J);
                Sum[I][J + 4] += part(X[I], D) * part(Z1, J);
              }
          }
        }
        P0 += Deep / 4;
        P1 += Deep / 4;
        P2 += Deep / 4;
        P3 += Deep / 4;
      }
      VStart += Wide;

      float *Out = YStart;
#pragma unroll
      for (int I = 0; I < M; ++I) {
        if (First + Row0 + 4 * I < Rows) {
          float T = RowTotal[Row0 + 4 * I];
          if (Column0 < ColumnsLeft)
            *reinterpret_cast<float4 *>(Out) =
                make_float4(Sum[I][0] / T, Sum[I][1] / T, Sum[I][2] / T,
                            Sum[I][3] / T);
          if (Column0 + 32 < ColumnsLeft)
            *reinterpret_cast<float4 *>(Out + 32) =
                make_float4(Sum[I][4] / T, Sum[I][5] / T, Sum[I][6] / T,
                            Sum[I][7] / T);
        }
        Out += Step;
      }
      YStart += Wide;
    }
  }
}
