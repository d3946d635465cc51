#include <cuda.h>

// The transposed product: a tile of 128 columns of C (64 for each consumer, the
// rows of wgmma) by 256 rows of C (the columns of wgmma). A lies K-major in
// shared memory as wgmma wants it; B goes through registers, where it is
// rounded to tf32. A is read from shared memory by wgmma itself, so it is
// rounded in a pass before. The scratch buffer holds a quarter of A only, so
// the rows of C are computed in four parts: round, multiply, round, ...
// The rounded quarter lies in scratch as the image of the swizzled tiles, so
// that one bulk copy brings a tile.
constexpr int TileM = 256;
constexpr int TileN = 128;
constexpr int TileK = 32;
constexpr int Stages = 4;
constexpr int GroupRows = 8;
constexpr int Consumers = 2;
constexpr int Threads = 384;
constexpr int AtomBytes = 8 * TileK * 4; // 8 rows of A, 128 bytes each
constexpr int BytesA = TileM * TileK * 4;
constexpr int BytesB = TileN * TileK * 4;
constexpr int PanelB = 32 * TileK * 4;
constexpr int StageBytes = BytesA + BytesB;

__device__ __forceinline__ unsigned shared_address(const void *P) {
  unsigned Result;
  asm("{\n"
      ".reg .u64 t;\n"
      "cvta.to.shared.u64 t, %1;\n"
      "cvt.u32.u64 %0, t;\n"
      "}\n"
      : "=r"(Result)
      : "l"(P));
  return Result;
}

__device__ __forceinline__ void barrier_init(unsigned Bar, unsigned Count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(Bar),
               "r"(Count)
               : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned Bar, unsigned Parity) {
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

__device__ __forceinline__ void barrier_arrive(unsigned Bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(Bar)
               : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned Bar, unsigned Bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(
                   Bar),
               "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void copy_tile(unsigned To, const CUtensorMap *Map,
                                          int X, int Y, unsigned Bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];\n" ::"r"(To),
               "l"(reinterpret_cast<unsigned long long>(Map)), "r"(X), "r"(Y),
               "r"(Bar)
               : "memory");
}

__device__ __forceinline__ void copy_bytes(unsigned To, const void *From,
                                           unsigned Bytes, unsigned Bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(To),
               "l"(reinterpret_cast<unsigned long long>(From)), "r"(Bytes),
               "r"(Bar)
               : "memory");
}

__device__ __forceinline__ unsigned to_tf32(float X) {
  unsigned Result;
  asm volatile("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(Result) : "f"(X));
  return Result;
}

__device__ __forceinline__ void store_pair(float *To, float X, float Y) {
  asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};\n" ::"l"(To), "f"(X), "f"(Y)
               : "memory");
}

__device__ __forceinline__ void multiply_fence() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

__device__ __forceinline__ void multiply_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

template <int Pending> __device__ __forceinline__ void multiply_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(Pending) : "memory");
}

