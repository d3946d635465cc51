#include <cuda.h>

// One block: 64 queries of a head against all (up to 512) keys.
constexpr int Queries = 64, Keys = 512, Tile = 64, Deep = 32, Wide = 256;
constexpr int Stages = 3, Threads = 512, Warps = Threads / 32;
constexpr int TileBytes = Tile * Deep * 4;              // 64 rows of 128 bytes.
constexpr int KeyBytes = Keys * Deep * 4;               // 8 tiles of keys.
constexpr int StageBytes = KeyBytes + Queries * Deep * 4;
constexpr int WeightBytes = Queries * Keys * 4;         // P, 16 tiles.
constexpr int BoxBytes = Deep * Deep * 4;               // 32 keys x 32 columns.
constexpr int ValueBytes = Deep * Wide * 4;             // 8 boxes of V.
constexpr int BarOffset = WeightBytes + Stages * ValueBytes;
constexpr int PeakOffset = BarOffset + 128;
constexpr int InverseOffset = PeakOffset + Queries * 4;
constexpr int LowOffset = Stages * StageBytes; // What rounded queries lack.
static_assert(LowOffset + Queries * Deep * 4 <= BarOffset,
              "stages of the first product");
static_assert(LowOffset % 1024 == 0, "alignment of the swizzle");

__device__ __forceinline__ unsigned roundTf32(float X) {
  unsigned R;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(R) : "f"(X));
  return R;
}

// X as a tf32 number and, rounded to another one, what that lacks.
__device__ __forceinline__ void split(float X, unsigned &High, unsigned &Low) {
  High = roundTf32(X) & 0xffffe000u;
  Low = roundTf32(__fsub_rn(X, __uint_as_float(High)));
}

__device__ __forceinline__ void initBarrier(unsigned Bar, unsigned Count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(Bar), "r"(Count)
               : "memory");
}

__device__ __forceinline__ void expectBytes(unsigned Bar, unsigned Bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Bar),
               "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void arriveAt(unsigned Bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(Bar) : "memory");
}

__device__ __forceinline__ void waitFor(unsigned Bar, unsigned Parity) {
  unsigned Done;
  do {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(Done)
                 : "r"(Bar), "r"(Parity)
                 : "memory");
  } while (!Done);
}

__device__ __forceinline__ void fenceAsync() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void loadBox(unsigned To, const CUtensorMap *Map,
                                        int Column, int Row, int Head,
                                        unsigned Bar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(To),
               "l"(reinterpret_cast<unsigned long long>(Map)), "r"(Bar),
               "r"(Column), "r"(Row), "r"(Head)
               : "memory");
}

// Descriptor of a K-major operand, 128 byte swizzle, 8 rows in 1024 bytes.
__device__ __forceinline__ unsigned long long describe(unsigned Address) {
  return (1ull << 62) | (64ull << 32) | (1ull << 16) |
         static_cast<unsigned long long>((Address & 0x3ffff) >> 4);
}

__device__ __forceinline__ void pin(float (&D)[32]) {
#pragma unroll
  for (int I = 0; I < 32; ++I)
    asm volatile("" : "+f"(D[I])::"memory");
}

__device__ __forceinline__ void pin(unsigned (&A)[4][4]) {
#pragma unroll
  for (int S = 0; S < 4; ++S)
#pragma unroll
    for (int I = 0; I < 4; ++I)
      asm volatile("" : "+r"(A[S][I])::"memory");
}

// A warp's 16 of 64 keys, 32 columns, split.
__device__ __forceinline__ void splitKeys(const char *Base, int Swizzle,
                                          unsigned (&High)[4][4],
                                          unsigned (&Low)[4][4]) {
#pragma unroll
  for (int S = 0; S < 4; ++S)
#pragma unroll
    for (int H = 0; H < 2; ++H) {
      const char *From = Base + (Swizzle ^ ((2 * S + H) << 4));
      split(*reinterpret_cast<const float *>(From), High[S][2 * H],
            Low[S][2 * H]);
      split(*reinterpret_cast<const float *>(From + 1024), High[S][2 * H + 1],
            Low[S][2 * H + 1]);
    }
}

__device__ __forceinline__ void multiply(float (&D)[32], const unsigned (&A)[4],
                                         unsigned long long B) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1;\n"
      "}"
      : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3]), "+f"(D[4]), "+f"(D[5]),
        "+f"(D[6]), "+f"(D[7]), "+f"(D[8]), "+f"(D[9]), "+f"(D[10]),
        "+f"(D[11]), "+f"(D[12]), "+f"(D[13]), "+f"(D[14]), "+f"(D[15]),
        "+f"(D[16]), "+f"(D[17]), "+f"(D[18]), "+f"(D[19]), "+f"(D[20]),
        "+f"(D[21]), "+f"(D[22]), "+f"(D[23]), "+f"(D[24]), "+f"(D[25]),
        "+f"(D[26]), "+f"(D[27]), "+f"(D[28]), "+f"(D[29]), "+f"(D[30]),
        "+f"(D[31])
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B), "r"(1)
      : "memory");
}

