__global__ void forces(const float4 *__restrict__ bodies, float *__restrict__ ax,
                       float *__restrict__ ay, int count, int sources) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float px = ax[i], py = ay[i];
  float sx = 0, sy = 0;
  
#pragma unroll 4
for (int j = 0; j < sources; ++j) {
    float4 b = bodies[j];
    float dx = b.x - px, dy = b.y - py;
    float inverse = rsqrtf(dx * dx + dy * dy + b.z);
    float pull = b.w * inverse * inverse * inverse;
    sx += dx * pull;
    sy += dy * pull;
  }
  ax[i] = sx;
  ay[i] = sy;
}
