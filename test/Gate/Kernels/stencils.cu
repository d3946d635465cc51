// Neighbourhoods in one, two and three dimensions.

// kernel: blur1
// workload: grid=3, block=128, args=[buffer f32 n=300 uniform seed=1, buffer f32 n=300 output, 300]
// honest: blur1Shared
// narrower: n below | reads in before it looks at n
// honest: blur1Interior
// honest: blur1Stride | grid=(1) | bx == 128; gx * 128 >= n
// honest: blur1Four | block=(32) | bx == 128
__device__ int clampTo(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
__global__ void blur1(const float *__restrict__ in, float *__restrict__ out,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = -2; k <= 2; ++k)
    sum += in[clampTo(i + k, n)];
  out[i] = sum * 0.2f;
}
__global__ void blur1Shared(const float *__restrict__ in,
                            float *__restrict__ out, int n) {
  __shared__ float tile[1024 + 4];
  int first = blockIdx.x * blockDim.x;
  for (int k = threadIdx.x; k < blockDim.x + 4; k += blockDim.x)
    tile[k] = in[clampTo(first + k - 2, n)];
  __syncthreads();
  int i = first + threadIdx.x, t = threadIdx.x;
  if (i < n)
    out[i] =
        (tile[t] + tile[t + 1] + tile[t + 2] + tile[t + 3] + tile[t + 4]) / 5;
}
__global__ void blur1Interior(const float *__restrict__ in,
                              float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (i >= 2 && i + 2 < n) {
    const float *p = in + i;
    out[i] = 0.2f * ((p[-2] + p[2]) + (p[-1] + p[1]) + p[0]);
    return;
  }
  float sum = 0;
  for (int k = 2; k >= -2; --k)
    sum += in[max(0, min(n - 1, i + k))];
  out[i] = 0.2f * sum;
}
__global__ void blur1Stride(const float *__restrict__ in,
                            float *__restrict__ out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float sum = in[i];
    for (int k = 1; k <= 2; ++k)
      sum += in[clampTo(i - k, n)] + in[clampTo(i + k, n)];
    out[i] = sum * 0.2f;
  }
}
// Each thread slides a window over four outputs.
__global__ void blur1Four(const float *__restrict__ in, float *__restrict__ out,
                          int n) {
  int i = (blockIdx.x * 32 + threadIdx.x) * 4;
  if (i >= n)
    return;
  float w[8];
  for (int k = 0; k < 8; ++k)
    w[k] = in[clampTo(i + k - 2, n)];
  for (int k = 0; k < 4 && i + k < n; ++k)
    out[i + k] = (w[k] + w[k + 1] + w[k + 2] + w[k + 3] + w[k + 4]) * 0.2f;
}

// kernel: heat2
// workload: grid=3x5, block=16x8, args=[buffer f64 n=1517 uniform seed=2, buffer f64 n=1517 output, 41, 37, 0.1]
// honest: heat2Tile
// honest: heat2Rows | grid=(gx, 1); block=(16, 1) | bx == 16; by == 8; gx * 16 >= nx; gy * 8 >= ny
// narrower: ny below | reads the first row before it looks at ny
// honest: heat2Weights
// honest: heat2Wide | grid=(nx ceildiv 32, gy); block=(32, 8) | bx == 16; by == 8; gx * 16 >= nx
__global__ void heat2(const double *__restrict__ in, double *__restrict__ out,
                      int nx, int ny, double k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  double c = in[y * nx + x];
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {
    out[y * nx + x] = c;
    return;
  }
  out[y * nx + x] = c + k * (in[y * nx + x - 1] + in[y * nx + x + 1] +
                             in[(y - 1) * nx + x] + in[(y + 1) * nx + x] -
                             4.0 * c);
}
__global__ void heat2Tile(const double *__restrict__ in,
                          double *__restrict__ out, int nx, int ny, double k) {
  __shared__ double tile[34 * 34];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int w = blockDim.x + 2, t = (threadIdx.y + 1) * w + threadIdx.x + 1;
  bool in_range = x < nx && y < ny;
  if (in_range) {
    tile[t] = in[y * nx + x];
    if (threadIdx.x == 0 && x > 0)
      tile[t - 1] = in[y * nx + x - 1];
    if ((threadIdx.x == blockDim.x - 1) && x + 1 < nx)
      tile[t + 1] = in[y * nx + x + 1];
    if (threadIdx.y == 0 && y > 0)
      tile[t - w] = in[(y - 1) * nx + x];
    if ((threadIdx.y == blockDim.y - 1) && y + 1 < ny)
      tile[t + w] = in[(y + 1) * nx + x];
  }
  __syncthreads();
  if (!in_range)
    return;
  double c = tile[t];
  bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
  out[y * nx + x] = edge ? c
                         : c + k * (tile[t - 1] + tile[t + 1] + tile[t - w] +
                                    tile[t + w] - 4.0 * c);
}
__global__ void heat2Rows(const double *__restrict__ in,
                          double *__restrict__ out, int nx, int ny, double k) {
  int x = blockIdx.x * 16 + threadIdx.x;
  if (x >= nx)
    return;
  double above = 0, c = in[x];
  for (int y = 0; y < ny; ++y) {
    double below = y + 1 < ny ? in[(y + 1) * nx + x] : 0;
    double v = c;
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
      v = c + k * (above + below + in[y * nx + x - 1] + in[y * nx + x + 1] -
                   4.0 * c);
    out[y * nx + x] = v;
    above = c;
    c = below;
  }
}
__global__ void heat2Weights(const double *__restrict__ in,
                             double *__restrict__ out, int nx, int ny,
                             double k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  const double *p = in + (size_t)y * nx + x;
  double c = *p;
  if (x > 0 && y > 0 && x + 1 < nx && y + 1 < ny) {
    double sum = p[-nx] + p[nx] + p[-1] + p[1];
    c = fma(k, fma(-4.0, c, sum), c);
  }
  out[(size_t)y * nx + x] = c;
}
__global__ void heat2Wide(const double *__restrict__ in,
                          double *__restrict__ out, int nx, int ny, double k) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  int i = y * nx + x;
  double c = in[i];
  if (x * y == 0 || x == nx - 1 || y == ny - 1)
    out[i] = c;
  else
    out[i] = c + k * ((in[i - 1] - c) + (in[i + 1] - c) + (in[i - nx] - c) +
                      (in[i + nx] - c));
}

