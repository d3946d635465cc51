#include <cuda.h>

// The transposed product: a tile of 128 columns of C (64 for each consumer, the
// rows of wgmma) by 256 rows of C (the columns of wgmma). A lies K-major in
// shared memory as wgmma wants it; B goes through registers. wgmma is here only
// because the swapped product needs an instruction that takes one operand from
// registers and the other from shared memory.
constexpr int TileM = 256;
constexpr int TileN = 128;
constexpr int TileK = 32;
constexpr int Stages = 4;
constexpr int Group = 8;
constexpr int Consumers = 2;
constexpr int BytesA = TileM * TileK * 4;
constexpr int BytesB = TileN * TileK * 4;
constexpr int PanelB = 32 * TileK * 4;
constexpr int StageBytes = BytesA + BytesB;
// wgmma cuts the elements of A off after 10 bits of mantissa: each loses
// between 0 and 2^-10 of its leading power of two, which is between 0.32 and
// 0.36 times 2^-10 of the sum on average. 5/16 of 2^-10 is given back at the
// end, which takes the common part out of the error. B is rounded to nearest.
constexpr float Restore = 1.00030517578125f;

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

__device__ __forceinline__ unsigned to_tf32(float X) {
  unsigned Result;
  asm volatile("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(Result) : "f"(X));
  return Result;
}

__device__ __forceinline__ void multiply_fence() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

__device__ __forceinline__ void multiply_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

// Waits for all products, and lets no use or copy of the sums go before that.
__device__ __forceinline__ void multiply_wait(float (&D)[128]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
  for (int I = 0; I < 128; ++I)
    asm volatile("" : "+f"(D[I])::"memory");
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

// Fetch and round this thread's part of B of one stage.
__device__ __forceinline__ void fetch(unsigned (&F)[16],
                                      const unsigned char *Tiles, unsigned It,
                                      unsigned Low, unsigned High) {
  const unsigned char *TileB = Tiles + It % Stages * StageBytes + BytesA;
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
}

__device__ __forceinline__ void stage_wait(unsigned Full, unsigned It) {
  barrier_wait(Full + 8 * (It % Stages), (It / Stages) & 1);
}

__device__ __forceinline__ void release(unsigned Empty, unsigned It,
                                        unsigned Lane) {
  __syncwarp();
  if (Lane == 0)
    barrier_arrive(Empty + 8 * (It % Stages));
}

// One turn of a consumer: start the products of stage It, whose part of B is
// in Now, fetch and round the part of stage After while they run, then wait for
// them. No product is pending from one turn to the next; in between the other
// consumer keeps the tensor cores busy.
__device__ __forceinline__ void turn(float (&Sum)[128], unsigned (&Now)[16],
                                     unsigned (&Next)[16],
                                     const unsigned char *Tiles,
                                     unsigned long long Desc, unsigned Full,
                                     unsigned Empty, unsigned It,
                                     unsigned After, unsigned Low,
                                     unsigned High, unsigned Lane) {
  stage_wait(Full, After);
  unsigned long long StageDesc =
      Desc + (unsigned long long)(It % Stages * (StageBytes / 16));
  multiply_fence();
#pragma unroll
  for (int I = 0; I < 4; ++I)
    multiply(Sum, Now[4 * I], Now[4 * I + 1], Now[4 * I + 2], Now[4 * I + 3],
             StageDesc + 2 * I);
  multiply_commit();
  fetch(Next, Tiles, After, Low, High);
  multiply_wait(Sum);
  release(Empty, It, Lane);
}

// Rows of tiles in groups of 8, columns after rows within a group.
__device__ __forceinline__ void locate(int Index, int TilesM, int TilesN,
                                       int &FromM, int &FromN) {
  int PerGroup = Group * TilesN;
  int First = Index / PerGroup * Group;
  int Rows = TilesM - First < Group ? TilesM - First : Group;
  int Inner = Index % PerGroup;
  FromM = (First + Inner % Rows) * TileM;
  FromN = Inner / Rows * TileN;
}

__global__ void __launch_bounds__(384, 1)
    gemm_swapped(const float *A, const float *B, float *C, int M, int N, int K,
               const __grid_constant__ CUtensorMap MapA,
               const __grid_constant__ CUtensorMap MapB) {
  extern __shared__ __align__(1024) unsigned char Dynamic[];
  __shared__ unsigned long long FullBarriers[Stages], EmptyBarriers[Stages];

  unsigned Start = shared_address(Dynamic);
  unsigned Pad = (1024u - (Start & 1023u)) & 1023u;
  const unsigned char *Tiles = Dynamic + Pad;
  unsigned TilesAt = Start + Pad;
  unsigned Full = shared_address(FullBarriers);
  unsigned Empty = shared_address(EmptyBarriers);

  if (threadIdx.x == 0) {
    for (int I = 0; I < Stages; ++I) {
      barrier_init(Full + 8 * I, 1);
      barrier_init(Empty + 8 * I, Consumers * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
  }
  __syncthreads();

  int TilesM = (M + TileM - 1) / TileM;
  int TilesN = (N + TileN - 1) / TileN;
  int FromM, FromN;
  locate(int(blockIdx.y * gridDim.x + blockIdx.x), TilesM, TilesN, FromM,
         FromN);
  // An even number of stages; beyond K the copies bring zeros.
  int Pairs = (K + 2 * TileK - 1) / (2 * TileK);
  unsigned It = 0;

  if (threadIdx.x >= Consumers * 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;\n");
    if (threadIdx.x == Consumers * 128) {
#pragma unroll 1
      for (int Turn = 0; Turn < 2 * Pairs; ++Turn) {
        unsigned Stage = It % Stages;
        unsigned Bar = Full + 8 * Stage;
        unsigned To = TilesAt + Stage * StageBytes;
        int FromK = Turn * TileK;
        barrier_wait(Empty + 8 * Stage, ((It / Stages) & 1) ^ 1);
        barrier_expect(Bar, StageBytes);
        copy_tile(To, &MapA, FromK, FromM, Bar);
#pragma unroll
        for (int P = 0; P < TileN / 32; ++P)
          copy_tile(To + BytesA + P * PanelB, &MapB, FromN + 32 * P, FromK,
                    Bar);
        ++It;
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
    int Column = FromN + int(Panel * 32 + Chunk * 4 + Within);
    int Row = FromM + int(2 * T);
    // K-major, swizzle of 128 bytes, 1024 bytes from 8 rows to the next 8.
    unsigned long long Desc = (unsigned long long)((TilesAt >> 4) & 0x3FFFu) |
                              (1ull << 16) | (64ull << 32) | (1ull << 62);
    float Sum[128];
    unsigned Even[16], Odd[16];
#pragma unroll
    for (int I = 0; I < 128; ++I)
      Sum[I] = 0;
#pragma unroll
    for (int I = 0; I < 128; ++I)
      asm volatile("" : "+f"(Sum[I])::"memory");

    unsigned Last = 2 * unsigned(Pairs) - 1;
    stage_wait(Full, 0);
    fetch(Even, Tiles, 0, Low, High);
#pragma unroll 1
    for (int Pair = 0; Pair < Pairs; ++Pair) {
      turn(Sum, Even, Odd, Tiles, Desc, Full, Empty, It, It + 1, Low, High,
           Lane);
      ++It;
      // After the last stage comes none: it is fetched again, for nothing.
      turn(Sum, Odd, Even, Tiles, Desc, Full, Empty, It,
           It < Last ? It + 1 : It, Low, High, Lane);
      ++It;
    }

    if (Column < N) {
      float *Out = C + size_t(Row) * N + Column;
#pragma unroll
      for (int I = 0; I < 32; ++I) {
        if (Row + 8 * I < M)
          *reinterpret_cast<float2 *>(Out) =
              make_float2(Sum[4 * I] * Restore, Sum[4 * I + 2] * Restore);
        if (Row + 8 * I + 1 < M)
          *reinterpret_cast<float2 *>(Out + N) =
              make_float2(Sum[4 * I + 1] * Restore, Sum[4 * I + 3] * Restore);
        Out += size_t(N) * 8;
      }
    }
  }
}
