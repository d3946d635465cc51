constexpr int Window = 3;
constexpr int Taps = Window * Window;
constexpr int Channels = 16;      // input channels, one k16 step per tap
constexpr int TileOutputs = 128;  // outputs of a block
constexpr int WarpColumns = 64;   // columns of a warp
constexpr int TileColumns = 256;  // columns of a block, four warps
constexpr int TileRows = 43;      // output rows that a block walks down
constexpr int Threads = 128;
constexpr int Left = 6;           // columns left of the tile, for the skew
constexpr int Margin = 8;         // columns left and right in what is copied
constexpr int Pitch = 272;        // pixels in a plane of a row in shared memory
constexpr int PlaneBytes = Pitch * 16;        // one row, 8 channels, f16
constexpr int RowBytes = 2 * PlaneBytes;      // one row, 16 channels
constexpr int WeightHalf = TileOutputs * 16;  // one tap, 8 channels, f16
constexpr int WeightTap = 2 * WeightHalf;
constexpr int WeightBytes = Taps * WeightTap;
constexpr int InPitch = (TileColumns + 2 * Margin) * 4;  // a channel, f32
constexpr int InBytes = 8 * InPitch;   // half the channels of a row, f32
constexpr int OutPitch = TileColumns * 4 + 64;  // an output; 16 banks on
constexpr int OutBytes = 16 * OutPitch;         // 16 outputs of a row, f32
constexpr int InAt = WeightBytes + 4 * RowBytes;
constexpr int OutAt = InAt + InBytes;
constexpr int BarrierAt = OutAt + 2 * OutBytes;
static_assert(BarrierAt + 16 == 115216, "as in the launch plan");
static_assert(OutBytes >= InBytes, "half a row fits a buffer for outputs");

__device__ __forceinline__ unsigned sharedAddress(const void *P) {
  unsigned A;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
      : "=r"(A)
      : "l"(P));
  return A;
}

__device__ __forceinline__ float loadNc(const float *P) {
  float V;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(V) : "l"(P));
  return V;
}

__device__ __forceinline__ float loadShared(unsigned A) {
  float V;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(V) : "r"(A) : "memory");
  return V;
}

__device__ __forceinline__ unsigned pack(float Low, float High) {
  unsigned D;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(D) : "f"(High), "f"(Low));
  return D;
}

__device__ __forceinline__ void ldmatrix2(unsigned &D0, unsigned &D1,
                                          unsigned A) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(D0), "=r"(D1)
               : "r"(A)
               : "memory");
}

__device__ __forceinline__ void mma(float (&D)[4], const unsigned (&A)[4],
                                    unsigned B0, unsigned B1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
      : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B0), "r"(B1));
}

// The barrier in memory and the bulk engine.
__device__ __forceinline__ void barrierInit(unsigned Bar) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(Bar), "r"(1u)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

__device__ __forceinline__ void barrierExpect(unsigned Bar, unsigned Bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(Bar), "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void barrierWait(unsigned Bar, unsigned Parity) {
  unsigned Done;
  do {
    asm volatile("{ .reg .pred p; "
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(Done)
                 : "r"(Bar), "r"(Parity)
                 : "memory");
  } while (Done == 0u);
}

__device__ __forceinline__ void bulkLoad(unsigned To, const float *From,
                                         unsigned Bytes, unsigned Bar) {
  asm volatile("cp.async.bulk.shared::cluster.global"
               ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(To), "l"(From), "r"(Bytes), "r"(Bar)
               : "memory");
}

__device__ __forceinline__ void bulkStore(float *To, unsigned From,
                                          unsigned Bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(To), "r"(From), "r"(Bytes)
               : "memory");
}

__device__ __forceinline__ void bulkCommit() {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}

__device__ __forceinline__ void bulkWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
}

__device__ __forceinline__ void bulkWait() {
  asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
}

__device__ __forceinline__ void fenceAsync() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

