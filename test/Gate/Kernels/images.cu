// Filters, pictures, simulation.

// kernel: conv1
// workload: grid=3x2, block=64, args=[buffer f32 n=360 uniform seed=1, buffer f32 n=14 uniform seed=2, buffer f32 n=348 output, 180, 7]
// honest: conv1Shared
// narrower: taps below | reads in where there is no tap
// honest: conv1Weights
// honest: conv1TwoSums
// Two channels of n values, one filter of `taps` each; no padding.
__global__ void conv1(const float *__restrict__ in,
                      const float *__restrict__ weight,
                      float *__restrict__ out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  int m = n - taps + 1;
  if (i >= m)
    return;
  float sum = 0;
  for (int k = 0; k < taps; ++k)
    sum += in[c * n + i + k] * weight[c * taps + k];
  out[c * m + i] = sum;
}
__global__ void conv1Shared(const float *__restrict__ in,
                            const float *__restrict__ weight,
                            float *__restrict__ out, int n, int taps) {
  __shared__ float part[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, c = blockIdx.y;
  int m = n - taps + 1;
  if (i < n)
    part[t] = in[c * n + i];
  __syncthreads();
  if (i >= m)
    return;
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    float v = t + k < blockDim.x ? part[t + k] : in[c * n + i + k];
    sum += v * weight[c * taps + k];
  }
  out[c * m + i] = sum;
}
__global__ void conv1Weights(const float *__restrict__ in,
                             const float *__restrict__ weight,
                             float *__restrict__ out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *x = in + blockIdx.y * n + i, *w = weight + blockIdx.y * taps;
  if (i + taps > n)
    return;
  float sum = 0;
  for (int k = taps - 1; k >= 0; --k)
    sum = fmaf(w[k], x[k], sum);
  out[blockIdx.y * (n - taps + 1) + i] = sum;
}
__global__ void conv1TwoSums(const float *__restrict__ in,
                             const float *__restrict__ weight,
                             float *__restrict__ out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  int m = n - taps + 1;
  if (i >= m)
    return;
  float sums[2] = {0, 0};
  for (int k = 0; k < taps; ++k)
    sums[k % 2] += in[c * n + i + k] * weight[c * taps + k];
  out[c * m + i] = sums[0] + sums[1];
}

// kernel: conv2
// workload: grid=3x3, block=16x8, args=[buffer f32 n=874 uniform seed=3, buffer f32 n=874 output, 38, 23], globals=[filter f32 n=9 uniform seed=4]
// honest: conv2Tile | grid=(gx, gy) | bx == 16; by == 8
// honest: conv2Branches
// honest: conv2Columns
// A 3 x 3 filter in constant memory; zero outside.
__constant__ float filter[9];
__global__ void conv2(const float *__restrict__ in, float *__restrict__ out,
                      int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      int X = x + dx, Y = y + dy;
      if (X >= 0 && X < nx && Y >= 0 && Y < ny)
        sum += in[Y * nx + X] * filter[(dy + 1) * 3 + dx + 1];
    }
  out[y * nx + x] = sum;
}
__global__ void conv2Tile(const float *__restrict__ in,
                          float *__restrict__ out, int nx, int ny) {
  __shared__ float tile[10][18];
  int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 180; k += 128) {
    int X = x0 + k % 18, Y = y0 + k / 18;
    bool inside = X >= 0 && X < nx && Y >= 0 && Y < ny;
    tile[k / 18][k % 18] = inside ? in[Y * nx + X] : 0;
  }
  __syncthreads();
  int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k)
    sum += tile[threadIdx.y + k / 3][threadIdx.x + k % 3] * filter[k];
  out[y * nx + x] = sum;
}
__global__ void conv2Branches(const float *__restrict__ in,
                              float *__restrict__ out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  const float *p = in + y * nx + x;
  float sum = filter[4] * p[0];
  if (x > 0)
    sum += filter[3] * p[-1];
  if (x + 1 < nx)
    sum += filter[5] * p[1];
  for (int s = 0; s < 2; ++s) {
    if (s ? y + 1 >= ny : y == 0)
      continue;
    const float *q = s ? p + nx : p - nx, *w = filter + 6 * s;
    sum += w[1] * q[0];
    if (x > 0)
      sum += w[0] * q[-1];
    if (x + 1 < nx)
      sum += w[2] * q[1];
  }
  out[y * nx + x] = sum;
}
__global__ void conv2Columns(const float *__restrict__ in,
                             float *__restrict__ out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  float sum = 0;
  for (int X = max(x - 1, 0); X <= min(x + 1, nx - 1); ++X)
    for (int Y = max(y - 1, 0); Y <= min(y + 1, ny - 1); ++Y)
      sum = fmaf(in[Y * nx + X], filter[(Y - y + 1) * 3 + X - x + 1], sum);
  out[y * nx + x] = sum;
}

