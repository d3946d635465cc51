//===- DriverModules.cpp - Modules of the driver API -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace cupilot;

/// Loads it now, as the driver does: programs ask whether it can be.
static cudaError_t loadModule(DeviceImage Image, RegisteredModule **Result) {
  RegisteredModule *M = Device::get().addModule(std::move(Image));
  cudaError_t E = Device::get().loadNow(M);
  if (E != cudaSuccess)
    Device::get().removeModule(M);
  else
    *Result = M;
  return E;
}

/// Says that machine code does not run here.
static cudaError_t refuseCubin(const std::string &Origin) {
  std::fprintf(stderr,
               "cupilot: error: %s is machine code for a GPU; the cpu device "
               "runs PTX (load PTX, or a fat binary that holds it: nvcc -ptx, "
               "nvcc -fatbin)\n",
               Origin.c_str());
  return cudaErrorNoKernelImageForDevice;
}

static bool isElf(const void *Start) {
  return std::memcmp(Start, "\177ELF", 4) == 0;
}

static cudaError_t loadMemory(const void *Start, RegisteredModule **Result) {
  static const char Origin[] = "a module in memory";
  if (isElf(Start))
    return refuseCubin(Origin);
  std::optional<DeviceImage> Image = imageAt(Start);
  if (!Image) // PTX is text that ends with a zero.
    Image = imageOf(static_cast<const char *>(Start), Origin);
  else
    own(*Image); // The program may free it.
  return loadModule(std::move(*Image), Result);
}

static cudaError_t loadFile(const char *File, RegisteredModule **Result) {
  std::ifstream In(File, std::ios::binary);
  if (!In)
    return cudaErrorFileNotFound;
  std::string Bytes((std::istreambuf_iterator<char>(In)),
                    std::istreambuf_iterator<char>());
  if (Bytes.size() >= 4 && isElf(Bytes.data()))
    return refuseCubin(std::string("'") + File + "'");
  return loadModule(imageOf(std::move(Bytes), File), Result);
}

/// The buffers that a program gives for messages are empty strings afterwards:
/// what went wrong is on stderr.
static void clearLogs(unsigned Count, const CUjit_option *Options,
                      void *const *Values) {
  for (unsigned I = 0; Options && Values && I < Count; ++I)
    if ((Options[I] == CU_JIT_INFO_LOG_BUFFER ||
         Options[I] == CU_JIT_ERROR_LOG_BUFFER) &&
        Values[I])
      *static_cast<char *>(Values[I]) = 0;
}

