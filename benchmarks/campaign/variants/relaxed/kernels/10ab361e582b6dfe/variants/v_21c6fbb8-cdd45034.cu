#include <cuda.h>

// C^T = B^T * A^T. The rows of the tensor instruction are columns of C (n), its
// columns are rows of C (m). B goes through registers, A stays in shared memory.
// The last rows of a tile of C leave through shared memory (swizzled by two
// bits) and through warps of their own, while the consumers go on.
constexpr int TileM = 256;  // rows of C: the n of wgmma
constexpr int TileN = 128;  // columns of C: 64 for each of two consumers
constexpr int TileK = 32;   // 128 bytes of a row of A
constexpr int SmallM = 64;  // rows of C in a piece of one of the last tiles
constexpr int Parts = TileM / SmallM;
constexpr int StagedRows = 64;
constexpr int DirectRows = TileM - StagedRows;
constexpr int Stages = 4;
constexpr unsigned BytesA = TileM * TileK * 4;
constexpr unsigned BytesB = TileN * TileK * 4;
constexpr unsigned BytesStage = BytesA + BytesB;
constexpr unsigned BytesBoxA = SmallM * TileK * 4;
constexpr unsigned BytesBox = 32 * TileK * 4;
constexpr unsigned BytesStaged = StagedRows * 64 * 4; // of one consumer

typedef unsigned long long Word64;

__device__ __forceinline__ unsigned sharedAddress(const void *P) {
  unsigned R;
  asm volatile("{\n"
               ".reg .u64 a;\n"
               "cvta.to.shared.u64 a, %1;\n"
               "cvt.u32.u64 %0, a;\n"
               "}\n"
               : "=r"(R)
               : "l"(P));
  return R;
}

__device__ __forceinline__ void barrierInit(unsigned Bar, unsigned Count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(Bar),
               "r"(Count)
               : "memory");
}

__device__ __forceinline__ void barrierExpect(unsigned Bar, unsigned Bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(
                   Bar),
               "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void barrierArrive(unsigned Bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(Bar)
               : "memory");
}

__device__ __forceinline__ void barrierWait(unsigned Bar, unsigned Parity) {
  unsigned Done;
  do {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p;\n"
                 "}\n"
                 : "=r"(Done)
                 : "r"(Bar), "r"(Parity)
                 : "memory");
  } while (!Done);
}

__device__ __forceinline__ void copyBox(unsigned To, const CUtensorMap *Map,
                                        int X, int Y, int Z, unsigned Bar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];\n" ::"r"(To),
               "l"(reinterpret_cast<Word64>(Map)), "r"(X), "r"(Y), "r"(Z),
               "r"(Bar)
               : "memory");
}

// Two neighbouring columns of B of one k, rounded to tf32.
__device__ __forceinline__ void loadPair(unsigned &X, unsigned &Y,
                                         unsigned From) {
  float U, V;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];\n"
               : "=f"(U), "=f"(V)
               : "r"(From)
               : "memory");
  asm volatile("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(X) : "f"(U));
  asm volatile("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(Y) : "f"(V));
}

__device__ __forceinline__ void loadFragments(unsigned (&F)[16], unsigned Lo,
                                              unsigned Hi) {
#pragma unroll
  for (int I = 0; I < 4; ++I) {
    loadPair(F[4 * I], F[4 * I + 1], Lo + I * 1024);
    loadPair(F[4 * I + 2], F[4 * I + 3], Hi + I * 1024);
  }
}

__device__ __forceinline__ void multiply(float (&d)[128], unsigned A0,
                                         unsigned A1, unsigned A2, unsigned A3,
                                         Word64 Desc, int Accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "{%128, %129, %130, %131}, %132, p, 1, 1;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
        "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
        "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
        "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),
        "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
        "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]),
        "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]),
        "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]),
        "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
        "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]),
        "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),
        "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]),
        "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
        "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]),
        "+f"(d[126]), "+f"(d[127])
      : "r"(A0), "r"(A1), "r"(A2), "r"(A3), "l"(Desc), "r"(Accumulate)
      : "memory");
}