// kernel: maxPool
// workload: grid=2x2x3, block=8x8, args=[buffer f32 n=2520 normal seed=5, buffer f32 n=630 output, 30, 28, 2]
// honest: maxPoolBranches
// honest: maxPoolFlat | grid=(2, 1, gz); block=(64, 1) | bx == 8; by == 8; gx * 16 >= nx; gy * 16 >= ny
// narrower: gz above | as many channels were tried with windows of one pixel alone
// narrower: nx below, k below, ny above | writes all windows, the original as many as it has threads
// honest: maxPoolRows
// Windows of k x k, one next to the other; blockIdx.z is the channel.
__global__ void maxPool(const float *__restrict__ in, float *__restrict__ out,
                        int nx, int ny, int k) {
  int mx = nx / k, my = ny / k, z = blockIdx.z;
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= mx || y >= my)
    return;
  float most = -INFINITY;
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < k; ++i)
      most = fmaxf(most, in[(z * ny + y * k + j) * nx + x * k + i]);
  out[(z * my + y) * mx + x] = most;
}
__global__ void maxPoolBranches(const float *__restrict__ in,
                                float *__restrict__ out, int nx, int ny,
                                int k) {
  int mx = nx / k, my = ny / k;
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= mx || y >= my)
    return;
  const float *p = in + (blockIdx.z * ny + y * k) * nx + x * k;
  float most = *p;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j)
      if (p[j * nx + i] > most)
        most = p[j * nx + i];
  out[(blockIdx.z * my + y) * mx + x] = most;
}
__global__ void maxPoolFlat(const float *__restrict__ in,
                            float *__restrict__ out, int nx, int ny, int k) {
  int mx = nx / k, my = ny / k, z = blockIdx.z;
  for (int o = blockIdx.x * 64 + threadIdx.x; o < mx * my;
       o += gridDim.x * 64) {
    float most = -INFINITY;
    for (int w = 0; w < k * k; ++w)
      most = fmaxf(in[(z * ny + o / mx * k + w / k) * nx + o % mx * k + w % k],
                   most);
    out[z * mx * my + o] = most;
  }
}
__global__ void maxPoolRows(const float *__restrict__ in,
                            float *__restrict__ out, int nx, int ny, int k) {
  int mx = nx / k, my = ny / k, z = blockIdx.z;
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < mx && y < my) {
    float most = -INFINITY;
    for (int j = k - 1; j >= 0; --j) {
      float row = -INFINITY;
      for (int i = k - 1; i >= 0; --i)
        row = fmaxf(row, in[(z * ny + y * k + j) * nx + x * k + i]);
      most = fmaxf(most, row);
    }
    out[(z * my + y) * mx + x] = most;
  }
}

// kernel: toGray
// workload: grid=2x5, block=32x4, args=[buffer u8 n=3180 uniform low=0 high=255 seed=6, buffer u8 n=1060 output, 53, 20]
// honest: toGrayUint
// honest: toGrayFlat | grid=(4, 1); block=(64, 1) | bx == 32; by == 4; gx * 32 >= width; gy * 4 >= height
// narrower: width below | the product of two negative sizes is positive
// honest: toGrayTwo | grid=((width + 63) floordiv 64, gy) | bx == 32; by == 4; gx * 32 >= width
struct Pixel {
  unsigned char r, g, b;
};
__global__ void toGray(const Pixel *__restrict__ in,
                       unsigned char *__restrict__ out, int width,
                       int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  Pixel p = in[y * width + x];
  out[y * width + x] = (77 * p.r + 150 * p.g + 29 * p.b + 128) >> 8;
}
__global__ void toGrayUint(const Pixel *__restrict__ in,
                           unsigned char *__restrict__ out, int width,
                           int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const unsigned char *p =
        reinterpret_cast<const unsigned char *>(in + y * width + x);
    unsigned sum = 128u + 29u * p[2] + 150u * p[1] + 77u * p[0];
    out[y * width + x] = static_cast<unsigned char>(sum / 256);
  }
}
__global__ void toGrayFlat(const Pixel *__restrict__ in,
                           unsigned char *__restrict__ out, int width,
                           int height) {
  for (int i = blockIdx.x * 64 + threadIdx.x; i < width * height;
       i += gridDim.x * 64) {
    Pixel p = in[i];
    out[i] = ((p.r + p.g * 2) * 75 + p.r * 2 + p.b * 29 + 128) >> 8;
  }
}
__global__ void toGrayTwo(const Pixel *__restrict__ in,
                          unsigned char *__restrict__ out, int width,
                          int height) {
  int y = blockIdx.y * 4 + threadIdx.y;
  if (y >= height)
    return;
  for (int k = 0; k < 2; ++k) {
    int x = blockIdx.x * 64 + k * 32 + threadIdx.x;
    if (x < width) {
      Pixel p = in[y * width + x];
      int v = 77 * p.r + 150 * p.g + 29 * p.b;
      out[y * width + x] = (v + 128) / 256;
    }
  }
}