__device__ __forceinline__ void multiply(float (&D)[128], unsigned A0,
                                         unsigned A1, unsigned A2, unsigned A3,
                                         unsigned long long Desc) {
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
      : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3]),
        "+f"(D[4]), "+f"(D[5]), "+f"(D[6]), "+f"(D[7]),
        "+f"(D[8]), "+f"(D[9]), "+f"(D[10]), "+f"(D[11]),
        "+f"(D[12]), "+f"(D[13]), "+f"(D[14]), "+f"(D[15]),
        "+f"(D[16]), "+f"(D[17]), "+f"(D[18]), "+f"(D[19]),
        "+f"(D[20]), "+f"(D[21]), "+f"(D[22]), "+f"(D[23]),
        "+f"(D[24]), "+f"(D[25]), "+f"(D[26]), "+f"(D[27]),
        "+f"(D[28]), "+f"(D[29]), "+f"(D[30]), "+f"(D[31]),
        "+f"(D[32]), "+f"(D[33]), "+f"(D[34]), "+f"(D[35]),
        "+f"(D[36]), "+f"(D[37]), "+f"(D[38]), "+f"(D[39]),
        "+f"(D[40]), "+f"(D[41]), "+f"(D[42]), "+f"(D[43]),
        "+f"(D[44]), "+f"(D[45]), "+f"(D[46]), "+f"(D[47]),
        "+f"(D[48]), "+f"(D[49]), "+f"(D[50]), "+f"(D[51]),
        "+f"(D[52]), "+f"(D[53]), "+f"(D[54]), "+f"(D[55]),
        "+f"(D[56]), "+f"(D[57]), "+f"(D[58]), "+f"(D[59]),
        "+f"(D[60]), "+f"(D[61]), "+f"(D[62]), "+f"(D[63]),
        "+f"(D[64]), "+f"(D[65]), "+f"(D[66]), "+f"(D[67]),
        "+f"(D[68]), "+f"(D[69]), "+f"(D[70]), "+f"(D[71]),
        "+f"(D[72]), "+f"(D[73]), "+f"(D[74]), "+f"(D[75]),
        "+f"(D[76]), "+f"(D[77]), "+f"(D[78]), "+f"(D[79]),
        "+f"(D[80]), "+f"(D[81]), "+f"(D[82]), "+f"(D[83]),
        "+f"(D[84]), "+f"(D[85]), "+f"(D[86]), "+f"(D[87]),
        "+f"(D[88]), "+f"(D[89]), "+f"(D[90]), "+f"(D[91]),
        "+f"(D[92]), "+f"(D[93]), "+f"(D[94]), "+f"(D[95]),
        "+f"(D[96]), "+f"(D[97]), "+f"(D[98]), "+f"(D[99]),
        "+f"(D[100]), "+f"(D[101]), "+f"(D[102]), "+f"(D[103]),
        "+f"(D[104]), "+f"(D[105]), "+f"(D[106]), "+f"(D[107]),
        "+f"(D[108]), "+f"(D[109]), "+f"(D[110]), "+f"(D[111]),
        "+f"(D[112]), "+f"(D[113]), "+f"(D[114]), "+f"(D[115]),
        "+f"(D[116]), "+f"(D[117]), "+f"(D[118]), "+f"(D[119]),
        "+f"(D[120]), "+f"(D[121]), "+f"(D[122]), "+f"(D[123]),
        "+f"(D[124]), "+f"(D[125]), "+f"(D[126]), "+f"(D[127])
      : "r"(A0), "r"(A1), "r"(A2), "r"(A3), "l"(Desc), "r"(1));
}

// One turn of a consumer: fetch and round this stage's part of B while the
// products of the turn before run, start the products of this turn, then wait
// for those of the turn before.
__device__ __forceinline__ void turn(float (&Sum)[128], unsigned (&F)[16],
                                     const unsigned char *Tiles,
                                     unsigned long long Desc, unsigned Full,
                                     unsigned It, unsigned Low, unsigned High) {
  unsigned Stage = It % Stages;
  barrier_wait(Full + 8 * Stage, (It / Stages) & 1);
  const unsigned char *TileB = Tiles + Stage * StageBytes + BytesA;
  float2 L[4], H[4];
#pragma unroll
  for (int I = 0; I < 4; ++I) {
    L[I] = *reinterpret_cast<const float2 *>(TileB + Low + I * 1024);
    H[I] = *reinterpret_cast<const float2 *>(TileB + High + I * 1024);
  }
#pragma unroll
  for (int I = 0; I < 4; ++I) {
    F[4 * I] = to_tf32(L[I].x);
    F[4 * I + 1] = to_tf32(L[I].y);
    F[4 * I + 2] = to_tf32(H[I].x);
    F[4 * I + 3] = to_tf32(H[I].y);
  }
  unsigned long long StageDesc =
      Desc + (unsigned long long)(Stage * (StageBytes / 16));
  multiply_fence();
#pragma unroll
  for (int I = 0; I < 4; ++I)
    multiply(Sum, F[4 * I], F[4 * I + 1], F[4 * I + 2], F[4 * I + 3],
             StageDesc + 2 * I);
  multiply_commit();
  multiply_wait<1>();
}

