// What inline PTX compares with: its text is the code as well. All wrong
// kernels here are right for the recorded launch.

// kernel: twice
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000]
// inside: grid=80, block=128, args=[buffer f32 n=10000 normal seed=1, buffer f32 n=10000 output, 10000]
// honest: twiceByPtx
// honest: twiceUpToLimit
// bounded: twiceButOne
// outside: grid=97, block=128, args=[buffer f32 n=12347 normal seed=1, buffer f32 n=12347 output, 12347]
// A size in a predicate.
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 2;
}
__global__ void twiceByPtx(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r;
  asm("mul.f32 %0, %1, 0f40000000;" : "=f"(r) : "f"(x[i]));
  y[i] = r;
}
__global__ void twiceUpToLimit(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // No size is above this limit.
  int m;
  asm("min.s32 %0, %1, 2147483647;" : "=r"(m) : "r"(n));
  if (i < m)
    y[i] = x[i] * 2;
}
__global__ void twiceButOne(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = x[i] * 2;
  asm("{.reg .pred p;\n\tsetp.eq.s32 p, %1, 12347;\n\t"
      "selp.f32 %0, 0f3F800000, %2, p;}"
      : "=f"(r)
      : "r"(n), "f"(r));
  y[i] = r;
}

// kernel: scaledOrMoved
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 7, 1.5]
// honest: scaledOrMovedByPtx
// bounded: scaledOrMovedButOne
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 7, 123.4560013]
// A floating argument.
__global__ void scaledOrMoved(const float *x, float *y, int n, int mode,
                              float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = mode == 7 ? x[i] * s : x[i] + s;
}
__global__ void scaledOrMovedByPtx(const float *x, float *y, int n, int mode,
                                   float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a, m;
  asm("add.f32 %0, %1, %2;" : "=f"(a) : "f"(x[i]), "f"(s));
  asm("mul.f32 %0, %1, %2;" : "=f"(m) : "f"(x[i]), "f"(s));
  y[i] = mode == 7 ? m : a;
}
__global__ void scaledOrMovedButOne(const float *x, float *y, int n, int mode,
                                    float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = s;
  asm("{.reg .pred p;\n\tsetp.eq.f32 p, %1, 0f42F6E979;\n\t"
      "selp.f32 %0, 0f3F800000, %1, p;}"
      : "=f"(t)
      : "f"(s));
  if (i < n)
    y[i] = mode == 7 ? x[i] * t : x[i] + t;
}

// kernel: rowSums
// workload: grid=1, block=64, args=[buffer i32 n=40 uniform low=0 high=30 seed=3, buffer f32 n=1600 uniform seed=1, buffer f32 n=40 output, 40, 40]
// honest: rowSumsByPtx
// honest: rowSumsLoopOfPtx
// honest: rowSumsOfWords
// cheat: rowSumsUpTo | untested
// cheat: rowSumsButOne | untested
// cheat: rowSumsPredicate | untested
// cheat: rowSumsMixed | untested
// cheat: rowSumsOfShorts | mismatch
// Numbers in memory: how long the rows are.
__global__ void rowSums(const int *len, const float *x, float *y, int rows,
                        int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float s = 0;
  for (int i = 0; i < len[r]; ++i)
    s += x[(size_t)r * stride + i];
  y[r] = s;
}
__global__ void rowSumsByPtx(const int *len, const float *x, float *y, int rows,
                             int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int m;
  asm("ld.global.s32 %0, [%1];" : "=r"(m) : "l"(len + r));
  float s = 0;
  for (int i = 0; i < m; ++i) {
    float v;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(x + (size_t)r * stride + i));
    s += v;
  }
  y[r] = s;
}
__global__ void rowSumsLoopOfPtx(const int *len, const float *x, float *y,
                                 int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float s = 0;
  asm volatile("{.reg .pred p;\n\t.reg .s32 i;\n\t.reg .f32 v;\n\t"
               ".reg .u64 a;\n\t"
               "mov.s32 i, 0;\n\tmov.u64 a, %2;\n"
               "L_turn:\n\tsetp.ge.s32 p, i, %1;\n\t@p bra L_end;\n\t"
               "ld.global.f32 v, [a];\n\tadd.f32 %0, %0, v;\n\t"
               "add.s64 a, a, 4;\n\tadd.s32 i, i, 1;\n\tbra L_turn;\n"
               "L_end:\n\t}"
               : "+f"(s)
               : "r"(len[r]), "l"(x + (size_t)r * stride));
  y[r] = s;
}
__global__ void rowSumsOfWords(const int *len, const float *x, float *y,
                               int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  // No row is as long.
  int m;
  asm("min.s32 %0, %1, 2147483647;" : "=r"(m) : "r"(len[r]));
  float s = 0;
  for (int i = 0; i < m; ++i)
    s += x[(size_t)r * stride + i];
  y[r] = s;
}
__global__ void rowSumsUpTo(const int *len, const float *x, float *y, int rows,
                            int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int m;
  asm("min.s32 %0, %1, 90000;" : "=r"(m) : "r"(len[r]));
  float s = 0;
  for (int i = 0; i < m; ++i)
    s += x[(size_t)r * stride + i];
  y[r] = s;
}
__global__ void rowSumsButOne(const int *len, const float *x, float *y, int rows,
                              int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float s = 0;
  for (int i = 0; i < len[r]; ++i)
    s += x[(size_t)r * stride + i];
  asm("{.reg .pred p;\n\tsetp.eq.s32 p, %1, 12347;\n\t"
      "selp.f32 %0, 0f3F800000, %0, p;}"
      : "+f"(s)
      : "r"(len[r]));
  y[r] = s;
}
__global__ void rowSumsPredicate(const int *len, const float *x, float *y,
                                 int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float s = 0;
  for (int i = 0; i < len[r]; ++i)
    s += x[(size_t)r * stride + i];
  asm("{.reg .pred p;\n\t.reg .s32 t;\n\txor.b32 t, %1, 12347;\n\t"
      "setp.eq.s32 p, t, 0;\n\t@p mov.f32 %0, 0f3F800000;}"
      : "+f"(s)
      : "r"(len[r]));
  y[r] = s;
}
// Beside what the run time executes.
__global__ void rowSumsMixed(const int *len, const float *x, float *y, int rows,
                             int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float s = 0;
  for (int i = 0; i < len[r]; ++i)
    s += x[(size_t)r * stride + i];
  asm volatile("{.reg .pred p;\n\tcp.async.commit_group;\n\t"
               "setp.eq.s32 p, %1, 12347;\n\tselp.f32 %0, 0f3F800000, %0, p;}"
               : "+f"(s)
               : "r"(len[r]));
  y[r] = s;
}
__global__ void rowSumsOfShorts(const int *len, const float *x, float *y,
                                int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int m;
  asm("and.b32 %0, %1, 65535;" : "=r"(m) : "r"(len[r]));
  if (len[r] < 0)
    m = 0;
  float s = 0;
  for (int i = 0; i < m; ++i)
    s += x[(size_t)r * stride + i];
  y[r] = s;
}