// kernel: resize
// workload: grid=2x3, block=16x8, args=[buffer f32 n=300 uniform seed=7, buffer f32 n=660 output, 20, 15, 30, 22]
// honest: resizeRows
// honest: resizeWeights
// honest: resizeFlat | grid=(gx, gy); block=(64, 1) | bx == 16; by == 8; gx * 16 >= ox; gy * 8 >= oy
// narrower: gx * gy above, (ox * oy - 1) floordiv ox | the product of two negative sizes is positive
// Bilinear, corners on corners.
__device__ float pixelAt(const float *in, int nx, int ny, int ox, int oy, int x,
                         int y) {
  float fx = ox > 1 ? x * float(nx - 1) / float(ox - 1) : 0;
  float fy = oy > 1 ? y * float(ny - 1) / float(oy - 1) : 0;
  int x0 = min(int(fx), nx - 1), y0 = min(int(fy), ny - 1);
  int x1 = min(x0 + 1, nx - 1), y1 = min(y0 + 1, ny - 1);
  float ax = fx - x0, ay = fy - y0;
  float top = in[y0 * nx + x0] * (1 - ax) + in[y0 * nx + x1] * ax;
  float low = in[y1 * nx + x0] * (1 - ax) + in[y1 * nx + x1] * ax;
  return top * (1 - ay) + low * ay;
}
__global__ void resize(const float *__restrict__ in, float *__restrict__ out,
                       int nx, int ny, int ox, int oy) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < ox && y < oy)
    out[y * ox + x] = pixelAt(in, nx, ny, ox, oy, x, y);
}
__global__ void resizeRows(const float *__restrict__ in,
                           float *__restrict__ out, int nx, int ny, int ox,
                           int oy) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ox || y >= oy)
    return;
  float fx = ox > 1 ? x * float(nx - 1) / float(ox - 1) : 0;
  float fy = oy > 1 ? y * float(ny - 1) / float(oy - 1) : 0;
  int x0 = min(int(fx), nx - 1), y0 = min(int(fy), ny - 1);
  float ax = fx - x0, ay = fy - y0;
  const float *p = in + y0 * nx + x0;
  int right = x0 < nx - 1, down = y0 < ny - 1 ? nx : 0;
  float sum = 0;
  for (int k = 1; k >= 0; --k) {
    const float *q = p + (k ? down : 0);
    float w = k ? ay : 1 - ay;
    sum += w * (q[0] * (1 - ax) + q[right] * ax);
  }
  out[y * ox + x] = sum;
}
__global__ void resizeWeights(const float *__restrict__ in,
                              float *__restrict__ out, int nx, int ny, int ox,
                              int oy) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ox || y >= oy)
    return;
  float fx = ox > 1 ? x * float(nx - 1) / float(ox - 1) : 0;
  float fy = oy > 1 ? y * float(ny - 1) / float(oy - 1) : 0;
  int x0 = min(int(fx), nx - 1), y0 = min(int(fy), ny - 1);
  int x1 = min(x0 + 1, nx - 1), y1 = min(y0 + 1, ny - 1);
  float ax = fx - x0, ay = fy - y0;
  float sum = (1 - ax) * (1 - ay) * in[y0 * nx + x0];
  sum += ax * (1 - ay) * in[y0 * nx + x1];
  sum += (1 - ax) * ay * in[y1 * nx + x0];
  sum += ax * ay * in[y1 * nx + x1];
  out[y * ox + x] = sum;
}
__global__ void resizeFlat(const float *__restrict__ in,
                           float *__restrict__ out, int nx, int ny, int ox,
                           int oy) {
  int step = gridDim.x * gridDim.y * 64;
  for (int i = (blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x;
       i < ox * oy; i += step)
    out[i] = pixelAt(in, nx, ny, ox, oy, i % ox, i / ox);
}

// kernel: nbody
// workload: grid=2, block=32, args=[buffer f32 n=200 uniform seed=8, buffer f32 n=150 output, 50, 0.01]
// honest: nbodyTile | grid=(gx) | bx == 32
// honest: nbodyTwoSums
// honest: nbodyRoot
// Accelerations of bodies (x, y, z, mass).
__global__ void nbody(const float4 *__restrict__ body, float3 *__restrict__ acc,
                      int n, float soft) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 p = body[i];
  float3 a = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) {
    float4 q = body[j];
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    float inverse = rsqrtf(x * x + y * y + z * z + soft * soft + 1e-6f);
    float s = q.w * inverse * inverse * inverse;
    a.x += x * s;
    a.y += y * s;
    a.z += z * s;
  }
  acc[i] = a;
}
__global__ void nbodyTile(const float4 *__restrict__ body,
                          float3 *__restrict__ acc, int n, float soft) {
  __shared__ float4 tile[32];
  int i = blockIdx.x * 32 + threadIdx.x;
  float4 p = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float3 a = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += 32) {
    if (first + threadIdx.x < n)
      tile[threadIdx.x] = body[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < min(32, n - first); ++j) {
      float4 q = tile[j];
      float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
      float d = fmaf(x, x, fmaf(y, y, fmaf(z, z, soft * soft + 1e-6f)));
      float inverse = rsqrtf(d);
      float s = q.w * inverse * inverse * inverse;
      a.x = fmaf(x, s, a.x);
      a.y = fmaf(y, s, a.y);
      a.z = fmaf(z, s, a.z);
    }
    __syncthreads();
  }
  if (i < n)
    acc[i] = a;
}
__global__ void nbodyTwoSums(const float4 *__restrict__ body,
                             float3 *__restrict__ acc, int n, float soft) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 p = body[i];
  float3 a[2] = {};
  for (int j = n - 1; j >= 0; --j) {
    float4 q = body[j];
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    float inverse = rsqrtf(x * x + y * y + z * z + soft * soft + 1e-6f);
    float s = q.w * inverse * inverse * inverse;
    float3 &to = a[j & 1];
    to.x += x * s;
    to.y += y * s;
    to.z += z * s;
  }
  acc[i] = make_float3(a[0].x + a[1].x, a[0].y + a[1].y, a[0].z + a[1].z);
}
__global__ void nbodyRoot(const float4 *__restrict__ body,
                          float3 *__restrict__ acc, int n, float soft) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 p = body[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    float4 q = body[j];
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    float d = x * x + y * y + z * z + soft * soft + 1e-6f;
    float s = q.w / d / sqrtf(d); // The cube of d's root would leave the range.
    ax += x * s;
    ay += y * s;
    az += z * s;
  }
  acc[i].x = ax;
  acc[i].y = ay;
  acc[i].z = az;
}

