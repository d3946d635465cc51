// Y = A * X, one sum for each row. Tiles of 8 rows by 8192 columns are handed out to persistent blocks; each value of X
// that a thread loads serves 8 rows out of registers. The sums of the tiles go to a scratch buffer and are added up by a
// last small launch.

constexpr unsigned Threads = 256;
constexpr unsigned Warps = Threads / 32;
constexpr unsigned TileRows = 8;
constexpr unsigned Steps = 8;                        // turns of a block over a full tile; even
constexpr unsigned ChunkVectors = Threads * Steps;   // float4 in one row of a tile
constexpr unsigned Band = 16;                        // chunks whose part of X is reused closely in time

// Touched once: evict first.
__device__ __forceinline__ float4 loadStreaming(const float4 *P) {
  float4 V;
  asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(V.x), "=f"(V.y), "=f"(V.z), "=f"(V.w)
               : "l"(P));
  return V;
}

// Read again for other rows: ordinary caching.
__device__ __forceinline__ float4 loadReused(const float4 *P) {
  float4 V;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(V.x), "=f"(V.y), "=f"(V.z), "=f"(V.w)
               : "l"(P));
  return V;
}

__device__ __forceinline__ void loadStep(const float4 *const (&P)[TileRows], const float4 *PX, unsigned Offset,
                                         float4 (&VA)[TileRows], float4 &VX) {
  VX = loadReused(PX + Offset);
#pragma unroll
  for (unsigned R = 0; R < TileRows; ++R)
    VA[R] = loadStreaming(P[R] + Offset);
}

__device__ __forceinline__ void consume(const float4 (&VA)[TileRows], const float4 &VX, float (&Sum)[TileRows]) {
#pragma unroll
  for (unsigned R = 0; R < TileRows; ++R) {
    float Low = fmaf(VA[R].y, VX.y, VA[R].x * VX.x);
    float High = fmaf(VA[R].w, VX.w, VA[R].z * VX.z);
    Sum[R] += Low + High;
  }
}

struct TilePlace {
  unsigned FirstRow;
  unsigned Chunk;
};

__device__ __forceinline__ TilePlace locate(unsigned Index, unsigned Groups, unsigned Chunks) {
  unsigned PerBand = Groups * Band;
  unsigned B = Index / PerBand;
  unsigned Rest = Index - B * PerBand;
  unsigned Left = Chunks - B * Band;
  unsigned Width = Left < Band ? Left : Band;
  unsigned G = Rest / Width;
  TilePlace T;
  T.FirstRow = G * TileRows;
  T.Chunk = B * Band + (Rest - G * Width);
  return T;
}

// Rows past the end are clamped to the last one; their sums are dropped.
__device__ __forceinline__ void pointTo(const TilePlace &T, const float4 *A4, const float4 *X4, unsigned Rows,
                                        unsigned Vectors, const float4 *(&P)[TileRows], const float4 *&PX) {
  size_t Offset = size_t(T.Chunk) * ChunkVectors + threadIdx.x;
#pragma unroll
  for (unsigned R = 0; R < TileRows; ++R) {
    unsigned Row = T.FirstRow + R;
    Row = Row < Rows ? Row : Rows - 1;
    P[R] = A4 + (size_t(Row) * Vectors + Offset);
  }
  PX = X4 + Offset;
}

// Launched with as many blocks as there are rows: tells the others their number and resets the ticket counter.
__global__ void gemvStart(const float *A, const float *X, float *Y, int Columns, void *StateBuffer,
                          void *PartialBuffer) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    unsigned *State = static_cast<unsigned *>(StateBuffer);
    State[0] = 0;
    State[1] = gridDim.x;
  }
}

