constexpr int Tile = 32;

__global__ void gemm(const float *A, const float *B, float *C, int M, int N,
                     int K) {
  __shared__ float TileA[Tile][Tile], TileB[Tile][Tile + 1];
  int Row = blockIdx.y * Tile + threadIdx.y;
  int Column = blockIdx.x * Tile + threadIdx.x;
  float Sum = 0;
  for (int From = 0; From < K; From += Tile) {
    int KA = From + threadIdx.x, KB = From + threadIdx.y;
    TileA[threadIdx.y][threadIdx.x] =
        Row < M && KA < K ? A[size_t(Row) * K + KA] : 0;
    TileB[threadIdx.y][threadIdx.x] =
        Column < N && KB < K ? B[size_t(KB) * N + Column] : 0;
    __syncthreads();
    for (int I = 0; I < Tile; ++I)
      Sum += TileA[threadIdx.y][I] * TileB[I][threadIdx.x];
    __syncthreads();
  }
  if (Row < M && Column < N)
    C[size_t(Row) * N + Column] = Sum;
}