// Eight channels of one pixel, from the copied f32 rows to f16.
__device__ __forceinline__ void convert(unsigned To, unsigned From, bool Ok) {
  float V[8];
#pragma unroll
  for (int C = 0; C < 8; ++C)
    V[C] = 0.0f;
  if (Ok) {
#pragma unroll
    for (int C = 0; C < 8; ++C)
      V[C] = loadShared(From + unsigned(C * InPitch));
  }
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(To), "r"(pack(V[0], V[1])), "r"(pack(V[2], V[3])),
                 "r"(pack(V[4], V[5])), "r"(pack(V[6], V[7]))
               : "memory");
}

// The pixels of a thread in half a row.
__device__ __forceinline__ void convertHalf(unsigned To, unsigned From,
                                            bool OkA, bool OkB, bool MineH,
                                            bool OkH) {
  convert(To, From, OkA);
  convert(To + 128u * 16u, From + 128u * 4u, OkB);
  if (MineH)
    convert(To + unsigned(TileColumns) * 16u,
            From + unsigned(TileColumns) * 4u, OkH);
}

// Where a pixel lies in its plane: the pixels b + {0, 4, 8, ..., 28} are in
// different banks for each b, and so are eight pixels from a multiple of eight.
__device__ __forceinline__ unsigned slot(int P) {
  return unsigned(P ^ ((P >> 3) & 3)) * 16u;
}

__device__ __forceinline__ void stage4(unsigned To, float A, float B, float C,
                                       float D) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(To), "f"(A), "f"(B), "f"(C), "f"(D)
               : "memory");
}

__device__ __forceinline__ void store2(float *P, float A, float B) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};"
               :
               : "l"(P), "f"(A), "f"(B)
               : "memory");
}

__global__ void __launch_bounds__(Threads, 2)
    convolution_bulk(const float *X, const float *Weight, float *Y, int Inputs,
                     int Outputs, int Height, int Width) {
  extern __shared__ __align__(128) unsigned char Shared[];
  const unsigned Weights = sharedAddress(Shared);
  const unsigned Pixels = Weights + unsigned(WeightBytes);
  const unsigned In = Weights + unsigned(InAt);
  const unsigned Out = Weights + unsigned(OutAt);
  const unsigned Bar = Weights + unsigned(BarrierAt);

  const int Tid = int(threadIdx.x);
  const int Lane = Tid & 31, Warp = Tid >> 5;
  const int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  const int Groups = Outputs / TileOutputs;
  const int Image = int(blockIdx.z) / Groups;
  const int Group = int(blockIdx.z) - Image * Groups;
  const int C0 = int(blockIdx.x) * TileColumns;
  const int Row0 = int(blockIdx.y) * TileRows;
  const int Rows =
      OutHeight - Row0 < TileRows ? OutHeight - Row0 : TileRows;

  // Input rows come by bulk copies, one a channel: the columns from C0 - Margin
  // to C0 + TileColumns + Margin, as far as the row has them. Lane l of warp 0
  // copies channels l and l + 8.
  const size_t Plane = size_t(Height) * size_t(Width);
  const size_t Plane8 = 8 * Plane;
  const int FirstColumn = C0 > 0 ? C0 - Margin : 0;
  const int LastColumn = C0 + TileColumns + Margin < Width
                             ? C0 + TileColumns + Margin
                             : Width;
  const unsigned CopyBytes = unsigned(LastColumn - FirstColumn) * 4u;
  const unsigned CopyTo = unsigned(Lane & 7) * unsigned(InPitch) +
                          unsigned(FirstColumn - (C0 - Margin)) * 4u;
  const float *XIn = X + size_t(Image) * size_t(Inputs) * Plane +
                     size_t(Lane & 7) * Plane + size_t(Row0) * size_t(Width) +
                     size_t(FirstColumn);

  if (Warp == 0) {
    if (Lane == 0) {
      barrierInit(Bar);
      fenceAsync();
      barrierExpect(Bar, 16u * CopyBytes);
    }
    __syncwarp();
    // Of the first rows the second half comes into a buffer for outputs.
    if (Lane < 8) {
      bulkLoad(In + CopyTo, XIn, CopyBytes, Bar);
      bulkLoad(Out + CopyTo, XIn + Plane8, CopyBytes, Bar);
    }
    __syncwarp();
  }

  // Weights: to f16 in shared memory as [tap][half][row][8 channels], for the
  // block's whole life. Row (o % 2) * 64 + o / 2 is output o.
  {
    const float *Source =
        Weight + size_t(Group) * (TileOutputs * Channels * Taps) + Tid;
    int O = 0, C = Tid / Taps, T = Tid % Taps;
#pragma unroll 1
    for (int I = 0; I < TileOutputs * Channels * Taps / (Threads * 16); ++I) {
      float V[16];
#pragma unroll
      for (int J = 0; J < 16; ++J)
        V[J] = loadNc(Source + J * Threads);
      Source += 16 * Threads;
#pragma unroll
      for (int J = 0; J < 16; ++J) {
        unsigned short H;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(H) : "f"(V[J]));
        const unsigned A = Weights + unsigned(T) * unsigned(WeightTap) +
                           unsigned(C >> 3) * unsigned(WeightHalf) +
                           unsigned((O & 1) * 64 + (O >> 1)) * 16u +
                           unsigned(C & 7) * 2u;
        asm volatile("st.shared.b16 [%0], %1;" : : "r"(A), "h"(H) : "memory");
        // 128 elements on: 14 channels and 2 taps.
        T += 2;
        C += 14;
        if (T >= Taps) {
          T -= Taps;
          ++C;
        }
        if (C >= Channels) {
          C -= Channels;
          ++O;
        }
      }
    }
  }

  // The ring of four input rows, each [half][pixel][8 channels]; pixel 0 is
  // column C0 - Left. Pixels 0 to 263 are loaded, the last eight stay zero.
  if (Tid < 64) {
    const unsigned A = Pixels + unsigned(Tid >> 3) * unsigned(PlaneBytes) +
                       unsigned(TileColumns + 8 + (Tid & 7)) * 16u;
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};"
                 :
                 : "r"(A), "r"(0u)
                 : "memory");
  }
  const int ColumnX = C0 - Left + Tid;
  const bool OkA = ColumnX >= 0 && ColumnX < Width;
  const bool OkB = ColumnX + 128 < Width;
  const bool MineH = Tid < 8;
  const bool OkH = ColumnX + TileColumns < Width;
  const unsigned ToPixel = Pixels + slot(Tid);
  const unsigned FromPixel = unsigned(Tid + Margin - Left) * 4u;
  __syncthreads();

  // The first three rows; then the first half of the fourth is on its way.
