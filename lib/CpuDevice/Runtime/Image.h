//===- Image.h - The device code that a program holds -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_IMAGE_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_IMAGE_H

#include "KernelFacts.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include <cuda_runtime_api.h>
#include <memory>
#include <optional>

namespace cupilot {

enum class ImageForm : uint8_t {
  Bitcode,   ///< Of cupilot-cpucc.
  FatBinary, ///< Of nvcc; the PTX among its images is what runs.
  Ptx        ///< Text of a program that uses the driver API.
};

/// Device code of one module as the program holds it.
struct DeviceImage {
  ImageForm Form = ImageForm::Bitcode;
  /// What is in the program's memory. Relocatable device code has several fat
  /// binaries, whose PTX is linked.
  std::vector<llvm::StringRef> Parts;
  /// What Parts are views of, where the program does not keep the bytes.
  std::shared_ptr<const std::string> Owned;
  std::string Origin; ///< The file that holds it, for messages.
};

/// A module that can be launched.
struct LoadedImage {
  std::unique_ptr<CpuModule> Module;
  std::map<std::string, KernelFacts> Facts; ///< By kernel.
  std::vector<std::string> Variables;       ///< Those that others can see.
};

/// Compiles \p Image. An error comes with the run time's own in \p Code: the
/// form of the image, machine code alone, PTX for another GPU, damage.
llvm::Expected<LoadedImage> loadImage(const DeviceImage &Image,
                                      const CpuDeviceOptions &Options,
                                      cudaError_t &Code);

/// The image at \p Start, of which nothing but its beginning is known: bitcode,
/// a fat binary, or a "wrapper" of one. The program keeps the bytes. Nothing
/// when there is none of these.
std::optional<DeviceImage> imageAt(const void *Start);
/// The image in \p Bytes, a file's or a copy: a fat binary, else PTX.
DeviceImage imageOf(std::string Bytes, std::string Origin);
/// Copies what the program keeps.
void own(DeviceImage &Image);

/// The file whose memory \p Address is in; "the program" where none is.
std::string fileOf(const void *Address);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_IMAGE_H