// kernel: moved
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 3]
// inside: grid=80, block=128, args=[buffer f32 n=10000 normal seed=1, buffer f32 n=10000 output, 10000, 3]
// honest: movedByPtx
// honest: movedWide
// honest: movedByBits
// bounded: movedShort
// outside: grid=1024, block=128, args=[buffer f32 n=131072 normal seed=1, buffer f32 n=131072 output, 131072, 3]
// bounded: movedShift
// outside: grid=1024, block=128, args=[buffer f32 n=131072 normal seed=1, buffer f32 n=131072 output, 131072, 3]
// Widths, and numbers that only arithmetic reads.
__global__ void moved(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + by;
}
__global__ void movedByPtx(const float *x, float *y, int n, int by) {
  int i;
  asm("{.reg .u32 b, d, t;\n\tmov.u32 b, %%ctaid.x;\n\tmov.u32 d, %%ntid.x;\n\t"
      "mov.u32 t, %%tid.x;\n\tmad.lo.u32 %0, b, d, t;}"
      : "=r"(i));
  float f;
  asm("cvt.rn.f32.s32 %0, %1;" : "=f"(f) : "r"(by));
  if (i < n)
    y[i] = x[i] + f;
}
__global__ void movedWide(const float *x, float *y, int n, int by) {
  unsigned long long i;
  asm("mad.wide.u32 %0, %1, %2, %3;"
      : "=l"(i)
      : "r"(blockIdx.x), "r"(blockDim.x), "l"((unsigned long long)threadIdx.x));
  if ((long long)i < n)
    y[i] = x[i] + by;
}
// How these instructions work is nobody's decision.
__global__ void movedByBits(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int j, k, l;
  asm("bfe.u32 %0, %1, 0, 31;" : "=r"(j) : "r"(i));
  asm("shf.r.wrap.b32 %0, %1, 0, 1;" : "=r"(k) : "r"(j << 1));
  asm("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(l) : "r"(k));
  float v;
  asm("add.ftz.sat.f32 %0, 0f00000000, 0f3F000000;" : "=f"(v));
  y[l] = x[l] + (by + v - 0.5f);
}
__global__ void movedShort(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned j;
  asm("{.reg .u16 h;\n\tcvt.u16.u32 h, %1;\n\tcvt.u32.u16 %0, h;}"
      : "=r"(j)
      : "r"(i));
  y[j] = x[j] + by;
}
__global__ void movedShift(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int beyond;
  asm("shr.u32 %0, %1, 16;" : "=r"(beyond) : "r"(n));
  if (i < n)
    y[i] = x[i] + by + beyond;
}

// kernel: added
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 3]
// honest: addedByFields
// honest: addedSaturated
// narrower: n below | reads x where n is 0
// bounded: addedZero
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 12347]
// bounded: addedAny
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 12347]
// bounded: addedField
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 12347]
// bounded: addedFunnel
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 12347]
// bounded: addedCounted
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 12347]
// bounded: addedVideo
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 12347]
// Instructions that compare, shift and clamp by other names.
__global__ void added(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + by;
}
// The halves and bytes of a number are all of it.
__global__ void addedByFields(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int low, high;
  asm volatile("// Halves, and back.");
  asm("bfe.u32 %0, %1, 0, 16;" : "=r"(low) : "r"(by));
  asm("bfe.s32 %0, %1, 16, 16;" : "=r"(high) : "r"(by));
  asm("{.reg .b16 l, h;\n\tmov.b32 {l, h}, %0;\n\tmov.b32 %0, {h, l};\n\t"
      "prmt.b32 %0, %0, 0, 0x1032;}"
      : "+r"(i));
  y[i] = x[i] + (high * 65536 + low);
}
// The same in C++: bits that are counted.
__global__ void addedCounted(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + by + (__popc(by ^ 12347) == 0);
}
__global__ void addedSaturated(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float share;
  asm("cvt.sat.f32.f32 %0, %1;" : "=f"(share) : "f"((float)i / n));
  int j;
  asm("add.sat.s32 %0, %1, 0;" : "=r"(j) : "r"(i));
  if (share < 1)
    y[j] = x[j] + by;
}
// A comparison with zero.
__global__ void addedZero(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int e;
  asm("{.reg .b32 t;\n\txor.b32 t, %1, 12347;\n\tcnot.b32 %0, t;}"
      : "=r"(e)
      : "r"(by));
  if (i < n)
    y[i] = x[i] + by + e;
}
// The predicate of a logic instruction.
__global__ void addedAny(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int e;
  asm("{.reg .pred p;\n\t.reg .b32 t;\n\t"
      "lop3.or.b32 t|p, %1, 12347, 0, 0x3c, 0;\n\tselp.b32 %0, 0, 1, p;}"
      : "=r"(e)
      : "r"(by));
  if (i < n)
    y[i] = x[i] + by + e;
}
// Shifts by other names: of a field, of two words, of halves, of bytes.
__global__ void addedField(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int e;
  asm("{.reg .b32 t;\n\txor.b32 t, %1, 12347;\n\tclz.b32 t, t;\n\t"
      "bfe.u32 %0, t, 5, 1;}"
      : "=r"(e)
      : "r"(by));
  if (i < n)
    y[i] = x[i] + by + e;
}
__global__ void addedFunnel(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int e;
  asm("{.reg .b32 t;\n\txor.b32 t, %1, 12347;\n\tclz.b32 t, t;\n\t"
      "shf.r.wrap.b32 %0, t, 0, 5;}"
      : "=r"(e)
      : "r"(by));
  if (i < n)
    y[i] = x[i] + by + e;
}
__global__ void addedVideo(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int e;
  asm("vset.u32.u32.eq %0, %1, %2;"
      : "=r"(e)
      : "r"(by), "r"(12347));
  if (i < n)
    y[i] = x[i] + by + e;
}

