// A cluster of eight blocks keeps a whole row on chip, and most of the next one: in shared memory and in registers. Every thread
// runs one software pipeline over groups of four chunks: it loads a group of a later row, reduces one that has come (maximum and
// sum in one pass), puts one that is reduced into the ring in shared memory, in the place of the one that it takes from there to
// write its results. So loads, the exchange of partial results within the cluster, and stores go on at the same time.
// Rows are handed out by a counter in the scratch buffer.

constexpr int Ranks = 8;        // blocks of a cluster
constexpr int Threads = 512;    // threads of a block
constexpr int Warps = Threads / 32;
constexpr int TileFloats = 128; // a tile: what a warp takes with one access
constexpr int ChunkFloats = Warps * TileFloats;     // a chunk: a tile for each warp of a block
constexpr int Stride = Ranks * ChunkFloats;         // columns between two chunks of a block
constexpr int Unroll = 4;                           // chunks of a group
constexpr int GroupStride = Unroll * Stride;        // columns between two groups
constexpr int GroupVectors = Unroll * Threads;      // vectors of a group in shared memory
constexpr int Stages = 3;                           // groups in registers; a row has two times as many
constexpr int Held = 7;                             // groups in the ring, one more than a row has
constexpr int Partials = Ranks * Warps;             // partial results of a row
constexpr unsigned RingBytes = Held * GroupVectors * 16;
constexpr unsigned LetterAt = RingBytes;            // partial results of two rows, maximum and sum of each warp
constexpr unsigned LetterBytes = Partials * 8;
constexpr unsigned PostAt = LetterAt + 2 * LetterBytes;
constexpr unsigned NextAt = PostAt + 2 * 8;
constexpr unsigned FirstAt = NextAt + 2 * 4;
constexpr unsigned None = 0xffffffffu;

__device__ __forceinline__ unsigned sharedAddress(const void *Pointer) {
  unsigned Address;
  asm volatile("{\n\t.reg .u64 wide;\n\tcvta.to.shared.u64 wide, %1;\n\tcvt.u32.u64 %0, wide;\n\t}"
               : "=r"(Address)
               : "l"(Pointer)
               : "memory");
  return Address;
}

__device__ __forceinline__ unsigned clusterRank() {
  unsigned Rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(Rank));
  return Rank;
}

__device__ __forceinline__ unsigned addressIn(unsigned Address, unsigned Rank) {
  unsigned There;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(There) : "r"(Address), "r"(Rank));
  return There;
}

__device__ __forceinline__ void clusterSync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

__device__ __forceinline__ void barrierInit(unsigned Barrier, unsigned Count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(Barrier), "r"(Count) : "memory");
}

__device__ __forceinline__ void waitCluster(unsigned Barrier, unsigned Parity) {
  unsigned Done;
  do {
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, done;\n\t}"
                 : "=r"(Done)
                 : "r"(Barrier), "r"(Parity)
                 : "memory");
  } while (!Done);
}

// Loads where At < Left; minus infinity elsewhere, which changes neither maximum nor sum.
__device__ __forceinline__ float4 loadStreaming(const float *From, int Left, int At) {
  float4 V = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  asm volatile("{\n\t.reg .pred live;\n\t"
               "setp.gt.s32 live, %5, %6;\n\t"
               "@live ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
               : "+f"(V.x), "+f"(V.y), "+f"(V.z), "+f"(V.w)
               : "l"(From), "r"(Left), "r"(At));
  return V;
}

// Stores where At < Left.
__device__ __forceinline__ void storeStreaming(float *To, float4 V, int Left, int At) {
  asm volatile("{\n\t.reg .pred live;\n\t"
               "setp.gt.s32 live, %5, %6;\n\t"
               "@live st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};\n\t}" ::"l"(To),
               "f"(V.x), "f"(V.y), "f"(V.z), "f"(V.w), "r"(Left), "r"(At)
               : "memory");
}

// What to subtract where the maximum may still be that of nothing.
__device__ __forceinline__ float shiftOf(float Max) { return Max == -INFINITY ? 0.0f : Max; }

// Joins maximum and sum of all lanes.
__device__ __forceinline__ void join(float &Max, double &Sum) {
  float All = Max;
#pragma unroll
  for (int Offset = 16; Offset > 0; Offset /= 2)
    All = fmaxf(All, __shfl_xor_sync(0xffffffff, All, Offset));
  double Total = Sum * double(expf(Max - shiftOf(All)));
#pragma unroll
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Total += __shfl_xor_sync(0xffffffff, Total, Offset);
  Max = All;
  Sum = Total;
}

