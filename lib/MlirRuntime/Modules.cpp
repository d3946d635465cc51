//===- Modules.cpp - Modules and kernels of MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstdio>

using namespace cupilot::mgpu;

static const char OtherCode[] =
    "PTX runs everywhere: gpu-lower-to-nvvm-pipeline with cubin-format=isa, or "
    "gpu-module-to-binary with format=isa; cubin-chip=, and cubin-features= "
    "with the version of PTX, must be this device's or older";

// The program keeps the name.
static thread_local std::pair<CUfunction, const char *> LastFound;

std::string cupilot::mgpu::nameOf(CUfunction Function) {
  return LastFound.first == Function && LastFound.second
             ? "'" + std::string(LastFound.second) + "'"
             : "a kernel";
}

/// Loads \p Code, PTX with the optimisation level \p Level if it has one.
static CUmodule loadCode(const void *Code, const int32_t *Level,
                         const char *Caller) {
  ActiveContext Active;
  char Log[4096] = "";
  CUjit_option Options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_OPTIMIZATION_LEVEL};
  void *Values[] = {
      Log, reinterpret_cast<void *>(sizeof(Log)),
      reinterpret_cast<void *>(static_cast<uintptr_t>(Level ? *Level : 0))};
  CUmodule Module = nullptr;
  CUresult E = driver().cuModuleLoadDataEx(&Module, Code, Level ? 3 : 2,
                                           Options, Values);
  if (E == CUDA_SUCCESS)
    return Module;
  std::string What = std::string(Caller) + ": a gpu.binary cannot be loaded";
  if (*Log)
    What += ": " + std::string(Log);
  fail(E, What, OtherCode);
}

CUPILOT_MGPU CUmodule mgpuModuleLoad(void *Code, size_t /*Size*/) {
  return loadCode(Code, nullptr, "mgpuModuleLoad");
}

CUPILOT_MGPU CUmodule mgpuModuleLoadJIT(void *Ptx, int32_t Level) {
  return loadCode(Ptx, &Level, "mgpuModuleLoadJIT");
}

/// Programs unload their modules when they end, perhaps after the driver has.
CUPILOT_MGPU void mgpuModuleUnload(CUmodule Module) {
  CUresult E = driver().cuModuleUnload(Module);
  if (E != CUDA_SUCCESS && E != CUDA_ERROR_DEINITIALIZED)
    std::fprintf(stderr, "cupilot: warning: mgpuModuleUnload: %s\n",
                 describe(E).c_str());
}

CUPILOT_MGPU CUfunction mgpuModuleGetFunction(CUmodule Module,
                                              const char *Name) {
  ActiveContext Active;
  CUfunction Function = nullptr;
  if (CUresult E = driver().cuModuleGetFunction(&Function, Module, Name))
    fail(E, "mgpuModuleGetFunction: kernel '" + std::string(Name) + "'",
         E == CUDA_ERROR_NOT_FOUND
             ? "the gpu.binary that gpu.launch_func names has no such kernel: "
               "is it marked 'kernel'?"
             : "");
  LastFound = {Function, Name};
  return Function;
}
