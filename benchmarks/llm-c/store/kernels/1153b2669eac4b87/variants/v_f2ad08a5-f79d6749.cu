#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)

__global__ void gelu_backward_kernel(float* dinp, const float* inp, const float* dout, const int N) {
  const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (!(static_cast<int>(cupilot_base) < N))
    return;
  float cupilot_lanes1[4];
  {
    const float4 cupilot_vector = *reinterpret_cast<const float4 *>(&(inp[static_cast<int>(cupilot_base)]));
    cupilot_lanes1[0] = cupilot_vector.x;
    cupilot_lanes1[1] = cupilot_vector.y;
    cupilot_lanes1[2] = cupilot_vector.z;
    cupilot_lanes1[3] = cupilot_vector.w;
  }
  float cupilot_lanes0[4];
  float cupilot_lanes2[4];
  {
    const float4 cupilot_vector = *reinterpret_cast<const float4 *>(&(dout[static_cast<int>(cupilot_base)]));
    cupilot_lanes2[0] = cupilot_vector.x;
    cupilot_lanes2[1] = cupilot_vector.y;
    cupilot_lanes2[2] = cupilot_vector.z;
    cupilot_lanes2[3] = cupilot_vector.w;
  }
#pragma unroll
  for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
  const unsigned int cupilot_index = cupilot_base + cupilot_lane;
    int i = cupilot_index;
    {
        float x = cupilot_lanes1[cupilot_lane];
        float cube = 0.044715f * x * x * x;
        float tanh_arg = GELU_SCALING_FACTOR * (x + cube);
        float tanh_out = tanhf(tanh_arg);
        float coshf_out = coshf(tanh_arg);
        float sech_out = 1.0f / (coshf_out * coshf_out);
        float local_grad = 0.5f * (1.0f + tanh_out) + x * 0.5f * sech_out * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x * x);
        cupilot_lanes0[cupilot_lane] = local_grad * cupilot_lanes2[cupilot_lane];
    }
  }
  {
    float4 cupilot_vector;
    cupilot_vector.x = cupilot_lanes0[0];
    cupilot_vector.y = cupilot_lanes0[1];
    cupilot_vector.z = cupilot_lanes0[2];
    cupilot_vector.w = cupilot_lanes0[3];
    *reinterpret_cast<float4 *>(&(dinp[static_cast<int>(cupilot_base)])) = cupilot_vector;
  }
}
