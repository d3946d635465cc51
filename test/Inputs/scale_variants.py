"""Texts of variants of scale.cu: how often its loop is unrolled, and what is wrong with it."""

STEPS = "  y = y * x + 0.5f;\n" * 40


def text(factor=4, end="", rough=""):
    return f"""__device__ float polynomial(float x) {{
  float y = x;
{STEPS}  return y;
}}
__global__ void scale(float *p, int n, float k) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = p[i], sum = 0;
#pragma unroll {factor}
  for (int j = 0; j < 32; ++j)
    sum += polynomial((v * k + j) * 0.004f);
  p[i] = sum{rough};{end}
}}
"""
