// Cooperative groups: tiles, coalesced and partitioned groups, reductions, scans, copies, the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;
#define EXPECT(got, want) check(failed, __LINE__, (long long)(got), (long long)(want))
__device__ void check(unsigned *failed, int line, long long got, long long want) {
  atomicAdd(failed + 1, 1);
  if (got != want) {
    atomicAdd(failed, 1);
    printf("line %d, thread %u: got %lld, want %lld\n", line, threadIdx.x, got, want);
  }
}
template <unsigned N> __device__ void tiles(cg::thread_block block, unsigned *failed) {
  auto tile = cg::tiled_partition<N>(block);
  int rank = tile.thread_rank(), first = block.thread_rank() - rank;
  EXPECT(tile.size(), N);
  EXPECT(rank, block.thread_rank() % N);
  EXPECT(tile.meta_group_rank(), block.thread_rank() / N);
  EXPECT(tile.shfl(int(block.thread_rank()), 0), first);
  EXPECT(tile.shfl_xor(rank, N / 2), rank ^ int(N / 2));
  EXPECT(tile.any(rank == 1), N > 1);
  EXPECT(tile.all(rank >= 0), 1);
  EXPECT(__popc(tile.ballot(rank < int(N / 2))), N / 2);
  EXPECT(cg::reduce(tile, rank, cg::plus<int>()), N * (N - 1) / 2);
  EXPECT(cg::reduce(tile, rank, cg::greater<int>()), N - 1);
  EXPECT(cg::reduce(tile, double(rank), cg::plus<double>()) * 2, N * (N - 1));
  EXPECT(cg::reduce(tile, rank, [](int a, int b) { return a | b; }), N - 1);
  EXPECT(cg::inclusive_scan(tile, rank + 1), (rank + 1) * (rank + 2) / 2);
  EXPECT(cg::exclusive_scan(tile, rank + 1), rank * (rank + 1) / 2);
  EXPECT(cg::exclusive_scan(tile, rank, cg::greater<int>()), rank ? rank - 1 : 0); // The first one gets int{}.
  tile.sync();
}
__global__ void groups(unsigned *failed, int *data) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ int copy[128];
  EXPECT(block.size(), 128);
  EXPECT(block.thread_rank(), threadIdx.x + 16 * threadIdx.y);
  EXPECT(block.group_index().x, blockIdx.x);
  tiles<4>(block, failed);
  tiles<16>(block, failed);
  tiles<32>(block, failed);
  unsigned rank = block.thread_rank(), lane = rank % 32;
  auto warp = cg::tiled_partition<32>(block);
  if (lane % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    EXPECT(active.size(), 11);
    EXPECT(active.thread_rank(), lane / 3);
    EXPECT(active.shfl(int(lane), 10), 30);
    EXPECT(active.shfl_down(int(lane), 1), lane < 30 ? lane + 3 : lane);
    EXPECT(cg::reduce(active, int(lane), cg::plus<int>()), 165);
    EXPECT(cg::inclusive_scan(active, 1), lane / 3 + 1);
    active.sync();
  }
  auto labeled = cg::labeled_partition(warp, lane % 5);
  EXPECT(labeled.size(), lane % 5 < 2 ? 7 : 6);
  EXPECT(cg::reduce(labeled, 1, cg::plus<int>()), labeled.size());
  auto binary = cg::binary_partition(warp, lane < 10);
  EXPECT(binary.size(), lane < 10 ? 10 : 22);
  EXPECT(cg::reduce(binary, int(lane), cg::less<int>()), lane < 10 ? 0 : 10);
  cg::memcpy_async(block, copy, data, sizeof(copy));
  cg::wait(block);
  EXPECT(copy[127 - rank], 3 * (127 - rank));
  block.sync();
  cg::invoke_one(warp, [&] { atomicAdd(&copy[0], 1); });
  block.sync();
  EXPECT(copy[0], 4);
}
// Tiles of several warps need memory of their own.
__global__ void wide(unsigned *failed) {
  __shared__ cg::block_tile_memory<128> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  int rank = tile.thread_rank();
  EXPECT(tile.size(), 64);
  EXPECT(tile.shfl(rank, 40), 40);
  EXPECT(cg::reduce(tile, rank, cg::plus<int>()), 2016);
  EXPECT(tile.any(rank == 63), 1);
  tile.sync();
}
__global__ void grid(unsigned *failed, int *data) {
  cg::grid_group all = cg::this_grid();
  EXPECT(all.is_valid(), 1);
  EXPECT(all.size(), 4 * 64);
  for (int round = 1; round < 4; ++round) {
    if (threadIdx.x == 0)
      data[blockIdx.x] = round * (blockIdx.x + 1);
    all.sync();
    EXPECT(data[(blockIdx.x + 1) % 4], round * ((blockIdx.x + 1) % 4 + 1));
    all.sync();
  }
}
int main() {
  unsigned *failed, h[2];
  int *data, start[128];
  cudaMalloc(&failed, sizeof(h));
  cudaMalloc(&data, sizeof(start));
  for (int i = 0; i < 128; ++i)
    start[i] = 3 * i;
  cudaMemcpy(data, start, sizeof(start), cudaMemcpyHostToDevice);
  bool wrong = false;
  for (int i = 0; i < 3; ++i) {
    cudaMemset(failed, 0, sizeof(h));
    void *args[] = {&failed, &data};
    if (i == 0)
      groups<<<2, dim3(16, 8)>>>(failed, data);
    else if (i == 1)
      wide<<<1, 128>>>(failed);
    else
      cudaLaunchCooperativeKernel((void *)grid, dim3(4), dim3(64), args, 0, 0);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
    const char *names[] = {"groups", "wide", "grid"};
    printf("%s: %u cases, %u wrong, %s\n", names[i], h[1], h[0], cudaGetErrorString(e));
    wrong |= h[0] != 0 || h[1] == 0 || e != cudaSuccess;
  }
  return wrong;
}
