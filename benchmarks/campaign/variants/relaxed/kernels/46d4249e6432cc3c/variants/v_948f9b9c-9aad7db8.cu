#include <cuda.h>

// A block: 128 queries of one head, 8 warps, each with products of 64 x 64.
// Keys come in groups of 512, these in two parts of 256. Of a part the scores
// are Q K' (tiles of 64 rows x 32 columns by TMA, 3 stages); maximum and sum are
// kept as the parts come, and the weights stay in shared memory as halves (of
// 11 bits, as tf32 has). With the weights of a group the values are multiplied,
// 256 columns at a time. Up to 512 rows, nothing is ever read back from Y.
// The exponential magnifies errors of the scores. Where the scores of a part
// spread far enough for that to matter, what tf32 loses of Q and K is
// multiplied in a second turn and added to them.
constexpr int Tile = 64, Deep = 32, Stages = 3;
constexpr int Queries = 2 * Tile, Keys = 4 * Tile, Wide = 4 * Tile;
constexpr int Group = 2 * Keys;
constexpr unsigned Box = Tile * Deep * 4;                // 8 KiB.
constexpr unsigned ScoreStage = 6 * Box;                 // Q: 2, K: 4 boxes.
constexpr unsigned WeightBlock = Queries * Tile * 2;     // Weights of 64 keys.
constexpr unsigned ScoreBase = 4 * WeightBlock;          // 64 KiB.
constexpr unsigned ValueBase = 8 * WeightBlock;          // 128 KiB.
constexpr unsigned ValueBox = 32 * 32 * 4;               // 4 KiB.
constexpr unsigned ValueStage = 8 * ValueBox;            // 32 x 256 values.
constexpr unsigned Exchange = ScoreBase + 3 * ScoreStage; // 208 KiB.
constexpr float Lift = 10.3972077f; // The weights are lifted by 2^15.

__device__ __forceinline__ unsigned toShared(const void *Pointer) {
  unsigned Result;
  asm volatile("{\n .reg .u64 addr64;\n cvta.to.shared.u64 addr64, %1;\n"
               " cvt.u32.u64 %0, addr64;\n}"
               : "=r"(Result)
               : "l"(Pointer));
  return Result;
}

__device__ __forceinline__ void barrierInit(unsigned Barrier, unsigned Count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(Barrier),
               "r"(Count)
               : "memory");
}

__device__ __forceinline__ void barrierExpect(unsigned Barrier,
                                              unsigned Bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   Barrier),
               "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void barrierArrive(unsigned Barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(Barrier)
               : "memory");
}

__device__ __forceinline__ void barrierWait(unsigned Barrier,
                                            unsigned Parity) {
  unsigned Done;
  do {
    asm volatile("{\n .reg .pred p;\n"
                 " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(Done)
                 : "r"(Barrier), "r"(Parity)
                 : "memory");
  } while (!Done);
}

__device__ __forceinline__ void copyBox(unsigned To, const CUtensorMap *Map,
                                        int X, int Y, int Z,
                                        unsigned Barrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(To),
               "l"(Map), "r"(X), "r"(Y), "r"(Z), "r"(Barrier)
               : "memory");
}

__device__ __forceinline__ void proxyFence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void loadMatrices(unsigned (&To)[4],
                                             unsigned Address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];"
               : "=r"(To[0]), "=r"(To[1]), "=r"(To[2]), "=r"(To[3])
               : "r"(Address)
               : "memory");
}

__device__ __forceinline__ float4 loadFour(unsigned Address) {
  float4 Result;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(Result.x), "=f"(Result.y), "=f"(Result.z),
                 "=f"(Result.w)
               : "r"(Address)
               : "memory");
  return Result;
}

__device__ __forceinline__ void storeWord(unsigned Address, unsigned Value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(Address), "r"(Value)
               : "memory");
}

// D += A B, 16 x 8 x 8.
__device__ __forceinline__ void multiply(float (&D)[4], const unsigned (&A)[4],
                                         unsigned B0, unsigned B1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B0), "r"(B1));
}

