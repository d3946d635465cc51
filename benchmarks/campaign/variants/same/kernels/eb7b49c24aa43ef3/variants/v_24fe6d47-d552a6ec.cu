// Each block computes 128 x 128 results, each of its 256 threads 8 x 8 of them,
// as 2 x 2 pieces of 4 x 4. The order of each sum is that of the original.
constexpr int Tile = 128;       // rows and columns of a block's results
constexpr int TileK = 8;        // depth of a tile
constexpr int Line = Tile + 4;  // padded line of a tile in shared memory
constexpr int StageSize = TileK * Line;
constexpr int RowGap = 16;      // between the two pieces of a thread, down
constexpr int ColumnGap = 32;   // and across

__device__ __forceinline__ void readFragment(const float *From, int Gap,
                                             float (&To)[8]) {
  float4 Low = *reinterpret_cast<const float4 *>(From);
  float4 High = *reinterpret_cast<const float4 *>(From + Gap);
  To[0] = Low.x;
  To[1] = Low.y;
  To[2] = Low.z;
  To[3] = Low.w;
  To[4] = High.x;
  To[5] = High.y;
  To[6] = High.z;
  To[7] = High.w;
}

// Four neighbours, or zeros outside of the matrix.
__device__ __forceinline__ float4 readGlobal(const float *From, bool Inside) {
  float4 Value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (Inside)
    Value = __ldg(reinterpret_cast<const float4 *>(From));
  return Value;
}

__device__ __forceinline__ void writeTransposed(float *To, float4 Value) {
  To[0 * Line] = Value.x;
  To[1 * Line] = Value.y;
  To[2 * Line] = Value.z;
  To[3 * Line] = Value.w;
}

__global__ void __launch_bounds__(256, 2)
    gemm(const float *A, const float *B, float *C, int M, int N, int K) {
  // TileA is transposed: [stage][k][row]; TileB is [stage][k][column].
  __shared__ __align__(16) float TileA[2 * StageSize];
  __shared__ __align__(16) float TileB[2 * StageSize];

  const int Thread = threadIdx.x;
  const int Lane = Thread & 31;
  const int Warp = Thread >> 5;
  const int BlockRow = blockIdx.y * Tile;
  const int BlockColumn = blockIdx.x * Tile;

  // What the thread brings: four neighbours of a row of A and of B.
  const int LoadRowA = Thread >> 1;
  const int LoadKA = (Thread & 1) * 4;
  const int LoadKB = Warp;
  const int LoadColumnB = Lane * 4;
  // Limits are not above 0 for rows and columns outside of the matrix.
  const int LimitA = BlockRow + LoadRowA < M ? K - LoadKA : 0;
  const int LimitB = BlockColumn + LoadColumnB < N ? K - LoadKB : 0;
  const float *GlobalA = A + size_t(BlockRow + LoadRowA) * K + LoadKA;
  const float *GlobalB = B + size_t(LoadKB) * N + BlockColumn + LoadColumnB;
  const size_t StepB = size_t(TileK) * N;
  float *WriteA = TileA + LoadKA * Line + LoadRowA;
  float *WriteB = TileB + LoadKB * Line + LoadColumnB;

  // What the thread computes: warps are 4 x 2, lanes 4 x 8, interleaved so that
  // neighbouring lanes share the words of A or of B.
  const int LaneRow = ((Lane >> 1) & 1) | ((Lane >> 4) << 1);
  const int LaneColumn = (Lane & 1) | (((Lane >> 2) & 3) << 1);
  const int RowInTile = (Warp >> 1) * 32 + LaneRow * 4;
  const int ColumnInTile = (Warp & 1) * 64 + LaneColumn * 4;
  const float *ReadA = TileA + RowInTile;
  const float *ReadB = TileB + ColumnInTile;

  float Sum[8][8];
#pragma unroll
  for (int I = 0; I < 8; ++I) {
#pragma unroll
    for (int J = 0; J < 8; ++J)
      Sum[I][J] = 0.0f;
  }

  float FragmentA[2][8], FragmentB[2][8];

  {
    float4 FirstA = readGlobal(GlobalA, 0 < LimitA);
    float4 FirstB = readGlobal(GlobalB, 0 < LimitB);
    writeTransposed(WriteA, FirstA);
    *reinterpret_cast<float4 *>(WriteB) = FirstB;
  }
  __syncthreads();
  readFragment(ReadA, RowGap, FragmentA[0]);
  readFragment(ReadB, ColumnGap, FragmentB[0]);

  int Present = 0; // offset of the stage that is used
#pragma unroll 1
  for (int From = 0; From < K; From += TileK) {
    const int Next = StageSize - Present;

    // The next tile is on its way while this one is used; past the end it is 0.
    GlobalA += TileK;
    GlobalB += StepB;
    float4 NextA = readGlobal(GlobalA, From + TileK < LimitA);
    float4 NextB = readGlobal(GlobalB, From + TileK < LimitB);

    // Unrolled by 8, its whole length.
#pragma unroll
    for (int I = 0; I < TileK; ++I) {
      // The other stage was read last before the barrier of the turn before.
      if (I == 5) {
        writeTransposed(WriteA + Next, NextA);
        *reinterpret_cast<float4 *>(WriteB + Next) = NextB;
      }
      if (I == TileK - 1) {
        __syncthreads();
        readFragment(ReadA + Next, RowGap, FragmentA[(I + 1) & 1]);
        readFragment(ReadB + Next, ColumnGap, FragmentB[(I + 1) & 1]);
      } else {
        readFragment(ReadA + Present + (I + 1) * Line, RowGap,
                     FragmentA[(I + 1) & 1]);
        readFragment(ReadB + Present + (I + 1) * Line, ColumnGap,
                     FragmentB[(I + 1) & 1]);
      }
#pragma unroll
      for (int R = 0; R < 8; ++R) {
#pragma unroll
        for (int S = 0; S < 8; ++S)
          Sum[R][S] =
              fmaf(FragmentA[I & 1][R], FragmentB[I & 1][S], Sum[R][S]);
      }
    }
    Present = Next;
  }

  const int FirstRow = BlockRow + RowInTile;
  const int FirstColumn = BlockColumn + ColumnInTile;
#pragma unroll
  for (int R = 0; R < 8; ++R) {
    const int Row = FirstRow + (R >> 2) * RowGap + (R & 3);
    if (Row < M) {
      float *To = C + size_t(Row) * N;
      if (FirstColumn < N)
        *reinterpret_cast<float4 *>(To + FirstColumn) =
            make_float4(Sum[R][0], Sum[R][1], Sum[R][2], Sum[R][3]);
      if (FirstColumn + ColumnGap < N)
        *reinterpret_cast<float4 *>(To + FirstColumn + ColumnGap) =
            make_float4(Sum[R][4], Sum[R][5], Sum[R][6], Sum[R][7]);
    }
  }
}
