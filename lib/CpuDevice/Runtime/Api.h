//===- Api.h - What the files of the CUDA run time share -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The run time defines functions of the CUDA Runtime API with the names and
// meanings of its reference, for one device that executes at once: when a call
// returns, its work is done. A function that is missing here is a link error
// in programs of cupilot-cpucc, and names itself in nvcc's (Missing.cpp);
// docs/CpuDevice.md lists what there is.
//
// Each version of CUDA that programs are built for has a library of its own:
// these files, compiled with that version's headers. All share
// libcupilot-cuda.so.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_API_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_API_H

#include "Device.h"

/// The library's other symbols are hidden.
#define CUPILOT_API extern "C" __attribute__((visibility("default")))

/// Programs compiled for a per-thread default stream call NAME_ptsz or
/// NAME_ptds. All streams run at once, so they mean the same here.
#define CUPILOT_ALIAS(NAME, ALIAS)                                             \
  CUPILOT_API decltype(NAME) ALIAS __attribute__((alias(#NAME)));
#define CUPILOT_PTSZ(NAME) CUPILOT_ALIAS(NAME, NAME##_ptsz)
#define CUPILOT_PTDS(NAME) CUPILOT_ALIAS(NAME, NAME##_ptds)

/// Defines the symbol NAME as a function that evaluates RESULT and ignores its
/// arguments: for what has other parameters from one toolkit to the next. The
/// caller removes the arguments in the C calling convention of 64-bit Linux,
/// so their number does not matter.
#define CUPILOT_SYMBOL(NAME, RESULT)                                           \
  CUPILOT_API cudaError_t cupilotSymbol_##NAME() __asm__(#NAME);               \
  cudaError_t cupilotSymbol_##NAME() { return RESULT; }
/// Says once what the cpu device has not, and fails.
#define CUPILOT_REFUSE(NAME) CUPILOT_SYMBOL(NAME, cupilot::unsupported(#NAME))
/// A hint that changes no result.
#define CUPILOT_IGNORE(NAME) CUPILOT_SYMBOL(NAME, cupilot::checked())

namespace cupilot {

/// Remembers \p Error for cudaGetLastError of this host thread and returns it;
/// after a fault of device code, the fault's error takes its place, as on a
/// GPU.
cudaError_t checked(cudaError_t Error = cudaSuccess);

/// Prints that the cpu device has no \p Function, once each, and returns
/// cudaErrorNotSupported.
cudaError_t unsupported(const char *Function);

/// The driver's function \p Name for programs of CUDA \p Version (12080); null
/// for a name that CUDA does not know.
void *driverFunction(const char *Name, unsigned Version);

/// What a synchronising call does: device printf's output goes out.
cudaError_t synchronized();

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_API_H