__device__ __forceinline__ void multiplySmall(float (&d)[128], unsigned A0,
                                              unsigned A1, unsigned A2,
                                              unsigned A3, Word64 Desc,
                                              int Accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(A0), "r"(A1), "r"(A2), "r"(A3), "l"(Desc), "r"(Accumulate)
      : "memory");
}

template <bool Small>
__device__ __forceinline__ void multiplyStage(float (&d)[128],
                                              const unsigned (&F)[16],
                                              Word64 Desc, int Accumulate) {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
  if (Small) {
    multiplySmall(d, F[0], F[1], F[2], F[3], Desc, Accumulate);
    multiplySmall(d, F[4], F[5], F[6], F[7], Desc + 2, 1);
    multiplySmall(d, F[8], F[9], F[10], F[11], Desc + 4, 1);
    multiplySmall(d, F[12], F[13], F[14], F[15], Desc + 6, 1);
  } else {
    multiply(d, F[0], F[1], F[2], F[3], Desc, Accumulate);
    multiply(d, F[4], F[5], F[6], F[7], Desc + 2, 1);
    multiply(d, F[8], F[9], F[10], F[11], Desc + 4, 1);
    multiply(d, F[12], F[13], F[14], F[15], Desc + 6, 1);
  }
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

// All of K for one tile. F0 holds the fragments of the first stage; where more
// tiles follow, it holds those of the next tile at the end.
template <bool Small>
__device__ __forceinline__ void
multiplyTile(float (&d)[128], unsigned (&F0)[16], unsigned (&F1)[16],
             unsigned &Stage, unsigned &Phase, int Pairs, bool More,
             unsigned Full, unsigned Empty, unsigned Lo, unsigned Hi,
             Word64 Desc, unsigned Lane) {
  int P = 0;
#pragma unroll 1
  while (true) {
    const unsigned Next = Stage + 1;
    multiplyStage<Small>(d, F0, Desc + Stage * (BytesStage >> 4), P > 0);
    asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    if (P > 0 && Lane == 0)
      barrierArrive(Empty + 8 * ((Stage + 3) & 3));
    barrierWait(Full + 8 * Next, Phase);
    loadFragments(F1, Lo + Next * BytesStage, Hi + Next * BytesStage);
    multiplyStage<Small>(d, F1, Desc + Next * (BytesStage >> 4), 1);
    asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    if (Lane == 0)
      barrierArrive(Empty + 8 * Stage);
    Stage ^= 2;
    if (Stage == 0)
      Phase ^= 1;
    ++P;
    if (P < Pairs || More) {
      barrierWait(Full + 8 * Stage, Phase);
      loadFragments(F0, Lo + Stage * BytesStage, Hi + Stage * BytesStage);
    }
    if (P == Pairs)
      break;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
  for (int I = 0; I < (Small ? SmallM / 2 : TileM / 2); ++I)
    asm volatile("" : "+f"(d[I])::"memory");
  if (Lane == 0)
    barrierArrive(Empty + 8 * ((Stage + 3) & 3));
}

// Copies all of K for one tile: BoxesA * 64 rows of A and 128 columns of B.
template <int BoxesA>
__device__ __forceinline__ void
fillTile(const CUtensorMap *MapA, const CUtensorMap *MapB, int M0, int N0,
         int Z, int Steps, unsigned &Stage, unsigned &Phase, unsigned Base,
         unsigned Full, unsigned Empty) {
#pragma unroll 1
  for (int I = 0; I < Steps; ++I) {
    barrierWait(Empty + 8 * Stage, Phase ^ 1);
    const unsigned Bar = Full + 8 * Stage;
    const unsigned To = Base + Stage * BytesStage;
    barrierExpect(Bar, BoxesA * BytesBoxA + BytesB);
#pragma unroll
    for (int J = 0; J < BoxesA; ++J)
      copyBox(To + J * BytesBoxA, MapA, I * TileK, M0 + SmallM * J, Z, Bar);
#pragma unroll
    for (int J = 0; J < 4; ++J)
      copyBox(To + BytesA + J * BytesBox, MapB, N0 + 32 * J, I * TileK, Z, Bar);
    if (++Stage == Stages) {
      Stage = 0;
      Phase ^= 1;
    }
  }
}

__device__ __forceinline__ void storePair(float *To, float X, float Y) {
  asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};\n" ::"l"(To), "f"(X), "f"(Y)
               : "memory");
}

