//===- Driver.cpp - The CUDA driver behind MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>

namespace cupilot::mgpu {

void fail(const std::string &Problem, const std::string &WayOut) {
  std::fflush(stdout);
  std::fprintf(stderr, "cupilot: error: %s\n", Problem.c_str());
  if (!WayOut.empty())
    std::fprintf(stderr, "cupilot: note: %s\n", WayOut.c_str());
  // Recorders write at the end of a program.
  std::exit(3);
}

static std::string loaderError() {
  const char *Why = dlerror();
  return Why ? Why : "it cannot be loaded";
}

/// Fills \p Table from \p Library; false if that is no driver.
static bool readTable(void *Library, DriverTable &Table) {
  bool Complete = true;
#define F(NAME)                                                                \
  Table.NAME = reinterpret_cast<decltype(&::NAME)>(dlsym(Library, #NAME));
  CUPILOT_MGPU_DRIVER(F)
  CUPILOT_MGPU_NEWER_DRIVER(F)
#undef F
#define F(NAME) Complete = Complete && Table.NAME;
  CUPILOT_MGPU_DRIVER(F)
#undef F
  return Complete;
}

static std::string describe(const DriverTable &Table, CUresult Code) {
  const char *Name = nullptr, *Text = nullptr;
  if (Table.cuGetErrorName(Code, &Name) != CUDA_SUCCESS || !Name)
    return "error " + std::to_string(Code);
  if (Table.cuGetErrorString(Code, &Text) != CUDA_SUCCESS || !Text)
    return Name;
  return std::string(Name) + " (" + Text + ")";
}

/// Loads the driver \p Name; why it has no device, or "".
static std::string load(const std::string &Name, DriverTable &Table) {
  void *Library = dlopen(Name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    return loaderError();
  if (!readTable(Library, Table))
    return Name + " is not a CUDA driver";
  int Count = 0;
  if (CUresult E = Table.cuInit(0))
    return "cuInit: " + describe(Table, E);
  if (CUresult E = Table.cuDeviceGetCount(&Count))
    return "cuDeviceGetCount: " + describe(Table, E);
  return Count ? "" : "the driver knows no GPU";
}

/// libcupilot-cuda.so beside this library.
static std::string cpuDeviceFile() {
  Dl_info Info;
  if (!dladdr(reinterpret_cast<const void *>(&cpuDeviceFile), &Info) ||
      !Info.dli_fname)
    return "";
  std::string File = Info.dli_fname;
  return File.substr(0, File.rfind('/') + 1) + "libcupilot-cuda.so";
}

static DriverTable loadDriver() {
  DriverTable Gpu, Cpu;
  std::string NoGpu = load("libcuda.so.1", Gpu);
  if (NoGpu.empty())
    return Gpu;
  std::string NoCpu = load(cpuDeviceFile(), Cpu);
  if (!NoCpu.empty())
    fail("there is no GPU (" + NoGpu + ") and no cpu device (" + NoCpu + ")",
         "run the program on a machine with a GPU, or keep "
         "libcupilot-mgpu.so beside libcupilot-cuda.so");
  std::fprintf(stderr,
               "cupilot: note: there is no GPU (%s): the program runs on the "
               "cpu device\n",
               NoGpu.c_str());
  return Cpu;
}

const DriverTable &driver() {
  static const DriverTable Table = loadDriver();
  return Table;
}

std::string describe(CUresult Code) { return describe(driver(), Code); }

void fail(CUresult Code, const std::string &What, const std::string &WayOut) {
  fail(What + ": " + describe(Code), WayOut);
}

static thread_local int DefaultDevice = 0;

void setDefaultDevice(int Device) { DefaultDevice = Device; }
int defaultDevice() { return DefaultDevice; }

/// The primary context of this thread's device, retained until the end.
static CUcontext primaryContext() {
  static std::mutex Lock;
  static std::map<int, CUcontext> Contexts;
  std::lock_guard<std::mutex> Guard(Lock);
  CUcontext &Context = Contexts[DefaultDevice];
  if (Context)
    return Context;
  const DriverTable &D = driver();
  std::string Name = "device " + std::to_string(DefaultDevice);
  CUdevice Device = 0;
  if (CUresult E = D.cuDeviceGet(&Device, DefaultDevice)) {
    int Count = 0;
    D.cuDeviceGetCount(&Count);
    fail(E, Name,
         "gpu.set_default_device takes 0 to " + std::to_string(Count - 1) +
             " here");
  }
  if (CUresult E = D.cuDevicePrimaryCtxRetain(&Context, Device))
    fail(E, Name);
  return Context;
}

ActiveContext::ActiveContext() {
  if (CUresult E = driver().cuCtxPushCurrent_v2(primaryContext()))
    fail(E, "device " + std::to_string(DefaultDevice));
}

ActiveContext::~ActiveContext() {
  CUcontext Ours = nullptr;
  driver().cuCtxPopCurrent_v2(&Ours);
}

} // namespace cupilot::mgpu

CUPILOT_MGPU void mgpuSetDefaultDevice(int32_t Device) {
  cupilot::mgpu::setDefaultDevice(Device);
}

/// The compute capability of \p Device as 10 times its major number and its
/// minor one; 0 if the driver does not tell it.
static int32_t askCapability(int Device) {
  const cupilot::mgpu::DriverTable &D = cupilot::mgpu::driver();
  CUdevice Handle = 0;
  int Major = 0, Minor = 0;
  if (D.cuDeviceGet(&Handle, Device) ||
      D.cuDeviceGetAttribute(
          &Major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, Handle) ||
      D.cuDeviceGetAttribute(
          &Minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, Handle))
    return 0;
  return 10 * Major + Minor;
}

/// Not of upstream: what dispatches of cupilot-apply ask for at each launch.
/// 90 where this thread's device has the compute capability 9.0; 0, which no
/// variant is for, with CUPILOT_RUNTIME=off.
CUPILOT_MGPU int32_t cupilotComputeCapability() {
  static const bool Off = [] {
    const char *Mode = std::getenv("CUPILOT_RUNTIME");
    return Mode && std::strcmp(Mode, "off") == 0;
  }();
  static std::array<std::atomic<int32_t>, 64> Known;
  const int Device = cupilot::mgpu::defaultDevice();
  if (Off || Device < 0 || static_cast<size_t>(Device) >= Known.size())
    return 0;
  int32_t Capability = Known[Device].load(std::memory_order_relaxed);
  if (!Capability) {
    Capability = askCapability(Device);
    Known[Device].store(Capability, std::memory_order_relaxed);
  }
  return Capability;
}
