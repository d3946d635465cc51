//===- DriverEntry.cpp - Functions of the driver by their names -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "cupilot/Support/CudaLibraries.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/auxv.h>

using namespace cupilot;

/// Which version of a function a name means, as cuda.h has it.
static constexpr struct {
  const char *Name, *Symbol;
} Newest[] = {
#define CUPILOT_DRIVER_NAME(NAME, SYMBOL) {NAME, SYMBOL},
#include "DriverNames.def"
#undef CUPILOT_DRIVER_NAME
};

void *cupilot::driverFunction(const char *Name, unsigned Version) {
  std::string Symbol = Name;
  for (const auto &N : Newest)
    if (Symbol == N.Name) {
      Symbol = N.Symbol;
      break;
    }
  // The ones whose arguments changed.
  if (Symbol == "cuCtxCreate_v4" && Version < 13000)
    Symbol = "cuCtxCreate_v2";
  if (Symbol == "cuGetProcAddress_v2" && Version < 12000)
    Symbol = "cuGetProcAddress";
  Dl_info Self;
  void *Library = ::dladdr(reinterpret_cast<void *>(&driverFunction), &Self)
                      ? ::dlopen(Self.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                      : nullptr;
  void *Function = Library ? ::dlsym(Library, Symbol.c_str()) : nullptr;
  if (Library)
    ::dlclose(Library); // The program itself keeps it.
  return Function;
}

static CUresult procAddress(const char *Name, void **Function, int Version) {
  if (!Name || !Function)
    return CUDA_ERROR_INVALID_VALUE;
  *Function = driverFunction(Name, static_cast<unsigned>(Version));
  return *Function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#if CUDA_VERSION >= 12000
CUPILOT_DRIVER cuGetProcAddress(const char *Name, void **Function, int Version,
                                cuuint64_t,
                                CUdriverProcAddressQueryResult *Result) {
  CUresult E = procAddress(Name, Function, Version);
  if (Result)
    *Result = E == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS
                                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return E;
}
CUPILOT_DRIVER cupilotGetProcAddress(const char *Name, void **Function,
                                     int Version,
                                     cuuint64_t) __asm__("cuGetProcAddress");
CUresult cupilotGetProcAddress(const char *Name, void **Function, int Version,
                               cuuint64_t) {
  return procAddress(Name, Function, Version);
}
#else
CUPILOT_DRIVER cuGetProcAddress(const char *Name, void **Function, int Version,
                                cuuint64_t) {
  return procAddress(Name, Function, Version);
}
#endif

/// Whether \p Address is code of the program itself, not of a library.
static bool isOfProgram(const void *Address) {
  Dl_info Its, Own;
  return ::dladdr(Address, &Its) &&
         ::dladdr(reinterpret_cast<void *>(::getauxval(AT_ENTRY)), &Own) &&
         Its.dli_fbase == Own.dli_fbase;
}

// Nobody but CUDA's own run time asks for these tables, which are not
// documented. The caller is a program or a library that brings this run time
// along: the code that it would launch is out of reach.
CUPILOT_DRIVER cuGetExportTable(const void **, const CUuuid *) {
  const void *Caller = __builtin_return_address(0);
  std::string File = fileOf(Caller);
  Device::get().finish(); // What was recorded until now stays.
  std::fflush(stdout);
  if (!isOfProgram(Caller) && isCudaLibrary(File)) {
    std::fprintf(
        stderr,
        "cupilot: error: the cpu device cannot run '%s', whose code is "
        "for GPUs alone\ncupilot: note: record the program on a machine "
        "with a GPU (cupilot-capture), or describe the launches of your "
        "own kernels (cupilot describe)\n",
        File.c_str());
    std::_Exit(3);
  }
  std::fprintf(stderr,
               "cupilot: error: '%s' is linked with the static CUDA run time, "
               "which needs a GPU\ncupilot: note: link it with nvcc -cudart "
               "shared (CMake: CUDA_RUNTIME_LIBRARY Shared)\n",
               File.c_str());
  std::_Exit(2);
}
