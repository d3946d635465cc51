//===- CpuDeviceFixture.h - Kernels for tests of the cpu device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_CPUDEVICE_UNIT_CPUDEVICEFIXTURE_H
#define CUPILOT_TEST_CPUDEVICE_UNIT_CPUDEVICEFIXTURE_H

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

namespace cupilot {

/// Compiles a piece of CUDA and launches its kernels.
class CpuDeviceFixture : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      llvm::consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
  }

  void compile(llvm::StringRef Source, CpuDeviceOptions Options = {}) {
    auto Dir = llvm::cantFail(TemporaryDirectory::create("cpudevice"));
    llvm::cantFail(writeFileAtomic(Dir.file("k.cu"), Source));
    std::string Bitcode = llvm::cantFail(compileDeviceBitcode(
        Dir.file("k.cu"), "sm_90", {"-O2", "-gline-tables-only"}));
    Module = llvm::cantFail(CpuModule::load(Bitcode, Options));
  }

  template <typename... Ts>
  LaunchResult launch(llvm::StringRef Kernel, LaunchShape Shape,
                      const Ts &...Args) {
    std::vector<const void *> Pointers = {static_cast<const void *>(&Args)...};
    return llvm::cantFail(Module->launch(Kernel, Shape, Pointers, *Memory));
  }

  template <typename T> T *buffer(std::vector<T> &Data) {
    Memory->addBuffer(Data.data(), Data.size() * sizeof(T));
    return Data.data();
  }

  std::unique_ptr<CpuModule> Module;
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
};

} // namespace cupilot

#endif // CUPILOT_TEST_CPUDEVICE_UNIT_CPUDEVICEFIXTURE_H
