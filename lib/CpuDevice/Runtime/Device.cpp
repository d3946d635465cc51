//===- Device.cpp - The one device of the CUDA run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "cupilot/Roofline/CostModel.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace cupilot;

/// Alignment of cudaMalloc (CUDA C++ Programming Guide, "Device Memory
/// Accesses").
static constexpr size_t MallocAlignment = 256;
/// Room between allocations, so that an access past the end never falls into a
/// neighbour.
static constexpr size_t Gap = 4096;

Device::Device() {
  if (const char *Folder = std::getenv("CUPILOT_CAPTURE"))
    Recorder = std::make_unique<Capture>(Folder);
}

Device &Device::get() {
  // Never destroyed: modules unregister themselves late in the program's end.
  static Device &Only = *[] {
    auto *D = new Device();
    if (D->Recorder)
      std::atexit([] { Device::get().Recorder->finish(); });
    return D;
  }();
  return Only;
}

cudaError_t Device::fail(cudaError_t Error) {
  if (Error != cudaSuccess)
    Last = Error;
  return Error;
}

cudaError_t Device::allocate(void **Pointer, size_t Size, bool Host) {
  if (!Pointer)
    return fail(cudaErrorInvalidValue);
  *Pointer = nullptr;
  if (Size == 0)
    return cudaSuccess;
  void *Memory = nullptr;
  if (::posix_memalign(&Memory, MallocAlignment, Size + Gap) != 0)
    return fail(cudaErrorMemoryAllocation);
  // Device memory is not cleared; a NaN pattern shows who thinks it is.
  std::memset(Memory, Host ? 0 : 0xff, Size);
  Allocations[static_cast<char *>(Memory)] = Size;
  this->Memory->addBuffer(Memory, Size);
  *Pointer = Memory;
  return cudaSuccess;
}

cudaError_t Device::release(void *Pointer, bool) {
  if (!Pointer)
    return cudaSuccess;
  auto It = Allocations.find(static_cast<char *>(Pointer));
  if (It == Allocations.end())
    return fail(cudaErrorInvalidValue);
  Memory->removeBuffer(Pointer);
  Allocations.erase(It);
  std::free(Pointer);
  return cudaSuccess;
}

RegisteredModule *Device::addModule(std::string Bitcode) {
  Modules.push_back(std::make_unique<RegisteredModule>());
  Modules.back()->Bitcode = std::move(Bitcode);
  return Modules.back().get();
}

CpuModule *Device::load(RegisteredModule &M) {
  if (M.Loaded)
    return M.Loaded.get();
  CpuDeviceOptions Options;
  Options.Count = Recorder != nullptr; // The launches' weights are modelled.
  auto Loaded = CpuModule::load(M.Bitcode, Options);
  if (!Loaded) {
    std::fprintf(stderr, "cupilot: error: %s\n",
                 toString(Loaded.takeError()).c_str());
    return nullptr;
  }
  M.Loaded = std::move(*Loaded);
  // Variables of the module are memory that device code may touch.
  for (const std::string &Name : M.Loaded->globals())
    if (auto Global = M.Loaded->global(Name))
      Memory->addBuffer(Global->first, Global->second);
  return M.Loaded.get();
}

cudaError_t Device::launch(const void *Function, const LaunchShape &Shape,
                           void **Args) {
  std::lock_guard Lock(Mutex);
  if (Sticky != cudaSuccess)
    return fail(Sticky);
  auto It = Functions.find(Function);
  if (It == Functions.end())
    return fail(cudaErrorInvalidDeviceFunction);
  CpuModule *Module = load(*It->second.Module);
  if (!Module)
    return fail(cudaErrorNoKernelImageForDevice);
  const std::string &Name = It->second.Name;
  auto Sizes = Module->paramSizes(Name);
  if (!Sizes) {
    consumeError(Sizes.takeError());
    return fail(cudaErrorInvalidDeviceFunction);
  }
  if (Recorder)
    Recorder->before(Name, Shape, *Sizes, Args, Allocations, *Module);
  auto Result =
      Module->launch(Name, Shape,
                     llvm::ArrayRef<const void *>(
                         const_cast<const void **>(Args), Sizes->size()),
                     *Memory);
  if (!Result) {
    std::fprintf(stderr, "cupilot: error: %s\n",
                 toString(Result.takeError()).c_str());
    return fail(cudaErrorInvalidConfiguration);
  }
  if (Recorder)
    Recorder->after(modelTime(cantFail(describeGpu("H200")), Result->Counts,
                              KernelResources(), Shape)
                        .Microseconds);
  std::fwrite(Result->Printed.data(), 1, Result->Printed.size(), stdout);
  if (Result->Fault) {
    std::fprintf(stderr, "cupilot: device fault: %s\n",
                 Result->Fault->str().c_str());
    Sticky = Result->Fault->Kind == "assertion" ? cudaErrorAssert
                                                : cudaErrorIllegalAddress;
    Last = Sticky;
    // As on a GPU, the launch itself succeeded; later calls tell.
    return cudaSuccess;
  }
  return cudaSuccess;
}

cudaError_t Device::variable(const void *Symbol, void **Address, size_t *Size) {
  std::lock_guard Lock(Mutex);
  auto It = Variables.find(Symbol);
  if (It == Variables.end())
    return fail(cudaErrorInvalidSymbol);
  CpuModule *Module = load(*It->second.Module);
  if (!Module)
    return fail(cudaErrorNoKernelImageForDevice);
  auto Global = Module->global(It->second.Name);
  if (!Global)
    return fail(cudaErrorInvalidSymbol);
  if (Address)
    *Address = Global->first;
  if (Size)
    *Size = Global->second;
  return cudaSuccess;
}

/// Bitcode is a sequence of blocks, each with its length in words (LLVM Bitcode
/// File Format, "ENTER_SUBBLOCK"). What follows it in the section is not ours.
size_t cupilot::bitcodeSize(const void *Start) {
  const auto *Bytes = static_cast<const unsigned char *>(Start);
  if (std::memcmp(Bytes, "BC\xC0\xDE", 4) != 0)
    return 0;
  size_t At = 4;
  for (;;) {
    uint32_t Head, Words;
    std::memcpy(&Head, Bytes + At, 4);
    std::memcpy(&Words, Bytes + At + 4, 4);
    uint32_t Abbrev = Head & 3, Block = Head >> 2 & 0xff;
    // IDENTIFICATION 13, MODULE 8, STRTAB 23, SYMTAB 25, summaries 20 and 24.
    bool Known = Block == 13 || Block == 8 || Block == 23 || Block == 25 ||
                 Block == 20 || Block == 24;
    if (Abbrev != 1 || !Known)
      return At;
    At += 8 + size_t(Words) * 4;
  }
}
