//===- State.c - What a program knows of its variants
//----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// Compiled against one toolkit, used with any from 11.8 on: what is read and
// written here lies at the same place in all of them.
#define CUPILOT_FIELD(type, field, place)                                      \
  static_assert(offsetof(type, field) == (place),                              \
                #type "::" #field " has another place in this toolkit")
CUPILOT_FIELD(struct cudaFuncAttributes, sharedSizeBytes, 0);
CUPILOT_FIELD(struct cudaFuncAttributes, maxThreadsPerBlock, 24);
CUPILOT_FIELD(struct cudaFuncAttributes, ptxVersion, 32);
CUPILOT_FIELD(struct cudaFuncAttributes, binaryVersion, 36);
CUPILOT_FIELD(struct cudaFuncAttributes, maxDynamicSharedSizeBytes, 44);
static_assert(sizeof(struct cudaFuncAttributes) <= 256,
              "cudaFuncAttributes needs more room");
CUPILOT_FIELD(cudaLaunchConfig_t, gridDim, 0);
CUPILOT_FIELD(cudaLaunchConfig_t, blockDim, 12);
CUPILOT_FIELD(cudaLaunchConfig_t, dynamicSmemBytes, CupilotConfigShared);
CUPILOT_FIELD(cudaLaunchConfig_t, stream, CupilotConfigStream);
CUPILOT_FIELD(cudaLaunchConfig_t, attrs, 40);
CUPILOT_FIELD(cudaLaunchConfig_t, numAttrs, CupilotConfigNumAttrs);
static_assert(sizeof(cudaLaunchConfig_t) == CupilotConfigSize,
              "cudaLaunchConfig_t has another size in this toolkit");
CUPILOT_FIELD(cudaLaunchAttribute, id, 0);
CUPILOT_FIELD(cudaLaunchAttribute, val, 8);
static_assert(sizeof(cudaLaunchAttribute) == 72,
              "cudaLaunchAttribute has another size in this toolkit");
static_assert(sizeof(dim3) == 12 && sizeof(cudaError_t) == 4 &&
                  sizeof(enum cudaStreamCaptureStatus) == 4,
              "a type of CUDA has another size in this toolkit");
// Enumerators are numbers in compiled code.
static_assert(cudaFuncAttributeMaxDynamicSharedMemorySize == 8 &&
                  cudaDevAttrMaxSharedMemoryPerBlockOptin == 97 &&
                  cudaMemPoolAttrReleaseThreshold == 4 &&
                  cudaLaunchAttributeIgnore == 0 &&
                  cudaLaunchAttributeClusterDimension == 4 &&
                  cudaLaunchAttributeProgrammaticStreamSerialization == 6 &&
                  cudaStreamCaptureStatusNone == 0,
              "an enumerator of CUDA has another value in this toolkit");
static_assert(CupilotDevices == 64, "Checks.inc and Scratch.inc count to 64");

int __cupilot_mode;

// The process that counts: one that it forks has the same numbers.
static int countingProcess;

// Lines of JSON: "begin" at a unit's first launch, and at the end its counters
// and "end". Units and processes append to one file, whole parts at a time.
static int appendReport(const char *path, int ended) {
  FILE *file = fopen(path, "a");
  unsigned i;
  if (!file)
    return 0;
  flock(fileno(file), LOCK_EX);
  for (i = 0; ended && i < __cupilot_num_counters; ++i) {
    const CupilotCounter *counter = &__cupilot_counters[i];
    unsigned long long count =
        __atomic_load_n(counter->count, __ATOMIC_RELAXED);
    if (count || !counter->rare)
      fprintf(file, "%s,\"launches\":%llu}\n", counter->record, count);
  }
  fprintf(file, "{\"kind\":\"%s\",\"process\":%d}\n", ended ? "end" : "begin",
          countingProcess);
  return fclose(file) == 0;
}

static void report(void) {
  const char *path = getenv("CUPILOT_STATS_FILE");
  unsigned i;
  if (getpid() != countingProcess || (path && *path && appendReport(path, 1)))
    return;
  for (i = 0; i < __cupilot_num_counters; ++i) {
    unsigned long long count =
        __atomic_load_n(__cupilot_counters[i].count, __ATOMIC_RELAXED);
    if (count || !__cupilot_counters[i].rare)
      dprintf(2, "cupilot: %llu launches of %s\n", count,
              __cupilot_counters[i].label);
  }
}

__attribute__((noinline, cold)) int __cupilot_read_mode(void) {
  const char *word = getenv("CUPILOT_RUNTIME");
  int mode = CupilotApply, unread = 0;
  if (word && strcmp(word, "off") == 0)
    mode = CupilotOff;
  if (word && strcmp(word, "stats") == 0) {
    mode = CupilotStats;
    // Of threads that come here at once, one registers the report.
    if (__atomic_compare_exchange_n(&__cupilot_mode, &unread, mode, 0,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      const char *path = getenv("CUPILOT_STATS_FILE");
      countingProcess = getpid();
      if (path && *path)
        appendReport(path, 0);
      atexit(report);
    }
  }
  __atomic_store_n(&__cupilot_mode, mode, __ATOMIC_RELEASE);
  return mode;
}

void __cupilot_count(unsigned long long *counter) { cupilotCount(counter); }

typedef cudaError_t (*CupilotSetter)(const void *kernel, int attribute,
                                     int value);

static cudaError_t setFunctionAttribute(const void *kernel, int attribute,
                                        int value) {
  return cudaFuncSetAttribute(kernel, (enum cudaFuncAttribute)attribute, value);
}

static cudaError_t setCacheConfig(const void *kernel, int attribute,
                                  int value) {
  (void)attribute;
  return cudaFuncSetCacheConfig(kernel, (enum cudaFuncCache)value);
}

// Always inline, so that set is known: a program that sets one of both need not
// have the other.
__attribute__((always_inline)) static inline cudaError_t
setAttribute(CupilotSetter set, const void *kernel, int attribute, int value) {
  cudaError_t status = set(kernel, attribute, value);
  const CupilotChoice *choice = NULL;
  int device = -1;
  unsigned i, j;
  for (i = 0; status == cudaSuccess && !choice && i < __cupilot_num_choices;
       ++i)
    if (kernel &&
        kernel == __atomic_load_n(__cupilot_choices[i].host, __ATOMIC_ACQUIRE))
      choice = &__cupilot_choices[i];
  if (choice)
    device = cupilotAllowedDevice();
  if (device < 0)
    return status;
  for (i = 0; i < choice->numVariants; ++i) {
    const CupilotVariant *variant = &choice->variants[i];
    if (!cupilotIsReady(variant, device))
      continue;
    // A variant that it does not suit cannot be launched, and then the original
    // runs. What the plan itself chooses is the plan's.
    for (j = 0; j < variant->numKernels; ++j)
      if (!variant->kernels[j].raise &&
          set(variant->kernels[j].address, attribute, value) != cudaSuccess)
        cudaGetLastError();
  }
  return status;
}

cudaError_t __cupilot_cudaFuncSetAttribute(const void *kernel,
                                           enum cudaFuncAttribute attribute,
                                           int value) {
  return setAttribute(setFunctionAttribute, kernel, attribute, value);
}

cudaError_t __cupilot_cudaFuncSetCacheConfig(const void *kernel,
                                             enum cudaFuncCache config) {
  return setAttribute(setCacheConfig, kernel, 0, config);
}