__global__ void __launch_bounds__(256, 2)
gemvTiles(const float *A, const float *X, float *Y, int Columns, void *StateBuffer, void *PartialBuffer) {
  __shared__ float Reduced[2][Warps][TileRows];
  __shared__ unsigned Fetched[2];

  unsigned *State = static_cast<unsigned *>(StateBuffer);
  float *Partials = static_cast<float *>(PartialBuffer);
  const float4 *A4 = reinterpret_cast<const float4 *>(A);
  const float4 *X4 = reinterpret_cast<const float4 *>(X);
  const unsigned Rows = State[1];
  const unsigned Vectors = unsigned(Columns) / 4;
  const unsigned FullChunks = Vectors / ChunkVectors;
  const unsigned Chunks = (Vectors + ChunkVectors - 1) / ChunkVectors;
  const unsigned Groups = (Rows + TileRows - 1) / TileRows;
  const unsigned Tiles = Groups * Chunks;
  const unsigned Lane = threadIdx.x % 32;

  const float4 *P[TileRows];
  const float4 *PX;
  float4 VA[2][TileRows];
  float4 VX[2];

  unsigned Current = blockIdx.x;
  unsigned Next = blockIdx.x + gridDim.x;
  if (Current >= Tiles)
    return;
  TilePlace T = locate(Current, Groups, Chunks);
  pointTo(T, A4, X4, Rows, Vectors, P, PX);
  if (T.Chunk < FullChunks)
    loadStep(P, PX, 0, VA[0], VX[0]);

  for (unsigned Parity = 0; Current < Tiles; Parity ^= 1) {
    // The ticket for the tile after the next one; its value is needed only at the end of this tile.
    unsigned Ticket = 0;
    if (threadIdx.x == 0)
      Ticket = atomicAdd(&State[0], 1u);

    float Sum[TileRows];
#pragma unroll
    for (unsigned R = 0; R < TileRows; ++R)
      Sum[R] = 0;

    TilePlace N = T;
    if (T.Chunk < FullChunks) {
      // Step 0 is under way already.
#pragma unroll
      for (unsigned S = 0; S + 1 < Steps; ++S) {
        loadStep(P, PX, (S + 1) * Threads, VA[(S + 1) % 2], VX[(S + 1) % 2]);
        consume(VA[S % 2], VX[S % 2], Sum);
      }
      // Start on the next tile before this one is finished.
      if (Next < Tiles) {
        N = locate(Next, Groups, Chunks);
        pointTo(N, A4, X4, Rows, Vectors, P, PX);
        if (N.Chunk < FullChunks)
          loadStep(P, PX, 0, VA[0], VX[0]);
      }
      consume(VA[1], VX[1], Sum);
    } else {
      // The end of the rows: a shorter tile.
      unsigned First = T.Chunk * ChunkVectors + threadIdx.x;
#pragma unroll 1
      for (unsigned Offset = 0; First + Offset < Vectors; Offset += Threads) {
        loadStep(P, PX, Offset, VA[1], VX[1]);
        consume(VA[1], VX[1], Sum);
      }
      if (Next < Tiles) {
        N = locate(Next, Groups, Chunks);
        pointTo(N, A4, X4, Rows, Vectors, P, PX);
        if (N.Chunk < FullChunks)
          loadStep(P, PX, 0, VA[0], VX[0]);
      }
    }

    // Sum over the warp; lane 4 * R ends up with row R.
    {
      const bool Upper = (Lane & 16) != 0;
#pragma unroll
      for (unsigned I = 0; I < 4; ++I) {
        float Keep = Upper ? Sum[I + 4] : Sum[I];
        float Send = Upper ? Sum[I] : Sum[I + 4];
        Sum[I] = Keep + __shfl_xor_sync(0xffffffffu, Send, 16);
      }
    }
    {
      const bool Upper = (Lane & 8) != 0;
#pragma unroll
      for (unsigned I = 0; I < 2; ++I) {
        float Keep = Upper ? Sum[I + 2] : Sum[I];
        float Send = Upper ? Sum[I] : Sum[I + 2];
        Sum[I] = Keep + __shfl_xor_sync(0xffffffffu, Send, 8);
      }
    }
    {
      const bool Upper = (Lane & 4) != 0;
      float Keep = Upper ? Sum[1] : Sum[0];
      float Send = Upper ? Sum[0] : Sum[1];
      Sum[0] = Keep + __shfl_xor_sync(0xffffffffu, Send, 4);
    }
    Sum[0] += __shfl_xor_sync(0xffffffffu, Sum[0], 2);
    Sum[0] += __shfl_xor_sync(0xffffffffu, Sum[0], 1);

    if (Lane % 4 == 0)
      Reduced[Parity][threadIdx.x / 32][Lane / 4] = Sum[0];
    if (threadIdx.x == 0)
      Fetched[Parity] = Ticket + 2 * gridDim.x;
    // Both buffers are used in turns, so one barrier for each tile is enough.
    __syncthreads();
    if (threadIdx.x < TileRows) {
      float Part[Warps];
#pragma unroll
      for (unsigned W = 0; W < Warps; ++W)
        Part[W] = Reduced[Parity][W][threadIdx.x];
#pragma unroll
      for (unsigned Half = Warps / 2; Half > 0; Half /= 2)
#pragma unroll
        for (unsigned W = 0; W < Half; ++W)
          Part[W] += Part[W + Half];
      unsigned Row = T.FirstRow + threadIdx.x;
      if (Row < Rows)
        Partials[size_t(Row) * Chunks + T.Chunk] = Part[0];
    }
    Current = Next;
    Next = Fetched[Parity];
    T = N;
  }
}

// One warp for each row adds up the sums of its tiles.
__global__ void __launch_bounds__(256)
gemvFinish(const float *A, const float *X, float *Y, int Columns, void *StateBuffer, void *PartialBuffer) {
  const unsigned Rows = static_cast<const unsigned *>(StateBuffer)[1];
  const float *Partials = static_cast<const float *>(PartialBuffer);
  const unsigned Vectors = unsigned(Columns) / 4;
  const unsigned Chunks = (Vectors + ChunkVectors - 1) / ChunkVectors;
  const unsigned Lane = threadIdx.x % 32;
  const unsigned Row = blockIdx.x * Warps + threadIdx.x / 32;
  if (Row >= Rows)
    return;
  const float *Mine = Partials + size_t(Row) * Chunks;
  float Sum = 0;
  for (unsigned I = Lane; I < Chunks; I += 32)
    Sum += Mine[I];
#pragma unroll
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Sum += __shfl_xor_sync(0xffffffffu, Sum, Offset);
  if (Lane == 0)
    Y[Row] = Sum;
}
