// Hopper's bulk and tensor copies: every rank, swizzle and direction, bounds
// and element strides, against the layouts that the PTX ISA and the driver API
// describe.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>
typedef uint32_t u32;
typedef uint64_t u64;
__device__ u32 shared32(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void initBarrier(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void wait(u32 bar, u32 parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
               "bra LAB_WAIT;\nDONE:\n}" ::"r"(bar), "r"(parity) : "memory");
}
static int failures = 0;
static void report(const char *name, int bad) {
  printf("%s: %s\n", name, bad ? "WRONG" : "ok");
  failures += bad != 0;
}
static void sync(const char *name) {
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) {
    printf("%s: %s\n", name, cudaGetErrorString(e));
    exit(1);
  }
}

// Plain bytes there and back, with a reduction on the way.
__global__ void bulk(int *out, int *sum, float *fsum, const int *in) {
  __shared__ alignas(128) int s[256];
  __shared__ alignas(128) float f[64];
  __shared__ alignas(8) u64 b;
  u32 bar = shared32(&b);
  int t = threadIdx.x;
  if (t == 0) initBarrier(bar, 1);
  if (t < 64) f[t] = t * 0.5f;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" ::"l"(in) : "memory");
    expect(bar, 1024);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(shared32(s)),
                 "l"(in), "r"(bar) : "memory");
  }
  wait(bar, 0);
  int v = s[255 - t];
  __syncthreads();
  s[t] = v * 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out), "r"(shared32(s)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 512;" ::"l"(sum), "r"(shared32(s)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(fsum), "r"(shared32(f)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
static void testBulk() {
  int *in, *out, *sum;
  float *fsum;
  cudaMallocManaged(&in, 1024);
  cudaMallocManaged(&out, 1024);
  cudaMallocManaged(&sum, 512);
  cudaMallocManaged(&fsum, 256);
  for (int i = 0; i < 256; ++i) in[i] = i * i;
  for (int i = 0; i < 128; ++i) sum[i] = i;
  for (int i = 0; i < 64; ++i) fsum[i] = 1;
  bulk<<<1, 256>>>(out, sum, fsum, in);
  sync("bulk");
  int bad = 0;
  for (int i = 0; i < 256; ++i) bad += out[i] != 2 * (255 - i) * (255 - i);
  for (int i = 0; i < 128; ++i) bad += sum[i] != i + 2 * (255 - i) * (255 - i);
  for (int i = 0; i < 64; ++i) bad += fsum[i] != 1 + i * 0.5f;
  report("bulk", bad);
}

typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Encode encode;

template <int rank> __device__ void load(u32 to, const CUtensorMap *map, u32 bar, const int *c) {
#define LOAD(D, COORDS, ...)                                                                                            \
  asm volatile("cp.async.bulk.tensor." D ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" COORDS   \
               "}], [%2];" ::"r"(to), "l"(map), "r"(bar), __VA_ARGS__ : "memory")
  if constexpr (rank == 1) LOAD("1d", "%3", "r"(c[0]));
  if constexpr (rank == 2) LOAD("2d", "%3, %4", "r"(c[0]), "r"(c[1]));
  if constexpr (rank == 3) LOAD("3d", "%3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]));
  if constexpr (rank == 4) LOAD("4d", "%3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  if constexpr (rank == 5) LOAD("5d", "%3, %4, %5, %6, %7", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}
template <int rank> __device__ void store(const CUtensorMap *map, u32 from, const int *c, bool add) {
#define STORE(D, COORDS, ...)                                                                                           \
  if (add)                                                                                                            \
    asm volatile("cp.reduce.async.bulk.tensor." D ".global.shared::cta.add.tile.bulk_group [%0, {" COORDS                  \
                 "}], [%1];" ::"l"(map), "r"(from), __VA_ARGS__ : "memory");                                            \
  else                                                                                                                \
    asm volatile("cp.async.bulk.tensor." D ".global.shared::cta.tile.bulk_group [%0, {" COORDS                             \
                 "}], [%1];" ::"l"(map), "r"(from), __VA_ARGS__ : "memory")
  if constexpr (rank == 1) { STORE("1d", "%2", "r"(c[0])); }
  if constexpr (rank == 2) { STORE("2d", "%2, %3", "r"(c[0]), "r"(c[1])); }
  if constexpr (rank == 3) { STORE("3d", "%2, %3, %4", "r"(c[0]), "r"(c[1]), "r"(c[2])); }
  if constexpr (rank == 4) { STORE("4d", "%2, %3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])); }
  if constexpr (rank == 5) { STORE("5d", "%2, %3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])); }
}
struct Coordinates { int c[5]; };
// Loads a box and shows shared memory as it is; then stores the box elsewhere.
template <int rank>
__global__ void tile(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, Coordinates at,
                     Coordinates there, int bytes, unsigned char *seen, int mode) {
  extern __shared__ __align__(1024) unsigned char box[];
  // Behind the box: static variables would push it off its alignment.
  u32 bar = shared32(box + (bytes + 1023) / 1024 * 1024);
  if (threadIdx.x == 0) {
    initBarrier(bar, 1);
    asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
    expect(bar, bytes);
    load<rank>(shared32(box), &from, bar, at.c);
  }
  __syncthreads();
  wait(bar, 0);
  for (int i = threadIdx.x; i < bytes; i += blockDim.x) seen[i] = box[i];
  __syncthreads();
  if (threadIdx.x == 0 && mode) {
    store<rank>(&to, shared32(box), there.c, mode == 2);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

struct Case {
  const char *name;
  CUtensorMapDataType type;
  int element, rank;
  int size[5], box[5], step[5], at[5], there[5];
  CUtensorMapSwizzle swizzle;
  int nan, mode;
};
static CUtensorMap makeMap(const Case &c, void *base) {
  CUtensorMap map;
  cuuint64_t size[5], stride[5];
  cuuint32_t box[5], step[5];
  u64 bytes = c.element;
  for (int i = 0; i < c.rank; ++i) {
    size[i] = c.size[i];
    box[i] = c.box[i];
    step[i] = c.step[i];
    bytes = (bytes * c.size[i] + 15) / 16 * 16;
    stride[i] = bytes;
  }
  CUresult r = encode(&map, c.type, c.rank, base, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, c.swizzle,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                      c.nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    printf("%s: the map cannot be made: %d\n", c.name, r);
    exit(1);
  }
  return map;
}
static u64 offsetOf(const Case &c, const int *index) {
  u64 pitch = c.element, offset = 0;
  for (int i = 0; i < c.rank; ++i) {
    offset += index[i] * pitch;
    pitch = (pitch * c.size[i] + 15) / 16 * 16;
  }
  return offset;
}
template <int rank> static void launch(const Case &c, const CUtensorMap &a, const CUtensorMap &b, int bytes, unsigned char *seen) {
  Coordinates at, there;
  for (int i = 0; i < 5; ++i) at.c[i] = c.at[i], there.c[i] = c.there[i];
  cudaFuncSetAttribute(tile<rank>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
  tile<rank><<<1, 64, (bytes + 1023) / 1024 * 1024 + 8>>>(a, b, at, there, bytes, seen, c.mode);
}
static void test(const Case &c) {
  u64 total = c.element;
  for (int i = 0; i < c.rank; ++i) total = (total * c.size[i] + 15) / 16 * 16;
  int bytes = c.element, count[5], elements = 1;
  for (int i = 0; i < c.rank; ++i) {
    count[i] = i == 0 ? c.box[i] : (c.box[i] + c.step[i] - 1) / c.step[i];
    bytes *= count[i];
    elements *= count[i];
  }
  unsigned char *from, *to, *seen;
  cudaMallocManaged(&from, total);
  cudaMallocManaged(&to, total);
  cudaMallocManaged(&seen, bytes);
  u32 seed = 7;
  for (u64 i = 0; i < total; ++i) seed = seed * 1664525 + 1013904223, from[i] = seed >> 25, to[i] = 3;
  if (c.mode == 2) // Integers for the sum; the top byte stays small.
    for (u64 i = 0; i < total; i += 4) *(int *)(to + i) = (int)i;
  std::vector<unsigned char> before(to, to + total), want(bytes), after(to, to + total);
  CUtensorMap a = makeMap(c, from), b = makeMap(c, to);
  switch (c.rank) {
  case 1: launch<1>(c, a, b, bytes, seen); break;
  case 2: launch<2>(c, a, b, bytes, seen); break;
  case 3: launch<3>(c, a, b, bytes, seen); break;
  case 4: launch<4>(c, a, b, bytes, seen); break;
  case 5: launch<5>(c, a, b, bytes, seen); break;
  }
  sync(c.name);
  int bad = 0;
  for (int e = 0; e < elements; ++e) {
    int index[5], target[5], rest = e;
    bool inside = true, lands = true;
    for (int i = 0; i < c.rank; ++i) {
      int k = rest % count[i] * (i == 0 ? 1 : c.step[i]);
      rest /= count[i];
      index[i] = c.at[i] + k;
      target[i] = c.there[i] + k;
      inside &= index[i] >= 0 && index[i] < c.size[i];
      lands &= target[i] >= 0 && target[i] < c.size[i];
    }
    u32 where = e * c.element;
    switch (c.swizzle) { // Units of 16 bytes are exchanged within 256, 512 or 1024.
    case CU_TENSOR_MAP_SWIZZLE_32B: where ^= (where & 0x080) >> 3; break;
    case CU_TENSOR_MAP_SWIZZLE_64B: where ^= (where & 0x180) >> 3; break;
    case CU_TENSOR_MAP_SWIZZLE_128B: where ^= (where & 0x380) >> 3; break;
    default: break;
    }
    if (!inside && c.nan) {
      float f = *(float *)(seen + where);
      bad += f == f;
    } else {
      for (int k = 0; k < c.element; ++k)
        if (seen[where + k] != (inside ? from[offsetOf(c, index) + k] : 0) && !bad++)
          printf("%s: byte %d of element %d is %d\n", c.name, k, e, seen[where + k]);
    }
    if (!lands || !c.mode) continue;
    for (int k = 0; k < c.element; ++k) after[offsetOf(c, target) + k] = seen[where + k];
    if (c.mode == 2) *(int *)&after[offsetOf(c, target)] = *(int *)&before[offsetOf(c, target)] + *(int *)(seen + where);
  }
  for (u64 i = 0; i < total; ++i)
    if (to[i] != after[i] && !bad++) printf("%s: stored byte %llu is %d, not %d\n", c.name, (unsigned long long)i, to[i], after[i]);
  report(c.name, bad);
  cudaFree(from);
  cudaFree(to);
  cudaFree(seen);
}
#define NONE CU_TENSOR_MAP_SWIZZLE_NONE
#define S32_ CU_TENSOR_MAP_SWIZZLE_32B
#define S64_ CU_TENSOR_MAP_SWIZZLE_64B
#define S128_ CU_TENSOR_MAP_SWIZZLE_128B
#define U8 CU_TENSOR_MAP_DATA_TYPE_UINT8
#define F16 CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#define F32 CU_TENSOR_MAP_DATA_TYPE_FLOAT32
#define I32 CU_TENSOR_MAP_DATA_TYPE_INT32
#define F64 CU_TENSOR_MAP_DATA_TYPE_FLOAT64
static const Case cases[] = {
    {"1d", F32, 4, 1, {100}, {64}, {1}, {4}, {28}, NONE, 0, 1},
    {"1d past the end", I32, 4, 1, {100}, {64}, {1}, {72}, {88}, NONE, 0, 1},
    {"2d", F16, 2, 2, {72, 40}, {64, 16}, {1, 1}, {8, 3}, {0, 20}, NONE, 0, 1},
    {"2d around the corner", F32, 4, 2, {40, 40}, {32, 16}, {1, 1}, {-4, 30}, {20, 36}, NONE, 0, 1},
    {"2d with NaN", F32, 4, 2, {40, 40}, {32, 16}, {1, 1}, {20, 30}, {0, 0}, NONE, 1, 0},
    {"2d bytes", U8, 1, 2, {160, 33}, {48, 8}, {1, 1}, {16, 20}, {96, 30}, NONE, 0, 1},
    {"swizzle 32", F16, 2, 2, {64, 64}, {16, 24}, {1, 1}, {8, 5}, {32, 8}, S32_, 0, 1},
    {"swizzle 64", F32, 4, 2, {64, 64}, {16, 24}, {1, 1}, {4, 5}, {32, 50}, S64_, 0, 1},
    {"swizzle 128", F16, 2, 2, {128, 64}, {64, 64}, {1, 1}, {64, 0}, {0, 0}, S128_, 0, 1},
    {"swizzle 128 of doubles", F64, 8, 2, {40, 30}, {16, 12}, {1, 1}, {30, 20}, {0, 0}, S128_, 0, 1},
    {"3d", F16, 2, 3, {40, 12, 9}, {16, 6, 4}, {1, 1, 1}, {-8, 8, 6}, {24, 1, 2}, NONE, 0, 1},
    {"3d swizzled", F32, 4, 3, {48, 12, 9}, {32, 5, 3}, {1, 1, 1}, {4, 2, 6}, {8, 6, 0}, S128_, 0, 1},
    {"3d with steps", I32, 4, 3, {16, 20, 9}, {8, 9, 5}, {1, 2, 3}, {4, 1, 2}, {0, 3, 1}, NONE, 0, 0},
    {"4d", F32, 4, 4, {12, 7, 6, 5}, {8, 3, 2, 4}, {1, 1, 1, 1}, {4, 5, -1, 2}, {0, 0, 0, 0}, NONE, 0, 1},
    {"5d", F16, 2, 5, {24, 5, 4, 3, 6}, {8, 2, 3, 2, 3}, {1, 1, 1, 1, 1}, {8, 3, 2, 1, 4}, {0, 1, 1, 1, 1}, NONE, 0, 1},
    {"2d sum", I32, 4, 2, {40, 40}, {32, 16}, {1, 1}, {0, 0}, {16, 30}, NONE, 0, 2},
    {"2d sum swizzled", I32, 4, 2, {64, 40}, {32, 16}, {1, 1}, {4, 9}, {16, 8}, S128_, 0, 2},
};

// What cuTensorMapEncodeTiled must refuse.
static void testRules() {
  static CUtensorMap map;
  char *memory;
  cudaMalloc(&memory, 1 << 20);
  struct {
    const char *what;
    int rank, type, offset;
    u64 size[3], stride[2];
    u32 box[3], step[3];
    int swizzle, fill, want;
  } rules[] = {
      {"right", 2, F32, 0, {64, 64}, {256}, {32, 8}, {1, 1}, 0, 0, 0},
      {"address", 2, F32, 8, {64, 64}, {256}, {32, 8}, {1, 1}, 0, 0, 1},
      {"stride", 2, F32, 0, {62, 64}, {248}, {32, 8}, {1, 1}, 0, 0, 1},
      {"box of 257", 2, F32, 0, {600, 64}, {2400}, {257, 8}, {1, 1}, 0, 0, 1},
      {"box of 0", 2, F32, 0, {64, 64}, {256}, {32, 0}, {1, 1}, 0, 0, 1},
      {"box bytes", 2, F32, 0, {64, 64}, {256}, {30, 8}, {1, 1}, 0, 0, 1},
      {"swizzle span", 2, F32, 0, {64, 64}, {256}, {64, 8}, {1, 1}, 3, 0, 1},
      {"swizzle 32 span", 2, F16, 0, {64, 64}, {128}, {32, 8}, {1, 1}, 1, 0, 1},
      {"step of 9", 2, F32, 0, {64, 64}, {256}, {32, 8}, {1, 9}, 0, 0, 1},
      {"NaN of integers", 2, I32, 0, {64, 64}, {256}, {32, 8}, {1, 1}, 0, 1, 1},
      {"rank 0", 0, F32, 0, {64, 64}, {256}, {32, 8}, {1, 1}, 0, 0, 1},
      {"size 0", 2, F32, 0, {64, 0}, {256}, {32, 8}, {1, 1}, 0, 0, 1},
  };
  int bad = 0;
  for (auto &r : rules) {
    int got = encode(&map, (CUtensorMapDataType)r.type, r.rank, memory + r.offset, (cuuint64_t *)r.size, (cuuint64_t *)r.stride,
                     r.box, r.step, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)r.swizzle,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)r.fill);
    if (got != r.want) printf("rule '%s': %d, not %d\n", r.what, got, r.want), ++bad;
  }
  report("rules", bad);
}
int main(int argc, char **argv) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) != cudaSuccess || !entry) {
    printf("no cuTensorMapEncodeTiled\n");
    return 1;
  }
  encode = (Encode)entry;
  if (argc > 2) { // Where a load and a store begin, for what a GPU refuses.
    Case c = cases[3];
    c.at[0] = atoi(argv[1]);
    c.there[1] = atoi(argv[2]);
    test(c);
    return failures != 0;
  }
  testBulk();
  for (const Case &c : cases) test(c);
  testRules();
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
