// Inclusive sums of rows, one block of 256 threads per row. Each warp takes a tile of 128 neighbouring elements, four per lane.
// Four stages are under way at any time: the tile that is summed and the next one lie in shared memory, the two after those
// are on their way from device memory into registers.
// Needs: Columns divisible by 4, X and Y aligned to 16 bytes, X and Y disjoint, blockDim.x == 256.

__global__ void __launch_bounds__(256, 5) cumsum(const float *X, float *Y, int Columns) {
  constexpr int Stages = 4;
  constexpr int Warps = 8;
  constexpr int Tile = 128;          // elements per warp and step
  constexpr int Step = Warps * Tile; // elements per block and step
  __shared__ __align__(16) float Tiles[2][Step];
  __shared__ __align__(16) float Partial[2][Warps];

  const int Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  const int Mine = Warp * Tile + Lane * 4;
  const float *Row = X + size_t(blockIdx.x) * Columns + Mine;
  float *Out = Y + size_t(blockIdx.x) * Columns + Mine;

  // The sum of all steps before is Before + Rest; Rest is what rounding took from Before.
  float Before = 0.0f, Rest = 0.0f;

  // The first three steps: all three loads are issued before the first is waited for.
  const float4 Zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float4 First = Zero;
  float4 Flying[2] = {Zero, Zero}; // of even and of odd steps
  if (Mine < Columns)
    First = *reinterpret_cast<const float4 *>(Row);
  if (Step + Mine < Columns)
    Flying[1] = *reinterpret_cast<const float4 *>(Row + Step);
  if (2 * Step + Mine < Columns)
    Flying[0] = *reinterpret_cast<const float4 *>(Row + 2 * Step);
  *reinterpret_cast<float4 *>(&Tiles[0][Mine]) = First;

  for (int From = 0; From < Columns; From += Stages * Step) {
#pragma unroll 4
    for (int S = 0; S < Stages; ++S) {
      const int Start = From + S * Step;
      if (Start < Columns) { // the same for all threads of the block
        const bool Inside = Start + Mine < Columns;
        float4 V = Zero;
        if (Inside)
          V = *reinterpret_cast<const float4 *>(&Tiles[S % 2][Mine]);

        // Within the thread.
        float E[4] = {V.x, V.y, V.z, V.w};
#pragma unroll
        for (int K = 1; K < 4; ++K)
          E[K] += E[K - 1];

        // Within the warp.
        float Sum = E[3];
#pragma unroll
        for (int Offset = 1; Offset < 32; Offset *= 2) {
          const float Other = __shfl_up_sync(0xffffffffu, Sum, Offset);
          if (Lane >= Offset)
            Sum += Other;
        }
        float Left = __shfl_up_sync(0xffffffffu, Sum, 1);
        if (Lane == 0)
          Left = 0.0f;
        if (Lane == 31)
          Partial[S % 2][Warp] = Sum;

        // The next tile has landed in registers: on into shared memory, whose slot was read for the last time a step and a
        // barrier ago. Its registers then take the tile three steps ahead.
        *reinterpret_cast<float4 *>(&Tiles[(S + 1) % 2][Mine]) = Flying[(S + 1) % 2];
        const int Next = Start + (Stages - 1) * Step;
        if (Next + Mine < Columns)
          Flying[(S + 1) % 2] = *reinterpret_cast<const float4 *>(Row + Next);

        // Across warps, once per step; two buffers in turn, so that one barrier is enough.
        __syncthreads();
        float All = 0.0f, Prefix = 0.0f;
#pragma unroll
        for (int Q = 0; Q < Warps; Q += 4) {
          const float4 P = *reinterpret_cast<const float4 *>(&Partial[S % 2][Q]);
          const float Part[4] = {P.x, P.y, P.z, P.w};
#pragma unroll
          for (int K = 0; K < 4; ++K) {
            if (Q + K == Warp)
              Prefix = All;
            All += Part[K];
          }
        }

        if (Inside) {
          const float Base = (Prefix + Left) + Rest;
          float4 R;
          R.x = Before + (Base + E[0]);
          R.y = Before + (Base + E[1]);
          R.z = Before + (Base + E[2]);
          R.w = Before + (Base + E[3]);
          *reinterpret_cast<float4 *>(Out + Start) = R;
        }

        // Carry on, keeping the rounding error of the sum (unless it is infinite or not a number).
        const float Add = All + Rest;
        const float Total = __fadd_rn(Before, Add);
        const float Taken = __fsub_rn(Total, Before);
        const float Error = __fadd_rn(__fsub_rn(Before, __fsub_rn(Total, Taken)), __fsub_rn(Add, Taken));
        Rest = fabsf(Error) <= 3.0e38f ? Error : 0.0f;
        Before = Total;
      }
    }
  }
}