// Rows 8 J + 2 Q and the next of the tile, two columns each, for J < Count.
template <int Count>
__device__ __forceinline__ void storeRows(const float (&d)[128], float *To,
                                          int N, int Left) {
  const size_t Step = size_t(N) * 8;
#pragma unroll
  for (int J = 0; J < Count; ++J) {
    if (8 * J < Left)
      storePair(To, d[4 * J], d[4 * J + 2]);
    if (8 * J + 1 < Left)
      storePair(To + N, d[4 * J + 1], d[4 * J + 3]);
    To += Step;
  }
}

__device__ __forceinline__ void stagePair(unsigned To, float X, float Y) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};\n" ::"r"(To), "f"(X), "f"(Y)
               : "memory");
}

// Tells the persistent kernel how many products there are.
__global__ void batchedGemmPrepare(const float *A, const float *B, float *C,
                                   int M, int N, int K, void *Scratch,
                                   const __grid_constant__ CUtensorMap MapA,
                                   const __grid_constant__ CUtensorMap MapB) {
  if (blockIdx.z == 0 && threadIdx.x == 0)
    *static_cast<int *>(Scratch) = int(gridDim.z);
}

__global__ void __launch_bounds__(384, 1)
    batchedGemmPersistent(const float *A, const float *B, float *C, int M,
                          int N, int K, void *Scratch,
                          const __grid_constant__ CUtensorMap MapA,
                          const __grid_constant__ CUtensorMap MapB) {
  extern __shared__ __align__(1024) unsigned char Dynamic[];
  __shared__ __align__(8) Word64 Barriers[2 * Stages + 4];

  const unsigned Base = (sharedAddress(Dynamic) + 1023u) & ~1023u;
  const unsigned Staged = Base + Stages * BytesStage;
  const unsigned Full = sharedAddress(Barriers);
  const unsigned Empty = Full + 8 * Stages;
  const unsigned StagedFull = Empty + 8 * Stages;
  const unsigned StagedEmpty = StagedFull + 8 * 2;

  if (threadIdx.x == 0) {
    for (int I = 0; I < Stages; ++I) {
      barrierInit(Full + 8 * I, 1);
      barrierInit(Empty + 8 * I, 8); // one arrival of each consumer warp
    }
    for (int I = 0; I < 2; ++I) {
      barrierInit(StagedFull + 8 * I, 128); // the threads of a consumer
      barrierInit(StagedEmpty + 8 * I, 32); // the threads of a storing warp
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    asm volatile("fence.proxy.async;\n" ::: "memory");
  }
  __syncthreads();

  const int TilesM = (M - 1) / TileM + 1;
  const int TilesN = (N - 1) / TileN + 1;
  const int Tiles = TilesM * TilesN * *static_cast<const int *>(Scratch);
  const int Blocks = int(gridDim.x);
  // Steps of K come in pairs; what lies beyond K is filled with zeros.
  const int Pairs = (K - 1) / (2 * TileK) + 1;

  // Whole tiles come first, in full rounds. The few that would make one more
  // round are cut into pieces of 64 rows for as many blocks. A launch of less
  // than a round is done half in tiles, half in pieces.
  int Whole = Tiles - Tiles % Blocks;
  if (Whole == 0)
    Whole = (Tiles + 1) / 2;
  if (Parts * (Tiles - Whole) > Blocks)
    Whole = Tiles;
  const int Piece = Blocks - 1 - int(blockIdx.x);
  bool HasPiece = Piece < Parts * (Tiles - Whole);
  int PieceM = 0, PieceN = 0, PieceZ = 0;
  if (HasPiece) {
    const int T = Whole + Piece / Parts;
    const int Rest = T / TilesM;
    PieceM = (T - Rest * TilesM) * TileM + (Piece % Parts) * SmallM;
    PieceZ = Rest / TilesN;
    PieceN = (Rest - PieceZ * TilesN) * TileN;
    HasPiece = PieceM < M;
  }

  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;\n");
    if (threadIdx.x == 0) {
      unsigned Stage = 0, Phase = 0;
#pragma unroll 1
      for (int T = blockIdx.x; T < Whole; T += Blocks) {
        const int Rest = T / TilesM;
        const int M0 = (T - Rest * TilesM) * TileM;
        const int Z = Rest / TilesN;
        const int N0 = (Rest - Z * TilesN) * TileN;
        fillTile<Parts>(&MapA, &MapB, M0, N0, Z, 2 * Pairs, Stage, Phase, Base,
                        Full, Empty);
      }
      if (HasPiece)
        fillTile<1>(&MapA, &MapB, PieceM, PieceN, PieceZ, 2 * Pairs, Stage,
                    Phase, Base, Full, Empty);
    } else if (threadIdx.x >= 32 && threadIdx.x < 96) {
      // One warp for each consumer stores the staged rows: 2 rows of 64
      // columns at a time, 16 bytes a thread.
      const unsigned Consumer = threadIdx.x / 32 - 1;
      const unsigned Lane = threadIdx.x & 31;
      const unsigned Chunk = Lane & 15;
      const int Column = int(64 * Consumer + 4 * Chunk);
      const unsigned From =
          Staged + Consumer * BytesStaged + (Lane >> 4) * 256;
      unsigned Phase = 0;
#pragma unroll 1
      for (int T = blockIdx.x; T < Whole; T += Blocks) {
        const int Rest = T / TilesM;
        const int M0 = (T - Rest * TilesM) * TileM;
        const int Z = Rest / TilesN;
        const int N0 = (Rest - Z * TilesN) * TileN;
        const int Row = M0 + DirectRows + int(Lane >> 4);
        const int Left = N0 + Column < N ? M - Row : 0;
        barrierWait(StagedFull + 8 * Consumer, Phase);
        if (Left > 0) {
          float *To = C + size_t(Z) * M * N + size_t(Row) * N + (N0 + Column);
          const size_t Step = size_t(N) * 2;
#pragma unroll 1
          for (int I = 0; I < StagedRows / 2; I += 4) {
            float V[4][4];
#pragma unroll
            for (int J = 0; J < 4; ++J) // (row >> 1) & 3 is J
              asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
                           : "=f"(V[J][0]), "=f"(V[J][1]), "=f"(V[J][2]),
                             "=f"(V[J][3])
                           : "r"(From + unsigned(I + J) * 512 +
                                 ((Chunk ^ unsigned(J)) << 4))
                           : "memory");
#pragma unroll
            for (int J = 0; J < 4; ++J) {
              if (2 * (I + J) < Left)
                asm volatile(
                    "st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"l"(To),
                    "f"(V[J][0]), "f"(V[J][1]), "f"(V[J][2]), "f"(V[J][3])
                    : "memory");
              To += Step;
            }
          }
        }
        __syncwarp();
        barrierArrive(StagedEmpty + 8 * Consumer);
        Phase ^= 1;
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\n");
    const unsigned Consumer = threadIdx.x / 128 - 1;
    const unsigned Warp = (threadIdx.x / 32) & 3;
    const unsigned Lane = threadIdx.x & 31;
    const unsigned G = Lane >> 2, Q = Lane & 3;
    // Row G of the warp is column Column of the tile, row G + 8 is the next.
    // The chunks are spread so that the swizzled loads have no bank conflicts.
    const unsigned Chunk = 2 * (Warp & 1) + (G >> 2) + 4 * ((G >> 1) & 1);
    const unsigned Box = 2 * Consumer + (Warp >> 1);
    const int Column = int(32 * Box + 4 * Chunk + 2 * (G & 1));
    const unsigned FromBox = Base + BytesA + Box * BytesBox + (G & 1) * 8;
    const unsigned Lo = FromBox + Q * 128 + ((Chunk ^ Q) << 4);
    const unsigned Hi = FromBox + (Q + 4) * 128 + ((Chunk ^ (Q + 4)) << 4);
    // The staged tile has rows of 256 bytes. Its chunks of 16 bytes are
    // permuted by an exclusive or with two bits of the row, (row >> 1) & 3,
    // which here is Q: neither its stores nor its loads have bank conflicts.
    const unsigned StagedTo = Staged + Consumer * BytesStaged + Q * 512 +
                              (((8 * (Warp >> 1) + Chunk) ^ Q) << 4) +
                              (G & 1) * 8;
    // K-major, 128-byte swizzle, 1024 bytes from one 8 rows to the next.
    const Word64 Desc = Word64((Base & 0x3FFFFu) >> 4) | (Word64(1) << 16) |
                        (Word64(64) << 32) | (Word64(1) << 62);

    float d[128];
#pragma unroll
    for (int I = 0; I < 128; ++I)
      d[I] = 0.0f;
    unsigned F0[16], F1[16];
#pragma unroll
    for (int I = 0; I < 16; ++I)
      F0[I] = 0;
    unsigned Stage = 0, Phase = 0; // Stage is 0 or 2
    unsigned StorePhase = 0;

    if (int(blockIdx.x) < Whole) {
      // The second consumer starts a stage later, so that the one multiplies
      // while the other stores.
      if (Consumer == 1)
        barrierWait(Full + 8, 0);
      barrierWait(Full, 0);
      loadFragments(F0, Lo, Hi);
    }

#pragma unroll 1
    for (int T = blockIdx.x; T < Whole; T += Blocks) {
      multiplyTile<false>(d, F0, F1, Stage, Phase, Pairs, T + Blocks < Whole,
                          Full, Empty, Lo, Hi, Desc, Lane);

      const int Rest = T / TilesM;
      const int M0 = (T - Rest * TilesM) * TileM;
      const int Z = Rest / TilesN;
      const int N0 = (Rest - Z * TilesN) * TileN;
      if (N0 + Column < N)
        storeRows<DirectRows / 8>(d,
                                  C + size_t(Z) * M * N +
                                      size_t(M0 + int(2 * Q)) * N +
                                      (N0 + Column),
                                  N, M - M0 - int(2 * Q));
      __syncwarp();
      barrierWait(StagedEmpty + 8 * Consumer, StorePhase ^ 1);
#pragma unroll
      for (int J = 0; J < StagedRows / 8; ++J) {
        const int I = 4 * (J + DirectRows / 8);
        stagePair(StagedTo + J * 2048, d[I], d[I + 2]);
        stagePair(StagedTo + J * 2048 + 256, d[I + 1], d[I + 3]);
      }
      barrierArrive(StagedFull + 8 * Consumer);
      StorePhase ^= 1;
      __syncwarp();
    }

    if (HasPiece) {
      barrierWait(Full + 8 * Stage, Phase);
      loadFragments(F0, Lo + Stage * BytesStage, Hi + Stage * BytesStage);
      multiplyTile<true>(d, F0, F1, Stage, Phase, Pairs, false, Full, Empty, Lo,
                         Hi, Desc, Lane);
      if (PieceN + Column < N)
        storeRows<SmallM / 8>(d,
                              C + size_t(PieceZ) * M * N +
                                  size_t(PieceM + int(2 * Q)) * N +
                                  (PieceN + Column),
                              N, M - PieceM - int(2 * Q));
    }
  }
}
