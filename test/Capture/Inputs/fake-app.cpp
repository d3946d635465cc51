//===- fake-app.cpp - A program that launches as it is told -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// fake-app MODULE ACTION...
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" void fakeNode(CUfunction F, unsigned Grid, unsigned Block,
                         void **Args);

struct View {
  int N;
  float *Data;
  const float *In;
};
struct Node {
  Node *Next;
  float Value;
};

static CUmodule Module;
static CUdeviceptr X, Y;
static unsigned Launches = 0;

static CUfunction find(const char *Name) {
  CUfunction F = nullptr;
  if (cuModuleGetFunction(&F, Module, Name) != CUDA_SUCCESS)
    std::exit(9);
  return F;
}

static void launch(const char *Name, unsigned Grid, unsigned Block,
                   std::vector<void *> Args) {
  if (cuLaunchKernel(find(Name), Grid, 1, 1, Block, 1, 1, 0, nullptr,
                     Args.data(), nullptr) == CUDA_SUCCESS)
    ++Launches;
}

static void add(unsigned Grid, int N, float A) {
  launch("_Z3addPfPKfif", Grid, 256, {&Y, &X, &N, &A});
}

int main(int Count, char **Words) {
  cuInit(0);
  std::ifstream In(Words[1], std::ios::binary);
  std::string Image((std::istreambuf_iterator<char>(In)), {});
  cuModuleLoadData(&Module, Image.data());
  constexpr int N = 4096;
  cuMemAlloc(&X, N * 4);
  cuMemAlloc(&Y, N * 4);
  std::vector<float> Values(N);
  for (int I = 0; I < N; ++I)
    Values[static_cast<size_t>(I)] = static_cast<float>(I % 100) / 8;
  cuMemcpyHtoD(X, Values.data(), N * 4);
  cuMemcpyHtoD(Y, std::vector<float>(N).data(), N * 4);
  for (int I = 2; I < Count; ++I) {
    const char *Colon = std::strchr(Words[I], ':');
    std::string What(Words[I],
                     Colon ? size_t(Colon - Words[I]) : std::strlen(Words[I]));
    unsigned Times = Colon ? static_cast<unsigned>(std::atoi(Colon + 1)) : 1;
    if (What == "add")
      for (unsigned K = 0; K < Times; ++K)
        add(16, N, 0.5f);
    if (What == "grid") // One launch with that grid.
      add(Times, N, 0.5f);
    if (What == "scalars")
      for (unsigned K = 0; K < Times; ++K)
        add(16, N, static_cast<float>(K));
    if (What == "shapes")
      for (unsigned K = 0; K < Times; ++K)
        add(K + 1, N, 0.5f);
    if (What == "view") {
      View V{N, reinterpret_cast<float *>(Y), reinterpret_cast<float *>(X)};
      launch("_Z6viewed4View", 16, 256, {&V});
    }
    // One allocation for all. "arena": apart; "shifted": the kernel reads
    // beyond the other pointer.
    if (What == "arena" || What == "shifted") {
      CUdeviceptr Arena;
      cuMemAlloc(&Arena, 1 << 20);
      std::vector<float> All(1 << 18, 1.5f);
      cuMemcpyHtoD(Arena, All.data(), 1 << 20);
      CUdeviceptr From = Arena + 40000,
                  To = From + (What == "arena" ? 400016 : 256);
      int Size = What == "arena" ? 1000 : 996;
      for (unsigned K = 0; K < Times; ++K) {
        float A = 0.5f + static_cast<float>(K);
        launch("_Z3addPfPKfif", 4, 256, {&To, &From, &Size, &A});
      }
    }
    if (What == "linked") {
      CUdeviceptr At;
      cuMemAlloc(&At, 4 * sizeof(Node));
      std::vector<Node> Nodes;
      for (int K = 0; K < 4; ++K)
        Nodes.push_back(
            {K < 3 ? reinterpret_cast<Node *>(At) + K + 1 : nullptr, 1.0f});
      cuMemcpyHtoD(At, Nodes.data(), 4 * sizeof(Node));
      launch("_Z6linkedP4NodePf", 1, 1, {&At, &Y});
    }
    if (What == "host") { // A pointer to the host's memory.
      auto *At = reinterpret_cast<CUdeviceptr *>(Values.data());
      launch("_Z3addPfPKfif", 1, 1, {&Y, &At, new int(4), new float(1)});
    }
    if (What == "clock")
      launch("_Z5clockPl", 1, 1, {&Y});
    if (What == "empty")
      for (unsigned K = 0; K < Times; ++K)
        launch("_Z5emptyv", 1, 32, {});
    if (What == "graph" || What == "chain") {
      int Size = N;
      float A = 1;
      void *Args[] = {&Y, &X, &Size, &A}, *Back[] = {&X, &Y, &Size, &A};
      CUgraph Graph;
      CUgraphExec Exec;
      cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL);
      launch("_Z3addPfPKfif", 8, 256, {Args[0], Args[1], Args[2], Args[3]});
      --Launches; // It was only written down.
      cuStreamEndCapture(nullptr, &Graph);
      fakeNode(find("_Z3addPfPKfif"), 8, 256, Args);
      if (What == "chain") { // The next reads what the one before has made.
        fakeNode(find("_Z3addPfPKfif"), 9, 256, Back);
        fakeNode(find("_Z3addPfPKfif"), 10, 256, Args);
        Launches += 2 * Times;
      }
      cuGraphInstantiate(&Exec, Graph, 0);
      for (unsigned K = 0; K < Times; ++K, ++Launches)
        cuGraphLaunch(Exec, nullptr);
    }
    std::fflush(stdout);
    if (What == "flush") // The library delivers times every 200 ms.
      usleep(700000);
    if (What == "fork") {
      pid_t Child = fork();
      if (!Child) {
        add(16, N, 0.5f);
        std::exit(0);
      }
      waitpid(Child, nullptr, 0);
    }
    if (What == "wait") {
      std::puts("waits");
      std::fflush(stdout);
      pause();
    }
    if (What == "segv")
      raise(SIGSEGV);
    if (What == "kill")
      raise(SIGKILL);
    if (What == "_exit")
      _exit(5);
    if (What == "exit")
      std::exit(6);
  }
  double Sum = 0;
  cuMemcpyDtoH(Values.data(), Y, N * 4);
  for (float F : Values)
    Sum += static_cast<double>(F);
  std::printf("sum %g\nlaunches %u\n", Sum, Launches);
}
