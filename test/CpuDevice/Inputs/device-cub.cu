// CUB's block and warp primitives, each against the host.
#include <algorithm>
#include <cstdio>
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include <vector>

static bool failed = false;
static unsigned cases = 0;
template <class T> void expect(const char *name, const std::vector<T> &got, const std::vector<T> &want) {
  ++cases;
  for (size_t i = 0; i < want.size(); ++i)
    if (!(got[i] == want[i])) {
      failed = true;
      printf("%s: element %zu: got %g, want %g\n", name, i, double(got[i]), double(want[i]));
      return;
    }
}
constexpr int Threads = 128, Items = 4, N = Threads * Items;

template <cub::BlockReduceAlgorithm A> __global__ void reduce(const int *in, int *out) {
  using Reduce = cub::BlockReduce<int, Threads, A>;
  __shared__ typename Reduce::TempStorage temp;
  int items[Items];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  int sum = Reduce(temp).Sum(items);
  __syncthreads();
  int most = Reduce(temp).Reduce(items[0], [](int a, int b) { return a > b ? a : b; }, 100);
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = most;
  }
}
template <cub::BlockScanAlgorithm A> __global__ void scan(const int *in, int *out) {
  using Scan = cub::BlockScan<int, Threads, A>;
  __shared__ typename Scan::TempStorage temp;
  int items[Items], total;
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Scan(temp).ExclusiveSum(items, items, total);
  cub::StoreDirectBlocked(threadIdx.x, out, items);
  if (threadIdx.x == 0)
    out[N] = total;
}
__global__ void sort(const int *in, int *out, float *values) {
  using Sort = cub::BlockRadixSort<int, Threads, Items, float>;
  __shared__ typename Sort::TempStorage temp;
  int items[Items];
  float v[Items];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  for (int i = 0; i < Items; ++i)
    v[i] = items[i] * 0.5f;
  Sort(temp).Sort(items, v);
  cub::StoreDirectBlocked(threadIdx.x, out, items);
  cub::StoreDirectBlocked(threadIdx.x, values, v);
}
__global__ void mergeSort(const int *in, int *out) {
  using Sort = cub::BlockMergeSort<int, Threads, Items>;
  __shared__ typename Sort::TempStorage temp;
  int items[Items];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Sort(temp).Sort(items, [](int a, int b) { return a > b; });
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}
__global__ void transposed(const int *in, int *out) {
  using Load = cub::BlockLoad<int, Threads, Items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Exchange = cub::BlockExchange<int, Threads, Items>;
  using Store = cub::BlockStore<int, Threads, Items, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Exchange::TempStorage exchange;
    typename Store::TempStorage store;
  } temp;
  int items[Items];
  Load(temp.load).Load(in, items);
  __syncthreads();
  Exchange(temp.exchange).BlockedToStriped(items, items);
  __syncthreads();
  Exchange(temp.exchange).StripedToBlocked(items, items);
  __syncthreads();
  for (int &item : items)
    item += 1;
  Store(temp.store).Store(out, items);
}
template <cub::BlockHistogramAlgorithm A> __global__ void histogram(const int *in, int *out) {
  using Histogram = cub::BlockHistogram<unsigned char, Threads, Items, 16, A>;
  __shared__ typename Histogram::TempStorage temp;
  __shared__ int bins[16];
  int items[Items];
  unsigned char bytes[Items];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  for (int i = 0; i < Items; ++i)
    bytes[i] = items[i] & 15;
  Histogram(temp).Histogram(bytes, bins);
  __syncthreads();
  if (threadIdx.x < 16)
    out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void neighbours(const int *in, int *out) {
  using Difference = cub::BlockAdjacentDifference<int, Threads>;
  using Flags = cub::BlockDiscontinuity<int, Threads>;
  using Shuffle = cub::BlockShuffle<int, Threads>;
  __shared__ union {
    typename Difference::TempStorage difference;
    typename Flags::TempStorage flags;
    typename Shuffle::TempStorage shuffle;
  } temp;
  int items[Items], result[Items], heads[Items], moved;
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Difference(temp.difference).SubtractLeft(items, result, [](int a, int b) { return a - b; });
  __syncthreads();
  Flags(temp.flags).FlagHeads(heads, items, [](int a, int b) { return (a & 1) != (b & 1); });
  __syncthreads();
  Shuffle(temp.shuffle).Offset(items[0], moved, 1);
  cub::StoreDirectBlocked(threadIdx.x, out, result);
  cub::StoreDirectBlocked(threadIdx.x, out + N, heads);
  out[2 * N + threadIdx.x] = threadIdx.x + 1 < Threads ? moved : -1;
}
__global__ void warps(const int *in, int *out) {
  using Reduce = cub::WarpReduce<int>;
  using Small = cub::WarpReduce<int, 8>;
  using Scan = cub::WarpScan<int>;
  using Sort = cub::WarpMergeSort<int, Items, 32>;
  using Exchange = cub::WarpExchange<int, Items, 32>;
  __shared__ typename Reduce::TempStorage reduce[4];
  __shared__ typename Small::TempStorage small[16];
  __shared__ typename Scan::TempStorage scan[4];
  __shared__ typename Sort::TempStorage sort[4];
  __shared__ typename Exchange::TempStorage exchange[4];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, x = in[threadIdx.x], items[Items], inclusive;
  int sum = Reduce(reduce[warp]).Sum(x), eight = Small(small[threadIdx.x / 8]).Reduce(x, [](int a, int b) { return a < b ? a : b; });
  Scan(scan[warp]).InclusiveSum(x, inclusive);
  if (lane == 0)
    out[warp] = sum;
  if (lane % 8 == 0)
    out[4 + threadIdx.x / 8] = eight;
  out[32 + threadIdx.x] = inclusive;
  for (int i = 0; i < Items; ++i)
    items[i] = in[threadIdx.x * Items + i];
  Sort(sort[warp]).Sort(items, [](int a, int b) { return a < b; });
  __syncwarp();
  Exchange(exchange[warp]).BlockedToStriped(items, items);
  for (int i = 0; i < Items; ++i)
    out[256 + warp * 128 + i * 32 + lane] = items[i];
}

int main() {
  std::vector<int> in(N), sorted, out(3 * N);
  for (int i = 0; i < N; ++i)
    in[i] = (i * 7919 + 13) % 1009 - 200;
  sorted = in;
  std::sort(sorted.begin(), sorted.end());
  int *a, *b;
  float *f;
  cudaMalloc(&a, N * sizeof(int));
  cudaMalloc(&b, 3 * N * sizeof(int));
  cudaMalloc(&f, N * sizeof(float));
  cudaMemcpy(a, in.data(), N * sizeof(int), cudaMemcpyHostToDevice);
  auto fetch = [&] {
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess)
      e = cudaMemcpy(out.data(), b, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) {
      failed = true;
      printf("%s\n", cudaGetErrorString(e));
    }
    cudaMemset(b, 0xee, out.size() * sizeof(int));
    return out;
  };
  int total = 0, most = -1000;
  std::vector<int> sums;
  for (int i = 0; i < N; ++i) {
    sums.push_back(total);
    total += in[i];
    if (i % Items == 0 && i < 100 * Items)
      most = std::max(most, in[i]);
  }
  sums.push_back(total);
  reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<1, Threads>>>(a, b);
  expect("reduce", fetch(), {total, most});
  reduce<cub::BLOCK_REDUCE_RAKING><<<1, Threads>>>(a, b);
  expect("raking reduce", fetch(), {total, most});
  scan<cub::BLOCK_SCAN_WARP_SCANS><<<1, Threads>>>(a, b);
  expect("scan", fetch(), sums);
  scan<cub::BLOCK_SCAN_RAKING><<<1, Threads>>>(a, b);
  expect("raking scan", fetch(), sums);
  sort<<<1, Threads>>>(a, b, f);
  expect("sort", fetch(), sorted);
  std::vector<float> values(N), halves(N);
  cudaMemcpy(values.data(), f, N * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i)
    halves[i] = sorted[i] * 0.5f;
  expect("sorted values", values, halves);
  mergeSort<<<1, Threads>>>(a, b);
  expect("merge sort", fetch(), std::vector<int>(sorted.rbegin(), sorted.rend()));
  transposed<<<1, Threads>>>(a, b);
  std::vector<int> want = in;
  for (int &w : want)
    ++w;
  expect("load, exchange, store", fetch(), want);
  want.assign(16, 0);
  for (int i : in)
    ++want[i & 15];
  histogram<cub::BLOCK_HISTO_ATOMIC><<<1, Threads>>>(a, b);
  expect("histogram", fetch(), want);
  histogram<cub::BLOCK_HISTO_SORT><<<1, Threads>>>(a, b);
  expect("sorting histogram", fetch(), want);
  neighbours<<<1, Threads>>>(a, b);
  want.assign(2 * N + Threads, 1);
  for (int i = 0; i < N; ++i) {
    want[i] = i ? in[i] - in[i - 1] : in[i];
    want[N + i] = !i || (in[i] & 1) != (in[i - 1] & 1);
  }
  for (int i = 0; i < Threads; ++i)
    want[2 * N + i] = i + 1 < Threads ? in[(i + 1) * Items] : -1;
  expect("neighbours", fetch(), want);
  warps<<<1, Threads>>>(a, b);
  fetch();
  want = out;
  for (int w = 0; w < 4; ++w) {
    int sum = 0;
    for (int i = 0; i < 32; ++i)
      want[32 + w * 32 + i] = sum += in[w * 32 + i];
    want[w] = sum;
    for (int i = 0; i < 4; ++i)
      want[4 + w * 4 + i] = *std::min_element(&in[w * 32 + i * 8], &in[w * 32 + i * 8 + 8]);
    std::copy(&in[w * 128], &in[w * 128] + 128, &want[256 + w * 128]);
    std::sort(&want[256 + w * 128], &want[256 + w * 128] + 128);
  }
  expect("warps", out, want);
  printf("cub: %u cases, %s\n", cases, failed ? "some wrong" : "all right");
  return failed;
}
