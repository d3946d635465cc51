//===- Object.c - What objects of other compilers register
//-----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which kernel such an object launches is known from what it registers: a host
// function with a device name, and the handle of a host function.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <stdlib.h>
#include <string.h>

// Of crt/host_runtime.h, which is C++ for compilers of CUDA only.
extern void **__cudaRegisterFatBinary(void *wrapper);
extern void __cudaRegisterFatBinaryEnd(void **binary);
extern void __cudaUnregisterFatBinary(void **binary);
extern void __cudaRegisterFunction(void **binary, const char *host,
                                   char *deviceName, const char *name,
                                   int threads, void *tid, void *bid,
                                   void *block, void *grid, int *warps);
extern cudaError_t __cudaGetKernel(void **handle, const void *host);

void __cupilot_for___cudaRegisterFunction(void **binary, const char *host,
                                          char *deviceName, const char *name,
                                          int threads, void *tid, void *bid,
                                          void *block, void *grid, int *warps) {
  unsigned i;
  for (i = 0; i < __cupilot_num_choices; ++i)
    if (strcmp(name, __cupilot_choices[i].name) == 0)
      __atomic_store_n(__cupilot_choices[i].host, (const void *)host,
                       __ATOMIC_RELEASE);
  __cudaRegisterFunction(binary, host, deviceName, name, threads, tid, bid,
                         block, grid, warps);
}

cudaError_t __cupilot_for___cudaGetKernel(void **handle, const void *host) {
  cudaError_t status = __cudaGetKernel(handle, host);
  unsigned i;
  for (i = 0; status == cudaSuccess && i < __cupilot_num_choices; ++i)
    if (host == __atomic_load_n(__cupilot_choices[i].host, __ATOMIC_ACQUIRE))
      __atomic_store_n(__cupilot_choices[i].handle, (const void *)*handle,
                       __ATOMIC_RELEASE);
  return status;
}

static void unregister(void) {
  unsigned i;
  for (i = 0; i < __cupilot_num_binaries; ++i)
    __cudaUnregisterFatBinary(*__cupilot_binaries[i].registered);
}

// As the compiler's own code does for the unit's.
void __cupilot_register(void) {
  unsigned i, j;
  for (i = 0; i < __cupilot_num_binaries; ++i) {
    const CupilotBinary *binary = &__cupilot_binaries[i];
    void **registered = __cudaRegisterFatBinary(binary->wrapper);
    *binary->registered = registered;
    for (j = 0; j < binary->numKernels; ++j)
      __cudaRegisterFunction(registered, (const char *)binary->addresses[j],
                             (char *)binary->names[j], binary->names[j], -1,
                             NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(registered);
  }
  atexit(unregister);
}
