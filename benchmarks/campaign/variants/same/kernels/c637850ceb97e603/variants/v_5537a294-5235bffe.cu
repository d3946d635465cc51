// Block of 256 threads; each holds its share of a row of up to 4096 classes in
// four float4, that is in 16 registers.
constexpr int Threads = 256;
constexpr int Quads = 4;
constexpr int WholeRow = Threads * Quads * 4;

template <bool Largest> __device__ __forceinline__ float overBlock(float Mine) {
  __shared__ __align__(16) float Partial[8];
#pragma unroll
  for (int Offset = 16; Offset > 0; Offset /= 2) {
    float Other = __shfl_xor_sync(0xffffffff, Mine, Offset);
    Mine = Largest ? fmaxf(Mine, Other) : Mine + Other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Mine;
  __syncthreads();
  const float4 A = reinterpret_cast<const float4 *>(Partial)[0];
  const float4 B = reinterpret_cast<const float4 *>(Partial)[1];
  if (Largest)
    return fmaxf(fmaxf(fmaxf(A.x, A.y), fmaxf(A.z, A.w)),
                 fmaxf(fmaxf(B.x, B.y), fmaxf(B.z, B.w)));
  return ((A.x + A.y) + (A.z + A.w)) + ((B.x + B.y) + (B.z + B.w));
}

template <bool Whole>
__device__ __forceinline__ void lossOfRow(const float *X,
                                          const long long *Targets,
                                          float *Losses, int Classes) {
  const float *Row = X + size_t(blockIdx.x) * (Whole ? WholeRow : Classes);
  const float4 *Row4 = reinterpret_cast<const float4 *>(Row);

  // All loads first: the target's index, then the thread's whole share.
  long long Target = 0;
  if (threadIdx.x == 0)
    Target = Targets[blockIdx.x];

  float4 V[Quads];
#pragma unroll
  for (int K = 0; K < Quads; ++K) {
    const int I = int(threadIdx.x) + K * Threads;
    if (Whole || I < Classes / 4)
      V[K] = __ldcs(Row4 + I);
    else
      V[K] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  }

  float Max = -INFINITY;
#pragma unroll
  for (int K = 0; K < Quads; ++K)
    Max = fmaxf(Max, fmaxf(fmaxf(V[K].x, V[K].y), fmaxf(V[K].z, V[K].w)));

  // The index has come by now; this load hides behind both reductions.
  float Picked = 0;
  if (threadIdx.x == 0)
    Picked = Row[Target];

  Max = overBlock<true>(Max);

  float4 S;
  S.x = expf(V[0].x - Max);
  S.y = expf(V[0].y - Max);
  S.z = expf(V[0].z - Max);
  S.w = expf(V[0].w - Max);
#pragma unroll
  for (int K = 1; K < Quads; ++K) {
    S.x += expf(V[K].x - Max);
    S.y += expf(V[K].y - Max);
    S.z += expf(V[K].z - Max);
    S.w += expf(V[K].w - Max);
  }
  const float Sum = overBlock<false>((S.x + S.y) + (S.z + S.w));

  if (threadIdx.x == 0)
    Losses[blockIdx.x] = logf(Sum) + Max - Picked;
}

__global__ void __launch_bounds__(256, 4)
    crossEntropy(const float *X, const long long *Targets, float *Losses,
                 int Classes) {
  if (Classes == WholeRow)
    lossOfRow<true>(X, Targets, Losses, Classes);
  else
    lossOfRow<false>(X, Targets, Losses, Classes);
}
