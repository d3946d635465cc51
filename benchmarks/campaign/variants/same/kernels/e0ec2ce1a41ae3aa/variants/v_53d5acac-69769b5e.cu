// Layer normalisation of long rows, in two launches:
//  1. layerNormMoments: each row is split into 32 parts, which take turns at
//     the chunks of the row; one block per part finds sum and sum of squares
//     about a shift in one pass over X.
//  2. layerNormApply: every block combines the 32 parts of its rows (up to 16)
//     to mean and scale, then normalises, with weight and bias kept in
//     registers for all of its rows.

constexpr int PartsOfRow = 32;
constexpr int ThreadsOfBlock = 256;
constexpr int WarpsOfBlock = ThreadsOfBlock / 32;
constexpr int Unroll = 4;
constexpr int VectorsOfChunk = Unroll * ThreadsOfBlock;
constexpr unsigned RowsOfGroup = 16;
constexpr unsigned LanesOfRow = ThreadsOfBlock / RowsOfGroup;
static_assert(PartsOfRow == 2 * LanesOfRow, "a lane combines two parts");
// What the second pass over X reads first is left in the L2 cache.
constexpr long long BytesKept = 40ll << 20;

struct Moments {
  double Sum;    // of X - Shift
  double Square; // of (X - Shift) * (X - Shift)
};

__device__ __forceinline__ float4 loadStreaming(const float *Pointer) {
  float4 V;
  asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(V.x), "=f"(V.y), "=f"(V.z), "=f"(V.w)
               : "l"(Pointer));
  return V;
}

__device__ __forceinline__ void storeStreaming(float *Pointer, float4 V) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(Pointer), "f"(V.x), "f"(V.y), "f"(V.z), "f"(V.w)
               : "memory");
}

template <bool Streaming>
__device__ __forceinline__ float4 loadVector(const float *Pointer) {
  if (Streaming)
    return loadStreaming(Pointer);
  return *reinterpret_cast<const float4 *>(Pointer);
}

// Adds a batch of 4 * Count elements: its mean and the squares about its own
// mean in float, what is added up over batches in double.
template <int Count>
__device__ __forceinline__ void addBatch(const float4 (&V)[Count],
                                         double Shift, Moments &M) {
  float Part[Count];
#pragma unroll
  for (int J = 0; J < Count; ++J)
    Part[J] = (V[J].x + V[J].y) + (V[J].z + V[J].w);
#pragma unroll
  for (int Half = Count / 2; Half > 0; Half /= 2) {
#pragma unroll
    for (int J = 0; J < Half; ++J)
      Part[J] += Part[J + Half];
  }
  const float Mean = Part[0] * (1.0f / float(4 * Count));
#pragma unroll
  for (int J = 0; J < Count; ++J) {
    const float A = V[J].x - Mean;
    const float B = V[J].y - Mean;
    const float C = V[J].z - Mean;
    const float D = V[J].w - Mean;
    Part[J] = fmaf(A, A, B * B) + fmaf(C, C, D * D);
  }
#pragma unroll
  for (int Half = Count / 2; Half > 0; Half /= 2) {
#pragma unroll
    for (int J = 0; J < Half; ++J)
      Part[J] += Part[J + Half];
  }
  const double Distance = double(Mean) - Shift;
  const double Weighted = double(4 * Count) * Distance;
  M.Sum += Weighted;
  M.Square += double(Part[0]);
  M.Square += Weighted * Distance;
}

template <bool Streaming>
__device__ __forceinline__ void addChunk(const float *In, int Base,
                                         double Shift, Moments &M) {
  const float *From = In + size_t(Base + int(threadIdx.x)) * 4;
  float4 V[Unroll];
#pragma unroll
  for (int J = 0; J < Unroll; ++J)
    V[J] = loadVector<Streaming>(From + J * ThreadsOfBlock * 4);
  addBatch<Unroll>(V, Shift, M);
}

// Grid: rows, parts. All blocks walk from the first columns to the last, side
// by side, so that the last columns of all rows are what stays in the cache.
__global__ void __launch_bounds__(256, 4)
    layerNormMoments(const float *X, const float *Weight, const float *Bias,
                     float *Y, int Elements, float Epsilon, void *Partials) {
  __shared__ double SumOf[WarpsOfBlock];
  __shared__ double SquareOf[WarpsOfBlock];
  const float *In = X + size_t(blockIdx.x) * Elements;
  const int Part = int(blockIdx.y);
  const int Vectors = Elements / 4;
  const double Shift = double(In[0]);

  const long long Kept = BytesKept / (16ll * (long long)(gridDim.x));
  const int StreamEnd = Vectors > Kept ? int(Vectors - Kept) : 0;

  Moments M;
  M.Sum = 0;
  M.Square = 0;
  int Base = Part * VectorsOfChunk;
  for (; Base < StreamEnd && Base + VectorsOfChunk <= Vectors;
       Base += PartsOfRow * VectorsOfChunk)
    addChunk<true>(In, Base, Shift, M);
  for (; Base + VectorsOfChunk <= Vectors;
       Base += PartsOfRow * VectorsOfChunk)
    addChunk<false>(In, Base, Shift, M);
  // The last chunk, where it is not a whole one.
  for (int I = Base + int(threadIdx.x); I < Vectors; I += ThreadsOfBlock) {
    float4 V[1];
    V[0] = loadVector<false>(In + size_t(I) * 4);
    addBatch<1>(V, Shift, M);
  }

#pragma unroll
  for (int Offset = 16; Offset > 0; Offset /= 2) {
    M.Sum += __shfl_xor_sync(0xffffffff, M.Sum, Offset);
    M.Square += __shfl_xor_sync(0xffffffff, M.Square, Offset);
  }
  if (threadIdx.x % 32 == 0) {
    SumOf[threadIdx.x / 32] = M.Sum;
    SquareOf[threadIdx.x / 32] = M.Square;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    double Sum = 0;
    double Square = 0;
#pragma unroll
    for (int W = 0; W < WarpsOfBlock; ++W) {
      Sum += SumOf[W];
      Square += SquareOf[W];
    }
    double *To = static_cast<double *>(Partials) +
                 size_t(blockIdx.x) * (2 * PartsOfRow) + Part;
    To[0] = Sum;
    To[PartsOfRow] = Square;
  }
}

