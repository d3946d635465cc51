#include <cuda.h>

// C^T = B^T * A^T. The rows of the tensor instruction are columns of C (n), its
// columns are rows of C (m). B goes through registers, where it is rounded to
// tf32; A stays in shared memory, where the tensor instructions cut it off.
// What cutting takes away on average is measured for each row of A, from a
// sample of its elements, and the row of C is scaled up by as much. Rows that
// tf32 holds exactly lose nothing and are not scaled.
constexpr int TileM = 256; // rows of C: the n of wgmma
constexpr int TileN = 128; // columns of C: 64 for each of two consumers
constexpr int TileK = 32;  // 128 bytes of a row of A
constexpr int BoxM = 128;  // rows of A in one copy
constexpr int Stages = 4;
constexpr unsigned BytesA = TileM * TileK * 4;
constexpr unsigned BytesB = TileN * TileK * 4;
constexpr unsigned BytesStage = BytesA + BytesB;
constexpr unsigned BytesBoxA = BoxM * TileK * 4;
constexpr unsigned BytesBoxB = 32 * TileK * 4;

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
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
        "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
        "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
        "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]),
        "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]),
        "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
        "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
        "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]),
        "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
        "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]),
        "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),
        "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
        "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
        "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]),
        "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "r"(A0), "r"(A1), "r"(A2), "r"(A3), "l"(Desc), "r"(Accumulate)
      : "memory");
}

__device__ __forceinline__ void multiplyStage(float (&d)[128],
                                              const unsigned (&F)[16],
                                              Word64 Desc, int Accumulate) {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
  multiply(d, F[0], F[1], F[2], F[3], Desc, Accumulate);
  multiply(d, F[4], F[5], F[6], F[7], Desc + 2, 1);
  multiply(d, F[8], F[9], F[10], F[11], Desc + 4, 1);
  multiply(d, F[12], F[13], F[14], F[15], Desc + 6, 1);
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

// Of four neighbouring elements in each of four rows of A, 64 rows apart: what
// the tensor instructions cut off, and what they keep.
__device__ __forceinline__ void addParts(float (&Cut)[4], float (&Kept)[4],
                                         unsigned From) {
#pragma unroll
  for (int J = 0; J < 4; ++J) {
    float V[4];
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
                 : "=f"(V[0]), "=f"(V[1]), "=f"(V[2]), "=f"(V[3])
                 : "r"(From + unsigned(J) * (64 * TileK * 4))
                 : "memory");
#pragma unroll
    for (int I = 0; I < 4; ++I) {
      const float Head = __uint_as_float(__float_as_uint(V[I]) & 0xFFFFE000u);
      Cut[J] += fabsf(V[I] - Head);
      Kept[J] += fabsf(Head);
    }
  }
}

__device__ __forceinline__ void storePair(float *To, float X, float Y) {
  asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};\n" ::"l"(To), "f"(X), "f"(Y)
               : "memory");
}