#pragma unroll 1
  for (int R = 0; R < Window; ++R) {
    barrierWait(Bar, unsigned(R & 1));
    const unsigned To = ToPixel + unsigned(R) * unsigned(RowBytes);
    convertHalf(To, In + FromPixel, OkA, OkB, MineH, OkH);
    convertHalf(To + unsigned(PlaneBytes), Out + FromPixel, OkA, OkB, MineH,
                OkH);
    fenceAsync();
    __syncthreads();
    XIn += Width;
    const bool Both = R + 1 < Window;
    if (Warp == 0 && (Both || Rows > 1)) {
      if (Lane == 0)
        barrierExpect(Bar, (Both ? 16u : 8u) * CopyBytes);
      __syncwarp();
      if (Lane < 8) {
        bulkLoad(In + CopyTo, XIn, CopyBytes, Bar);
        if (Both)
          bulkLoad(Out + CopyTo, XIn + Plane8, CopyBytes, Bar);
      }
      __syncwarp();
    }
  }

  // A warp computes 64 columns of a row for all outputs. Its pixels are in
  // registers while the weights pass by. Column n of tile j of a group of 32
  // pixels is pixel 4 * (n / 2) + 16 * (n % 2) + j: so the tiles j and taps S
  // with the same j + S share their fragments, and a thread's four tiles are
  // four pixels in a row, twice.
  const int Pixel = Left + WarpColumns * Warp + 4 * ((Lane & 7) >> 1) +
                    16 * (Lane & 1);
  const unsigned From =
      Pixels + unsigned((Lane >> 3) & 1) * unsigned(PlaneBytes);
  const unsigned WeightRow = Weights + unsigned(Lane & 15) * 16u;
  unsigned Ring[4] = {0u, unsigned(RowBytes), unsigned(2 * RowBytes),
                      unsigned(3 * RowBytes)};

  // Sixteen outputs of a row are put together in shared memory, and leave it
  // by bulk copies of up to 1024 bytes, each warp's lanes 0 to 3 one each.
  const unsigned StageTo = Out + unsigned(Lane >> 2) * unsigned(OutPitch) +
                           unsigned(WarpColumns * Warp + 4 * (Lane & 3)) * 4u;
  const unsigned StageFrom =
      Out + unsigned(4 * Warp + (Lane & 3)) * unsigned(OutPitch);

  // Even outputs have the same place of a row in a sector of 32 bytes, and so
  // have odd ones (where a plane is a multiple of four elements; else in 16
  // bytes). The window begins Off columns to the left for whole sectors.
  const int PlaneSkew = ((OutHeight & 7) * (OutWidth & 7)) & 7;
  int RowSkew = ((Row0 & 7) * (OutWidth & 7)) & 7;
  const size_t OutPlane = size_t(OutHeight) * size_t(OutWidth);
  const size_t Step = 16 * OutPlane;
  const size_t IssuePlanes = size_t(2 * (4 * Warp + (Lane & 3))) * OutPlane;
  const size_t RestPlanes = size_t(32 * Warp + 2 * (Lane >> 2)) * OutPlane;
  const int End = OutWidth - C0;  // of a row, from column C0
  float *YRow = Y + size_t(blockIdx.z) * TileOutputs * OutPlane +
                size_t(Row0) * size_t(OutWidth) + size_t(C0);