__device__ __forceinline__ float max4(float4 V) { return fmaxf(fmaxf(V.x, V.y), fmaxf(V.z, V.w)); }

__device__ __forceinline__ float exp4(float4 V, float Shift) {
  return (expf(V.x - Shift) + expf(V.y - Shift)) + (expf(V.z - Shift) + expf(V.w - Shift));
}

// expf(V - Max) / Sum, the quotient by a reciprocal and a correction.
__device__ __forceinline__ float share(float V, float Max, float Sum, float Inverse) {
  float E = expf(V - Max);
  float Q = E * Inverse;
  return fmaf(fmaf(-Q, Sum, E), Inverse, Q);
}

// Launched with as many blocks as there are rows: tells the next kernel their number and starts its counter.
__global__ void softmaxSetup(const float *X, float *Y, int Columns, void *Scratch) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    unsigned *Queue = static_cast<unsigned *>(Scratch);
    Queue[0] = 0;
    Queue[1] = gridDim.x;
  }
}

__global__ void __launch_bounds__(Threads, 1)
    softmaxRows(const float *X, float *Y, int Columns, void *Scratch) {
  extern __shared__ __align__(128) unsigned char Shared[];
  const unsigned Base = sharedAddress(Shared);
  const unsigned Rank = clusterRank();
  unsigned *Queue = static_cast<unsigned *>(Scratch);
  const unsigned Rows = Queue[1];
  const unsigned Lane = threadIdx.x % 32;
  const unsigned Warp = threadIdx.x / 32;

  if (threadIdx.x == 0) {
    barrierInit(Base + PostAt, Partials);
    barrierInit(Base + PostAt + 8, Partials);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (Rank == 0)
      *reinterpret_cast<unsigned *>(Shared + FirstAt) = atomicAdd(Queue, 2u);
  }
  __syncwarp();
  clusterSync();
  unsigned First;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(First) : "r"(addressIn(Base + FirstAt, 0)) : "memory");

  // Chunk C of this thread begins at Column + C * Stride; the row has Mine of them.
  const int Column = int(Rank) * ChunkFloats + int(threadIdx.x) * 4;
  const int Mine = Columns > Column ? (Columns - Column + Stride - 1) / Stride : 0;
  float4 *const Ring = reinterpret_cast<float4 *>(Shared) + threadIdx.x;
  int Slot = 0;

  float4 Stage[Stages][Unroll];
#pragma unroll
  for (int I = 0; I < Stages; ++I) {
#pragma unroll
    for (int U = 0; U < Unroll; ++U)
      Stage[I][U] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  }

  // The rows J, J + 1 and J + 2 of this cluster.
  unsigned Row = None;
  unsigned Next = None;
  unsigned Later = First;
  const float *From = X;
  int ToLoad = 0;
  float Max = -INFINITY; // of the row that is being reduced
  float Sum = 0;
  float RowMax = 0; // of the row that is being written
  float RowSum = 1;
  float RowInverse = 1;

  // Turn J, step S = 0 .. 5: writes group S of row J, puts the group seven on into its place, reduces the group eight on and
  // loads the group ten on. Turns -2 and -1 only fill the pipeline.
