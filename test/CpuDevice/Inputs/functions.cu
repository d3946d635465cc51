// Recursion, calls through pointers, and arithmetic and memory at their limits.
// Prints one line per case; right on a GPU of compute capability 7.0 or newer.
#include <cstdio>
#include <new>
#include <vector>

static int failures = 0;
static void report(const char *name, bool ok) {
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s %s%s%s\n", name, ok && e == cudaSuccess ? "ok" : "FAILED", e ? ": " : "",
         e ? cudaGetErrorString(e) : "");
  if (!ok || e != cudaSuccess)
    failures++;
}
template <class T> static std::vector<T> get(T *p, size_t n) {
  std::vector<T> h(n);
  cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return h;
}

__device__ unsigned long long factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void numbers(unsigned long long *out) {
  unsigned t = threadIdx.x;
  out[t] = factorial(t) + (t == 7 ? even(7) * 2 + odd(7) * 3 : 0) + (t == 9 ? fibonacci(12) : 0);
}

__device__ void quicksort(int *a, int lo, int hi) {
  if (lo >= hi)
    return;
  int pivot = a[(lo + hi) / 2], i = lo, j = hi;
  while (i <= j) {
    while (a[i] < pivot)
      ++i;
    while (a[j] > pivot)
      --j;
    if (i <= j) {
      int x = a[i];
      a[i++] = a[j];
      a[j--] = x;
    }
  }
  quicksort(a, lo, j);
  quicksort(a, i, hi);
}
__global__ void sortRows(int *a, int n) { quicksort(a + blockIdx.x * n, 0, n - 1); }

// A tree in shared memory, built and walked by recursion.
struct Node {
  int key, left, right;
};
__device__ int insert(Node *tree, int at, int index) {
  if (at < 0)
    return index;
  if (tree[index].key < tree[at].key)
    tree[at].left = insert(tree, tree[at].left, index);
  else
    tree[at].right = insert(tree, tree[at].right, index);
  return at;
}
__shared__ int visited;
__device__ void walk(const Node *tree, int at, int *out) {
  if (at < 0)
    return;
  walk(tree, tree[at].left, out);
  out[visited++] = tree[at].key;
  walk(tree, tree[at].right, out);
}
__global__ void treeSort(const int *keys, int n, int *out) {
  extern __shared__ Node tree[];
  if (threadIdx.x < n)
    tree[threadIdx.x] = {keys[blockIdx.x * n + threadIdx.x], -1, -1};
  if (threadIdx.x == 0)
    visited = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    int root = -1;
    for (int i = 0; i < n; ++i)
      root = insert(tree, root, i);
    walk(tree, root, out + blockIdx.x * n);
  }
}
// A recursive function in which all threads meet.
__device__ int blockSum(int *values, int n) {
  if (n == 1)
    return values[0];
  if (threadIdx.x < n / 2)
    values[threadIdx.x] += values[threadIdx.x + n / 2];
  __syncthreads();
  return blockSum(values, n / 2);
}
__global__ void sums(int *out) {
  __shared__ int values[128];
  values[threadIdx.x] = threadIdx.x + blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = blockSum(values, 128);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual const char *name() const { return "shape"; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float a;
  __device__ Square(float a) : a(a) {}
  __device__ float area() const override { return a * a; }
  __device__ const char *name() const override { return "square"; }
};
struct Disc : Shape {
  float r;
  __device__ Disc(float r) : r(r) {}
  __device__ float area() const override { return 3 * r * r; }
};
__global__ void makeShapes(Shape **shapes, int n) {
  int i = threadIdx.x;
  if (i < n)
    shapes[i] = i % 2 ? static_cast<Shape *>(new Square(i)) : static_cast<Shape *>(new Disc(i));
}
__global__ void useShapes(Shape **shapes, float *out, int n) {
  int i = threadIdx.x;
  if (i < n) {
    out[i] = shapes[i]->area() + shapes[i]->name()[0];
    delete shapes[i];
  }
}

typedef float (*Op)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ float mul(float a, float b) { return a * b; }
template <int N> __device__ float scale(float a, float b) { return N * a + b; }
__device__ Op table[] = {add, sub, mul, scale<3>};
__constant__ Op fixedTable[] = {mul, add};
__device__ Op chosen = sub;
__global__ void byTable(float *out) {
  int t = threadIdx.x;
  out[t] = table[t % 4](t, 2) + 1000 * fixedTable[t % 2](t, 3);
}
__global__ void byArgument(Op op, float *out) { out[threadIdx.x] = op(threadIdx.x, 10); }
__device__ __noinline__ float twice(Op op, float x) { return op(op(x, 1), 1); }
__global__ void higherOrder(float *out, int which) {
  out[threadIdx.x] = twice(which ? add : mul, threadIdx.x);
}

__global__ void divide(const int *a, const int *b, int *out, const long long *la, const long long *lb,
                       long long *lout, int n) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = (unsigned)a[i] / (unsigned)b[i];
  out[4 * i + 3] = (unsigned)a[i] % (unsigned)b[i];
  lout[4 * i] = la[i] / lb[i];
  lout[4 * i + 1] = la[i] % lb[i];
  lout[4 * i + 2] = (unsigned long long)la[i] / (unsigned long long)lb[i];
  lout[4 * i + 3] = (unsigned long long)la[i] % (unsigned long long)lb[i];
}
// Each thread takes memory until there is none, then gives it back.
__global__ void exhaust(int *got, int *bad) {
  void *chain = nullptr;
  int n = 0;
  while (void *p = malloc(65536)) {
    *(void **)p = chain;
    chain = p;
    if (++n > 1000)
      break;
  }
  got[threadIdx.x] = n;
  while (chain) {
    void *next = *(void **)chain;
    free(chain);
    chain = next;
  }
  if (n > 1000)
    *bad = 1;
}
__global__ void bigLocal(int *out, int n) {
  int a[20000];
  for (int i = 0; i < n; ++i)
    a[i * 7919 % n] = i;
  int s = 0;
  for (int i = 0; i < n; ++i)
    s += a[i] ^ i;
  out[threadIdx.x] = s;
}
__global__ void wide(unsigned long long *out) {
  unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1)
    *out = i;
}