// kernel: monteCarlo
// workload: grid=2, block=64, args=[buffer u32 n=120 uniform low=1 high=1000000 seed=9, buffer u32 n=1 zeros, 120, 20]
// honest: monteCarloShared
// narrower: n below | adds to hits where n is 0, too
// honest: monteCarloUnrolled
// honest: monteCarloBallot | grid=(gx) | bx == 64
// narrower: n below | adds to hits where n is 0, too
// Points in the quarter circle; each thread has its own generator.
__device__ unsigned nextRandom(unsigned &state) {
  state = state * 1664525u + 1013904223u;
  return state >> 17;
}
__global__ void monteCarlo(unsigned *states, unsigned *hits, int n,
                           int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned state = states[i], mine = 0;
  for (int k = 0; k < rounds; ++k) {
    unsigned x = nextRandom(state), y = nextRandom(state);
    if (x * x + y * y < 1u << 30)
      ++mine;
  }
  states[i] = state;
  atomicAdd(hits, mine);
}
__global__ void monteCarloShared(unsigned *states, unsigned *hits, int n,
                                 int rounds) {
  __shared__ unsigned local;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    local = 0;
  __syncthreads();
  if (i < n) {
    unsigned state = states[i];
    for (int k = 0; k < rounds; ++k) {
      unsigned x = nextRandom(state), y = nextRandom(state);
      if (x * x + y * y < 1u << 30)
        atomicAdd(&local, 1u);
    }
    states[i] = state;
  }
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(hits, local);
}
__global__ void monteCarloUnrolled(unsigned *states, unsigned *hits, int n,
                                   int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned s = states[i], mine = 0;
#pragma unroll 4
  for (int k = 0; k < rounds; ++k) {
    unsigned first = s * 1664525u + 1013904223u;
    s = first * 1664525u + 1013904223u;
    unsigned x = first >> 17, y = s >> 17;
    mine += y * y + x * x <= 0x3fffffffu;
  }
  states[i] = s;
  if (mine)
    atomicAdd(hits, mine);
}
__global__ void monteCarloBallot(unsigned *states, unsigned *hits, int n,
                                 int rounds) {
  int i = blockIdx.x * 64 + threadIdx.x;
  unsigned state = i < n ? states[i] : 0, sum = 0;
  for (int k = 0; k < rounds; ++k) {
    unsigned x = nextRandom(state), y = nextRandom(state);
    bool hit =
        i < n && x * x + y * y < 1u << 30;
    sum += __popc(__ballot_sync(0xffffffffu, hit));
  }
  if (i < n)
    states[i] = state;
  if (threadIdx.x % 32 == 0)
    atomicAdd(hits, sum);
}

