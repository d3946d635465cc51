//===- Device.h - The one device of the CUDA run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_DEVICE_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_DEVICE_H

#include "Capture.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>

namespace cupilot {

/// A registered module: bitcode until its first use.
struct RegisteredModule {
  std::string Bitcode;
  std::unique_ptr<CpuModule> Loaded;
};

struct RegisteredSymbol {
  RegisteredModule *Module = nullptr;
  std::string Name;
};

/// State of the process. All calls of the run time take the mutex: streams run
/// in order, and everything is done when a call returns.
class Device {
public:
  static Device &get();

  std::recursive_mutex Mutex;
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  std::map<const void *, RegisteredSymbol> Functions, Variables;
  std::unique_ptr<Capture> Recorder;

  cudaError_t allocate(void **Pointer, size_t Size, bool Host = false);
  cudaError_t release(void *Pointer, bool Host = false);
  /// Loads the module of a registered symbol; reports what goes wrong once.
  CpuModule *load(RegisteredModule &M);
  cudaError_t launch(const void *Function, const LaunchShape &Shape,
                     void **Args);
  /// Address and size of a device variable, by its host shadow.
  cudaError_t variable(const void *Symbol, void **Address, size_t *Size);
  RegisteredModule *addModule(std::string Bitcode);
  /// Registered allocations: base to size.
  const std::map<char *, size_t> &allocations() const { return Allocations; }

  /// Remembers an error for cudaGetLastError and returns it. A fault of device
  /// code stays, as on a GPU.
  cudaError_t fail(cudaError_t Error);
  cudaError_t Last = cudaSuccess, Sticky = cudaSuccess;

private:
  Device();
  std::vector<std::unique_ptr<RegisteredModule>> Modules;
  std::map<char *, size_t> Allocations;
};

/// Length of the LLVM bitcode that begins at \p Start; 0 when none does there.
size_t bitcodeSize(const void *Start);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_DEVICE_H
