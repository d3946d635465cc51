__global__ void gelu(const float *__restrict__ in, float *__restrict__ out,
                     int n) {
  const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (!(static_cast<int>(cupilot_base) < n))
    return;
  float cupilot_lanes0[2];
  {
    const float2 cupilot_vector = *reinterpret_cast<const float2 *>(&(in[static_cast<int>(cupilot_base)]));
    cupilot_lanes0[0] = cupilot_vector.x;
    cupilot_lanes0[1] = cupilot_vector.y;
  }
  float cupilot_lanes1[2];
#pragma unroll
  for (unsigned int cupilot_lane = 0; cupilot_lane < 2; ++cupilot_lane) {
  const unsigned int cupilot_index = cupilot_base + cupilot_lane;
  int i = cupilot_index;
  {
    float x = cupilot_lanes0[cupilot_lane];
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    cupilot_lanes1[cupilot_lane] = 0.5f * x * (1.0f + tanhf(inner));
  }
  }
  {
    float2 cupilot_vector;
    cupilot_vector.x = cupilot_lanes1[0];
    cupilot_vector.y = cupilot_lanes1[1];
    *reinterpret_cast<float2 *>(&(out[static_cast<int>(cupilot_base)])) = cupilot_vector;
  }
}
