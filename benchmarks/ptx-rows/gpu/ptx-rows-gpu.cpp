//===- ptx-rows-gpu.cpp - What a GPU answers to rows ------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: ptx-rows-gpu NAMES PTXAS FOLDER PART [one]
//
// Runs the rows of one part of those that NAMES lists on the first GPU, and
// writes FOLDER/PART.txt, a line of digests for each row. Where NAMES has
// digests, what a row left goes to FOLDER/PART.raw if they differ; else always.
// With "one", each row is a module of its own in a process of its own, so that
// one that fails or hangs takes no other along.
//
//===----------------------------------------------------------------------===//

#include "../Row.h"
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace ptxrows;

static void check(CUresult R, const std::string &What) {
  if (R == CUDA_SUCCESS)
    return;
  const char *Name = nullptr;
  cuGetErrorName(R, &Name);
  throw std::runtime_error(What + ": " + (Name ? Name : "?"));
}

namespace {
/// The files that a part leaves.
struct Results {
  std::ofstream Digests, Raw;
  std::map<std::string, Answer> Expected;
  void add(const Row &R, std::vector<uint64_t> &Out);
};
} // namespace

/// Bytes of a result that are kept: its own size.
static unsigned bytesOf(const Output &O) {
  return std::max(bitsOf(O.Of) / 8, 1U);
}

void Results::add(const Row &R, std::vector<uint64_t> &Out) {
  Answer A = answerOf(R, Out);
  Digests << lineOf(A) << "\n";
  auto Known = Expected.find(R.Name);
  if (Known != Expected.end() && Known->second.Digests == A.Digests)
    return;
  Raw << R.Name << "\n";
  for (size_t O = 0; O < R.Outputs.size(); ++O)
    for (unsigned Byte = 0; Byte < bytesOf(R.Outputs[O]); ++Byte)
      for (size_t I = 0; I < Tuples; ++I)
        Raw.put(static_cast<char>(Out[I * R.Outputs.size() + O] >> (8 * Byte)));
}

static std::string compiled(const std::string &Ptxas, const std::string &Stem,
                            const std::string &Ptx) {
  std::ofstream(Stem + ".ptx") << Ptx;
  std::string Command = Ptxas + " -arch=sm_90a " + Stem + ".ptx -o " + Stem +
                        ".cubin 2> " + Stem + ".err";
  if (std::system(Command.c_str()) != 0)
    throw std::runtime_error("ptxas failed for " + Stem);
  return Stem + ".cubin";
}

static void run(const Part &P, const std::string &Cubin, Results &To) {
  CUmodule Module = nullptr;
  check(cuModuleLoad(&Module, Cubin.c_str()), "cuModuleLoad");
  for (size_t First = 0; First < P.Rows.size(); First += GroupRows) {
    size_t End = std::min(First + GroupRows, P.Rows.size());
    std::vector<uint64_t> In;
    uint64_t OutWords = 0;
    for (size_t I = First; I < End; ++I) {
      std::vector<uint64_t> Words = operandsOf(P.Rows[I]);
      In.insert(In.end(), Words.begin(), Words.end());
      OutWords += uint64_t(Tuples) * P.Rows[I].Outputs.size();
    }
    CUfunction Kernel = nullptr;
    const std::string Name = "rows" + std::to_string(First / GroupRows);
    check(cuModuleGetFunction(&Kernel, Module, Name.c_str()), Name);
    CUdeviceptr From = 0, Into = 0;
    check(cuMemAlloc(&From, In.size() * 8), "cuMemAlloc");
    check(cuMemAlloc(&Into, OutWords * 8), "cuMemAlloc");
    check(cuMemcpyHtoD(From, In.data(), In.size() * 8), "cuMemcpyHtoD");
    check(cuMemsetD8(Into, 0, OutWords * 8), "cuMemsetD8");
    void *Args[] = {&From, &Into};
    check(cuLaunchKernel(Kernel, Blocks, 1, 1, BlockTuples, 1, 1, 0, nullptr,
                         Args, nullptr),
          "launch of " + Name);
    check(cuCtxSynchronize(), Name + " at " + P.Rows[First].Name);
    std::vector<uint64_t> Out(OutWords);
    check(cuMemcpyDtoH(Out.data(), Into, OutWords * 8), "cuMemcpyDtoH");
    cuMemFree(From);
    cuMemFree(Into);
    auto At = Out.begin();
    for (size_t I = First; I < End; ++I) {
      auto Next =
          At + static_cast<ptrdiff_t>(Tuples * P.Rows[I].Outputs.size());
      std::vector<uint64_t> Own(At, Next);
      To.add(P.Rows[I], Own);
      At = Next;
    }
  }
}

static void runAll(const Part &P, const std::string &Ptxas,
                   const std::string &Stem, Results &To) {
  std::string Cubin = compiled(Ptxas, Stem, P.ptx());
  check(cuInit(0), "cuInit");
  CUdevice Device = 0;
  CUcontext Context = nullptr;
  check(cuDeviceGet(&Device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&Context, Device), "context");
  check(cuCtxSetCurrent(Context), "context");
  run(P, Cubin, To);
}

/// Each row in a process of its own, for at most 10 seconds.
static void runEach(const Part &P, const std::string &Ptxas,
                    const std::string &Stem, Results &To) {
  for (const Row &R : P.Rows) {
    To.Digests.flush();
    To.Raw.flush();
    pid_t Child = fork();
    if (Child == 0) {
      alarm(10);
      try {
        runAll(Part{{R}}, Ptxas, Stem + ".one", To);
      } catch (const std::exception &E) {
        std::cerr << "failed: " << R.Name << ": " << E.what() << "\n";
        _exit(1);
      }
      To.Digests.flush();
      To.Raw.flush();
      _exit(0);
    }
    int Status = 0;
    waitpid(Child, &Status, 0);
    if (WIFSIGNALED(Status))
      std::cerr << "failed: " << R.Name << ": signal " << WTERMSIG(Status)
                << "\n";
  }
}

int main(int Argc, char **Argv) {
  if (Argc < 5) {
    std::cerr << "usage: ptx-rows-gpu NAMES PTXAS FOLDER PART [one]\n";
    return 2;
  }
  std::ifstream Names(Argv[1]);
  std::vector<Answer> Answers = readAnswers(Names);
  std::vector<Part> Parts = partsOf(rowsNamed(Answers));
  const size_t Number = std::strtoul(Argv[4], nullptr, 10);
  if (Number >= Parts.size()) {
    std::cerr << "error: there are " << Parts.size() << " parts\n";
    return 2;
  }
  const std::string Stem = std::string(Argv[3]) + "/" + std::to_string(Number);
  Results To;
  for (const Answer &A : Answers)
    if (!A.Digests.empty())
      To.Expected[A.Row] = A;
  To.Digests.open(Stem + ".txt");
  To.Raw.open(Stem + ".raw", std::ios::binary);
  try {
    if (Argc > 5)
      runEach(Parts[Number], Argv[2], Stem, To);
    else
      runAll(Parts[Number], Argv[2], Stem, To);
  } catch (const std::exception &E) {
    std::cerr << "part " << Number << ": " << E.what() << "\n";
    return 1;
  }
  return 0;
}