__global__ void __launch_bounds__(384, 1)
    batchedGemmWgmma(const float *A, const float *B, float *C, int M, int N,
                     int K, const __grid_constant__ CUtensorMap MapA,
                     const __grid_constant__ CUtensorMap MapB) {
  extern __shared__ __align__(1024) unsigned char Dynamic[];
  __shared__ __align__(8) Word64 Barriers[2 * Stages + 1];
  __shared__ __align__(16) float Scales[TileM];

  const unsigned Base = (sharedAddress(Dynamic) + 1023u) & ~1023u;
  const unsigned Full = sharedAddress(Barriers);
  const unsigned Empty = Full + 8 * Stages;
  const unsigned Scaled = Empty + 8 * Stages;

  if (threadIdx.x == 0) {
    for (int I = 0; I < Stages; ++I) {
      barrierInit(Full + 8 * I, 1);
      // One arrival of each of 8 consumer warps and of 2 measuring warps.
      barrierInit(Empty + 8 * I, 10);
    }
    barrierInit(Scaled, 64); // the threads of the measuring warps
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    asm volatile("fence.proxy.async;\n" ::: "memory");
  }
  __syncthreads();

  const int M0 = int(blockIdx.x) * TileM;
  const int N0 = int(blockIdx.y) * TileN;
  const int Z = int(blockIdx.z);
  // Steps of K come in pairs; what lies beyond K is filled with zeros.
  const int Pairs = (K - 1) / (2 * TileK) + 1;

  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 56;\n");
    if (threadIdx.x == 0) {
      unsigned Stage = 0, Phase = 0;
#pragma unroll 1
      for (int I = 0; I < 2 * Pairs; ++I) {
        barrierWait(Empty + 8 * Stage, Phase ^ 1);
        const unsigned Bar = Full + 8 * Stage;
        const unsigned To = Base + Stage * BytesStage;
        barrierExpect(Bar, BytesStage);
#pragma unroll
        for (int J = 0; J < 4; ++J)
          copyBox(To + BytesA + J * BytesBoxB, &MapB, N0 + 32 * J, I * TileK, Z,
                  Bar);
#pragma unroll
        for (int J = 0; J < TileM / BoxM; ++J)
          copyBox(To + J * BytesBoxA, &MapA, I * TileK, M0 + BoxM * J, Z, Bar);
        if (++Stage == Stages) {
          Stage = 0;
          Phase ^= 1;
        }
      }
    } else if (threadIdx.x >= 32 && threadIdx.x < 96) {
      // Four rows of A for each thread: 16 bytes of each row in each step, in
      // the first eight steps 32. Eight neighbouring threads read eight
      // different chunks of the swizzled rows: no bank conflicts.
      const unsigned Row = threadIdx.x - 32;
      float Cut[4], Kept[4];
#pragma unroll
      for (int J = 0; J < 4; ++J) {
        Cut[J] = 0.0f;
        Kept[J] = 0.0f;
      }
      unsigned Stage = 0, Phase = 0;
#pragma unroll 1
      for (int I = 0; I < 2 * Pairs; ++I) {
        const unsigned From = Base + Stage * BytesStage + Row * (TileK * 4);
        const unsigned Chunk = (unsigned(I) ^ Row) & 7;
        barrierWait(Full + 8 * Stage, Phase);
        addParts(Cut, Kept, From + (Chunk << 4));
        if (I < 8)
          addParts(Cut, Kept, From + ((Chunk ^ 4) << 4));
        __syncwarp();
        if ((threadIdx.x & 31) == 0)
          barrierArrive(Empty + 8 * Stage);
        if (++Stage == Stages) {
          Stage = 0;
          Phase ^= 1;
        }
      }
#pragma unroll
      for (int J = 0; J < 4; ++J) {
        // Never more than a unit in the last place of tf32; not for rows of
        // zeros, infinities and the like.
        float Scale = 1.0f;
        if (Kept[J] > 0.0f && Kept[J] < 1.0e36f &&
            Cut[J] <= Kept[J] * 0.0009765625f)
          Scale += __fdividef(Cut[J], Kept[J]);
        Scales[Row + 64 * J] = Scale;
      }
      barrierArrive(Scaled);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;\n");
    const unsigned Consumer = threadIdx.x / 128 - 1;
    const unsigned Warp = (threadIdx.x / 32) & 3;
    const unsigned Lane = threadIdx.x & 31;
    const unsigned G = Lane >> 2, Q = Lane & 3;
    // Row G of the warp is column Column of the tile, row G + 8 is the next.
    // The chunks are spread so that the swizzled loads have no bank conflicts.
    const unsigned Chunk = 2 * (Warp & 1) + (G >> 2) + 4 * ((G >> 1) & 1);
    const unsigned Box = 2 * Consumer + (Warp >> 1);
    const int Column = N0 + int(32 * Box + 4 * Chunk + 2 * (G & 1));
    const unsigned FromBox = Base + BytesA + Box * BytesBoxB + (G & 1) * 8;
    const unsigned Lo = FromBox + Q * 128 + ((Chunk ^ Q) << 4);
    const unsigned Hi = FromBox + (Q + 4) * 128 + ((Chunk ^ (Q + 4)) << 4);
    // K-major, 128-byte swizzle, 1024 bytes from one 8 rows to the next.
    const Word64 Desc = Word64((Base & 0x3FFFFu) >> 4) | (Word64(1) << 16) |
                        (Word64(64) << 32) | (Word64(1) << 62);

    float d[128];
#pragma unroll
    for (int I = 0; I < 128; ++I)
      d[I] = 0.0f;
    unsigned F0[16], F1[16];
    unsigned Stage = 0, Phase = 0; // Stage is 0 or 2

    barrierWait(Full, 0);
    loadFragments(F0, Lo, Hi);
    int P = 0;
#pragma unroll 1
    while (true) {
      const unsigned Next = Stage + 1;
      multiplyStage(d, F0, Desc + Stage * (BytesStage >> 4), P > 0);
      asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
      if (P > 0 && Lane == 0)
        barrierArrive(Empty + 8 * ((Stage + 3) & 3));
      barrierWait(Full + 8 * Next, Phase);
      loadFragments(F1, Lo + Next * BytesStage, Hi + Next * BytesStage);
      multiplyStage(d, F1, Desc + Next * (BytesStage >> 4), 1);
      asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
      if (Lane == 0)
        barrierArrive(Empty + 8 * Stage);
      Stage ^= 2;
      if (Stage == 0)
        Phase ^= 1;
      ++P;
      if (P < Pairs) {
        barrierWait(Full + 8 * Stage, Phase);
        loadFragments(F0, Lo + Stage * BytesStage, Hi + Stage * BytesStage);
      }
      if (P == Pairs)
        break;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
    for (int I = 0; I < 128; ++I)
      asm volatile("" : "+f"(d[I])::"memory");

    barrierWait(Scaled, 0);
    if (Column < N) {
      // Rows 8 J + 2 Q and the next of the tile, two columns each.
      const int Row = M0 + int(2 * Q);
      const int Left = M - Row;
      const size_t Step = size_t(N) * 8;
      float *To = C + size_t(Z) * M * N + size_t(Row) * N + Column;
#pragma unroll
      for (int J = 0; J < TileM / 8; ++J) {
        const float2 S = reinterpret_cast<const float2 *>(Scales)[4 * J + Q];
        if (8 * J < Left)
          storePair(To, d[4 * J] * S.x, d[4 * J + 2] * S.x);
        if (8 * J + 1 < Left)
          storePair(To + N, d[4 * J + 1] * S.y, d[4 * J + 3] * S.y);
        To += Step;
      }
    }
  }
}
