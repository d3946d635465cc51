constexpr int Queries = 16, Wide = 64, Deep = 32;

__global__ void attention(const float *Q, const float *K, const float *V,
                          float *Y, int Rows, int Columns, float Scale) {
  extern __shared__ float Scores[]; // Queries x Rows.
  __shared__ float Left[Queries][Deep + 1], Right[Wide][Deep + 1];
  size_t Head = size_t(blockIdx.y) * Rows * Columns;
  int First = blockIdx.x * Queries, Tx = threadIdx.x, Ty = threadIdx.y;
  int Thread = Ty * 16 + Tx;
  for (int Key = 0; Key < Rows; Key += Wide) {
    float Sum[Wide / 16] = {};
    for (int From = 0; From < Columns; From += Deep) {
      for (int I = Thread; I < Queries * Deep; I += 256) {
        int R = First + I / Deep, C = From + I % Deep;
        Left[I / Deep][I % Deep] =
            R < Rows && C < Columns ? Q[Head + size_t(R) * Columns + C] : 0;
      }
      for (int I = Thread; I < Wide * Deep; I += 256) {
        int R = Key + I / Deep, C = From + I % Deep;
        Right[I / Deep][I % Deep] =
            R < Rows && C < Columns ? K[Head + size_t(R) * Columns + C] : 0;
      }
      __syncthreads();
      for (int I = 0; I < Deep; ++I)
        for (int J = 0; J < Wide / 16; ++J)
          Sum[J] += Left[Ty][I] * Right[Tx + 16 * J][I];
      __syncthreads();
    }
    for (int J = 0; J < Wide / 16; ++J)
      if (Key + Tx + 16 * J < Rows)
        Scores[Ty * Rows + Key + Tx + 16 * J] = Sum[J] * Scale;
  }
  __syncthreads();
  // The softmax of each query's scores, by 16 threads.
  float Max = -INFINITY, Total = 0;
  for (int I = Tx; I < Rows; I += 16)
    Max = fmaxf(Max, Scores[Ty * Rows + I]);
  for (int Offset = 8; Offset > 0; Offset /= 2)
    Max = fmaxf(Max, __shfl_xor_sync(0xffffffff, Max, Offset));
  for (int I = Tx; I < Rows; I += 16) {
    float Power = expf(Scores[Ty * Rows + I] - Max);
    Scores[Ty * Rows + I] = Power;
    Total += Power;
  }
  for (int Offset = 8; Offset > 0; Offset /= 2)
    Total += __shfl_xor_sync(0xffffffff, Total, Offset);
  // Weighted by them, the values.
  for (int Column = 0; Column < Columns; Column += Wide) {
    float Sum[Wide / 16] = {};
    for (int From = 0; From < Rows; From += Deep) {
      __syncthreads();
      for (int I = Thread; I < Wide * Deep; I += 256) {
        int R = From + I / Wide, C = Column + I % Wide;
        Right[I % Wide][I / Wide] =
            R < Rows && C < Columns ? V[Head + size_t(R) * Columns + C] : 0;
      }
      __syncthreads();
      for (int I = 0; I < Deep && From + I < Rows; ++I)
        for (int J = 0; J < Wide / 16; ++J)
          Sum[J] += Scores[Ty * Rows + From + I] * Right[Tx + 16 * J][I];
    }
    for (int J = 0; J < Wide / 16; ++J) {
      int C = Column + Tx + 16 * J;
      if (First + Ty < Rows && C < Columns)
        Y[Head + size_t(First + Ty) * Columns + C] = Sum[J] / Total;
    }
  }
}
