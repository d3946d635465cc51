// forms.cu - Launches in every form
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches in every form that a recorder must know. Prints its own count.
#include <cooperative_groups.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
namespace cg = cooperative_groups;
#define CHECK(X)                                                               \
  do {                                                                         \
    cudaError_t Error_ = (X);                                                  \
    if (Error_) {                                                              \
      std::printf("%s: %s\n", #X, cudaGetErrorString(Error_));                 \
      std::exit(9);                                                            \
    }                                                                          \
  } while (0)
__device__ float Scale = 2;
__constant__ int Shift[4] = {1, 2, 3, 4};
struct View {
  int N;
  float *Data;
  long Pad;
  const float *In;
};
struct Nested {
  View V[2];
  char C;
};
__global__ void add(float *Y, const float *X, int N, float A) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Y[I] += A * X[I];
}
__global__ void viewed(View V) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < V.N)
    V.Data[I] = V.In[I] * Scale + Shift[I % 4];
}
__global__ void nested(Nested S) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  for (auto &V : S.V)
    if (I < V.N)
      V.Data[I] = V.In[I] + 1;
}
__global__ void setScale(float S) {
  if (!threadIdx.x)
    Scale = S;
}
__global__ void shared(float *Y) {
  extern __shared__ float S[];
  S[threadIdx.x] = Y[threadIdx.x];
  __syncthreads();
  Y[threadIdx.x] = S[blockDim.x - 1 - threadIdx.x];
}
__global__ void sum(float *Out, const float *X, int N) {
  float S = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    S += X[I];
  atomicAdd(Out, S);
}
__global__ void grid(float *Y, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Y[I] = I;
  cg::this_grid().sync();
  if (!I)
    Y[0] = Y[N - 1];
}
__global__ void clustered(float *Y) {
  auto C = cg::this_cluster();
  Y[blockIdx.x * blockDim.x + threadIdx.x] = C.block_rank();
}
struct Node {
  Node *Next;
  float Value;
};
__global__ void linked(Node *First, float *Out) {
  float S = 0;
  for (Node *N = First; N; N = N->Next)
    S += N->Value;
  *Out = S;
}
__global__ void allocates(float **Out) {
  *Out = static_cast<float *>(malloc(16));
}
__global__ void ends(const float *First, const float *Last, float *Out) {
  float S = 0;
  for (; First != Last; ++First)
    S += *First;
  *Out = S;
}
template <typename T> __global__ void typed(T *X, T V) { X[threadIdx.x] = V; }
__global__ void bad(float *X) { X[1ull << 40] = 1; }
static int Count = 0;
int main(int C, char **V) {
  std::string Mode = C > 1 ? V[1] : "";
  const int N = 1 << 16;
  std::vector<float> H(N);
  for (int I = 0; I < N; ++I)
    H[I] = float(I % 1000) / 7;
  float *X, *Y;
  CHECK(cudaMalloc(&X, N * 4));
  CHECK(cudaMalloc(&Y, N * 4));
  CHECK(cudaMemcpy(X, H.data(), N * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(Y, 0, N * 4));
  auto Add = [&](cudaStream_t S = 0) {
    add<<<N / 256, 256, 0, S>>>(Y, X, N, 0.5f);
    ++Count;
  };
  Add();
  if (Mode == "forms") {
    View W{N, Y, 7, X};
    viewed<<<N / 256, 256>>>(W);
    ++Count;
    setScale<<<1, 32>>>(3);
    ++Count;
    viewed<<<N / 256, 256>>>(W);
    ++Count;
    float *Z;
    CHECK(cudaMalloc(&Z, N * 4));
    CHECK(cudaMemset(Z, 0, N * 4));
    Nested S{{{N, Y, 0, X}, {N / 2, Z + 8, 0, X + 4}}, 'x'};
    nested<<<N / 256, 256>>>(S);
    ++Count;
    CHECK(cudaFuncSetAttribute(
        shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    shared<<<1, 256, 100 << 10>>>(Y);
    ++Count;
    sum<<<32, 256>>>(Z, X, N);
    ++Count;
    {
      float *P = Y;
      int M = 64 * 256;
      void *A[] = {&P, &M};
      CHECK(cudaLaunchCooperativeKernel((void *)grid, dim3(64), dim3(256), A));
      ++Count;
    }
    {
      cudaLaunchConfig_t L = {};
      L.gridDim = 8;
      L.blockDim = 64;
      cudaLaunchAttribute T;
      T.id = cudaLaunchAttributeClusterDimension;
      T.val.clusterDim = {4, 1, 1};
      L.attrs = &T;
      L.numAttrs = 1;
      CHECK(cudaLaunchKernelEx(&L, clustered, Y));
      ++Count;
    }
    float *M;
    CHECK(cudaMallocManaged(&M, 4096));
    for (int I = 0; I < 1024; ++I)
      M[I] = I;
    add<<<4, 256>>>(Y, M, 1024, 1);
    ++Count;
    CHECK(cudaDeviceSynchronize());
    float *A;
    CHECK(cudaMallocAsync(&A, N * 4, 0));
    CHECK(cudaMemsetAsync(A, 0, N * 4));
    add<<<N / 256, 256>>>(A, X, N, 2);
    ++Count;
    CHECK(cudaFreeAsync(A, 0));
    float *P;
    size_t Pitch;
    CHECK(cudaMallocPitch(&P, &Pitch, 1000, 20));
    CHECK(cudaMemset2D(P, Pitch, 0, 1000, 20));
    add<<<1, 250>>>(P, X, 250, 3);
    ++Count;
    float *Pin;
    CHECK(cudaMallocHost(&Pin, 4096));
    for (int I = 0; I < 1024; ++I)
      Pin[I] = I;
    add<<<4, 256>>>(Y, Pin, 1024, 2);
    ++Count;
    ends<<<1, 1>>>(X, X + N, Z);
    ++Count;
    typed<double><<<1, 64>>>((double *)Z, 2.5);
    ++Count;
    typed<int><<<1, 64>>>((int *)Z, 2);
    ++Count;
    CHECK(cudaDeviceSynchronize());
    Node *L;
    CHECK(cudaMalloc(&L, 10 * sizeof(Node)));
    std::vector<Node> Nodes(10);
    for (int I = 0; I < 10; ++I)
      Nodes[I] = {I < 9 ? L + I + 1 : nullptr, float(I)};
    CHECK(
        cudaMemcpy(L, Nodes.data(), 10 * sizeof(Node), cudaMemcpyHostToDevice));
    linked<<<1, 1>>>(L, Z);
    ++Count;
    float **O;
    CHECK(cudaMalloc(&O, 8));
    CHECK(cudaMemset(O, 0, 8));
    allocates<<<1, 1>>>(O);
    ++Count;
    for (int K = 0; K < 200; ++K) {
      add<<<N / 256, 256>>>(Y, X, N - K, 0.1f * K);
      ++Count;
    } // changing scalars
    for (int K = 1; K <= 100; ++K) {
      typed<int><<<1, K>>>((int *)Z, 1);
      ++Count;
    } // changing shapes
  } else if (Mode == "streams") {
    cudaStream_t S[4];
    for (auto &T : S)
      CHECK(cudaStreamCreateWithFlags(&T, cudaStreamNonBlocking));
    std::vector<std::thread> T;
    std::vector<int> Counts(4);
    std::vector<float *> B(4);
    for (auto &P : B) {
      CHECK(cudaMalloc(&P, N * 4));
      CHECK(cudaMemset(P, 0, N * 4));
    }
    CHECK(cudaDeviceSynchronize());
    for (int I = 0; I < 4; ++I)
      T.emplace_back([&, I] {
        for (int K = 0; K < 1000; ++K) {
          add<<<N / 256, 256, 0, S[I]>>>(B[I], X, N, I);
          ++Counts[I];
        }
        CHECK(cudaStreamSynchronize(S[I]));
      });
    for (auto &U : T)
      U.join();
    for (int K : Counts)
      Count += K;
    std::vector<float> R(N);
    CHECK(cudaMemcpy(R.data(), B[3], N * 4, cudaMemcpyDeviceToHost));
    std::printf("check %.3f\n", R[999]);
  } else if (Mode == "graph") {
    cudaStream_t S;
    CHECK(cudaStreamCreate(&S));
    cudaGraph_t G;
    cudaGraphExec_t E;
    CHECK(cudaStreamBeginCapture(S, cudaStreamCaptureModeGlobal));
    for (int K = 0; K < 10; ++K)
      add<<<N / 256, 256, 0, S>>>(Y, X, N, K);
    sum<<<16, 128, 0, S>>>(Y, X, N);
    CHECK(cudaStreamEndCapture(S, &G));
    CHECK(cudaGraphInstantiate(&E, G, 0));
    for (int K = 0; K < 100; ++K) {
      CHECK(cudaGraphLaunch(E, S));
      Count += 11;
    }
    CHECK(cudaStreamSynchronize(S));
    Add();
  } else if (Mode == "many") {
    for (int K = 0; K < 1000000; ++K) {
      typed<int><<<1, 32>>>((int *)Y, 1);
      ++Count;
    }
  } else if (Mode == "fork") {
    CHECK(cudaDeviceSynchronize());
    pid_t P = fork();
    if (!P)
      std::exit(0);
    int St;
    waitpid(P, &St, 0);
    Add();
  } else if (Mode == "segv" || Mode == "exit" || Mode == "kill" ||
             Mode == "abort" || Mode == "fault") {
    for (int K = 0; K < 1000; ++K)
      Add();
    CHECK(cudaDeviceSynchronize());
    usleep(500000);
    for (int K = 0; K < 10; ++K)
      Add();
    CHECK(cudaDeviceSynchronize());
    std::printf("launches %d\n", Count);
    std::fflush(stdout);
    if (Mode == "segv")
      raise(SIGSEGV);
    if (Mode == "abort")
      std::abort();
    if (Mode == "exit")
      _exit(5);
    if (Mode == "kill")
      kill(getpid(), SIGKILL);
    bad<<<1, 1>>>(Y);
    std::printf("fault: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 7;
  }
  CHECK(cudaDeviceSynchronize());
  std::vector<float> R(N);
  CHECK(cudaMemcpy(R.data(), Y, N * 4, cudaMemcpyDeviceToHost));
  double T = 0;
  for (float F : R)
    T += F;
  std::printf("sum %.6g\nlaunches %d\n", T, Count);
}