// The tensor instructions cut off the last 13 bits. To make up for what this
// takes away on average, values are raised by 0.7 * 2^-11 of their size. This
// keeps those that tf32 holds exactly.
__device__ __forceinline__ unsigned rounded(float Value) {
  return __float_as_uint(Value * 1.000341796875f);
}

__device__ __forceinline__ unsigned rounded(unsigned Bits) {
  return rounded(__uint_as_float(Bits));
}

// High is what the tensor instructions see of rounded(Bits), Low the rest.
__device__ __forceinline__ void split(unsigned Bits, unsigned &High,
                                      unsigned &Low) {
  High = rounded(Bits) & 0xffffe000u;
  Low = rounded(__uint_as_float(Bits) - __uint_as_float(High));
}

__device__ __forceinline__ unsigned packHalves(float Low, float High) {
  unsigned Result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(Result) : "f"(High), "f"(Low));
  return Result;
}

__device__ __forceinline__ void unpackHalves(unsigned Pair, unsigned &Low,
                                             unsigned &High) {
  float L, H;
  asm("{\n .reg .b16 l, h;\n mov.b32 {l, h}, %2;\n cvt.f32.f16 %0, l;\n"
      " cvt.f32.f16 %1, h;\n}"
      : "=f"(L), "=f"(H)
      : "r"(Pair));
  Low = __float_as_uint(L);
  High = __float_as_uint(H);
}

// Stages are numbered on and on for the sake of the barriers, slots (their
// places in shared memory) anew with each phase.
struct Pipe {
  unsigned Full, Empty;
  int Stage, Slot;
  unsigned Phase;
  int LoadStage, LoadSlot;
  unsigned LoadPhase;
};

__device__ __forceinline__ void advance(int &Stage, unsigned &Phase,
                                        int &Slot) {
  if (++Stage == Stages) {
    Stage = 0;
    Phase ^= 1;
  }
  if (++Slot == Stages)
    Slot = 0;
}

__device__ __forceinline__ void loadScores(Pipe &P, unsigned Base,
                                           const CUtensorMap *QMap,
                                           const CUtensorMap *KMap, int From,
                                           int First, int Key, int Head) {
  const unsigned Ready = P.Full + 8 * P.LoadStage;
  const unsigned To = Base + ScoreBase + P.LoadSlot * ScoreStage;
  barrierWait(P.Empty + 8 * P.LoadStage, P.LoadPhase ^ 1);
  barrierExpect(Ready, ScoreStage);
#pragma unroll
  for (int I = 0; I < 2; ++I)
    copyBox(To + I * Box, QMap, From, First + I * Tile, Head, Ready);
#pragma unroll
  for (int I = 0; I < 4; ++I)
    copyBox(To + (2 + I) * Box, KMap, From, Key + I * Tile, Head, Ready);
  advance(P.LoadStage, P.LoadPhase, P.LoadSlot);
}

__device__ __forceinline__ void startScores(Pipe &P, unsigned Base,
                                            const CUtensorMap *QMap,
                                            const CUtensorMap *KMap, int First,
                                            int Key, int Head, int Columns) {
  loadScores(P, Base, QMap, KMap, 0, First, Key, Head);
  if (Deep < Columns)
    loadScores(P, Base, QMap, KMap, Deep, First, Key, Head);
}

__device__ __forceinline__ void loadValues(Pipe &P, unsigned Base,
                                           const CUtensorMap *VMap,
                                           int &Column, int &From, int Start,
                                           int End, int Columns, int Head) {
  if (Column < Columns) {
    const unsigned Ready = P.Full + 8 * P.LoadStage;
    const unsigned To = Base + ValueBase + P.LoadSlot * ValueStage;
    barrierWait(P.Empty + 8 * P.LoadStage, P.LoadPhase ^ 1);
    barrierExpect(Ready, ValueStage);
#pragma unroll
    for (int I = 0; I < 8; ++I)
      copyBox(To + I * ValueBox, VMap, Column + 32 * I, From, Head, Ready);
    advance(P.LoadStage, P.LoadPhase, P.LoadSlot);
    From += Deep;
    if (From >= End) {
      From = Start;
      Column += Wide;
    }
  }
}

