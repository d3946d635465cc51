// Batched fp32 GEMM: 128x128 tile of C per block of 256 threads, 8x8 results
// per thread, tiles of 16 in K, two shared buffers.
constexpr int BM = 128;
constexpr int BN = 128;
constexpr int BK = 16;
constexpr int LdA = BM + 4; // conflict-free transposed stores, rows 16-byte aligned

__device__ __forceinline__ unsigned sharedAddress(const void *P) {
  unsigned R;
  asm("{\n\t.reg .u64 t;\n\tcvta.to.shared.u64 t, %1;\n\tcvt.u32.u64 %0, t;\n\t}"
      : "=r"(R)
      : "l"(P));
  return R;
}

// 16 bytes from global to shared memory; Bytes is 16, or 0 for zeros.
__device__ __forceinline__ void copyAsync16(unsigned To, const float *From,
                                            int Bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(To),
               "l"(From), "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void copyWait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__global__ void __launch_bounds__(256, 2)
    batchedGemmTiled(const float *A, const float *B, float *C, int M, int N,
                     int K) {
  __shared__ __align__(16) float TileA[2][BK][LdA]; // transposed: [k][row]
  __shared__ __align__(16) float TileB[2][BK][BN];  // [k][column]

  A += size_t(blockIdx.z) * M * K;
  B += size_t(blockIdx.z) * K * N;
  C += size_t(blockIdx.z) * M * N;

  const int T = threadIdx.x;
  const int RowBase = blockIdx.y * BM;
  const int ColumnBase = blockIdx.x * BN;

  // Copying A: two threads per row, each two float4 that lie 8 apart in k.
  const int ARow = T >> 1;
  const int AK = (T & 1) * 4;
  const bool AOk = RowBase + ARow < M;
  const float *ASource = A + (AOk ? size_t(RowBase + ARow) * K : size_t(0)) + AK;

  // Copying B: a warp per row of 128 columns, two rows that lie 8 apart in k.
  const int BRow = T >> 5;
  const int BColumn = (T & 31) * 4;
  const bool BOk = ColumnBase + BColumn < N;
  const float *BSource =
      B + size_t(BRow) * N + (BOk ? ColumnBase + BColumn : 0);
  const unsigned BTarget = sharedAddress(&TileB[0][BRow][BColumn]);

  // Computing: 4 x 2 warps, each 32 x 64; lanes 4 x 8, interleaved so that
  // lanes i and i^1 share A, lanes i and i^2 share B.
  const int Warp = T >> 5;
  const int Lane = T & 31;
  const int LaneX = (Lane & 1) | ((Lane >> 1) & 6);
  const int LaneY = ((Lane >> 1) & 1) | ((Lane >> 3) & 2);
  const int Row0 = (Warp >> 1) * 32 + LaneY * 4;     // and + 16
  const int Column0 = (Warp & 1) * 64 + LaneX * 4;   // and + 32

  float Sum[8][8];
#pragma unroll
  for (int I = 0; I < 8; ++I)
#pragma unroll
    for (int J = 0; J < 8; ++J)
      Sum[I][J] = 0.0f;

  float4 Next[2];

  // First tile.
#pragma unroll
  for (int I = 0; I < 2; ++I) {
    Next[I] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (AOk && AK + 8 * I < K)
      Next[I] = __ldg(reinterpret_cast<const float4 *>(ASource + 8 * I));
  }
#pragma unroll
  for (int I = 0; I < 2; ++I) {
    const bool Ok = BOk && BRow + 8 * I < K;
    copyAsync16(BTarget + unsigned(I * 8 * BN * sizeof(float)),
                Ok ? BSource + size_t(8 * I) * N : B, Ok ? 16 : 0);
  }
#pragma unroll
  for (int I = 0; I < 2; ++I) {
    TileA[0][AK + 8 * I + 0][ARow] = Next[I].x;
    TileA[0][AK + 8 * I + 1][ARow] = Next[I].y;
    TileA[0][AK + 8 * I + 2][ARow] = Next[I].z;
    TileA[0][AK + 8 * I + 3][ARow] = Next[I].w;
  }
  copyWait();
  __syncthreads();

  int Present = 0;
  int Left = K; // elements of k from the present tile on
  while (true) {
    Left -= BK;
    const bool More = Left > 0;
    const int Other = Present ^ 1;

    // Start to load the next tile.
    if (More) {
      ASource += BK;
      BSource += size_t(BK) * N;
#pragma unroll
      for (int I = 0; I < 2; ++I) {
        Next[I] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (AOk && AK + 8 * I < Left)
          Next[I] = __ldg(reinterpret_cast<const float4 *>(ASource + 8 * I));
      }
#pragma unroll
      for (int I = 0; I < 2; ++I) {
        const bool Ok = BOk && BRow + 8 * I < Left;
        copyAsync16(BTarget + unsigned(Other) * unsigned(BK * BN * sizeof(float)) +
                        unsigned(I * 8 * BN * sizeof(float)),
                    Ok ? BSource + size_t(8 * I) * N : B, Ok ? 16 : 0);
      }
    }

    // Use the present one.
    const float *PA = &TileA[Present][0][Row0];
    const float *PB = &TileB[Present][0][Column0];
#pragma unroll 8
    for (int I = 0; I < BK; ++I) {
      const float4 A0 = *reinterpret_cast<const float4 *>(PA + I * LdA);
      const float4 A1 = *reinterpret_cast<const float4 *>(PA + I * LdA + 16);
      const float4 B0 = *reinterpret_cast<const float4 *>(PB + I * BN);
      const float4 B1 = *reinterpret_cast<const float4 *>(PB + I * BN + 32);
      const float FA[8] = {A0.x, A0.y, A0.z, A0.w, A1.x, A1.y, A1.z, A1.w};
      const float FB[8] = {B0.x, B0.y, B0.z, B0.w, B1.x, B1.y, B1.z, B1.w};
#pragma unroll
      for (int Y = 0; Y < 8; ++Y)
#pragma unroll
        for (int X = 0; X < 8; ++X)
          Sum[Y][X] = fmaf(FA[Y], FB[X], Sum[Y][X]);
    }

    if (!More)
      break;

    // The other buffer was last read before the previous barrier.
#pragma unroll
    for (int I = 0; I < 2; ++I) {
      TileA[Other][AK + 8 * I + 0][ARow] = Next[I].x;
      TileA[Other][AK + 8 * I + 1][ARow] = Next[I].y;
      TileA[Other][AK + 8 * I + 2][ARow] = Next[I].z;
      TileA[Other][AK + 8 * I + 3][ARow] = Next[I].w;
    }
    copyWait();
    __syncthreads();
    Present = Other;
  }

  const int Column = ColumnBase + Column0;
#pragma unroll
  for (int Y = 0; Y < 8; ++Y) {
    const int Row = RowBase + Row0 + (Y & 3) + (Y >> 2) * 16;
    if (Row < M) {
      float *To = C + size_t(Row) * N + Column;
      if (Column < N)
        *reinterpret_cast<float4 *>(To) =
            make_float4(Sum[Y][0], Sum[Y][1], Sum[Y][2], Sum[Y][3]);
      if (Column + 32 < N)
        *reinterpret_cast<float4 *>(To + 32) =
            make_float4(Sum[Y][4], Sum[Y][5], Sum[Y][6], Sum[Y][7]);
    }
  }
}