#pragma unroll 1
  for (int Row = 0; Row < Rows; ++Row) {
    const bool More = Row + 1 < Rows;
    unsigned WeightAt = WeightRow;
    float *YClass = YRow;
    int Off = RowSkew;

#pragma unroll 1
    for (int Class = 0; Class < 2; ++Class) {
      unsigned F[Window][2][6][2];
      __syncwarp();
#pragma unroll
      for (int D = 0; D < 6; ++D) {
        const unsigned A = From + slot(Pixel - Off + D);
#pragma unroll
        for (int R = 0; R < Window; ++R) {
          ldmatrix2(F[R][0][D][0], F[R][0][D][1], A + Ring[R]);
          ldmatrix2(F[R][1][D][0], F[R][1][D][1], A + Ring[R] + 512u);
        }
      }
      const bool Active = WarpColumns * Warp - Off < End;
      // The columns of the block's window, and those in whole 16 bytes.
      const int Low = C0 > 0 ? -Off : 0;
      const int High = TileColumns - Off < End ? TileColumns - Off : End;
      const int LowBulk = Low + ((Low + Off) & 2);
      const int HighBulk = High - ((High + Off) & 2);
      float *P = YClass + IssuePlanes;

#pragma unroll 1
      for (int Q = 0; Q < 4; ++Q) {
        const unsigned Buffer = unsigned(Q & 1) * unsigned(OutBytes);

        // Half of the row after next has come while the last four steps ran.
        if (Q == 1 && More) {
          barrierWait(Bar, unsigned(Class ^ 1));
          convertHalf(ToPixel + Ring[3] +
                          unsigned(Class) * unsigned(PlaneBytes),
                      In + FromPixel, OkA, OkB, MineH, OkH);
        }
        __syncwarp();

        if (Active) {
          float Sum[2][4][4];
#pragma unroll
          for (int G = 0; G < 2; ++G)
#pragma unroll
            for (int J = 0; J < 4; ++J)
#pragma unroll
              for (int I = 0; I < 4; ++I)
                Sum[G][J][I] = 0.0f;
#pragma unroll
          for (int R = 0; R < Window; ++R)
#pragma unroll
            for (int S = 0; S < Window; ++S) {
              unsigned A[4];
              const unsigned At =
                  WeightAt + unsigned((R * Window + S) * WeightTap);
              ldmatrix2(A[0], A[1], At);
              ldmatrix2(A[2], A[3], At + unsigned(WeightHalf));
#pragma unroll
              for (int G = 0; G < 2; ++G)
#pragma unroll
                for (int J = 0; J < 4; ++J)
                  mma(Sum[G][J], A, F[R][G][J + S][0], F[R][G][J + S][1]);
            }

          // The copies out of this buffer, two steps ago, have read it: their
          // threads waited before the barrier of the last step.
          const unsigned To = StageTo + Buffer;
#pragma unroll
          for (int H = 0; H < 2; ++H)
#pragma unroll
            for (int K = 0; K < 4; ++K) {
              const int G = K >> 1, I = 2 * H + (K & 1);
              stage4(To + unsigned(H * 8 * OutPitch + K * 64), Sum[G][0][I],
                     Sum[G][1][I], Sum[G][2][I], Sum[G][3][I]);
            }
        }
        fenceAsync();
        if (Lane < 4)
          bulkWaitRead();
        __syncthreads();

        if (Lane < 4) {
          const unsigned Source = StageFrom + Buffer + unsigned(Off) * 4u;
          if (HighBulk > LowBulk)
            bulkStore(P + LowBulk, Source + unsigned(LowBulk) * 4u,
                      unsigned(HighBulk - LowBulk) * 4u);
          bulkCommit();
          if (LowBulk > Low) {
            const unsigned At = Source + unsigned(Low) * 4u;
            store2(P + Low, loadShared(At), loadShared(At + 4u));
          }
          if (High > HighBulk) {
            const unsigned At = Source + unsigned(HighBulk) * 4u;
            store2(P + HighBulk, loadShared(At), loadShared(At + 4u));
          }
        }
        if (Q == 1) {
          // What came is converted; the next half may come.
          if (Warp == 0 && (Class == 0 ? More : Row + 2 < Rows)) {
            if (Lane == 0)
              barrierExpect(Bar, 8u * CopyBytes);
            __syncwarp();
            if (Lane < 8)
              bulkLoad(In + CopyTo, Class == 0 ? XIn + Plane8 : XIn,
                       CopyBytes, Bar);
          }
          if (Class == 0)
            XIn += Width;
        }
        __syncwarp();
        P += 2 * Step;
        WeightAt += 256u;
      }

      // The skew may push up to six columns of the last tile out of the warps'
      // windows. Each warp computes them for 16 outputs of the class.
      const int Rest = End - (TileColumns - Off);
      if (Rest > 0 && End <= TileColumns) {
        __syncwarp();
        float Sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        const int First = Left + TileColumns - Off + (Lane & 7);
        const unsigned Tile =
            WeightRow + unsigned(Class) * 1024u + unsigned(Warp) * 256u;
#pragma unroll
        for (int S = 0; S < Window; ++S) {
          const unsigned At = From + slot(First + S);
#pragma unroll
          for (int R = 0; R < Window; ++R) {
            unsigned A[4], B[2];
            const unsigned W = Tile + unsigned((R * Window + S) * WeightTap);
            ldmatrix2(B[0], B[1], At + Ring[R]);
            ldmatrix2(A[0], A[1], W);
            ldmatrix2(A[2], A[3], W + unsigned(WeightHalf));
            mma(Sum, A, B[0], B[1]);
          }
        }
        const int C = 2 * (Lane & 3);
        if (C < Rest) {
          float *T = YClass + RestPlanes + (TileColumns - Off + C);
          store2(T, Sum[0], Sum[1]);
          store2(T + Step, Sum[2], Sum[3]);
        }
      }

      YClass += OutPlane;
      Off = (Off + PlaneSkew) & 7;
    }

    // The barriers of the steps keep the rows of the ring in order: a row is
    // overwritten after the first step of the next row, and read after the
    // last steps of this one.
    YRow += OutWidth;
    RowSkew = (RowSkew + OutWidth) & 7;
    const unsigned First = Ring[0];
    Ring[0] = Ring[1];
    Ring[1] = Ring[2];
    Ring[2] = Ring[3];
    Ring[3] = First;
  }
  if (Lane < 4)
    bulkWait();
}
