constexpr int Window = 3;
constexpr int TileRows = 16; // output rows of a tile, walked by each thread
constexpr int Chunk = 4;     // output rows between two barriers

__device__ __forceinline__ unsigned sharedAddress(const void *P) {
  unsigned Address;
  asm("{\n\t"
      ".reg .u64 T;\n\t"
      "cvta.to.shared.u64 T, %1;\n\t"
      "cvt.u32.u64 %0, T;\n\t"
      "}"
      : "=r"(Address)
      : "l"(P));
  return Address;
}

__device__ __forceinline__ bool tryWait(unsigned Barrier, unsigned Parity) {
  unsigned Ready;
  asm volatile("{\n\t"
               ".reg .pred P;\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 P, [%1], %2;\n\t"
               "selp.u32 %0, 1, 0, P;\n\t"
               "}"
               : "=r"(Ready)
               : "r"(Barrier), "r"(Parity)
               : "memory");
  return Ready != 0;
}

// Four neighbouring inputs of one row: what two neighbouring outputs need.
struct Line {
  float2 A, B;
};

__device__ __forceinline__ Line loadLine(const float *P) {
  Line L;
  L.A = *reinterpret_cast<const float2 *>(P);
  L.B = *reinterpret_cast<const float2 *>(P + 2);
  return L;
}

__device__ __forceinline__ float2 addLine(float2 Sum, const Line &L, float W0,
                                          float W1, float W2) {
  Sum.x += L.A.x * W0;
  Sum.y += L.A.y * W0;
  Sum.x += L.A.y * W1;
  Sum.y += L.B.x * W1;
  Sum.x += L.B.x * W2;
  Sum.y += L.B.y * W2;
  return Sum;
}

// Walks Rows output rows. The outputs take the place of inputs in the tile:
// output rows up to R lie where the input rows up to R lay (an output row is
// shorter), and behind the barrier only input rows behind R + 2 are read.
template <int Rows>
__device__ __forceinline__ void
walkRows(const float *&In, float *&Out, int InStep, int OutStep, bool Active,
         const float (&W)[Window * Window], float2 &Older, float2 &Newer) {
  float2 Zero = make_float2(0.0f, 0.0f);
  float2 Done[Rows];
#pragma unroll
  for (int K = 0; K < Rows; ++K) {
    Line L = loadLine(In);
    In += InStep;
    Done[K] = addLine(Older, L, W[6], W[7], W[8]);
    Older = addLine(Newer, L, W[3], W[4], W[5]);
    Newer = addLine(Zero, L, W[0], W[1], W[2]);
  }
  __syncthreads();
#pragma unroll
  for (int K = 0; K < Rows; ++K) {
    if (Active)
      *reinterpret_cast<float2 *>(Out) = Done[K];
    Out += OutStep;
  }
}

// A block makes TileRows whole rows of one output plane. Its input rows lie
// side by side in memory, and so do its output rows.
__global__ void __launch_bounds__(1024)
    depthwise(const float *X, const float *Weight, float *Y, int Channels,
              int Height, int Width) {
  extern __shared__ float4 Storage[];
  float *Tile = reinterpret_cast<float *>(Storage);

  int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  int Row = blockIdx.x * TileRows;
  int InRows = Height - Row;
  if (InRows > TileRows + Window - 1)
    InRows = TileRows + Window - 1;
  int OutRows = InRows - (Window - 1);
  const float *Source = X + (size_t(blockIdx.z) * Height + Row) * Width;
  float *Target = Y + (size_t(blockIdx.z) * OutHeight + Row) * OutWidth;

  unsigned TileAt = sharedAddress(Tile);
  unsigned Barrier = TileAt + (TileRows + Window - 1) * 4 * Width;

  // The tile comes in one piece where its ends are aligned.
  unsigned InBytes = unsigned(InRows) * unsigned(Width) * 4;
  bool BulkIn = (reinterpret_cast<size_t>(Source) & 15) == 0 &&
                (InBytes & 15) == 0;
  if (BulkIn) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
                   :
                   : "r"(Barrier)
                   : "memory");
      asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(Barrier), "r"(InBytes)
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                   "::bytes [%0], [%1], %2, [%3];"
                   :
                   : "r"(TileAt), "l"(Source), "r"(InBytes), "r"(Barrier)
                   : "memory");
    }
  } else {
    int Pairs = int(InBytes / 8);
    for (int I = threadIdx.x; I < Pairs; I += blockDim.x)
      reinterpret_cast<float2 *>(Tile)[I] =
          reinterpret_cast<const float2 *>(Source)[I];
  }

  const float *Filter = Weight + blockIdx.z % Channels * Window * Window;
  float W[Window * Window];
#pragma unroll
  for (int I = 0; I < Window * Window; ++I)
    W[I] = Filter[I];

  // Threads behind the end of the row compute its last pair again and do not
  // store it.
  int Column = threadIdx.x * 2;
  bool Active = Column < OutWidth;
  if (!Active)
    Column = OutWidth - 2;
  const float *In = Tile + Column;
  float *Out = Tile + Column;

  __syncthreads();
  if (BulkIn) {
    while (!tryWait(Barrier, 0)) {
    }
  }

  // Older has the first two rows of its window, Newer the first.
  float2 Zero = make_float2(0.0f, 0.0f);
  Line First = loadLine(In);
  In += Width;
  Line Second = loadLine(In);
  In += Width;
  float2 Older = addLine(Zero, First, W[0], W[1], W[2]);
  Older = addLine(Older, Second, W[3], W[4], W[5]);
  float2 Newer = addLine(Zero, Second, W[0], W[1], W[2]);

  int Left = OutRows;
#pragma unroll 1
  for (; Left >= Chunk; Left -= Chunk)
    walkRows<Chunk>(In, Out, Width, OutWidth, Active, W, Older, Newer);
#pragma unroll 1
  for (; Left > 0; --Left)
    walkRows<1>(In, Out, Width, OutWidth, Active, W, Older, Newer);

  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();

  // The outputs now lie in the tile as they must in memory.
  unsigned OutBytes = unsigned(OutRows) * unsigned(OutWidth) * 4;
  bool BulkOut = (reinterpret_cast<size_t>(Target) & 15) == 0 &&
                 (OutBytes & 15) == 0;
  if (BulkOut) {
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   :
                   : "l"(Target), "r"(TileAt), "r"(OutBytes)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" : : : "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
    }
  } else {
    int Pairs = int(OutBytes / 8);
    for (int I = threadIdx.x; I < Pairs; I += blockDim.x)
      reinterpret_cast<float2 *>(Target)[I] =
          reinterpret_cast<const float2 *>(Tile)[I];
  }
}
