//===- Runtime.h - What the parts of the run time share
//--------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_RUNTIME_RUNTIME_H
#define CUPILOT_LIB_SUBSTITUTE_RUNTIME_RUNTIME_H

#include "Launch.h"
#include <cuda_runtime_api.h>

#include "Checks.inc"

#ifdef __cplusplus
extern "C" {
#endif

// Emitted for each unit: its kernels with variants, what it reports, and what
// an object of another compiler registers.
extern const CupilotChoice __cupilot_choices[];
extern const unsigned __cupilot_num_choices;
extern const CupilotCounter __cupilot_counters[];
extern const unsigned __cupilot_num_counters;
extern const CupilotBinary __cupilot_binaries[];
extern const unsigned __cupilot_num_binaries;

/// CUPILOT_RUNTIME, read once.
enum { CupilotApply = 1, CupilotOff = 2, CupilotStats = 3 };
extern int __cupilot_mode; ///< 0 until it is read.
int __cupilot_read_mode(void);

/// A launch is replaced so: where __cupilot_begin gives a device, each variant
/// is attempted in turn until one answers with a status. Else the original is
/// launched, and counted. The names with _ptsz are for launches with per-thread
/// default streams.
int __cupilot_begin(const CupilotLaunch *launch);
int __cupilot_attempt(const CupilotVariant *variant,
                      const CupilotLaunch *launch, CupilotValues *values,
                      int device);
int __cupilot_begin_ptsz(const CupilotLaunch *launch);
int __cupilot_attempt_ptsz(const CupilotVariant *variant,
                           const CupilotLaunch *launch, CupilotValues *values,
                           int device);
void __cupilot_count(unsigned long long *counter);

/// Set an attribute of a kernel, and where that worked also of each variant of
/// it that may run on this device.
cudaError_t __cupilot_cudaFuncSetAttribute(const void *kernel,
                                           enum cudaFuncAttribute attribute,
                                           int value);
cudaError_t __cupilot_cudaFuncSetCacheConfig(const void *kernel,
                                             enum cudaFuncCache config);

/// For objects of other compilers: see Object.c.
void __cupilot_register(void);
void __cupilot_for___cudaRegisterFunction(void **binary, const char *host,
                                          char *deviceName, const char *name,
                                          int threads, void *tid, void *bid,
                                          void *block, void *grid, int *warps);
cudaError_t __cupilot_for___cudaGetKernel(void **handle, const void *host);

#ifdef __cplusplus
}
#endif

static inline int cupilotMode(void) {
  int mode = __atomic_load_n(&__cupilot_mode, __ATOMIC_ACQUIRE);
  return mode ? mode : __cupilot_read_mode();
}

/// Threads that share a counter wait for each other, so only programs that
/// report have one.
static inline void cupilotCount(unsigned long long *counter) {
  if (cupilotMode() == CupilotStats)
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/// The current device; -1 where only originals may run.
static inline int cupilotAllowedDevice(void) {
  return cupilotMode() == CupilotOff ? -1 : cupilotDevice();
}

/// Whether the device runs exactly the variant's image. It is asked about all
/// of its kernels, and remembers what they are launched with.
static inline int cupilotIsReady(const CupilotVariant *variant, int device) {
  int ready = 1;
  unsigned i;
  for (i = 0; i < variant->numKernels; ++i) {
    const CupilotKernel *kernel = &variant->kernels[i];
    ready &= cupilotFacts(kernel->address, kernel->arch, device, kernel->raise,
                          kernel->facts) != 1;
  }
  return ready;
}

#endif // CUPILOT_LIB_SUBSTITUTE_RUNTIME_RUNTIME_H
