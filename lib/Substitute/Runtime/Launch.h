//===- Launch.h - What emitted code hands to the run time
//------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that a build emits for a unit (guards, plans, the form of the unit's
// own launches) fills these in; the run time reads them. C and C++: the emitter
// takes the places of the fields from here.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_SUBSTITUTE_RUNTIME_LAUNCH_H
#define CUPILOT_LIB_SUBSTITUTE_RUNTIME_LAUNCH_H

#include <stddef.h>

enum {
  /// Devices of which something is remembered; beyond them the original runs.
  CupilotDevices = 64,
  /// What an attempt says instead of CUDA's status, which is no negative
  /// number:
  /// the original must be launched; the next variant may be tried.
  CupilotOriginal = -1,
  CupilotNext = -2
};

/// Places in cudaLaunchConfig_t, in bytes; State.c compares them with the
/// toolkit's. gridDim and blockDim come first.
enum {
  CupilotConfigShared = 24,
  CupilotConfigStream = 32,
  CupilotConfigNumAttrs = 48,
  CupilotConfigSize = 56
};

/// The shape of one launch of a plan.
typedef struct CupilotShape {
  unsigned grid[3], block[3];
  unsigned cluster[3]; ///< cluster[0] is 0 where the launch names none.
  size_t shared;       ///< Bytes of dynamic shared memory.
  unsigned attributes; ///< The program's are the launch's, too.
} CupilotShape;

/// A launch that the program makes.
typedef struct CupilotLaunch {
  unsigned grid[3], block[3];
  size_t shared;
  void **args;
  void *stream;
  const void *config; ///< The cudaLaunchConfig_t, if it has one.
  int plain;          ///< It carries nothing but a shape and a stream;
                      ///< else the config's attributes say what.
  /// Launches a variant's kernel by the same function of CUDA's run time as the
  /// program; a cudaError_t. Emitted, because the function's type is the
  /// target's: how a dim3 is passed differs.
  int (*with)(const struct CupilotLaunch *launch, const void *kernel,
              const CupilotShape *shape, void **args);
} CupilotLaunch;

#include "TensorMapData.inc"

/// A tensor map that a launch needs.
typedef struct CupilotMapRequest {
  CupilotMapKey key;
  CupilotMapCache *cache; ///< The calling thread's.
} CupilotMapRequest;

/// What a plan comes to at a launch. The arrays lie in the frame of the
/// function that stands in for the launch, and have room for any of its
/// variants.
typedef struct CupilotValues {
  CupilotShape *shapes;
  unsigned long long *scratch; ///< Bytes of each buffer.
  CupilotMapRequest *maps;
  void **args;    ///< For the original's arguments and those that are added.
  void **buffers; ///< For the addresses of the scratch buffers.
} CupilotValues;

/// A kernel of a variant.
typedef struct CupilotKernel {
  const void *address;       ///< That CUDA's run time knows it by.
  unsigned long long *facts; ///< Of each device; see Checks.inc.
  int arch;  ///< 90 for sm_90 and for sm_90a: an image says no more.
  int raise; ///< The plan chooses its shared memory, so it gets what there is.
} CupilotKernel;

typedef struct CupilotVariant {
  /// Whether guard and domain hold and the plan can be carried out, which the
  /// values are filled in for. Emitted.
  int (*plan)(const CupilotLaunch *launch, CupilotValues *values);
  const CupilotKernel *kernels;
  const CupilotKernel *const *launches; ///< The kernel of each launch.
  const CupilotMapPlan *maps;
  unsigned long long *count; ///< Launches, for CUPILOT_RUNTIME=stats.
  /// For launches that \c plan refuses, and CUPILOT_RUNTIME=stats alone: the
  /// clause of the domain that they fail, by its place in \c outsideCounts; a
  /// negative number where it is not the domain. Null where there is none.
  int (*outside)(const CupilotLaunch *launch);
  unsigned long long *outsideCounts;
  unsigned numKernels, numLaunches, numScratch, numMaps;
  unsigned params;   ///< Of the original.
  unsigned clusters; ///< Its launches may name some.
  unsigned waits;    ///< It is one launch, which may begin early.
} CupilotVariant;

/// A kernel of the unit and its variants, best first.
typedef struct CupilotChoice {
  /// The addresses that the program knows it by, null as long as it has none:
  /// its stub, and its cudaKernel_t where the unit has one.
  const void **host, **handle;
  const char *name; ///< In the unit's GPU binary.
  const CupilotVariant *variants;
  unsigned numVariants;
  unsigned long long *originals; ///< Launches of the original instead.
} CupilotChoice;

/// A line of the report.
typedef struct CupilotCounter {
  const char *label;
  const char *record; ///< A JSON object without its last brace.
  const unsigned long long *count;
  unsigned rare; ///< Said only where it is not 0.
} CupilotCounter;

/// A fat binary of the unit's variants, of another compiler's object.
typedef struct CupilotBinary {
  void *wrapper;
  void ***registered; ///< What CUDA's run time calls it.
  const char *const *names;
  void *const *addresses;
  unsigned numKernels;
} CupilotBinary;

#endif // CUPILOT_LIB_SUBSTITUTE_RUNTIME_LAUNCH_H