#pragma unroll 1
  for (int J = -2; First < Rows && (J < 0 || Row < Rows); ++J) {
    const bool Live = Row < Rows;
    float *To = Y + (Live ? size_t(Row) * Columns : size_t(0)) + Column;
    int ToWrite = Live ? Mine : 0;
    unsigned Fetched = None;
    if (Rank == 0 && threadIdx.x == 0 && Next < Rows)
      Fetched = atomicAdd(Queue, 1u);

#pragma unroll 1
    for (int Half = 0; Half < 2; ++Half) {
#pragma unroll
      for (int I = 0; I < Stages; ++I) {
        float4 *const Group = Ring + Slot * GroupVectors;
        Slot = Slot == Held - 1 ? 0 : Slot + 1;

        // The group to write leaves the ring, the one reduced last takes its place.
        const bool Writes = ToWrite > 0;
        float4 V[Unroll];
        if (Writes) {
#pragma unroll
          for (int U = 0; U < Unroll; ++U)
            V[U] = Group[U * Threads];
        }
#pragma unroll
        for (int U = 0; U < Unroll; ++U)
          Group[U * Threads] = Stage[(I + 1) % Stages][U];

        // Load into the registers that are free now.
        if (I == 2 && Half == 0) {
          const bool Comes = Later < Rows;
          From = X + (Comes ? size_t(Later) * Columns : size_t(0)) + Column;
          ToLoad = Comes ? Mine : 0;
        }
#pragma unroll
        for (int U = 0; U < Unroll; ++U)
          Stage[(I + 1) % Stages][U] = loadStreaming(From + U * Stride, ToLoad, U);
        From += GroupStride;
        ToLoad -= Unroll;

        // The cluster's partial results of row J, posted two steps ago.
        if (I == 0 && Half == 0 && J >= 0) {
          const unsigned Box = unsigned(J) % 2;
          waitCluster(Base + PostAt + Box * 8, unsigned(J) / 2 % 2);
          const float4 *Letters = reinterpret_cast<const float4 *>(Shared + LetterAt + Box * LetterBytes);
          const float4 A = Letters[Lane * 2];
          const float4 B = Letters[Lane * 2 + 1];
          Later = *reinterpret_cast<const unsigned *>(Shared + NextAt + Box * 4);
          float Top = fmaxf(fmaxf(A.x, A.z), fmaxf(B.x, B.z));
          const float Shift = shiftOf(Top);
          double Wide = (double(A.y) * double(expf(A.x - Shift)) + double(A.w) * double(expf(A.z - Shift))) +
                        (double(B.y) * double(expf(B.x - Shift)) + double(B.w) * double(expf(B.z - Shift)));
          join(Top, Wide);
          RowMax = Top;
          RowSum = float(Wide);
          RowInverse = 1.0f / RowSum;
        }

        // Write.
        if (Writes) {
#pragma unroll
          for (int U = 0; U < Unroll; ++U) {
            float4 R;
            R.x = share(V[U].x, RowMax, RowSum, RowInverse);
            R.y = share(V[U].y, RowMax, RowSum, RowInverse);
            R.z = share(V[U].z, RowMax, RowSum, RowInverse);
            R.w = share(V[U].w, RowMax, RowSum, RowInverse);
            storeStreaming(To + U * Stride, R, ToWrite, U);
          }
        }
        To += GroupStride;
        ToWrite -= Unroll;

        // Reduce.
        if (I == 1 && Half == 1) {
          Max = -INFINITY;
          Sum = 0;
        }
        float Tops[Unroll];
#pragma unroll
        for (int U = 0; U < Unroll; ++U)
          Tops[U] = max4(Stage[(I + 2) % Stages][U]);
        const float Top = fmaxf(fmaxf(Tops[0], Tops[1]), fmaxf(Tops[2], Tops[3]));
        if (Top > Max) {
          Sum *= expf(Max - Top);
          Max = Top;
        }
        const float Shift = shiftOf(Max);
        float Parts[Unroll];
#pragma unroll
        for (int U = 0; U < Unroll; ++U)
          Parts[U] = exp4(Stage[(I + 2) % Stages][U], Shift);
        Sum += (Parts[0] + Parts[1]) + (Parts[2] + Parts[3]);

        // Row J + 1 is reduced: each warp posts its part to all blocks of the cluster.
        if (I == 0 && Half == 1 && J >= -1) {
          const unsigned Box = unsigned(J + 1) % 2;
          double Wide = double(Sum);
          join(Max, Wide);
          const unsigned Told = __shfl_sync(0xffffffff, Fetched, 0);
          __syncwarp();
          if (Lane < Ranks) {
            const unsigned There = addressIn(Base + LetterAt + Box * LetterBytes + (Rank * Warps + Warp) * 8, Lane);
            asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(There), "f"(Max), "f"(float(Wide)) : "memory");
            if (Rank == 0 && Warp == 0)
              asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(addressIn(Base + NextAt + Box * 4, Lane)), "r"(Told)
                           : "memory");
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                             addressIn(Base + PostAt + Box * 8, Lane))
                         : "memory");
          }
          __syncwarp();
        }
      }
    }
    Row = Next;
    Next = Later;
    Later = First + 1; // of use in turn -1 only; from turn 0 on the letters tell
  }
  // No block leaves while another may still write to its shared memory.
  __syncwarp();
  clusterSync();
}
