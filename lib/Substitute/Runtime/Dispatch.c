//===- Dispatch.c - Choosing between kernels at a launch
//-------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of choice is that of docs/LaunchPlans.md. Nothing here allocates
// host memory or takes a lock. Compiled twice: with
// CUDA_API_PER_THREAD_DEFAULT_STREAM for launches by the functions whose names
// end in _ptsz, so that all calls have the form of the launch that they
// replace.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include "Cluster.inc"
#include "Scratch.inc"
#include "TensorMap.inc"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define CUPILOT_BEGIN __cupilot_begin_ptsz
#define CUPILOT_ATTEMPT __cupilot_attempt_ptsz
#else
#define CUPILOT_BEGIN __cupilot_begin
#define CUPILOT_ATTEMPT __cupilot_attempt
#endif

static inline dim3 dimensions(const unsigned *values) {
  dim3 result;
  result.x = values[0];
  result.y = values[1];
  result.z = values[2];
  return result;
}

static inline unsigned long long roundUp(unsigned long long bytes) {
  return (bytes + 255) & ~255ull; // The alignment that plans are promised.
}

static inline cudaError_t launchOne(const CupilotVariant *variant,
                                    const CupilotLaunch *launch,
                                    const CupilotKernel *kernel,
                                    const CupilotShape *shape, void **args) {
  if (variant->clusters && shape->cluster[0])
    return cupilotLaunchCluster(kernel->address, dimensions(shape->grid),
                                dimensions(shape->block),
                                dimensions(shape->cluster), args, shape->shared,
                                (cudaStream_t)launch->stream);
  return (cudaError_t)launch->with(launch, kernel->address, shape, args);
}

// A launch that fails after another of its plan was made could leave half of a
// result. So what the first would find out is asked for the others before.
static inline int laterLaunchesFit(const CupilotVariant *variant,
                                   const CupilotShape *shapes, int device) {
  unsigned i;
  for (i = 1; i < variant->numLaunches; ++i) {
    const unsigned *block = shapes[i].block;
    if (!cupilotFits(__atomic_load_n(&variant->launches[i]->facts[device],
                                     __ATOMIC_RELAXED),
                     (unsigned long long)block[0] * block[1] * block[2],
                     shapes[i].shared))
      return 0;
  }
  return 1;
}

// The argument array of the variant's kernels: the original's arguments,
// scratch buffers, tensor maps. Null where there is no memory or no map, and no
// error.
static inline void **arguments(const CupilotVariant *variant,
                               const CupilotLaunch *launch,
                               const CupilotValues *values, int device) {
  void **next = values->args + variant->params;
  unsigned long long total = 0;
  char *scratch = NULL;
  unsigned i;
  __builtin_memcpy(values->args, launch->args,
                   variant->params * sizeof(*values->args));
  for (i = 0; i < variant->numMaps; ++i) {
    void *map = cupilotTensorMap(values->maps[i].cache, &values->maps[i].key,
                                 &variant->maps[i]);
    if (!map)
      return NULL;
    next[variant->numScratch + i] = map;
  }
  if (!variant->numScratch)
    return values->args;
  // One allocation for all.
  for (i = 0; i < variant->numScratch; ++i)
    total += roundUp(values->scratch[i]);
  scratch = cupilotAllocate(total, (cudaStream_t)launch->stream, device);
  if (!scratch)
    return NULL;
  for (i = 0; i < variant->numScratch; ++i) {
    values->buffers[i] = scratch;
    next[i] = &values->buffers[i];
    scratch += roundUp(values->scratch[i]);
  }
  return values->args;
}

// Which clause of its domain keeps a variant out: only programs that report ask.
__attribute__((noinline, cold)) static void
countOutside(const CupilotVariant *variant, const CupilotLaunch *launch) {
  int clause = variant->outside(launch);
  if (clause >= 0)
    cupilotCount(&variant->outsideCounts[clause]);
}

// Attributes that a variant can do without: with programmatic dependent launch
// a kernel may begin before the one before it is done, and waits in its own
// code. A variant that may read before that wait is launched without it.
static inline int isPlain(const CupilotLaunch *launch) {
  const cudaLaunchConfig_t *config =
      (const cudaLaunchConfig_t *)launch->config;
  unsigned i;
  if (launch->plain || !config || !config->attrs)
    return launch->plain;
  for (i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id != cudaLaunchAttributeIgnore &&
        config->attrs[i].id !=
            cudaLaunchAttributeProgrammaticStreamSerialization)
      return 0;
  return 1;
}

// The current device, where the launch may be replaced; else -1. What the run
// time would refuse stays refused.
int CUPILOT_BEGIN(const CupilotLaunch *launch) {
  return isPlain(launch) &&
                 cupilotIsLegal(dimensions(launch->grid),
                                dimensions(launch->block), launch->shared)
             ? cupilotAllowedDevice()
             : -1;
}

// One variant, from guard and domain to its last launch: the status of the launches,
// CupilotNext where it may not run, CupilotOriginal where none may. Always
// inline: with the constants of one variant only its own steps are left, and a
// launch costs what they cost.
__attribute__((always_inline)) int
CUPILOT_ATTEMPT(const CupilotVariant *variant, const CupilotLaunch *launch,
                CupilotValues *values, int device) {
  void **args = launch->args;
  cudaError_t status = cudaSuccess;
  unsigned i;
  if (!variant->plan(launch, values)) {
    if (variant->outside && cupilotMode() == CupilotStats)
      countOutside(variant, launch);
    return CupilotNext;
  }
  if (!cupilotIsReady(variant, device) ||
      !laterLaunchesFit(variant, values->shapes, device))
    return CupilotNext;
  if (cupilotIsCapturing((cudaStream_t)launch->stream))
    return CupilotOriginal;
  if (variant->numScratch + variant->numMaps) {
    args = arguments(variant, launch, values, device);
    if (!args)
      return CupilotNext;
  }
  for (i = 0; i < variant->numLaunches && status == cudaSuccess; ++i) {
    values->shapes[i].attributes = variant->waits;
    status = launchOne(variant, launch, variant->launches[i],
                       &values->shapes[i], args);
  }
  // A variant that cannot be launched leaves no trace. What a launch before the
  // one that failed has done is done: that error is the program's.
  if (status != cudaSuccess && i == 1)
    cudaGetLastError();
  if (variant->numScratch) // Its failure is an error of the program, too.
    cudaFreeAsync(values->buffers[0], (cudaStream_t)launch->stream);
  if (status != cudaSuccess)
    return i == 1 ? CupilotNext : (int)status;
  cupilotCount(variant->count);
  return cudaSuccess;
}