// Modules.
static CUmodule handle(RegisteredModule *M) {
  return reinterpret_cast<CUmodule>(M);
}
CUPILOT_DRIVER cuModuleLoadData(CUmodule *Module, const void *Image) {
  if (!Module || !Image)
    return CUDA_ERROR_INVALID_VALUE;
  RegisteredModule *M = nullptr;
  cudaError_t E = loadMemory(Image, &M);
  *Module = handle(M);
  return asDriver(E);
}
CUPILOT_DRIVER cuModuleLoadDataEx(CUmodule *Module, const void *Image,
                                  unsigned Count, CUjit_option *Options,
                                  void **Values) {
  clearLogs(Count, Options, Values);
  return cuModuleLoadData(Module, Image);
}
CUPILOT_DRIVER cuModuleLoadFatBinary(CUmodule *Module, const void *Image) {
  return cuModuleLoadData(Module, Image);
}
CUPILOT_DRIVER cuModuleLoad(CUmodule *Module, const char *File) {
  if (!Module || !File)
    return CUDA_ERROR_INVALID_VALUE;
  RegisteredModule *M = nullptr;
  cudaError_t E = loadFile(File, &M);
  *Module = handle(M);
  return asDriver(E);
}
CUPILOT_DRIVER cuModuleUnload(CUmodule Module) {
  if (!Device::get().knows(moduleOf(Module)))
    return CUDA_ERROR_INVALID_HANDLE;
  Device::get().removeModule(moduleOf(Module));
  return CUDA_SUCCESS;
}
static CUresult findKernel(const void **Kernel, RegisteredModule *M,
                           const char *Name) {
  if (!Kernel || !Name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!Device::get().knows(M))
    return CUDA_ERROR_INVALID_HANDLE;
  cudaError_t E = Device::get().functionIn(M, Name, Kernel);
  return E == cudaErrorInvalidDeviceFunction ? CUDA_ERROR_NOT_FOUND
                                             : asDriver(E);
}
CUPILOT_DRIVER cuModuleGetFunction(CUfunction *Function, CUmodule Module,
                                   const char *Name) {
  const void *Kernel = nullptr;
  CUresult E = findKernel(Function ? &Kernel : nullptr, moduleOf(Module), Name);
  if (E == CUDA_SUCCESS)
    *Function = static_cast<CUfunction>(const_cast<void *>(Kernel));
  return E;
}
CUPILOT_DRIVER cuModuleGetGlobal(CUdeviceptr *Address, size_t *Size,
                                 CUmodule Module, const char *Name) {
  if (!Name || !Device::get().knows(moduleOf(Module)))
    return Name ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
  void *Memory = nullptr;
  cudaError_t E =
      Device::get().variableIn(moduleOf(Module), Name, &Memory, Size);
  if (E == cudaSuccess && Address)
    *Address = reinterpret_cast<CUdeviceptr>(Memory);
  return asDriver(E);
}
#if CUDA_VERSION >= 11070
CUPILOT_DRIVER cuModuleGetLoadingMode(CUmoduleLoadingMode *Mode) {
  if (!Mode)
    return CUDA_ERROR_INVALID_VALUE;
  *Mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12000
// Libraries: modules under another name.
static RegisteredModule *moduleOf(CUlibrary Library) {
  return reinterpret_cast<RegisteredModule *>(Library);
}
CUPILOT_DRIVER cuLibraryLoadData(CUlibrary *Library, const void *Code,
                                 CUjit_option *Options, void **Values,
                                 unsigned Count, CUlibraryOption *, void **,
                                 unsigned) {
  CUmodule M = nullptr;
  CUresult E =
      cuModuleLoadDataEx(Library ? &M : nullptr, Code, Count, Options, Values);
  if (E == CUDA_SUCCESS)
    *Library = reinterpret_cast<CUlibrary>(M);
  return E;
}
CUPILOT_DRIVER cuLibraryLoadFromFile(CUlibrary *Library, const char *File,
                                     CUjit_option *Options, void **Values,
                                     unsigned Count, CUlibraryOption *, void **,
                                     unsigned) {
  clearLogs(Count, Options, Values);
  CUmodule M = nullptr;
  CUresult E = cuModuleLoad(Library ? &M : nullptr, File);
  if (E == CUDA_SUCCESS)
    *Library = reinterpret_cast<CUlibrary>(M);
  return E;
}
CUPILOT_DRIVER cuLibraryUnload(CUlibrary Library) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(Library));
}
CUPILOT_DRIVER cuLibraryGetModule(CUmodule *Module, CUlibrary Library) {
  if (!Module)
    return CUDA_ERROR_INVALID_VALUE;
  *Module = reinterpret_cast<CUmodule>(Library);
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuLibraryGetKernel(CUkernel *Result, CUlibrary Library,
                                  const char *Name) {
  const void *Kernel = nullptr;
  CUresult E = findKernel(Result ? &Kernel : nullptr, moduleOf(Library), Name);
  if (E == CUDA_SUCCESS)
    *Result = static_cast<CUkernel>(const_cast<void *>(Kernel));
  return E;
}
CUPILOT_DRIVER cuLibraryGetGlobal(CUdeviceptr *Address, size_t *Size,
                                  CUlibrary Library, const char *Name) {
  return cuModuleGetGlobal(Address, Size, reinterpret_cast<CUmodule>(Library),
                           Name);
}
CUPILOT_DRIVER cuKernelGetFunction(CUfunction *Function, CUkernel Kernel) {
  if (!Function)
    return CUDA_ERROR_INVALID_VALUE;
  *Function = reinterpret_cast<CUfunction>(Kernel);
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuKernelGetAttribute(int *Value, CUfunction_attribute Attribute,
                                    CUkernel Kernel, CUdevice) {
  return cuFuncGetAttribute(Value, Attribute,
                            reinterpret_cast<CUfunction>(Kernel));
}
CUPILOT_DRIVER cuKernelSetAttribute(CUfunction_attribute Attribute, int Value,
                                    CUkernel Kernel, CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(Kernel), Attribute,
                            Value);
}
CUPILOT_DRIVER_SYMBOL(cuKernelSetCacheConfig, CUDA_SUCCESS)
#endif
