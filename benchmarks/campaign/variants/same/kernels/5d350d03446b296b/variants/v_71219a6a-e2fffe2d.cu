static constexpr int Parts = 8;
static constexpr int Threads = 256;
static constexpr int Warps = Threads / 32;
static constexpr int Factor = 4;
static constexpr int Step = Parts * Threads;

static __device__ __forceinline__ float overWarp(float Mine) {
#pragma unroll
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Mine += __shfl_xor_sync(0xffffffff, Mine, Offset);
  return Mine;
}

// Launched as one cluster of 8 blocks with 256 threads each.
__global__ void __launch_bounds__(Threads)
meanLoss(const float *Losses, float *Mean, int Rows) {
  // Only that of block 0 is used: one partial sum for each warp of the cluster.
  __shared__ float Partial[Parts * Warps];

  // Tells the others that this block runs; waited for only after the loads.
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");

  const int Part = int(blockIdx.x);
  const int Thread = int(threadIdx.x);
  const float4 *Vectors = reinterpret_cast<const float4 *>(Losses);
  const int Count = Rows / 4;
  int I = Part * Threads + Thread;

  // The last one to three elements, if Rows is no multiple of 4.
  float Rest = 0;
  if (Part == 0 && Thread < Rows % 4)
    Rest = Losses[Count * 4 + Thread];

  float Sums[Factor];
#pragma unroll
  for (int J = 0; J < Factor; ++J)
    Sums[J] = 0;

  for (; I + (Factor - 1) * Step < Count; I += Factor * Step) {
    float4 Batch[Factor];
#pragma unroll
    for (int J = 0; J < Factor; ++J)
      Batch[J] = Vectors[I + J * Step];
#pragma unroll
    for (int J = 0; J < Factor; ++J)
      Sums[J] += (Batch[J].x + Batch[J].y) + (Batch[J].z + Batch[J].w);
  }

  // At most three more vectors for each thread.
  if (I < Count) {
    float4 Batch[Factor - 1];
#pragma unroll
    for (int J = 0; J < Factor - 1; ++J) {
      Batch[J] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (I + J * Step < Count)
        Batch[J] = Vectors[I + J * Step];
    }
#pragma unroll
    for (int J = 0; J < Factor - 1; ++J)
      Sums[J] += (Batch[J].x + Batch[J].y) + (Batch[J].z + Batch[J].w);
  }

  float Sum = ((Sums[0] + Sums[1]) + (Sums[2] + Sums[3])) + Rest;
  Sum = overWarp(Sum);

  // All blocks of the cluster run now, so block 0's shared memory is there.
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");

  if (Thread % 32 == 0) {
    unsigned Local = static_cast<unsigned>(
        __cvta_generic_to_shared(&Partial[Part * Warps + Thread / 32]));
    unsigned Remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(Remote)
                 : "r"(Local), "r"(0u));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(Remote), "f"(Sum)
                 : "memory");
  }
  __syncwarp();

  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");

  if (Part == 0 && Thread < 32) {
    float All = overWarp(Partial[Thread] + Partial[Thread + 32]);
    if (Thread == 0)
      *Mean = All / float(Rows);
  }
}