// Step: 8 of the 32 columns. (The swizzle is in the addresses of the lanes.)
__device__ __forceinline__ void loadStep(unsigned (&A)[4][4],
                                         unsigned (&B)[4][4], unsigned Left,
                                         unsigned Right, unsigned Step) {
#pragma unroll
  for (int M = 0; M < 4; ++M)
    loadMatrices(A[M], (Left ^ (Step << 5)) + M * 2048);
#pragma unroll
  for (int N = 0; N < 4; ++N)
    loadMatrices(B[N], (Right ^ (Step << 5)) + N * 2048);
}

template <bool Correct>
__device__ __forceinline__ void scoreChunk(float (&D)[4][8][4], unsigned Left,
                                           unsigned Right) {
  if (Correct) {
    // What the first turn left out.
#pragma unroll 1
    for (unsigned Step = 0; Step < 4; ++Step) {
      unsigned A[4][4], ALow[4][4];
#pragma unroll
      for (int M = 0; M < 4; ++M) {
        unsigned Raw[4];
        loadMatrices(Raw, (Left ^ (Step << 5)) + M * 2048);
#pragma unroll
        for (int I = 0; I < 4; ++I)
          split(Raw[I], A[M][I], ALow[M][I]);
      }
#pragma unroll
      for (int N = 0; N < 4; ++N) {
        unsigned Raw[4], B[4], BLow[4];
        loadMatrices(Raw, (Right ^ (Step << 5)) + N * 2048);
#pragma unroll
        for (int I = 0; I < 4; ++I)
          split(Raw[I], B[I], BLow[I]);
#pragma unroll
        for (int H = 0; H < 2; ++H) {
#pragma unroll
          for (int M = 0; M < 4; ++M)
            multiply(D[M][2 * N + H], ALow[M], B[2 * H], B[2 * H + 1]);
#pragma unroll
          for (int M = 0; M < 4; ++M)
            multiply(D[M][2 * N + H], A[M], BLow[2 * H], BLow[2 * H + 1]);
        }
      }
    }
  } else {
    unsigned A[2][4][4], B[2][4][4];
    loadStep(A[0], B[0], Left, Right, 0);
#pragma unroll
    for (int Step = 0; Step < 4; ++Step) {
      const int Now = Step & 1;
      if (Step < 3)
        loadStep(A[Now ^ 1], B[Now ^ 1], Left, Right, Step + 1);
#pragma unroll
      for (int M = 0; M < 4; ++M)
#pragma unroll
        for (int I = 0; I < 4; ++I) {
          A[Now][M][I] = rounded(A[Now][M][I]);
          B[Now][M][I] = rounded(B[Now][M][I]);
        }
#pragma unroll
      for (int N = 0; N < 4; ++N)
#pragma unroll
        for (int H = 0; H < 2; ++H)
#pragma unroll
          for (int M = 0; M < 4; ++M)
            multiply(D[M][2 * N + H], A[Now][M], B[Now][N][2 * H],
                     B[Now][N][2 * H + 1]);
    }
  }
}

template <bool Correct>
__device__ __forceinline__ void
runScores(float (&D)[4][8][4], Pipe &P, unsigned Base, const CUtensorMap *QMap,
          const CUtensorMap *KMap, int First, int Key, int Head, int Columns,
          unsigned LeftOffset, unsigned RightOffset, bool Loader, int Lane) {
#pragma unroll 1
  for (int From = 0; From < Columns; From += Deep) {
    if (Loader && From + 2 * Deep < Columns)
      loadScores(P, Base, QMap, KMap, From + 2 * Deep, First, Key, Head);
    __syncwarp();
    barrierWait(P.Full + 8 * P.Stage, P.Phase);
    __syncwarp();
    const unsigned At = Base + ScoreBase + P.Slot * ScoreStage;
    scoreChunk<Correct>(D, At + LeftOffset, At + 2 * Box + RightOffset);
    __syncwarp();
    if (Lane == 0)
      barrierArrive(P.Empty + 8 * P.Stage);
    __syncwarp();
    advance(P.Stage, P.Phase, P.Slot);
  }
}

