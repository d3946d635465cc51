constexpr int Window = 4, Padding = 1;

// A block of 128 threads has 16 rows of outputs and 512 columns, four neighbours per thread.
constexpr int Rows = 16;
constexpr int Half = Rows / 2;
constexpr int Loads = Rows + Window - 1;
constexpr int Threads = 128;
constexpr int Span = 4 * Threads;
// Input columns that a block needs, and the length of a row in shared memory: whole lines of 128 bytes, so that
// lines of device memory are lines of shared memory too.
constexpr int Columns = Span + 4;
constexpr int Pitch = Span + 32;
static_assert(Pitch % 32 == 0 && Pitch >= Columns, "rows begin with a line");
static_assert(Half * (Span + 1) + 31 <= (Half + Window - 1) * Pitch, "first outputs fit over used up inputs");
static_assert(Rows * (Span + 1) + 31 <= Loads * Pitch, "outputs fit");
// Input rows that one warp's leader fetches.
constexpr int Share = (Loads + 3) / 4;

__device__ __forceinline__ unsigned sharedAddress(const void *P) {
  unsigned A;
  asm("{\n\t.reg .u64 T64;\n\tcvta.to.shared.u64 T64, %1;\n\tcvt.u32.u64 %0, T64;\n\t}" : "=r"(A) : "l"(P));
  return A;
}

__device__ __forceinline__ unsigned long long streamingPolicy() {
  unsigned long long Policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(Policy));
  return Policy;
}

__device__ __forceinline__ void fetchRow(unsigned To, const float *From, unsigned Bytes, unsigned Barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(To), "l"(From), "r"(Bytes), "r"(Barrier)
               : "memory");
}

__device__ __forceinline__ void fetchRowOnce(unsigned To, const float *From, unsigned Bytes, unsigned Barrier,
                                             unsigned long long Policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
               :
               : "r"(To), "l"(From), "r"(Bytes), "r"(Barrier), "l"(Policy)
               : "memory");
}

__device__ __forceinline__ float loadInput(const float *P) {
  float V;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(V) : "l"(P));
  return V;
}

__device__ __forceinline__ void storeOutput(float *P, float V) {
  asm volatile("st.global.cs.f32 [%0], %1;" : : "l"(P), "f"(V) : "memory");
}

// Along a row: from seven inputs the maxima of four windows. The fourth input is part of all of them.
// Floor makes them -inf where there is nothing but NaN; one row of each window's four is enough.
template <bool Floor>
__device__ __forceinline__ void across(const float *P, float (&H)[4]) {
  const float4 L = *reinterpret_cast<const float4 *>(P);
  const float4 N = *reinterpret_cast<const float4 *>(P + 4);
  const float D = Floor ? fmaxf(L.w, -INFINITY) : L.w;
  const float CD = fmaxf(L.z, D);
  const float BCD = fmaxf(L.y, CD);
  const float N01 = fmaxf(N.x, N.y);
  const float N012 = fmaxf(N01, N.z);
  H[0] = fmaxf(L.x, BCD);
  H[1] = fmaxf(BCD, N.x);
  H[2] = fmaxf(CD, N01);
  H[3] = fmaxf(D, N012);
}