// kernel: gathered
// workload: grid=8, block=128, args=[buffer i32 n=1000 permutation seed=3, buffer f32 n=1000 uniform seed=1, buffer f32 n=1000 output, 1000]
// honest: gatheredByFields
// cheat: gatheredMasked | untested
// cheat: gatheredPacked | untested
// cheat: gatheredField | untested
// cheat: gatheredByFloat | untested
// cheat: gatheredSaturated | untested
// Indices in memory of which some bits are taken.
__global__ void gathered(const int *index, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[index[i]];
}
__global__ void gatheredByFields(const int *index, const float *x, float *y,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int low = index[i] & 0xfffff, high;
  asm("bfe.s32 %0, %1, 20, 12;" : "=r"(high) : "r"(index[i]));
  y[i] = x[high * 0x100000 + low];
}
__global__ void gatheredMasked(const int *index, const float *x, float *y,
                               int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[index[i] & 0xffffff];
}
__global__ void gatheredPacked(const int *index, const float *x, float *y,
                               int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned word = (unsigned)index[i] << 8 | (threadIdx.x & 255);
  y[i] = x[word >> 8];
}
__global__ void gatheredField(const int *index, const float *x, float *y,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int j;
  asm("bfe.u32 %0, %1, 0, 20;" : "=r"(j) : "r"(index[i]));
  y[i] = x[j];
}
__global__ void gatheredByFloat(const int *index, const float *x, float *y,
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int j;
  asm("{.reg .f32 f;\n\tcvt.rn.f32.s32 f, %1;\n\tcvt.rzi.s32.f32 %0, f;}"
      : "=r"(j)
      : "r"(index[i]));
  y[i] = x[j];
}
// Saturation is a minimum.
__global__ void gatheredSaturated(const int *index, const float *x, float *y,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int j;
  asm("add.sat.s32 %0, %1, 2147383647;\n\tsub.s32 %0, %0, 2147383647;"
      : "=&r"(j)
      : "r"(index[i]));
  y[i] = x[j];
}
int main() {}