__device__ __forceinline__ float4 normalize(float4 V, float4 S, float4 W,
                                            float4 B) {
  float4 R;
  R.x = fmaf(((V.x - S.x) - S.y) * S.z, W.x, B.x);
  R.y = fmaf(((V.y - S.x) - S.y) * S.z, W.y, B.y);
  R.z = fmaf(((V.z - S.x) - S.y) * S.z, W.z, B.z);
  R.w = fmaf(((V.w - S.x) - S.y) * S.z, W.w, B.w);
  return R;
}

// Grid: rows, any number. The blocks of 16 neighbouring rows share the tiles
// (1024 columns) of these rows among them. They go from the last columns to
// the first, as the last ones are what the first pass left in the cache.
__global__ void __launch_bounds__(256, 4)
    layerNormApply(const float *X, const float *Weight, const float *Bias,
                   float *Y, int Elements, float Epsilon, void *Partials) {
  __shared__ float4 Stats[RowsOfGroup]; // mean, its rest, scale
  const unsigned First = blockIdx.x / RowsOfGroup * RowsOfGroup;
  unsigned Rows = gridDim.x - First;
  if (Rows > RowsOfGroup)
    Rows = RowsOfGroup;
  const unsigned Workers = Rows * gridDim.y;
  const unsigned Vectors = unsigned(Elements) / 4;
  const unsigned Tiles = (Vectors + ThreadsOfBlock - 1) / ThreadsOfBlock;
  unsigned Tile = blockIdx.y * Rows + (blockIdx.x - First);
  if (Tile >= Tiles) // the same for all threads of a block
    return;

  const size_t Pitch = size_t(Elements);
  {
    // Half a warp combines the parts of a row, two parts for each lane.
    const unsigned Row = threadIdx.x / LanesOfRow;
    const unsigned Lane = threadIdx.x % LanesOfRow;
    const unsigned Valid = Row < Rows ? Row : Rows - 1;
    const double *From = static_cast<const double *>(Partials) +
                         size_t(First + Valid) * (2 * PartsOfRow) + 2 * Lane;
    const double2 Sums = *reinterpret_cast<const double2 *>(From);
    const double2 Squares =
        *reinterpret_cast<const double2 *>(From + PartsOfRow);
    const double Shift = double(X[size_t(First + Valid) * Pitch]);
    double Sum = Sums.x + Sums.y;
    double Square = Squares.x + Squares.y;
#pragma unroll
    for (int Offset = int(LanesOfRow) / 2; Offset > 0; Offset /= 2) {
      Sum += __shfl_xor_sync(0xffffffff, Sum, Offset);
      Square += __shfl_xor_sync(0xffffffff, Square, Offset);
    }
    if (Lane == 0 && Row < Rows) {
      const double Count = double(Elements);
      const double Distance = Sum / Count;
      double About = Square - Sum * Distance;
      if (About < 0) // keeps NaN
        About = 0;
      const double Mean = Shift + Distance;
      const float High = float(Mean);
      const float Low = float(Mean - double(High));
      const float Scale = float(1.0 / sqrt(About / Count + double(Epsilon)));
      Stats[Row] = make_float4(High, Low, Scale, 0.0f);
    }
  }
  __syncthreads();

  for (; Tile < Tiles; Tile += Workers) {
    const unsigned Vector = (Tiles - 1 - Tile) * ThreadsOfBlock + threadIdx.x;
    if (Vector >= Vectors)
      continue;
    const size_t Column = size_t(Vector) * 4;
    const float *In = X + size_t(First) * Pitch + Column;
    float *Out = Y + size_t(First) * Pitch + Column;
    const float4 W = loadStreaming(Weight + Column);
    const float4 B = loadStreaming(Bias + Column);
    unsigned Row = 0;
#pragma unroll 1
    for (; Row + Unroll <= Rows; Row += Unroll) {
      float4 V[Unroll];
#pragma unroll
      for (int J = 0; J < Unroll; ++J)
        V[J] = loadStreaming(In + size_t(J) * Pitch);
#pragma unroll
      for (int J = 0; J < Unroll; ++J)
        storeStreaming(Out + size_t(J) * Pitch,
                       normalize(V[J], Stats[Row + J], W, B));
      In += Unroll * Pitch;
      Out += Unroll * Pitch;
    }
#pragma unroll 1
    for (; Row < Rows; ++Row) {
      const float4 V = loadStreaming(In);
      storeStreaming(Out, normalize(V, Stats[Row], W, B));
      In += Pitch;
      Out += Pitch;
    }
  }
}
