__global__ void nearest(const float *__restrict__ x, const float *__restrict__ y,
                        const float *__restrict__ cx,
                        const float *__restrict__ cy, int *__restrict__ best,
                        int n, int clusters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float px = x[i], py = y[i], least = 3.0e38f;
    int at = 0;
    for (int c = 0; c < clusters; ++c) {
      float dx = cx[c] - px, dy = cy[c] - py;
      float d = dx * dx + dy * dy;
      if (d < least) {
        least = d;
        at = c;
      }
    }
    best[i] = at;
  }
}
