#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)

__global__ void gelu_forward_kernel(float* out, const float* inp, int N) {
  const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (!(static_cast<int>(cupilot_base) < N))
    return;
  float cupilot_lanes1[2];
  {
    const float2 cupilot_vector = *reinterpret_cast<const float2 *>(&(inp[static_cast<int>(cupilot_base)]));
    cupilot_lanes1[0] = cupilot_vector.x;
    cupilot_lanes1[1] = cupilot_vector.y;
  }
  float cupilot_lanes0[2];
#pragma unroll
  for (unsigned int cupilot_lane = 0; cupilot_lane < 2; ++cupilot_lane) {
  const unsigned int cupilot_index = cupilot_base + cupilot_lane;
    int i = cupilot_index;
    {
        float xi = cupilot_lanes1[cupilot_lane];
        float cube = 0.044715f * xi * xi * xi;
        cupilot_lanes0[cupilot_lane] = 0.5f * xi * (1.0f + tanhf(GELU_SCALING_FACTOR * (xi + cube)));
    }
  }
  {
    float2 cupilot_vector;
    cupilot_vector.x = cupilot_lanes0[0];
    cupilot_vector.y = cupilot_lanes0[1];
    *reinterpret_cast<float2 *>(&(out[static_cast<int>(cupilot_base)])) = cupilot_vector;
  }
}