__device__ __forceinline__ void openGroup() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void closeGroup() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void awaitGroups() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// 512 keys and 64 queries, 32 columns of them.
__device__ __forceinline__ void loadScoreStage(unsigned To, unsigned Bar,
                                               const CUtensorMap *QMap,
                                               const CUtensorMap *KMap,
                                               int Column, int First, int Head) {
  expectBytes(Bar, StageBytes);
  loadBox(To + KeyBytes, QMap, Column, First, Head, Bar);
#pragma unroll
  for (int I = 0; I < Keys / Tile; ++I)
    loadBox(To + I * TileBytes, KMap, Column, I * Tile, Head, Bar);
}

// 32 keys, 256 columns of their values.
__device__ __forceinline__ void loadValueStage(unsigned To, unsigned Bar,
                                               const CUtensorMap *VMap,
                                               int Column, int Key, int Head) {
  expectBytes(Bar, ValueBytes);
#pragma unroll
  for (int I = 0; I < Wide / Deep; ++I)
    loadBox(To + I * BoxBytes, VMap, Column + I * Deep, Key, Head, Bar);
}

__global__ void __launch_bounds__(Threads, 1)
    attentionTensor(const float *Q, const float *K, const float *V, float *Y,
                    int Rows, int Columns, float Scale,
                    const __grid_constant__ CUtensorMap QMap,
                    const __grid_constant__ CUtensorMap KMap,
                    const __grid_constant__ CUtensorMap VMap) {
  extern __shared__ char Raw[];
  const unsigned RawAt = static_cast<unsigned>(__cvta_generic_to_shared(Raw));
  const unsigned Pad = (1024u - RawAt % 1024u) % 1024u;
  char *const Shared = Raw + Pad;
  const unsigned At = RawAt + Pad;
  const unsigned Full = At + BarOffset, FullValues = Full + 8 * Stages,
                 Empty = FullValues + 8 * Stages;
  float *const Peak = reinterpret_cast<float *>(Shared + PeakOffset);
  float *const Inverse = reinterpret_cast<float *>(Shared + InverseOffset);

  const int Thread = threadIdx.x, Lane = Thread % 32, Warp = Thread / 32;
  const int Group = Warp / 4, Part = Warp % 4, G = Lane / 4, T = Lane % 4;
  const int First = blockIdx.x * Queries, Head = blockIdx.y;
  const int Steps = (Columns + Deep - 1) / Deep;

  if (Thread == 0) {
#pragma unroll
    for (int I = 0; I < Stages; ++I) {
      initBarrier(Full + 8 * I, 1);
      initBarrier(FullValues + 8 * I, 1);
      initBarrier(Empty + 8 * I, Warps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fenceAsync();
    for (int I = 0; I < Stages && I < Steps; ++I)
      loadScoreStage(At + I * StageBytes, Full + 8 * I, &QMap, &KMap, I * Deep,
                     First, Head);
  }
  __syncthreads();

  // Scores, transposed: 128 keys of each warp group by 64 queries. The keys go
  // through registers, the queries stay in shared memory. Errors of scores are
  // relative errors of weights, so both are split in two tf32 numbers each, and
  // only the product of the two low ones is left out.
  float Sum[2][32];
#pragma unroll
  for (int M = 0; M < 2; ++M)
#pragma unroll
    for (int I = 0; I < 32; ++I)
      Sum[M][I] = 0;
  {
    const int Row = Group * 2 * TileBytes + (Part * 16 + G) * 128;
    const int Swizzle = (G << 4) | (T << 2);
    int Stage = 0;
    unsigned Phase = 0;
#pragma unroll 1
    for (int I = 0; I < Steps; ++I) {
      waitFor(Full + 8 * Stage, Phase);
      char *Base = Shared + Stage * StageBytes;
      float4 *Query = reinterpret_cast<float4 *>(Base + KeyBytes) + Thread;
      float4 X = *Query, Rest;
      {
        unsigned U, W;
        split(X.x, U, W);
        X.x = __uint_as_float(U);
        Rest.x = __uint_as_float(W);
        split(X.y, U, W);
        X.y = __uint_as_float(U);
        Rest.y = __uint_as_float(W);
        split(X.z, U, W);
        X.z = __uint_as_float(U);
        Rest.z = __uint_as_float(W);
        split(X.w, U, W);
        X.w = __uint_as_float(U);
        Rest.w = __uint_as_float(W);
      }
      *Query = X;
      unsigned High[4][4], Low[4][4];
      splitKeys(Base + Row, Swizzle, High, Low);
      // The step before must be over: it reads the same low queries.
      __syncthreads();
      reinterpret_cast<float4 *>(Shared + LowOffset)[Thread] = Rest;
      fenceAsync();
      __syncthreads();
      // All have finished the step before: its stage is free.
      if (Thread == 0 && I >= 1 && I + 2 < Steps) {
        int Next = Stage == 0 ? Stages - 1 : Stage - 1;
        loadScoreStage(At + Next * StageBytes, Full + 8 * Next, &QMap, &KMap,
                       (I + 2) * Deep, First, Head);
      }
      __syncwarp();
      const unsigned long long B =
          describe(At + Stage * StageBytes + KeyBytes);
      const unsigned long long BLow = describe(At + LowOffset);
#pragma unroll
      for (int M = 0; M < 2; ++M) {
        if (M == 1)
          splitKeys(Base + Row + TileBytes, Swizzle, High, Low);
        pin(High);
        pin(Low);
        pin(Sum[M]);
        openGroup();
#pragma unroll
        for (int S = 0; S < 4; ++S) {
          multiply(Sum[M], Low[S], B + 2 * S);
          multiply(Sum[M], High[S], BLow + 2 * S);
          multiply(Sum[M], High[S], B + 2 * S);
        }
        closeGroup();
        awaitGroups();
        pin(Sum[M]);
      }
      if (++Stage == Stages) {
        Stage = 0;
        Phase ^= 1;
      }
    }
  }
  __syncthreads();

  // The first values come while the softmax is computed.
  const int KeySteps = (Rows + Deep - 1) / Deep;
  const int Passes = (Columns + Wide - 1) / Wide;
  const int ValueSteps = KeySteps * Passes;
  int NextKey = 0, NextColumn = 0; // Of thread 0 only.
  if (Thread == 0) {
    for (int I = 0; I < Stages && I < ValueSteps; ++I) {
      loadValueStage(At + WeightBytes + I * ValueBytes, FullValues + 8 * I,
                     &VMap, NextColumn, NextKey, Head);
      NextKey += Deep;
      if (NextKey >= Rows) {
        NextKey = 0;
        NextColumn += Wide;
      }
    }
  }
  __syncwarp();

  float *const Partial = reinterpret_cast<float *>(Shared); // Warps x Queries.
#pragma unroll
  for (int M = 0; M < 2; ++M)
#pragma unroll
    for (int H = 0; H < 2; ++H) {
      const bool Valid = Group * 128 + M * 64 + Part * 16 + H * 8 + G < Rows;
#pragma unroll
      for (int J = 0; J < 8; ++J)
#pragma unroll
        for (int C = 0; C < 2; ++C) {
          float &X = Sum[M][4 * J + 2 * H + C];
          X = Valid ? __fmul_rn(X, Scale) : -INFINITY;
        }
    }
#pragma unroll
  for (int J = 0; J < 8; ++J)
#pragma unroll
    for (int C = 0; C < 2; ++C) {
      float X = fmaxf(fmaxf(Sum[0][4 * J + C], Sum[0][4 * J + 2 + C]),
                      fmaxf(Sum[1][4 * J + C], Sum[1][4 * J + 2 + C]));
#pragma unroll
      for (int Offset = 4; Offset < 32; Offset *= 2)
        X = fmaxf(X, __shfl_xor_sync(0xffffffff, X, Offset));
      if (Lane < 4)
        Partial[Warp * Queries + 8 * J + 2 * T + C] = X;
    }
  __syncthreads();
  if (Thread < Queries) {
    float X = -INFINITY;
#pragma unroll
    for (int I = 0; I < Warps; ++I)
      X = fmaxf(X, Partial[I * Queries + Thread]);
    Peak[Thread] = X;
  }
  __syncthreads();
#pragma unroll
  for (int J = 0; J < 8; ++J)
#pragma unroll
    for (int C = 0; C < 2; ++C) {
      const float Max = Peak[8 * J + 2 * T + C];
      float Total = 0;
#pragma unroll
      for (int M = 0; M < 2; ++M)
#pragma unroll
        for (int H = 0; H < 2; ++H) {
          float &X = Sum[M][4 * J + 2 * H + C];
          X = __uint_as_float(roundTf32(expf(X - Max)));
          Total += X;
        }
#pragma unroll
      for (int Offset = 4; Offset < 32; Offset *= 2)
        Total += __shfl_xor_sync(0xffffffff, Total, Offset);
      if (Lane < 4)
        Partial[Warp * Queries + 8 * J + 2 * T + C] = Total;
    }
  __syncthreads();
  if (Thread < Queries) {
    float Total = 0;
#pragma unroll
    for (int I = 0; I < Warps; ++I)
      Total += Partial[I * Queries + Thread];
    float R = __fdividef(1.0f, Total);
    R = fmaf(fmaf(-Total, R, 1.0f), R, R);
    Inverse[Thread] = R;
  }
  __syncthreads();
  // The weights, query by query, swizzled as wgmma reads them. Of each eight
  // keys the even ones come first: so the values are read without conflicts.
#pragma unroll
  for (int M = 0; M < 2; ++M)
#pragma unroll
    for (int H = 0; H < 2; ++H) {
      char *To = Shared + (Group * 4 + M * 2 + Part / 2) * TileBytes +
                 (G >> 1) * 4;
      const int Chunk = 2 * (2 * (Part & 1) + H) + (G & 1);
#pragma unroll
      for (int J = 0; J < 8; ++J)
#pragma unroll
        for (int C = 0; C < 2; ++C)
          *reinterpret_cast<float *>(To + (8 * J + 2 * T + C) * 128 +
                                     ((Chunk ^ (2 * T + C)) << 4)) =
              Sum[M][4 * J + 2 * H + C];
    }
  fenceAsync();
  __syncthreads();

  // The result, transposed: 64 columns of each warp group by 64 queries. The
  // values go through registers, the weights stay in shared memory.
  const size_t Start = size_t(Head) * Rows * Columns;
  int Offsets[2][2]; // Of half of the columns, of odd keys.
#pragma unroll
  for (int H = 0; H < 2; ++H)
#pragma unroll
    for (int E = 0; E < 2; ++E)
      Offsets[H][E] =
          WeightBytes + (Group * 2 + Part / 2) * BoxBytes + (2 * T + E) * 128 +
          (((4 * (Part & 1) + 2 * H + (G >> 2)) ^ (2 * T + E)) << 4) +
          (G & 3) * 4;
  int Stage = 0, Step = 0;
  unsigned Phase = 0;
#pragma unroll 1
  for (int Pass = 0; Pass < Passes; ++Pass) {
    float Out[32];
#pragma unroll
    for (int I = 0; I < 32; ++I)
      Out[I] = 0;
#pragma unroll 1
    for (int Key = 0; Key < KeySteps; ++Key) {
      if (Thread == 0 && Step >= 1 && Step + 2 < ValueSteps) {
        // The stage of the step before: wait until all warps have read it.
        const int Last = Stage == 0 ? Stages - 1 : Stage - 1;
        waitFor(Empty + 8 * Last, Stage == 0 ? Phase ^ 1 : Phase);
        loadValueStage(At + WeightBytes + Last * ValueBytes,
                       FullValues + 8 * Last, &VMap, NextColumn, NextKey, Head);
        NextKey += Deep;
        if (NextKey >= Rows) {
          NextKey = 0;
          NextColumn += Wide;
        }
      }
      __syncwarp();
      waitFor(FullValues + 8 * Stage, Phase);
      const char *Base = Shared + Stage * ValueBytes;
      unsigned A[4][4];
#pragma unroll
      for (int S = 0; S < 4; ++S)
#pragma unroll
        for (int E = 0; E < 2; ++E)
#pragma unroll
          for (int H = 0; H < 2; ++H)
            A[S][2 * E + H] = roundTf32(*reinterpret_cast<const float *>(
                Base + Offsets[H][E] + S * 1024));
      __syncwarp();
      if (Lane == 0)
        arriveAt(Empty + 8 * Stage);
      __syncwarp();
      const unsigned long long B = describe(At + Key * TileBytes);
      pin(Out);
      openGroup();
#pragma unroll
      for (int S = 0; S < 4; ++S)
        multiply(Out, A[S], B + 2 * S);
      closeGroup();
      awaitGroups();
      pin(Out);
      ++Step;
      if (++Stage == Stages) {
        Stage = 0;
        Phase ^= 1;
      }
    }
    const int Column = Pass * Wide + Group * 64 + Part * 16 + G;
#pragma unroll
    for (int J = 0; J < 8; ++J)
#pragma unroll
      for (int C = 0; C < 2; ++C) {
        const int Query = 8 * J + 2 * T + C;
        if (First + Query < Rows) {
          const float R = Inverse[Query];
          float *To = Y + Start + size_t(First + Query) * Columns + Column;
          if (Column < Columns)
            To[0] = Out[4 * J + C] * R;
          if (Column + 8 < Columns)
            To[8] = Out[4 * J + 2 + C] * R;
        }
      }
  }
}