// kernel: laplace3
// workload: grid=3x2x9, block=8x8, args=[buffer f32 n=2340 uniform seed=3, buffer f32 n=2340 output, 20, 13, 9]
// honest: laplace3March | grid=(gx, gy, 1) | gz == nz
// honest: laplace3Shared
// narrower: bx above | a tile of 32 x 33
// honest: laplace3Flat
__global__ void laplace3(const float *__restrict__ in, float *__restrict__ out,
                         int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (x >= nx || y >= ny || z >= nz)
    return;
  int i = (z * ny + y) * nx + x;
  float c = in[i];
  float left = x > 0 ? in[i - 1] : c, right = x < nx - 1 ? in[i + 1] : c;
  float up = y > 0 ? in[i - nx] : c, down = y < ny - 1 ? in[i + nx] : c;
  float front = z > 0 ? in[i - nx * ny] : c;
  float back = z < nz - 1 ? in[i + nx * ny] : c;
  out[i] = left + right + up + down + front + back - 6.0f * c;
}
__global__ void laplace3March(const float *__restrict__ in,
                              float *__restrict__ out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  int plane = nx * ny, i = y * nx + x;
  float c = in[i], front = c;
  for (int z = 0; z < nz; ++z, i += plane) {
    float back = z + 1 < nz ? in[i + plane] : c;
    float left = x > 0 ? in[i - 1] : c, right = x + 1 < nx ? in[i + 1] : c;
    float up = y > 0 ? in[i - nx] : c, down = y + 1 < ny ? in[i + nx] : c;
    out[i] = (left + right) + (up + down) + (front + back) - 6.0f * c;
    front = c;
    c = back;
  }
}
__global__ void laplace3Shared(const float *__restrict__ in,
                               float *__restrict__ out, int nx, int ny,
                               int nz) {
  __shared__ float plane[32][33];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z, tx = threadIdx.x, ty = threadIdx.y;
  bool inside = x < nx && y < ny && z < nz;
  int i = (z * ny + y) * nx + x;
  float c = inside ? in[i] : 0;
  if (tx < 32 && ty < 32)
    plane[ty][tx] = c;
  __syncthreads();
  if (!inside)
    return;
  float left = x == 0 ? c : tx > 0 ? plane[ty][tx - 1] : in[i - 1];
  float right = x == nx - 1          ? c
                : tx + 1 < blockDim.x ? plane[ty][tx + 1]
                                      : in[i + 1];
  float up = y == 0 ? c : ty > 0 ? plane[ty - 1][tx] : in[i - nx];
  float down = y == ny - 1           ? c
               : ty + 1 < blockDim.y ? plane[ty + 1][tx]
                                     : in[i + nx];
  float front = z == 0 ? c : in[i - nx * ny];
  float back = z == nz - 1 ? c : in[i + nx * ny];
  out[i] = fmaf(-6.0f, c, left + right + up + down + front + back);
}
__global__ void laplace3Flat(const float *__restrict__ in,
                             float *__restrict__ out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (x >= nx || y >= ny || z >= nz)
    return;
  auto at = [&](int dx, int dy, int dz) {
    int X = min(max(x + dx, 0), nx - 1), Y = min(max(y + dy, 0), ny - 1),
        Z = min(max(z + dz, 0), nz - 1);
    return in[(Z * ny + Y) * nx + X];
  };
  float c = at(0, 0, 0);
  out[(z * ny + y) * nx + x] = (at(0, 0, -1) - c) + (at(0, 0, 1) - c) +
                               (at(0, -1, 0) - c) + (at(0, 1, 0) - c) +
                               (at(-1, 0, 0) - c) + (at(1, 0, 0) - c);
}