// 32 keys. Of 8 keys the even ones come first for the instructions, then the
// odd ones; of 32 columns, in each turn every fourth.
__device__ __forceinline__ void valueChunk(float (&D)[4][8][4],
                                           unsigned Weights, unsigned Even,
                                           unsigned Odd) {
  float4 V[2][2][2];
#pragma unroll
  for (int N = 0; N < 2; ++N) {
    V[0][N][0] = loadFour(Even + N * ValueBox);
    V[0][N][1] = loadFour(Odd + N * ValueBox);
  }
  unsigned W[4][4];
#pragma unroll
  for (int Step = 0; Step < 4; ++Step) {
    const int Now = Step & 1;
    if (Now == 0) {
#pragma unroll
      for (int M = 0; M < 4; ++M)
        loadMatrices(W[M], (Weights ^ (unsigned(Step) << 4)) + M * 2048);
    }
    if (Step < 3) {
#pragma unroll
      for (int N = 0; N < 2; ++N) {
        V[Now ^ 1][N][0] = loadFour(Even + N * ValueBox + (Step + 1) * 1024);
        V[Now ^ 1][N][1] = loadFour(Odd + N * ValueBox + (Step + 1) * 1024);
      }
    }
    unsigned A[4][4];
#pragma unroll
    for (int M = 0; M < 4; ++M) {
      unpackHalves(W[M][2 * Now], A[M][0], A[M][2]);
      unpackHalves(W[M][2 * Now + 1], A[M][1], A[M][3]);
    }
#pragma unroll
    for (int N = 0; N < 2; ++N) {
      const unsigned B0[4] = {
          rounded(V[Now][N][0].x), rounded(V[Now][N][0].y),
          rounded(V[Now][N][0].z), rounded(V[Now][N][0].w)};
      const unsigned B1[4] = {
          rounded(V[Now][N][1].x), rounded(V[Now][N][1].y),
          rounded(V[Now][N][1].z), rounded(V[Now][N][1].w)};
#pragma unroll
      for (int J = 0; J < 4; ++J)
#pragma unroll
        for (int M = 0; M < 4; ++M)
          multiply(D[M][4 * N + J], A[M], B0[J], B1[J]);
    }
  }
}

