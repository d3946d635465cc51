// Each thread normalises two neighbouring pixels. With 64 features all values of both
// pixels are loaded at once, kept in registers, and stored scaled: X is read once.

// Volatile, so that the loads stay together and ahead of all that uses them.
static __device__ __forceinline__ float2 loadPair(const float *P) {
  float2 V;
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];"
               : "=f"(V.x), "=f"(V.y)
               : "l"(P));
  return V;
}

static __device__ __forceinline__ void storePair(float *P, float A, float B) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};"
               :
               : "l"(P), "f"(A), "f"(B)
               : "memory");
}

__global__ void __launch_bounds__(128, 2)
rmsNormVariant(const float *X, float *Y, int Features, int Pixels,
               float Epsilon) {
  constexpr int Kept = 64;  // features that fit into registers
  constexpr int Group = 8;  // loads in flight on the general path
  // 128 threads cover the 256 pixels of an original block.
  int Pixel = int(blockIdx.x * 256u + threadIdx.x * 2u);
  if (Pixel >= Pixels)
    return;
  size_t First = size_t(blockIdx.y) * Features * Pixels + Pixel;
  size_t Stride = size_t(Pixels);
  const float *In = X + First;
  float *Out = Y + First;
  float SumA = 0;
  float SumB = 0;

  if (Features == Kept) {
    float2 V[Kept];
#pragma unroll
    for (int F = 0; F < Kept; ++F) {
      V[F] = loadPair(In);
      In += Stride;
    }
#pragma unroll
    for (int F = 0; F < Kept; ++F) {
      SumA += V[F].x * V[F].x;
      SumB += V[F].y * V[F].y;
    }
    float RmsA = sqrtf(SumA / float(Features) + Epsilon);
    float RmsB = sqrtf(SumB / float(Features) + Epsilon);
    // Keeps the offsets of the loads from staying in registers for the stores.
    asm volatile("" : "+l"(Stride));
#pragma unroll
    for (int F = 0; F < Kept; ++F) {
      storePair(Out, V[F].x / RmsA, V[F].y / RmsB);
      Out += Stride;
    }
    return;
  }

  // Any other number of features: two passes, loads issued in groups.
  const float *Again = In;
  int F = 0;
#pragma unroll 1
  for (; Features - F >= Group; F += Group) {
    float2 V[Group];
#pragma unroll
    for (int I = 0; I < Group; ++I) {
      V[I] = loadPair(In);
      In += Stride;
    }
#pragma unroll
    for (int I = 0; I < Group; ++I) {
      SumA += V[I].x * V[I].x;
      SumB += V[I].y * V[I].y;
    }
  }
#pragma unroll 1
  for (; F < Features; ++F) {
    float2 V = loadPair(In);
    In += Stride;
    SumA += V.x * V.x;
    SumB += V.y * V.y;
  }
  float RmsA = sqrtf(SumA / float(Features) + Epsilon);
  float RmsB = sqrtf(SumB / float(Features) + Epsilon);
  F = 0;
#pragma unroll 1
  for (; Features - F >= Group; F += Group) {
    float2 V[Group];
#pragma unroll
    for (int I = 0; I < Group; ++I) {
      V[I] = loadPair(Again);
      Again += Stride;
    }
#pragma unroll
    for (int I = 0; I < Group; ++I) {
      storePair(Out, V[I].x / RmsA, V[I].y / RmsB);
      Out += Stride;
    }
  }
#pragma unroll 1
  for (; F < Features; ++F) {
    float2 V = loadPair(Again);
    Again += Stride;
    storePair(Out, V.x / RmsA, V.y / RmsB);
    Out += Stride;
  }
}
