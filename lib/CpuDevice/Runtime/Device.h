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
#include "Image.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Portable/LaunchLimits.h"
#include <atomic>
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>

namespace cupilot {

/// A registered module: as the program holds it until its first use.
struct RegisteredModule {
  DeviceImage Image;
  LoadedImage Loaded; ///< Without a module until then.
  /// Digest and size of PTX that a recording keeps; empty where it does not.
  std::pair<std::string, size_t> Kept;
  /// __managed__ variables and the host's pointers to them, which are set when
  /// the module is loaded.
  std::map<std::string, void **> Managed;
  /// Variables that the host knows besides those that everybody can see.
  std::vector<std::string> Variables;
  cudaError_t Broken = cudaSuccess; ///< It cannot be loaded; was said.
};

struct RegisteredFunction {
  RegisteredModule *Module = nullptr;
  std::string Name;
  /// Dynamic shared memory that a launch may ask for, in bytes; more than 48
  /// KiB with the static part must be asked for by cudaFuncSetAttribute.
  uint64_t MaxDynamicShared = UnrequestedShared;
  int Carveout = -1;          ///< Preferred; a hint.
  bool LargeClusters = false; ///< More than 8 blocks, up to 16, were allowed.
};

struct RegisteredVariable {
  RegisteredModule *Module = nullptr;
  std::string Name;
};

/// Where memory came from: cudaMalloc, cudaMallocManaged, cudaMallocHost, or
/// the program itself with cudaHostRegister.
enum class MemoryKind { Device, Managed, Host, Registered };

/// Among an allocation's flags: it belongs to a node of a graph, whose next
/// launch has it again at the same address after it was freed.
constexpr unsigned OwnedByGraph = 1u << 31;

struct Allocation {
  size_t Size = 0; ///< Bytes.
  MemoryKind Kind = MemoryKind::Device;
  unsigned Flags = 0; ///< Of cudaHostAlloc or cudaHostRegister.
};

/// State of the process. Its functions take the mutex; they return errors and
/// leave it to the API's functions to remember them (checked).
class Device {
public:
  static Device &get();

  // Registration, by host address.
  RegisteredModule *addModule(DeviceImage Image);
  void addFunction(const void *Host, RegisteredModule *M, const char *Name);
  void addVariable(const void *Host, RegisteredModule *M, const char *Name);
  void addManaged(void **Host, RegisteredModule *M, const char *Name);
  /// Forgets a module, its functions and variables.
  void removeModule(RegisteredModule *M);
  /// Whether \p M is a module.
  bool knows(const RegisteredModule *M);
  /// Loads \p M now, which otherwise its first use does.
  cudaError_t loadNow(RegisteredModule *M);

  // Memory.
  cudaError_t allocate(void **Pointer, size_t Size, MemoryKind Kind,
                       unsigned Flags = 0);
  /// cudaErrorInvalidValue when \p Pointer is no allocation of that side.
  cudaError_t release(void *Pointer, bool OfHost);
  cudaError_t registerHost(void *Pointer, size_t Size, unsigned Flags);
  cudaError_t unregisterHost(void *Pointer);
  /// The allocation that holds \p Pointer with its base; null when none does.
  std::pair<char *, Allocation> find(const void *Pointer);
  /// False when [Pointer, Pointer + Size) leaves the buffer that it begins in,
  /// or, with \p MustBeKnown, begins in none.
  bool holds(const void *Pointer, size_t Size, bool MustBeKnown);

  /// Moves bytes as the host does, with what is known of them.
  void copy(void *To, const void *From, size_t Size);
  /// Sets \p Count elements of \p ElementSize bytes.
  void fill(void *To, unsigned Value, unsigned ElementSize, size_t Count);
  /// Limits of device code's heap, printf and stacks, in bytes.
  void setLimits(size_t HeapBytes, size_t PrintBytes, size_t StackBytes);
  void memoryInfo(size_t *Free, size_t *Total);

  // Execution.
  /// A cluster dimension of 0 is the kernel's own.
  cudaError_t launch(const void *Host, const LaunchShape &Shape, void **Args);
  /// The function's entry, with its module loaded.
  cudaError_t function(const void *Host, RegisteredFunction **Entry,
                       KernelFacts *Facts = nullptr);
  /// Size in bytes of each parameter of a kernel.
  cudaError_t paramSizes(const void *Host, std::vector<uint64_t> &Sizes);
  /// Address and size of a device variable, by its host shadow.
  cudaError_t variable(const void *Host, void **Address, size_t *Size);
  /// The kernel \p Name of a module, as an address that stands for it here;
  /// cudaErrorInvalidDeviceFunction when there is none.
  cudaError_t functionIn(RegisteredModule *M, const std::string &Name,
                         const void **Host);
  /// The same of a variable; cudaErrorInvalidSymbol.
  cudaError_t variableIn(RegisteredModule *M, const std::string &Name,
                         void **Address, size_t *Size);
  /// The error that a fault of device code left; it stays, as on a GPU.
  cudaError_t sticky() const { return Sticky; }
  /// Writes out what device printf collected.
  void flushOutput();
  /// Writes what is left at the end of the program, a recording too.
  void finish();
  /// Frees all memory and gives device variables their first values. After a
  /// fault the device stays unusable, as on a GPU.
  void reset();

private:
  Device();
  cudaError_t load(RegisteredModule &M);
  [[noreturn]] void endProgram();
  void unload(RegisteredModule &M);
  /// The error of a launch that no GPU of this kind could do; completes the
  /// cluster from the kernel.
  cudaError_t checkLaunch(const RegisteredFunction &F, const KernelFacts &Facts,
                          LaunchShape &Shape) const;

  std::recursive_mutex Mutex;
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  std::unique_ptr<Capture> Recorder;
  std::vector<std::unique_ptr<RegisteredModule>> Modules;
  std::map<const void *, RegisteredFunction> Functions;
  std::map<const void *, RegisteredVariable> Variables;
  std::map<char *, Allocation> Allocations;
  std::map<char *, size_t> Sizes; ///< The same, as Capture takes it.
  size_t Used = 0;                ///< Bytes allocated.
  std::string Output;             ///< Of device printf, not yet written.
  std::atomic<cudaError_t> Sticky = cudaSuccess;
};

/// Memory of the described GPU in bytes, as an H200's run time has it.
constexpr size_t DeviceBytes = 150109880320;

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_DEVICE_H