// kernel: escape
// workload: grid=3x2, block=16x16, args=[buffer u16 n=1056 output, 44, 24, -2.2, -1.1, 0.07, 60]
// honest: escapeRounded
// honest: escapeFlat | grid=(4, 1); block=(128, 1) | bx == 16; by == 16; gx * 16 >= nx; gy * 16 >= ny
// narrower: nx below | the product of two negative sizes is positive
// honest: escapeStruct
// Iterations until |z| > 2. Products are rounded by themselves, so that the
// counts are the same for every order of the code.
__device__ int escapeCount(float cx, float cy, int limit) {
  float x = 0, y = 0;
  int k = 0;
  for (; k < limit; ++k) {
    float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
    if (__fadd_rn(xx, yy) > 4.0f)
      break;
    y = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, x), y), cy);
    x = __fadd_rn(__fsub_rn(xx, yy), cx);
  }
  return k;
}
__global__ void escape(unsigned short *out, int nx, int ny, float x0, float y0,
                       float step, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny)
    out[y * nx + x] = escapeCount(__fadd_rn(x0, __fmul_rn(x, step)),
                                  __fadd_rn(y0, __fmul_rn(y, step)), limit);
}
__global__ void escapeRounded(unsigned short *out, int nx, int ny, float x0,
                              float y0, float step, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  float cx = __fadd_rn(__fmul_rn(step, x), x0);
  float cy = __fadd_rn(__fmul_rn(step, y), y0);
  float a = 0, b = 0, aa = 0, bb = 0;
  int k = 0;
  while (k < limit && !(__fadd_rn(aa, bb) > 4.0f)) {
    float ab = __fmul_rn(a, b);
    b = __fadd_rn(__fadd_rn(ab, ab), cy);
    a = __fadd_rn(__fsub_rn(aa, bb), cx);
    aa = __fmul_rn(a, a);
    bb = __fmul_rn(b, b);
    ++k;
  }
  out[y * nx + x] = k;
}
__global__ void escapeFlat(unsigned short *out, int nx, int ny, float x0,
                           float y0, float step, int limit) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < nx * ny;
       i += gridDim.x * 128)
    out[i] = escapeCount(__fadd_rn(x0, __fmul_rn(i % nx, step)),
                         __fadd_rn(y0, __fmul_rn(i / nx, step)), limit);
}
struct Complex {
  float re, im;
};
__global__ void escapeStruct(unsigned short *out, int nx, int ny, float x0,
                             float y0, float step, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  Complex c = {__fadd_rn(x0, __fmul_rn(x, step)),
               __fadd_rn(y0, __fmul_rn(y, step))};
  Complex z = {0, 0};
  int left = limit;
  for (; left > 0; --left) {
    Complex q = {__fmul_rn(z.re, z.re), __fmul_rn(z.im, z.im)};
    if (__fadd_rn(q.im, q.re) > 4.0f)
      break;
    z = {__fadd_rn(__fsub_rn(q.re, q.im), c.re),
         __fadd_rn(__fmul_rn(__fmul_rn(2.0f, z.re), z.im), c.im)};
  }
  out[y * nx + x] = max(limit, 0) - max(left, 0);
}
