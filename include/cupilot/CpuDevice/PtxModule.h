//===- PtxModule.h - PTX on the cpu device -------------------- -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CPUDEVICE_PTXMODULE_H
#define CUPILOT_CPUDEVICE_PTXMODULE_H

#include "cupilot/CpuDevice/CpuDevice.h"

namespace cupilot {

/// As CpuModule::load, of PTX text. What is no PTX is a usage error that names
/// the line; a kernel that holds what is not known is refused at its launch.
/// The code runs as it stands: CpuDeviceOptions::AsCompiled means nothing, and
/// WidenFloats is a usage error.
llvm::Expected<std::unique_ptr<CpuModule>>
loadPtx(llvm::StringRef Ptx, const CpuDeviceOptions &Options);

/// \p Ptx as bitcode for CpuModule::load, which runs it as loadPtx does: with
/// the names of the text, so that tools for bitcode can cut and read it.
llvm::Expected<std::string> bitcodeOfPtx(llvm::StringRef Ptx);

/// Something that a kernel holds and the cpu device does not know.
struct PtxMissing {
  std::string What;     ///< "'tex.1d.v4.f32.s32 ...'".
  unsigned Line = 0;    ///< Of the text; 0: of the kernel as a whole.
  std::string Function; ///< Where it stands: the kernel, or what it calls.
};

/// Whether a kernel can run on the cpu device.
struct PtxKernel {
  std::string Name;
  std::vector<PtxMissing> Missing; ///< Nothing: it can.
};

/// Calls \p Each with every kernel of a PTX text, in its order. Kernels are
/// looked at a few at a time, so that memory does not grow with the text. Text
/// that is no PTX is a usage error.
llvm::Error kernelsOfPtx(llvm::StringRef Ptx,
                         llvm::function_ref<void(const PtxKernel &)> Each);
/// The same, as a list.
llvm::Expected<std::vector<PtxKernel>> kernelsOfPtx(llvm::StringRef Ptx);

} // namespace cupilot

#endif // CUPILOT_CPUDEVICE_PTXMODULE_H