__global__ void __launch_bounds__(128, 5) maxPool(const float *X, float *Y, int Height, int Width) {
  __shared__ __align__(128) float Tile[Loads * Pitch];
  __shared__ __align__(8) unsigned long long Full;

  const int OutHeight = Height + 2 * Padding - Window + 1;
  const int OutWidth = Width + 2 * Padding - Window + 1;
  const int T = int(threadIdx.x);
  const int Base = int(blockIdx.x) * Span;
  const int Row0 = int(blockIdx.y) * Rows;
  // The same for all threads of a block. A block has output columns Base + 1 to Base + 512,
  // the first one has column 0 too.
  if (Row0 >= OutHeight || (Base != 0 && Base + 1 >= OutWidth))
    return;

  const float *Plane = X + size_t(blockIdx.z) * Height * Width;
  const int Valid = min(Width - Base, Columns);
  const bool Bulk = (Width & 3) == 0 && (reinterpret_cast<size_t>(X) & 15) == 0;
  const unsigned Barrier = sharedAddress(&Full);

  if (Bulk && T == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(Barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(Barrier), "r"(unsigned(Loads * 4) * unsigned(Valid))
                 : "memory");
  }
  __syncthreads();

  // The tile. Every window that reaches over the upper or lower border contains the border's
  // own row, so clamping the row gives the same maximum as leaving the padding out.
  if (Bulk) {
    if ((T & 31) == 0) {
      const int K0 = (T >> 5) * Share;
      int R = Row0 - Padding + K0;
      const float *From = Plane + size_t(min(max(R, 0), Height - 1)) * Width + Base;
      unsigned To = sharedAddress(Tile) + unsigned(K0) * unsigned(Pitch * 4);
      const unsigned Bytes = unsigned(Valid) * 4u;
      const unsigned long long Policy = streamingPolicy();
#pragma unroll
      for (int I = 0; I < Share; ++I) {
        const int K = K0 + I;
        // The last rows are read again by the block below, which starts right after this one: they keep the
        // default policy. For all others, the block above has been there or nobody else comes: streamed.
        if (K < Rows)
          fetchRowOnce(To, From, Bytes, Barrier, Policy);
        else if (K < Loads)
          fetchRow(To, From, Bytes, Barrier);
        To += unsigned(Pitch * 4);
        if (R >= 0 && R < Height - 1)
          From += Width;
        ++R;
      }
    }
  } else {
    const float *From = Plane + size_t(max(Row0 - Padding, 0)) * Width + Base;
    float *To = Tile;
    int R = Row0 - Padding;
#pragma unroll 1
    for (int K = 0; K < Loads; ++K) {
#pragma unroll 1
      for (int C = T; C < Valid; C += Threads)
        To[C] = loadInput(From + C);
      To += Pitch;
      if (R >= 0 && R < Height - 1)
        From += Width;
      ++R;
    }
  }

  // Columns right of the input.
  for (int C = Valid + T; C < Columns; C += Threads) {
#pragma unroll
    for (int K = 0; K < Loads; ++K)
      Tile[K * Pitch + C] = -INFINITY;
  }

  // Meanwhile, where the outputs go. They replace the inputs in shared memory, laid out as in
  // device memory: where one block has whole rows, all its outputs are contiguous there, and lie
  // in lines of 128 bytes as they do there.
  const bool Whole = gridDim.x == 1;
  const int RowsHere = min(Rows, OutHeight - Row0);
  float *Out = Y + (size_t(blockIdx.z) * OutHeight + Row0) * OutWidth;
  const int Phase = Whole ? int((reinterpret_cast<size_t>(Out) >> 2) & 31) : 0;
  const int OutPitch = Whole ? OutWidth : Span + 1;
  const int Last = min(OutWidth - Base, Span + 1);

  // Threads write their four neighbours in rotated order, which keeps the banks apart.
  const int Turn = (T >> 3) & 3;
  const bool Turn1 = (Turn & 1) != 0;
  const bool Turn2 = (Turn & 2) != 0;
  int Place[4];
  bool Keep[4];
#pragma unroll
  for (int J = 0; J < 4; ++J) {
    const int Local = 4 * T + 1 + ((J + Turn) & 3);
    Place[J] = Phase + Local;
    Keep[J] = Local < Last;
  }

  __syncthreads();
  if (Bulk) {
    unsigned Done;
    do {
      asm volatile("{\n\t.reg .pred Ready;\n\t"
                   "mbarrier.try_wait.parity.shared::cta.b64 Ready, [%1], %2;\n\t"
                   "selp.u32 %0, 1, 0, Ready;\n\t}"
                   : "=r"(Done)
                   : "r"(Barrier), "r"(0u)
                   : "memory");
    } while (Done == 0);
  }

  // Output column 0: the first warp has one input row per lane, and slides the window over the lanes.
  const bool Border = Base == 0 && T < Rows;
  float Zero = -INFINITY;
  if (Base == 0 && T < 32) {
    if (T < Loads) {
      const float4 V = *reinterpret_cast<const float4 *>(Tile + T * Pitch);
      Zero = fmaxf(fmaxf(fmaxf(Zero, V.x), V.y), V.z);
    }
    Zero = fmaxf(Zero, __shfl_down_sync(0xffffffffu, Zero, 1));
    Zero = fmaxf(Zero, __shfl_down_sync(0xffffffffu, Zero, 2));
  }

  // Down the columns: pairs of rows, each used for two outputs.
  const float *Mine = Tile + 4 * T;
  float Pair0[4], Pair1[4], Prev[4];
  {
    float H0[4], H1[4];
    across<false>(Mine, H0);
    across<false>(Mine + Pitch, H1);
    across<false>(Mine + 2 * Pitch, Prev);
#pragma unroll
    for (int J = 0; J < 4; ++J) {
      Pair0[J] = fmaxf(H0[J], H1[J]);
      Pair1[J] = fmaxf(H1[J], Prev[J]);
    }
  }

#pragma unroll
  for (int Part = 0; Part < 2; ++Part) {
    float O[Half][4];
#pragma unroll
    for (int K = 0; K < Half; ++K) {
      const int In = Part * Half + K + Window - 1;
      float H[4];
      if ((In & 3) == 3)
        across<true>(Mine + In * Pitch, H);
      else
        across<false>(Mine + In * Pitch, H);
#pragma unroll
      for (int J = 0; J < 4; ++J) {
        const float Pair2 = fmaxf(Prev[J], H[J]);
        O[K][J] = fmaxf(Pair0[J], Pair2);
        Pair0[J] = Pair1[J];
        Pair1[J] = Pair2;
        Prev[J] = H[J];
      }
    }

    // After the first part input rows 0 to 10 are used up, and its outputs fit in rows 0 to 7;
    // after the second part all rows are.
    __syncthreads();
#pragma unroll
    for (int K = 0; K < Half; ++K) {
      const float A0 = Turn1 ? O[K][1] : O[K][0];
      const float A1 = Turn1 ? O[K][2] : O[K][1];
      const float A2 = Turn1 ? O[K][3] : O[K][2];
      const float A3 = Turn1 ? O[K][0] : O[K][3];
      const float W0 = Turn2 ? A2 : A0;
      const float W1 = Turn2 ? A3 : A1;
      const float W2 = Turn2 ? A0 : A2;
      const float W3 = Turn2 ? A1 : A3;
      if (Keep[0])
        Tile[Place[0]] = W0;
      if (Keep[1])
        Tile[Place[1]] = W1;
      if (Keep[2])
        Tile[Place[2]] = W2;
      if (Keep[3])
        Tile[Place[3]] = W3;
#pragma unroll
      for (int J = 0; J < 4; ++J)
        Place[J] += OutPitch;
    }
  }
  if (Border)
    Tile[Phase + T * OutPitch] = Zero;

  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();

  if (Whole) {
    // Up to three outputs at either end, and the aligned rest by one copy.
    const int Total = RowsHere * OutWidth;
    const int Head = min((4 - Phase) & 3, Total);
    const int Body = (Total - Head) & ~3;
    const int Tail = Total - Head - Body;
    if (T == 0) {
      if (Body > 0) {
        const unsigned From = sharedAddress(Tile) + unsigned(Phase + Head) * 4u;
        const unsigned long long Policy = streamingPolicy();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;"
                     :
                     : "l"(Out + Head), "r"(From), "r"(unsigned(Body) * 4u), "l"(Policy)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" : : : "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
      }
    } else if (T >= 32 && T < 32 + Head) {
      storeOutput(Out + (T - 32), Tile[Phase + (T - 32)]);
    } else if (T >= 64 && T < 64 + Tail) {
      const int I = Head + Body + (T - 64);
      storeOutput(Out + I, Tile[Phase + I]);
    }
  } else {
    const int First = Base == 0 ? 0 : 1;
    float *OutRow = Out + Base;
    const float *Row = Tile;
    for (int K = 0; K < RowsHere; ++K) {
      for (int C = First + T; C < Last; C += Threads)
        storeOutput(OutRow + C, Row[C]);
      OutRow += OutWidth;
      Row += Span + 1;
    }
  }
}