__device__ __forceinline__ void release(unsigned Empty, unsigned It,
                                        unsigned Lane) {
  __syncwarp();
  if (Lane == 0)
    barrier_arrive(Empty + 8 * (It % Stages));
}

// Rows of tiles in groups of 8, columns after rows within a group.
__device__ __forceinline__ void locate(int Index, int TilesM, int TilesN,
                                       int &FromM, int &FromN) {
  int PerGroup = GroupRows * TilesN;
  int First = Index / PerGroup * GroupRows;
  int Rows = TilesM - First < GroupRows ? TilesM - First : GroupRows;
  int Inner = Index % PerGroup;
  FromM = (First + Inner % Rows) * TileM;
  FromN = Inner / Rows * TileN;
}

// Groups of 8 rows in a quarter of the rows.
__device__ __forceinline__ int groups_of_part(int M) { return (M - 1) / 32 + 1; }

// Rounds a quarter of A to tf32. Scratch holds, for each step of 32 along K,
// the groups of 8 rows, 128 bytes a row, swizzled as wgmma reads them. What is
// beyond M or K is zero. The steps are of an even number.
__device__ __forceinline__ void round_part(const float *A, int M, int K,
                                           void *Scratch, int Part) {
  const int Groups = groups_of_part(M);
  const int Steps = 2 * ((K - 1) / (2 * TileK) + 1);
  // The grid has as many blocks along x as there are groups: the guard sees to
  // that. A part that lies beyond M as a whole is of zeros that nothing reads.
  const int AtGroup = int(blockIdx.x);
  const int Chunk = int(threadIdx.x & 7);
  const int InGroup = int(threadIdx.x >> 3) & 7;
  const int Sub = int(threadIdx.x >> 6); // 0 to 3
  const int Row = (Part * Groups + AtGroup) * 8 + InGroup;
  unsigned char *To = static_cast<unsigned char *>(Scratch) +
                      size_t(AtGroup) * AtomBytes + InGroup * 128 +
                      ((Chunk ^ InGroup) << 4);
  for (int From = int(blockIdx.y) * 16; From < Steps;
       From += int(gridDim.y) * 16) {
    float4 V[4];
#pragma unroll
    for (int J = 0; J < 4; ++J) {
      const int AtK = (From + 4 * J + Sub) * TileK + Chunk * 4;
      V[J] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (Row < M && AtK < K)
        V[J] = *reinterpret_cast<const float4 *>(A + size_t(Row) * K + AtK);
    }
#pragma unroll
    for (int J = 0; J < 4; ++J) {
      const int Step = From + 4 * J + Sub;
      if (Step < Steps)
        *reinterpret_cast<uint4 *>(To + size_t(Step) * Groups * AtomBytes) =
            make_uint4(to_tf32(V[J].x), to_tf32(V[J].y), to_tf32(V[J].z),
                       to_tf32(V[J].w));
    }
  }
}

