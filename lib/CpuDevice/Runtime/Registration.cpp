//===- Registration.cpp - What clang's host code calls before main -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace cupilot;

#define CUPILOT_EXPORT __attribute__((visibility("default")))

namespace {
/// What the host code passes: the "fat binary" is plain bitcode here.
struct FatBinaryWrapper {
  int Magic, Version;
  const void *Data;
  void *Name;
};

struct CallConfiguration {
  dim3 Grid, Block;
  size_t Shared;
  cudaStream_t Stream;
};
} // namespace

static thread_local std::vector<CallConfiguration> Configurations;

extern "C" {

CUPILOT_EXPORT void **__cudaRegisterFatBinary(void *Wrapper) {
  const void *Data = static_cast<FatBinaryWrapper *>(Wrapper)->Data;
  size_t Size = bitcodeSize(Data);
  if (Size == 0) {
    std::fprintf(
        stderr,
        "cupilot: error: this program holds code for a GPU, not for the cpu "
        "device\ncupilot: note: build it with cupilot-cpucc\n");
    std::exit(2);
  }
  return reinterpret_cast<void **>(Device::get().addModule(
      std::string(static_cast<const char *>(Data), Size)));
}

CUPILOT_EXPORT void __cudaRegisterFatBinaryEnd(void **) {}
CUPILOT_EXPORT void __cudaUnregisterFatBinary(void **) {}
CUPILOT_EXPORT char __cudaInitModule(void **) { return 1; }

CUPILOT_EXPORT void __cudaRegisterFunction(void **Handle,
                                           const char *HostFunction, char *,
                                           const char *DeviceName, int, uint3 *,
                                           uint3 *, dim3 *, dim3 *, int *) {
  Device::get().addFunction(
      HostFunction, reinterpret_cast<RegisteredModule *>(Handle), DeviceName);
}

CUPILOT_EXPORT void __cudaRegisterVar(void **Handle, char *HostVariable, char *,
                                      const char *DeviceName, int, size_t, int,
                                      int) {
  Device::get().addVariable(
      HostVariable, reinterpret_cast<RegisteredModule *>(Handle), DeviceName);
}

CUPILOT_EXPORT unsigned __cudaPushCallConfiguration(dim3 Grid, dim3 Block,
                                                    size_t Shared,
                                                    CUstream_st *Stream) {
  Configurations.push_back({Grid, Block, Shared, Stream});
  return 0;
}

CUPILOT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *Grid, dim3 *Block,
                                                      size_t *Shared,
                                                      void *Stream) {
  if (Configurations.empty())
    return cudaErrorMissingConfiguration;
  CallConfiguration C = Configurations.back();
  Configurations.pop_back();
  *Grid = C.Grid;
  *Block = C.Block;
  *Shared = C.Shared;
  std::memcpy(Stream, &C.Stream, sizeof(C.Stream));
  return cudaSuccess;
}

} // extern "C"
