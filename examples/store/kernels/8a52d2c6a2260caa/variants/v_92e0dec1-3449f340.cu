__global__ void nearest(const float *__restrict__ x, const float *__restrict__ y,
                        const float *__restrict__ cx,
                        const float *__restrict__ cy, int *__restrict__ best,
                        int n, int clusters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool cupilot_active = (i < n);
{
    float px = cupilot_active ? (x[i]) : static_cast<float>(float{}), py = cupilot_active ? (y[i]) : static_cast<float>(float{}), least = 3.0e38f;
    int at = 0;
    __shared__ float cupilot_tile[64];
__shared__ float cupilot_tile1[64];
for (int cupilot_start = 0; cupilot_start < (clusters); cupilot_start += 64) {
  __syncthreads();
  for (unsigned int cupilot_step = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); cupilot_step < 64 && cupilot_start + static_cast<int>(cupilot_step) < (clusters); cupilot_step += blockDim.x * blockDim.y * blockDim.z) {
    cupilot_tile[cupilot_step] = cx[cupilot_start + cupilot_step];
    cupilot_tile1[cupilot_step] = cy[cupilot_start + cupilot_step];
  }
  __syncthreads();
  const int cupilot_end = (clusters) - cupilot_start < 64 ? (clusters) : cupilot_start + 64;
  if (cupilot_active)
  for (int c = cupilot_start; c < cupilot_end; ++c) {
      float dx = cupilot_tile[c - cupilot_start] - px, dy = cupilot_tile1[c - cupilot_start] - py;
      float d = dx * dx + dy * dy;
      if (d < least) {
        least = d;
        at = c;
      }
    }
}
    if (cupilot_active) {
best[i] = at;
}
  }
}
