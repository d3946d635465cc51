// A PyTorch extension of two kernels, RMS normalisation of rows and GELU, written plainly. app.py builds it and calls it.
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

// Each row divided by the root of its mean square; a block for each row.
__global__ void rms_norm_kernel(const float *__restrict__ in, const float *__restrict__ weight, float *__restrict__ out, int columns,
                                float epsilon) {
  const float *x = in + (size_t)blockIdx.x * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += x[i] * x[i];
  __shared__ float sums[256];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(sums[0] / columns + epsilon);
  float *y = out + (size_t)blockIdx.x * columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[i] = x[i] * scale * weight[i];
}

__global__ void gelu_kernel(const float *__restrict__ in, float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    out[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}

torch::Tensor rms_norm(torch::Tensor in, torch::Tensor weight, double epsilon) {
  TORCH_CHECK(in.is_cuda() && in.is_contiguous() && in.dim() == 2 && in.scalar_type() == torch::kFloat, "rms_norm: a matrix of floats");
  torch::Tensor out = torch::empty_like(in);
  rms_norm_kernel<<<in.size(0), 256, 0, c10::cuda::getCurrentCUDAStream()>>>(in.data_ptr<float>(), weight.data_ptr<float>(),
                                                                             out.data_ptr<float>(), in.size(1), epsilon);
  return out;
}

torch::Tensor gelu(torch::Tensor in) {
  TORCH_CHECK(in.is_cuda() && in.is_contiguous() && in.scalar_type() == torch::kFloat, "gelu: floats");
  torch::Tensor out = torch::empty_like(in);
  int n = in.numel();
  gelu_kernel<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(in.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("rms_norm", &rms_norm);
  m.def("gelu", &gelu);
}