int main() {
  char *memory;
  cudaMalloc(&memory, 1 << 22);
  auto fresh = [&] { cudaMemset(memory, 0, 1 << 22); };
  fresh();
  {
    auto *out = (unsigned long long *)memory;
    numbers<<<1, 20>>>(out);
    auto h = get(out, 20);
    unsigned long long f = 1;
    bool ok = true;
    for (unsigned n = 0; n < 20; ++n) {
      f = n < 2 ? 1 : f * n;
      ok &= h[n] == f + (n == 7 ? 3 : 0) + (n == 9 ? 144 : 0);
    }
    report("recursion", ok);
  }
  {
    const int rows = 40, n = 200;
    std::vector<int> a(rows * n);
    for (int i = 0; i < rows * n; ++i)
      a[i] = (i * 7919 + i / n * 31) % 1009;
    cudaMemcpy(memory, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    sortRows<<<rows, 1>>>((int *)memory, n);
    auto h = get((int *)memory, rows * n);
    bool ok = true;
    for (int i = 0; i < rows * n; ++i)
      ok &= i % n == 0 || h[i - 1] <= h[i];
    report("quicksort", ok);
    int *out = (int *)memory + rows * n;
    cudaMemcpy(memory, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
    treeSort<<<rows, 256, n * sizeof(Node)>>>((int *)memory, n, out);
    report("tree", get(out, rows * n) == h);
  }
  {
    fresh();
    sums<<<3, 128>>>((int *)memory);
    bool ok = true;
    auto h = get((int *)memory, 3 * 128);
    for (int i = 0; i < 3 * 128; ++i)
      ok &= h[i] == 127 * 64 + 128 * (i / 128);
    report("barriers in recursion", ok);
  }
  {
    fresh();
    auto **shapes = (Shape **)memory;
    auto *out = (float *)(memory + 4096);
    makeShapes<<<1, 32>>>(shapes, 20);
    useShapes<<<1, 32>>>(shapes, out, 20);
    auto h = get(out, 20);
    bool ok = true;
    for (int i = 0; i < 20; ++i)
      ok &= h[i] == (i % 2 ? float(i * i) : float(3 * i * i)) + 's';
    report("virtual functions", ok);
  }
  {
    fresh();
    auto *out = (float *)memory;
    byTable<<<1, 64>>>(out);
    auto h = get(out, 64);
    bool ok = true;
    for (int t = 0; t < 64; ++t) {
      float x = t % 4 == 0 ? t + 2 : t % 4 == 1 ? t - 2 : t % 4 == 2 ? t * 2 : 3 * t + 2;
      ok &= h[t] == x + 1000.0f * (t % 2 ? t + 3 : t * 3);
    }
    report("function tables", ok);
    Op op = nullptr;
    cudaMemcpyFromSymbol(&op, chosen, sizeof(op));
    byArgument<<<1, 32>>>(op, out);
    ok = get(out, 32)[31] == 21;
    cudaMemcpyFromSymbol(&op, table, sizeof(op), 3 * sizeof(op));
    byArgument<<<1, 32>>>(op, out);
    ok &= get(out, 32)[31] == 103;
    report("pointer as argument", ok);
    higherOrder<<<1, 32>>>(out, 1);
    ok = get(out, 32)[5] == 7;
    higherOrder<<<1, 32>>>(out, 0);
    report("pointer to function", ok && get(out, 32)[5] == 5);
  }
  {
    const int n = 8;
    std::vector<int> a = {7, -7, 0, 123456789, (int)0x80000000, -1, 100, -100};
    std::vector<int> b = {0, 0, 0, 1000, -1, -1, 7, -7};
    std::vector<long long> la, lb;
    for (int i = 0; i < n; ++i) {
      la.push_back(i == 4 ? (long long)0x8000000000000000ull : a[i] * 10000000001ll);
      lb.push_back(b[i]);
    }
    int *da = (int *)memory, *db = da + n, *out = db + n;
    auto *dla = (long long *)(memory + 4096), *dlb = dla + n, *lout = dlb + n;
    cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dla, la.data(), n * 8, cudaMemcpyHostToDevice);
    cudaMemcpy(dlb, lb.data(), n * 8, cudaMemcpyHostToDevice);
    divide<<<1, 32>>>(da, db, out, dla, dlb, lout, n);
    auto h = get(out, 4 * n);
    auto l = get(lout, 4 * n);
    for (int i = 0; i < n; ++i)
      printf("%d/%d: %d %d %u %u; %lld %lld %llu %llu\n", a[i], b[i], h[4 * i], h[4 * i + 1],
             (unsigned)h[4 * i + 2], (unsigned)h[4 * i + 3], l[4 * i], l[4 * i + 1],
             (unsigned long long)l[4 * i + 2], (unsigned long long)l[4 * i + 3]);
    report("division", h[24] == 14 && h[25] == 2 && l[24] == 142857142871ll);
  }
  {
    fresh();
    int *got = (int *)memory;
    exhaust<<<1, 4>>>(got, got + 64);
    auto h = get(got, 65);
    int all = h[0] + h[1] + h[2] + h[3];
    report("device heap", all > 16 && h[64] == 0);
    cudaError_t e = cudaGetLastError();
    exhaust<<<1, 4>>>(got, got + 64);
    h = get(got, 65);
    report("device heap again", e == cudaSuccess && h[0] + h[1] + h[2] + h[3] > 16);
  }
  {
    fresh();
    bigLocal<<<2, 64>>>((int *)memory, 20000);
    int s = 0;
    std::vector<int> y(20000);
    for (int i = 0; i < 20000; ++i)
      y[i * 7919 % 20000] = i;
    for (int i = 0; i < 20000; ++i)
      s += y[i] ^ i;
    bool ok = true;
    for (int v : get((int *)memory, 64))
      ok &= v == s;
    report("large local array", ok);
  }
  {
    fresh();
    wide<<<(1u << 18) + 1, 32>>>((unsigned long long *)memory);
    report("many blocks", get((unsigned long long *)memory, 1)[0] == ((1ull << 18) + 1) * 32 - 1);
  }
  return failures > 0;
}