// The product of a rounded quarter of A with B.
__device__ __forceinline__ void multiply_part(float *C, int M, int N, int K,
                                              const void *Scratch,
                                              const CUtensorMap *MapB,
                                              int Part) {
  extern __shared__ __align__(1024) unsigned char Dynamic[];

  const int Groups = groups_of_part(M);
  const int First = Part * Groups * 8;
  // The first part always has rows.
  if (Part > 0 && First >= M)
    return;
  // Rows of C in this part.
  const int Rows = M - First < Groups * 8 ? M - First : Groups * 8;

  unsigned Start = shared_address(Dynamic);
  unsigned Pad = (1024u - (Start & 1023u)) & 1023u;
  const unsigned char *Tiles = Dynamic + Pad;
  unsigned TilesAt = Start + Pad;
  unsigned Full = TilesAt + Stages * StageBytes;
  unsigned Empty = Full + 8 * Stages;

  if (Groups % (TileM / 8) != 0) {
    // The last tiles are filled in part only: let no row be without a value.
    uint4 *Words = reinterpret_cast<uint4 *>(Dynamic + Pad);
    for (int I = int(threadIdx.x); I < Stages * StageBytes / 16; I += Threads)
      Words[I] = make_uint4(0, 0, 0, 0);
    asm volatile("fence.proxy.async;\n" ::: "memory");
  }
  if (threadIdx.x == 0) {
    for (int I = 0; I < Stages; ++I) {
      barrier_init(Full + 8 * I, 1);
      barrier_init(Empty + 8 * I, Consumers * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    asm volatile("fence.proxy.async;\n" ::: "memory");
  }
  __syncthreads();

  int TilesM = (Rows + TileM - 1) / TileM;
  int TilesN = (N + TileN - 1) / TileN;
  int Count = TilesM * TilesN;
  // An even number of steps; beyond K there are zeros on both sides.
  int Pairs = (K - 1) / (2 * TileK) + 1;
  unsigned It = 0;

  if (threadIdx.x >= Consumers * 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;\n");
    if (threadIdx.x == Consumers * 128) {
      for (int Index = blockIdx.x; Index < Count; Index += gridDim.x) {
        int FromM, FromN;
        locate(Index, TilesM, TilesN, FromM, FromN);
        int GroupsLeft = Groups - FromM / 8;
        unsigned Bytes =
            GroupsLeft < TileM / 8 ? unsigned(GroupsLeft) * AtomBytes : BytesA;
        const unsigned char *FromA =
            static_cast<const unsigned char *>(Scratch) +
            size_t(FromM / 8) * AtomBytes;
#pragma unroll 1
        for (int Turn = 0; Turn < 2 * Pairs; ++Turn) {
          unsigned Stage = It % Stages;
          unsigned Bar = Full + 8 * Stage;
          unsigned To = TilesAt + Stage * StageBytes;
          int FromK = Turn * TileK;
          barrier_wait(Empty + 8 * Stage, ((It / Stages) & 1) ^ 1);
          barrier_expect(Bar, Bytes + BytesB);
          copy_bytes(To, FromA, Bytes, Bar);
#pragma unroll
          for (int P = 0; P < TileN / 32; ++P)
            copy_tile(To + BytesA + P * PanelB, MapB, FromN + 32 * P, FromK,
                      Bar);
          FromA += size_t(Groups) * AtomBytes;
          ++It;
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;\n");
    unsigned Lane = threadIdx.x % 32;
    unsigned Warp = threadIdx.x / 32 % 4;
    unsigned Consumer = threadIdx.x / 128;
    unsigned G = Lane / 4, T = Lane % 4;
    // Rows G and G + 8 of this warp's part of the wgmma stand for two columns
    // of C side by side, chosen so that the swizzled loads of 8 bytes meet no
    // bank conflicts and stores to C fill sectors.
    unsigned Panel = Consumer * 2 + Warp / 2;
    unsigned Chunk = 2 * (Warp % 2) + G / 4 + 4 * (G / 2 % 2);
    unsigned Within = 2 * (G % 2);
    unsigned Low = Panel * PanelB + T * 128 + ((Chunk ^ T) * 16) + Within * 4;
    unsigned High =
        Panel * PanelB + (T + 4) * 128 + ((Chunk ^ T ^ 4) * 16) + Within * 4;
    int ColumnInTile = int(Panel * 32 + Chunk * 4 + Within);
    int RowInTile = int(2 * T);
    // K-major, swizzle of 128 bytes, 1024 bytes from 8 rows to the next 8.
    unsigned long long Desc = (unsigned long long)((TilesAt >> 4) & 0x3FFFu) |
                              (1ull << 16) | (64ull << 32) | (1ull << 62);
    float Sum[128];
    unsigned Even[16], Odd[16];

    for (int Index = blockIdx.x; Index < Count; Index += gridDim.x) {
      int FromM, FromN;
      locate(Index, TilesM, TilesN, FromM, FromN);
#pragma unroll
      for (int I = 0; I < 128; ++I)
        Sum[I] = 0;
#pragma unroll
      for (int I = 0; I < 128; ++I)
        asm volatile("" : "+f"(Sum[I])::"memory");

#pragma unroll 1
      for (int Pair = 0; Pair < Pairs; ++Pair) {
        turn(Sum, Even, Tiles, Desc, Full, It, Low, High);
        if (Pair > 0)
          release(Empty, It - 1, Lane);
        ++It;
        turn(Sum, Odd, Tiles, Desc, Full, It, Low, High);
        release(Empty, It - 1, Lane);
        ++It;
      }
      multiply_wait<0>();
#pragma unroll
      for (int I = 0; I < 128; ++I)
        asm volatile("" : "+f"(Sum[I])::"memory");
      release(Empty, It - 1, Lane);

      // Rows count within this part: what is beyond belongs to the next one.
      int Row = FromM + RowInTile;
      int Column = FromN + ColumnInTile;
      if (Column < N) {
        float *Out = C + size_t(First + Row) * N + Column;
#pragma unroll
        for (int I = 0; I < 32; ++I) {
          if (Row + 8 * I < Rows)
            store_pair(Out, Sum[4 * I], Sum[4 * I + 2]);
          if (Row + 8 * I + 1 < Rows)
            store_pair(Out + N, Sum[4 * I + 1], Sum[4 * I + 3]);
          Out += size_t(N) * 8;
        }
      }
      __syncwarp();
    }
  }
}

__global__ void __launch_bounds__(256)
    gemm_round0(const float *A, const float *B, float *C, int M, int N, int K,
                void *Scratch, const __grid_constant__ CUtensorMap MapB) {
  round_part(A, M, K, Scratch, 0);
}

__global__ void __launch_bounds__(384, 1)
    gemm_swapped0(const float *A, const float *B, float *C, int M, int N,
                  int K, void *Scratch,
                  const __grid_constant__ CUtensorMap MapB) {
  multiply_part(C, M, N, K, Scratch, &MapB, 0);
}

__global__ void __launch_bounds__(256)
    gemm_round1(const float *A, const float *B, float *C, int M, int N, int K,
                void *Scratch, const __grid_constant__ CUtensorMap MapB) {
  round_part(A, M, K, Scratch, 1);
}

__global__ void __launch_bounds__(384, 1)
    gemm_swapped1(const float *A, const float *B, float *C, int M, int N,
                  int K, void *Scratch,
                  const __grid_constant__ CUtensorMap MapB) {
  multiply_part(C, M, N, K, Scratch, &MapB, 1);
}

__global__ void __launch_bounds__(256)
    gemm_round2(const float *A, const float *B, float *C, int M, int N, int K,
                void *Scratch, const __grid_constant__ CUtensorMap MapB) {
  round_part(A, M, K, Scratch, 2);
}

__global__ void __launch_bounds__(384, 1)
    gemm_swapped2(const float *A, const float *B, float *C, int M, int N,
                  int K, void *Scratch,
                  const __grid_constant__ CUtensorMap MapB) {
  multiply_part(C, M, N, K, Scratch, &MapB, 2);
}

__global__ void __launch_bounds__(256)
    gemm_round3(const float *A, const float *B, float *C, int M, int N, int K,
                void *Scratch, const __grid_constant__ CUtensorMap MapB) {
  round_part(A, M, K, Scratch, 3);
}

__global__ void __launch_bounds__(384, 1)
    gemm_swapped3(const float *A, const float *B, float *C, int M, int N,
                  int K, void *Scratch,
                  const __grid_constant__ CUtensorMap MapB) {
  multiply_part(C, M, N, K, Scratch, &MapB, 3);
}
