//===- Gpu.cpp - A GPU through the CUDA driver -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"
#include "cupilot/Portable/Failure.h"
#include <array>
#include <cstdio>
#include <dlfcn.h>

namespace cupilot::runner {

FailureKind kindOf(DriverStatus Status, bool Running) {
  switch (Status) {
  case DriverStatus::OutOfMemory:
    return FailureKind::OutOfMemory;
  case DriverStatus::StubLibrary:
  case DriverStatus::NotInitialized:
    return FailureKind::NoDriver;
  case DriverStatus::NoDevice:
  case DriverStatus::InvalidDevice:
    return FailureKind::NoDevice;
  case DriverStatus::DeviceUnavailable:
    return FailureKind::DeviceUnavailable;
  case DriverStatus::NoBinary:
    return FailureKind::WrongArch;
  case DriverStatus::InvalidImage:
  case DriverStatus::InvalidPtx:
  case DriverStatus::InvalidSource:
    return FailureKind::InvalidImage;
  case DriverStatus::NoJit:
  case DriverStatus::UnsupportedPtx:
    return FailureKind::UnsupportedPtx;
  case DriverStatus::NotFound:
    return FailureKind::MissingSymbol;
  case DriverStatus::IllegalAddress:
  case DriverStatus::InvalidAddressSpace:
    return FailureKind::IllegalAddress;
  case DriverStatus::MisalignedAddress:
    return FailureKind::Misaligned;
  case DriverStatus::LaunchTimeout:
    return FailureKind::Timeout;
  case DriverStatus::Assert:
    return FailureKind::Assert;
  case DriverStatus::StackError:
    return FailureKind::Stack;
  case DriverStatus::IllegalInstruction:
  case DriverStatus::InvalidPc:
    return FailureKind::IllegalInstruction;
  case DriverStatus::LaunchFailed:
    // What a kernel that executes "trap" ends with.
    return FailureKind::Trap;
  default:
    return Running ? FailureKind::Fault : FailureKind::LaunchFailed;
  }
}

Gpu::Gpu() {
  void *Library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    throw Failure(FailureKind::NoDriver,
                  std::string("there is no CUDA driver: ") + ::dlerror());
  auto Find = [&](auto &Member, const char *Name, bool Needed) {
    Member = reinterpret_cast<std::remove_reference_t<decltype(Member)>>(
        ::dlsym(Library, Name));
    if (!Member && Needed)
      throw Failure(
          FailureKind::NoDriver,
          std::string("the CUDA driver is too old: it does not have ") + Name);
  };
#define CUPILOT_NEEDED(Member, Name, Params) Find(Table.Member, Name, true);
#define CUPILOT_NEWER(Member, Name, Params) Find(Table.Member, Name, false);
  CUPILOT_DRIVER_FUNCTIONS(CUPILOT_NEEDED)
  CUPILOT_DRIVER_NEWER_FUNCTIONS(CUPILOT_NEWER)
#undef CUPILOT_NEEDED
#undef CUPILOT_NEWER
  check(Table.Init(0), "starting the driver");
  check(Table.DeviceCount(&Devices), "counting devices");
  if (Devices == 0)
    throw Failure(FailureKind::NoDevice, "the CUDA driver finds no GPU");
}

void Gpu::check(DriverStatus Status, const std::string &Doing) const {
  if (Status == DriverStatus::Success)
    return;
  const char *Name = nullptr, *Text = nullptr;
  if (Table.ErrorName)
    Table.ErrorName(Status, &Name);
  if (Table.ErrorText)
    Table.ErrorText(Status, &Text);
  throw Failure(kindOf(Status, false),
                std::string(Name ? Name : "error") + " (" +
                    std::to_string(static_cast<int>(Status)) + ": " +
                    (Text ? Text : "unknown") + ") while " + Doing);
}

void Gpu::synchronize(const std::string &Doing) const {
  DriverStatus Status = Table.ContextSynchronize();
  if (Status == DriverStatus::Success)
    return;
  try {
    check(Status, Doing);
  } catch (const Failure &F) {
    throw Failure(kindOf(Status, true), F.what());
  }
}

int Gpu::attribute(DeviceAttribute A, int Device) const {
  int Value = 0;
  check(Table.DeviceGetAttribute(&Value, A, Device), "asking for attributes");
  return Value;
}

GpuInfo Gpu::info(int Ordinal) const {
  int Device = 0;
  check(Table.DeviceGet(&Device, Ordinal),
        "looking for device " + std::to_string(Ordinal));
  GpuInfo I;
  std::array<char, 256> Name{};
  check(Table.DeviceName(Name.data(), int(Name.size()), Device),
        "asking for a name");
  I.Name = Name.data();
  std::array<unsigned char, 16> Id{};
  check(Table.DeviceUuid(Id.data(), Device), "asking for an id");
  I.Uuid = "GPU-";
  for (size_t B = 0; B < Id.size(); ++B) {
    std::array<char, 4> Hex{};
    std::snprintf(Hex.data(), Hex.size(), "%02x", Id[B]);
    I.Uuid += std::string(B == 4 || B == 6 || B == 8 || B == 10 ? "-" : "") +
              Hex.data();
  }
  auto Attribute = [&](DeviceAttribute A) { return attribute(A, Device); };
  I.Major = Attribute(DeviceAttribute::MajorCapability);
  I.Minor = Attribute(DeviceAttribute::MinorCapability);
  I.Multiprocessors = Attribute(DeviceAttribute::Multiprocessors);
  I.L2Bytes = Attribute(DeviceAttribute::L2Bytes);
  I.SharedPerBlock = Attribute(DeviceAttribute::SharedPerBlockOptin);
  check(Table.DriverVersion(&I.Driver), "asking for the driver's version");
  return I;
}

void Gpu::use(int Ordinal) {
  Info = info(Ordinal);
  check(Table.DeviceGet(&Device, Ordinal), "looking for the device");
  Handle Context = nullptr;
  check(Table.ContextRetain(&Context, Device), "making a context");
  check(Table.ContextSet(Context), "making a context current");
  size_t Free = 0, Total = 0;
  check(Table.MemoryInfo(&Free, &Total), "asking for memory");
  Info.Memory = Total;
  Info.FreeMemory = Free;
  constexpr unsigned NonBlocking = 1;
  check(Table.StreamCreate(&Stream, NonBlocking), "making a stream");
}

DeviceAddress Gpu::allocate(uint64_t Bytes) const {
  DeviceAddress Address = 0;
  check(Table.Allocate(&Address, Bytes),
        "allocating " + std::to_string(Bytes) + " bytes");
  return Address;
}

uint64_t Gpu::freeMemory() const {
  size_t Free = 0, Total = 0;
  check(Table.MemoryInfo(&Free, &Total), "asking for memory");
  return Free;
}

Handle Gpu::loadModule(std::string_view Image) const {
  // The compiler's own words are worth more than "invalid PTX".
  std::array<char, 2048> Log{};
  constexpr int ErrorLog = 5, ErrorLogBytes = 6;
  std::array<int, 2> Options{ErrorLog, ErrorLogBytes};
  std::array<void *, 2> Values{Log.data(),
                               reinterpret_cast<void *>(Log.size())};
  std::string Ended(Image); // PTX must end with a zero byte.
  Handle Module = nullptr;
  DriverStatus Status = Table.ModuleLoad(&Module, Ended.c_str(), 2,
                                         Options.data(), Values.data());
  if (Status != DriverStatus::Success)
    check(Status, "loading an image on " + Info.Name + " (" + Info.arch() +
                      ")" + (Log[0] ? std::string(": ") + Log.data() : ""));
  return Module;
}

Handle Gpu::function(Handle Module, const std::string &Symbol) const {
  Handle F = nullptr;
  check(Table.ModuleFunction(&F, Module, Symbol.c_str()),
        "looking for the kernel '" + Symbol + "'");
  return F;
}

} // namespace cupilot::runner
