namespace gravity {

struct Body {
  float x, y, z, mass;
};

__device__ float inverseCube(float squared) {
  float inverse = rsqrtf(squared);
  return inverse * inverse * inverse;
}

__global__ void accelerate(const Body *bodies, float *ax, float *ay, float *az,
                           int count, float softening) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float px = bodies[i].x, py = bodies[i].y, pz = bodies[i].z;
  float sx = 0, sy = 0, sz = 0;
  
#pragma unroll 4
for (int j = 0; j < count; ++j) {
    float dx = bodies[j].x - px;
    float dy = bodies[j].y - py;
    float dz = bodies[j].z - pz;
    float pull =
        bodies[j].mass * inverseCube(dx * dx + dy * dy + dz * dz + softening);
    sx += dx * pull;
    sy += dy * pull;
    sz += dz * pull;
  }
  ax[i] = sx;
  ay[i] = sy;
  az[i] = sz;
}

}