__global__ void __launch_bounds__(256, 1)
    attentionTiled(const float *Q, const float *K, const float *V, float *Y,
                   int Rows, int Columns, float Scale,
                   const __grid_constant__ CUtensorMap QMap,
                   const __grid_constant__ CUtensorMap KMap,
                   const __grid_constant__ CUtensorMap VMap) {
  // Scores: weights of the first part below 64 KiB, from there on 3 stages of Q
  // and K (then over them the weights of the second part), then what the warps
  // tell each other. Values: 128 KiB of weights, 3 stages of V.
  extern __shared__ unsigned char Dynamic[];
  __shared__ unsigned long long Barriers[2 * Stages];
  __shared__ float Max[Queries]; // At last the inverse sums.
  __shared__ float Shrink[2][Queries];
  const unsigned Raw = toShared(Dynamic);
  const unsigned Base = (Raw + 1023u) & ~1023u;
  float *const Tops =
      reinterpret_cast<float *>(Dynamic + (Base - Raw) + Exchange);
  float *const Bottoms = Tops + 4 * Queries;
  float *const Sums = Tops + 8 * Queries;
  const int Thread = threadIdx.x, Lane = Thread % 32;
  const int Warp = __shfl_sync(0xffffffff, Thread / 32, 0);
  const int WarpM = Warp / 4, WarpN = Warp % 4;
  const int G = Lane / 4, T = Lane % 4;
  const int Mine = WarpM * 64 + G; // The thread's first row of the block's.
  const int First = blockIdx.x * Queries, Head = blockIdx.y;
  const bool Loader = Thread == 0;
  // Of Q and of the weights: 16 rows, 2 pieces of 16 bytes; of K: the same,
  // the pieces first.
  const unsigned LeftOffset = (WarpM * 64 + Lane % 16) * 128 +
                              (((Lane / 16) ^ (Lane % 8)) << 4);
  const unsigned RightOffset =
      (WarpN * 64 + Lane % 8 + (Lane / 16) * 8) * 128 +
      ((((Lane / 8) & 1) ^ (Lane % 8)) << 4);
  const unsigned EvenOffset =
      WarpN * 2 * ValueBox + (2 * T) * 128 + ((G ^ (2 * T)) << 4);
  const unsigned OddOffset =
      WarpN * 2 * ValueBox + (2 * T + 1) * 128 + ((G ^ (2 * T + 1)) << 4);

  Pipe P;
  P.Full = toShared(Barriers);
  P.Empty = P.Full + 8 * Stages;
  P.Stage = P.Slot = P.LoadStage = P.LoadSlot = 0;
  P.Phase = P.LoadPhase = 0;
  if (Thread < Queries)
    Max[Thread] = -INFINITY;
  if (Loader) {
    for (int I = 0; I < Stages; ++I) {
      barrierInit(P.Full + 8 * I, 1);
      barrierInit(P.Empty + 8 * I, 8);
    }
    proxyFence();
  }
  __syncthreads();

  float Total[8];
#pragma unroll
  for (int I = 0; I < 8; ++I)
    Total[I] = 0.0f;

#pragma unroll 1
  for (int Start = 0; Start < Rows; Start += Group) {
    const bool Last = Rows - Start <= Group;
    const int End = Last ? Rows : Start + Group;
    int LoadColumn = 0, LoadFrom = Start;
    P.Slot = P.LoadSlot = 0;
    if (Loader)
      startScores(P, Base, &QMap, &KMap, First, Start, Head, Columns);
    __syncwarp();

#pragma unroll 1
    for (int Key = Start; Key < End; Key += Keys) {
      const int Part = Key > Start ? 1 : 0;
      const int Left = Rows - (Key + WarpN * 64 + 2 * T); // Keys from mine on.
      float D[4][8][4];
#pragma unroll
      for (int M = 0; M < 4; ++M)
#pragma unroll
        for (int N = 0; N < 8; ++N)
#pragma unroll
          for (int I = 0; I < 4; ++I)
            D[M][N][I] = 0.0f;

      bool Again = false;
#pragma unroll 1
      for (;;) {
        if (!Again)
          runScores<false>(D, P, Base, &QMap, &KMap, First, Key, Head, Columns,
                           LeftOffset, RightOffset, Loader, Lane);
        else
          runScores<true>(D, P, Base, &QMap, &KMap, First, Key, Head, Columns,
                          LeftOffset, RightOffset, Loader, Lane);
        // The greatest and the least of the scores of each query.
#pragma unroll
        for (int I = 0; I < 8; ++I) {
          const int M = I / 2, H = I % 2;
          float High = -INFINITY, Low = INFINITY;
#pragma unroll
          for (int N = 0; N < 8; ++N)
#pragma unroll
            for (int E = 0; E < 2; ++E) {
              const float Score = __fmul_rn(D[M][N][2 * H + E], Scale);
              if (8 * N + E < Left) {
                High = fmaxf(High, Score);
                Low = fminf(Low, Score);
              }
            }
#pragma unroll
          for (int Offset = 1; Offset < 4; Offset *= 2) {
            High = fmaxf(High, __shfl_xor_sync(0xffffffff, High, Offset));
            Low = fminf(Low, __shfl_xor_sync(0xffffffff, Low, Offset));
          }
          if (T == 0) {
            Tops[WarpN * Queries + Mine + 16 * M + 8 * H] = High;
            Bottoms[WarpN * Queries + Mine + 16 * M + 8 * H] = Low;
          }
        }
        __syncthreads();
        if (Again)
          break;
        int Far = 0;
        if (Thread < Queries) {
          float High = Tops[Thread], Low = Bottoms[Thread];
#pragma unroll
          for (int I = 1; I < 4; ++I) {
            High = fmaxf(High, Tops[I * Queries + Thread]);
            Low = fminf(Low, Bottoms[I * Queries + Thread]);
          }
          Far = !(High - Low <= 10.0f &&
                  fmaxf(fabsf(High), fabsf(Low)) <= 24.0f);
        }
        if (!__syncthreads_or(Far))
          break;
        Again = true;
        P.Slot = P.LoadSlot = 0;
        if (Loader)
          startScores(P, Base, &QMap, &KMap, First, Key, Head, Columns);
        __syncwarp();
      }

      // Maximum and sum, as far as the keys have come.
      float Top[8], Less[8];
#pragma unroll
      for (int I = 0; I < 8; ++I) {
        const int R = Mine + 16 * (I / 2) + 8 * (I % 2);
        const float Old = Max[R];
        float New = Old;
#pragma unroll
        for (int J = 0; J < 4; ++J)
          New = fmaxf(New, Tops[J * Queries + R]);
        Top[I] = New;
        Less[I] = __expf(Old - New);
      }
      // Nobody reads the stages any more, nor what was told.
      __syncthreads();
      P.Slot = P.LoadSlot = 0;
      if (Loader) {
        if (Key + Keys < End) {
          startScores(P, Base, &QMap, &KMap, First, Key + Keys, Head, Columns);
        } else {
          loadValues(P, Base, &VMap, LoadColumn, LoadFrom, Start, End, Columns,
                     Head);
          loadValues(P, Base, &VMap, LoadColumn, LoadFrom, Start, End, Columns,
                     Head);
        }
      }
      __syncwarp();
#pragma unroll
      for (int I = 0; I < 8; ++I) {
        const int M = I / 2, H = I % 2, R = Mine + 16 * M + 8 * H;
        if (WarpN == 0 && T == 0) {
          Max[R] = Top[I];
          Shrink[Part][R] = Less[I];
        }
        const unsigned To =
            Base + (Part * 4 + WarpN) * WeightBlock + R * 128 + 4 * T;
        float Sum = 0.0f;
#pragma unroll
        for (int N = 0; N < 8; ++N) {
          float Power[2];
#pragma unroll
          for (int E = 0; E < 2; ++E) {
            const float Value = __expf(
                (__fmul_rn(D[M][N][2 * H + E], Scale) - Top[I]) + Lift);
            Power[E] = 8 * N + E < Left ? Value : 0.0f;
            Sum += Power[E];
          }
          storeWord(To + ((N ^ G) << 4), packHalves(Power[0], Power[1]));
        }
        Total[I] = Total[I] * Less[I] + Sum;
      }
    }

#pragma unroll
    for (int I = 0; I < 8; ++I) {
      float Sum = Total[I];
#pragma unroll
      for (int Offset = 1; Offset < 4; Offset *= 2)
        Sum += __shfl_xor_sync(0xffffffff, Sum, Offset);
      if (T == 0)
        Sums[WarpN * Queries + Mine + 16 * (I / 2) + 8 * (I % 2)] = Sum;
    }
    proxyFence();
    __syncthreads();
    if (Last && Thread < Queries)
      Max[Thread] = 1.0f / (Sums[Thread] + Sums[Queries + Thread] +
                            Sums[2 * Queries + Thread] +
                            Sums[3 * Queries + Thread]);
    // The third stage of V comes over the sums.
    __syncthreads();

    // Weighted by them, the values.
#pragma unroll 1
    for (int Column = 0; Column < Columns; Column += Wide) {
      const int C = Column + WarpN * 64 + 8 * T;
      float *const Out =
          Y + (size_t(Head) * Rows + (First + Mine)) * Columns + C;
      float D[4][8][4];
#pragma unroll
      for (int M = 0; M < 4; ++M)
#pragma unroll
        for (int N = 0; N < 8; ++N)
#pragma unroll
          for (int I = 0; I < 4; ++I)
            D[M][N][I] = 0.0f;
      if (Start > 0) {
        // What the groups before have left in Y.
#pragma unroll
        for (int I = 0; I < 8; ++I) {
          const int M = I / 2, H = I % 2, R = 16 * M + 8 * H;
          if (First + Mine + R < Rows) {
            const float Factor = Shrink[0][Mine + R];
#pragma unroll
            for (int N = 0; N < 2; ++N)
#pragma unroll
              for (int E = 0; E < 2; ++E)
                if (C + 32 * N + 4 * E < Columns) {
                  const float4 Old = *reinterpret_cast<const float4 *>(
                      Out + size_t(R) * Columns + 32 * N + 4 * E);
                  D[M][4 * N][2 * H + E] = Old.x * Factor;
                  D[M][4 * N + 1][2 * H + E] = Old.y * Factor;
                  D[M][4 * N + 2][2 * H + E] = Old.z * Factor;
                  D[M][4 * N + 3][2 * H + E] = Old.w * Factor;
                }
          }
        }
        __syncwarp();
      }
#pragma unroll 1
      for (int Key = Start; Key < End; Key += Keys) {
        if (Key > Start) {
#pragma unroll
          for (int I = 0; I < 8; ++I) {
            const int M = I / 2, H = I % 2;
            const float Factor = Shrink[1][Mine + 16 * M + 8 * H];
#pragma unroll
            for (int N = 0; N < 8; ++N) {
              D[M][N][2 * H] *= Factor;
              D[M][N][2 * H + 1] *= Factor;
            }
          }
        }
        const int Stop = End - Key < Keys ? End : Key + Keys;
#pragma unroll 1
        for (int From = Key; From < Stop; From += Deep) {
          if (Loader)
            loadValues(P, Base, &VMap, LoadColumn, LoadFrom, Start, End,
                       Columns, Head);
          __syncwarp();
          barrierWait(P.Full + 8 * P.Stage, P.Phase);
          __syncwarp();
          const unsigned Weights =
              (Base + unsigned(From - Start) / 64 * WeightBlock + LeftOffset) ^
              (unsigned(From & 32) << 1);
          const unsigned At = Base + ValueBase + P.Slot * ValueStage;
          valueChunk(D, Weights, At + EvenOffset, At + OddOffset);
          __syncwarp();
          if (Lane == 0)
            barrierArrive(P.Empty + 8 * P.Stage);
          __syncwarp();
          advance(P.Stage, P.Phase, P.Slot);
        }
      }
#pragma unroll
      for (int I = 0; I < 8; ++I) {
        const int M = I / 2, H = I % 2, R = 16 * M + 8 * H;
        if (First + Mine + R < Rows) {
          const float Factor = Last ? Max[Mine + R] : 1.0f;
#pragma unroll
          for (int N = 0; N < 2; ++N)
#pragma unroll
            for (int E = 0; E < 2; ++E)
              if (C + 32 * N + 4 * E < Columns)
                *reinterpret_cast<float4 *>(Out + size_t(R) * Columns +
                                            32 * N + 4 * E) =
                    make_float4(D[M][4 * N][2 * H + E] * Factor,
                                D[M][4 * N + 1][2 * H + E] * Factor,
                                D[M][4 * N + 2][2 * H + E] * Factor,
                                D[M][4 * N + 3][2 * H + E] * Factor);
        }
      }
      __syncwarp();
    }
    // The next group overwrites stages and weights.
    proxyFence();
    __syncthreads();
  }
}
